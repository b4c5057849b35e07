#!/usr/bin/env python3
"""What is linked into something that is released, its licences, and their texts.

  linked.py FILE [--called NAME] [--names] [--manifest-path CARGO_TOML] [--library none|core|std] ROOT...

ROOT is PACKAGE, TARGET and FEATURES with a comma between features, as one word: `fable-c@thumbv6m-none-eabi+library`, `firmware@...+microbit`;
without `+` the default features. What cargo resolves for it counts, through normal dependencies only: what a build script, a test or a macro is made
of is not in the result. Of Rust's own library `core` is, or `std` with what that is made of, or `none`, where source is released.

Licences are judged by tests/licences against deny.toml, without its exceptions, which are for tools of the tests. FILE gets a line for each
package and, unless --names, the texts, equal ones once. A package without a text gets that of Apache-2.0 or MIT if it may be had under it, and is a
failure otherwise. Prints the expression of everything together.
"""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
OWN = "MIT OR Apache-2.0"
TEXT = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.I)
# What its sources say of themselves: library/core with its tables of Unicode, and library/compiler-builtins.
CORE = "(MIT OR Apache-2.0) AND Unicode-3.0 AND MIT AND Apache-2.0 WITH LLVM-exception"
# addr2line, adler2, cfg-if, gimli, hashbrown, libc, miniz_oxide, object and rustc-demangle may all be had under Apache-2.0; memchr may not.
STD = f"{CORE} AND Apache-2.0 AND (Unlicense OR MIT)"
LIBRARY = {
    "core": ("Rust's library (core, alloc, compiler-builtins)", CORE),
    "std": ("Rust's library (core, alloc, std with what it brings along, compiler-builtins)", STD),
}

def judging():
    """tests/licences as a module: it has no ending."""
    loader = importlib.machinery.SourceFileLoader("licences", str(TOP / "tests/licences"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("licences", loader))
    loader.exec_module(module)
    return module


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=TOP).stdout


def tree(manifest, root):
    """Name and version of everything that is linked for a root."""
    package, _, rest = root.partition("@")
    target, plus, features = rest.partition("+")
    command = ["cargo", "tree", "--quiet", "--locked", "--manifest-path", manifest, "--package", package, "--edges", "normal,no-proc-macro"]
    command += ["--prefix", "none", "--format", "{p}", "--target", target]
    if plus:
        command += ["--features", features]
    for line in run(*command).splitlines():
        if line.strip():
            name, version = line.split()[:2]
            yield name, version.removeprefix("v")


def read(path):
    return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()


def texts(package, satisfied):
    """Name and text of a package's licences and notices. Where MIT is enough it will do; a licence without its text gets it from here."""
    folder, licence = Path(package["manifest_path"]).parent, package["license"]
    found = sorted(path for path in folder.iterdir() if path.is_file() and TEXT.match(path.name) and path.suffix not in (".rs", ".html"))
    notices = [path for path in found if re.match("copyright|notice", path.name, re.I)]
    terms = [path for path in found if path not in notices]
    if satisfied(licence, ["MIT"]):
        terms = [path for path in terms if "mit" in path.name.lower()] or terms
    named = [(path.name, read(path)) for path in [*notices, *terms]]
    if not terms and satisfied(licence, ["Apache-2.0"]):
        named.append(("Apache-2.0, it has no text itself", read(TOP / "LICENSE-APACHE")))
    elif not terms and satisfied(licence, ["MIT"]) and package["authors"]:
        holders = f"Copyright (c) {', '.join(package['authors'])}"
        named.append(("MIT for its authors, it has no text itself", re.sub("^Copyright .*", lambda _: holders, read(TOP / "LICENSE-MIT"), flags=re.M)))
    elif not terms:
        return []
    return named


