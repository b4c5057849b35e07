#!/usr/bin/env python3
"""Every manifest says the same version, CHANGELOG.md has it as its newest, and README.md says what stays stable as it is in the code.

  versions.py VERSION

CHANGELOG.md has to begin with the heading `## VERSION` or `## VERSION - YYYY-MM-DD`, and has to say below it what is with stored state. README.md
has to have a section `## Stability` with a row for each of the numbers in STORED.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
# Where a version stands that is neither of a Cargo.toml nor of the npm package, and how.
PLACES = [
    ("fable-embedded/c/CMakeLists.txt", r"project\(fable VERSION (\S+)"),
    ("fable-embedded/c/esp-idf/idf_component.yml", r'^version: "(.*)"'),
    ("fable-embedded/c/arduino/library.properties", r"^version=(.*)"),
]
# What keeps its meaning as long as its number stays: the first cell of its row in README.md, and where the number is.
STORED = [
    ("events, snapshots, priors", "fable-core/src/record/mod.rs", "VERSION"),
    ("exported users", "fable-std/src/store/transfer.rs", "VERSION"),
    ("files of a store", "fable-std/src/store/file/mod.rs", "VERSION"),
    ("keys of a store", "fable-std/src/store/file/keys.rs", "VERSION"),
    ("memory of a user", "fable-std/src/memory/mod.rs", "VERSION"),
    ("tables in PostgreSQL", "fable-std/src/store/postgres/tables.rs", "VERSION"),
    ("slots in a device's flash", "fable-embedded/src/flash/slot.rs", "VERSION"),
    ("prior in a device's flash", "fable-embedded/src/flash/prior.rs", "VERSION"),
    ("protocol between host and device", "fable-core/src/protocol/mod.rs", "VERSION"),
    ("bits", "fable-core/src/numbers/fingerprint.rs", "NUMERIC_REVISION"),
]


def of_cargo(text, workspace):
    """The versions that a Cargo.toml says of its package, and of our own crates that it takes."""
    manifest = tomllib.loads(text)
    package = manifest.get("package", manifest.get("workspace", {}).get("package", {}))
    version = package.get("version", "none")
    yield "its package", workspace if version == {"workspace": True} else version
    tables = [manifest, manifest.get("workspace", {}), *manifest.get("target", {}).values()]
    for table in tables:
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"]:
            for name, dependency in table.get(kind, {}).items():
                if isinstance(dependency, dict) and "path" in dependency and "version" in dependency:
                    yield f"its {name}", dependency["version"]


def said(top, names):
    """Every place with the version that stands there."""
    workspace = tomllib.loads((top / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for name in names:
        path = top / name
        if path.name == "Cargo.toml":
            for what, version in of_cargo(path.read_text(), workspace):
                yield f"{name}, {what}", version
        elif path.name == "package.json":
            manifest = json.loads(path.read_text())
            if not manifest.get("private"):
                yield name, manifest.get("version", "none")
        elif path.name == "pyproject.toml":
            project = tomllib.loads(path.read_text())["project"]
            # `dynamic`: maturin takes it from the Cargo.toml beside it.
            if "version" not in project.get("dynamic", []):
                yield name, project.get("version", "none")
    for name, wanted in PLACES:
        found = re.search(wanted, (top / name).read_text(), re.M)
        yield name, found[1] if found else "none"


def changelog(text, version):
    """Sentences about a changelog that does not begin with the version."""
    heading = re.search("^## .*", text, re.M)
    if not heading or not re.fullmatch(rf"## {re.escape(version)}( - \d{{4}}-\d\d-\d\d)?", heading[0]):
        yield f"CHANGELOG.md: its first heading is '{heading[0] if heading else ''}' and has to be '## {version}', or that with ' - ' and the day"
    newest = text[heading.end() :].split("\n## ")[0] if heading else ""
    if not re.search("^Stored state: ", newest, re.M):
        yield "CHANGELOG.md: its newest version has no line that begins with 'Stored state: '"


def stability(text, top):
    """Sentences about README.md's section on what stays."""
    section = re.search(r"^## Stability\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not section:
        yield "README.md: there is no section '## Stability'"
        return
    rows = dict(re.findall(r"^\| ([^|]*?) \| (\d+) \|", section[1], re.M))
    for what, name, constant in STORED:
        found = re.search(rf"const {constant}: \w+ = (\d+);", (top / name).read_text())
        there = found[1] if found else "nothing"
        if rows.get(what) != there:
            yield f"README.md: Stability says {rows.get(what, 'nothing')} of '{what}', and {name} has {there}"
    known = {what for what, _, _ in STORED}
    yield from (f"README.md: nobody checks what Stability says of '{what}'" for what in rows if what not in known)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    names = subprocess.run(["git", "ls-files"], check=True, stdout=subprocess.PIPE, text=True, cwd=TOP).stdout.splitlines()
    found = list(said(TOP, names))
    faults = [f"{place}: {version}, not {sys.argv[1]}" for place, version in found if version != sys.argv[1]]
    faults += [*changelog((TOP / "CHANGELOG.md").read_text(), sys.argv[1]), *stability((TOP / "README.md").read_text(), TOP)]
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    print(f"{len(found)} places in manifests and {len(STORED)} numbers of formats were compared: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