def standard(kind):
    """Rust's library as a package of its own: name, version, licence and texts."""
    folder = Path(run("rustc", "--print", "sysroot").strip()) / "share/doc/rust/licenses"
    paths = [folder / name for name in ["MIT.txt", "Apache-2.0.txt", "LLVM-exception.txt", "Unicode-3.0.txt"]]
    name, licence = LIBRARY[kind]
    return name, run("rustc", "--version").split()[1], licence, [(path.name, read(path)) for path in paths] if all(path.is_file() for path in paths) else []


def split(expression, word):
    """The parts of an expression between the words that are in no brackets."""
    parts, depth = [[]], 0
    for each in re.findall(r"[()]|[^\s()]+", expression):
        depth += (each == "(") - (each == ")")
        if each == word and depth == 0:
            parts.append([])
        else:
            parts[-1].append(each)
    return [" ".join(part).replace("( ", "(").replace(" )", ")") for part in parts]


def expression(parts):
    """All of them at once, each once, ours first."""
    joined = set()
    for part in parts:
        either = split(part.replace("/", " OR "), "OR")
        joined |= {"(" + " OR ".join(either) + ")"} if len(either) > 1 else set(split(part, "AND"))
    joined = {f"({OWN})" if each == "(Apache-2.0 OR MIT)" else each for each in joined} - {f"({OWN})"}
    return " AND ".join([f"({OWN})", *sorted(joined)]) if joined else OWN


def write(file, entries, names_only):
    """entries: name, version, licence and texts with their names."""
    lines = ["What is linked in beside Fable itself, whose licences are LICENSE-MIT and LICENSE-APACHE.", ""]
    if names_only:
        lines = ["What a build with default features links beside Fable itself; the texts are in the packages.", ""]
    bodies = {}
    for name, version, licence, found in entries:
        lines.append(f"{name} {version}: {licence}" + ("" if names_only else f" ({', '.join(label for label, _ in found)})"))
        for label, body in found:
            bodies.setdefault(hashlib.sha256(" ".join(body.split()).encode()).digest(), (body, []))[1].append(f"{name} {version}: {label}")
    if not entries:
        lines.append("Nothing.")
    if not names_only:
        for body, places in bodies.values():
            lines += ["", "-" * 80, *places, "", body]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--called", default="it", help="what it is that all of this is in, for the last line")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--library", choices=["none", *LIBRARY], default="core")
    parser.add_argument("--manifest-path", default="Cargo.toml")
    parser.add_argument("roots", nargs="+", metavar="ROOT")
    arguments = parser.parse_args()
    licences = judging()
    with open(TOP / "deny.toml", "rb") as file:
        deny = tomllib.load(file)
    deny["licenses"]["exceptions"] = []
    metadata = json.loads(run("cargo", "metadata", "--quiet", "--locked", "--format-version", "1", "--all-features", "--manifest-path", arguments.manifest_path))
    packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
    chosen = sorted({found for root in arguments.roots for found in tree(arguments.manifest_path, root)})
    linked = [packages[key] for key in chosen]
    faults = list(licences.faults(deny, linked))
    faults += [f"{package['name']} has the licence {package['license']}, not {OWN}" for package in linked if not package["source"] and package["license"] != OWN]
    entries = [(package["name"], package["version"], package["license"], texts(package, licences.satisfied)) for package in linked if package["source"]]
    if arguments.library != "none":
        entries.insert(0, standard(arguments.library))
        if not licences.satisfied(entries[0][2], deny["licenses"]["allow"]):
            faults.append(f"Rust's library has the licence {entries[0][2]}")
    if not arguments.names:
        faults += [f"{name} {version} ({licence}) comes without the text of its licence" for name, version, licence, found in entries if not found]
    for fault in faults:
        print(fault, file=sys.stderr)
    write(arguments.file, entries, arguments.names)
    print(expression(entry[2] for entry in entries))
    own = sum(not package["source"] for package in linked)
    print(f"     {arguments.called}: {own} packages of our own, {len(entries)} of others, {len(faults)} faults", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    os.environ.setdefault("CARGO_TERM_COLOR", "never")
    sys.exit(main())
