#!/usr/bin/env python3
"""Compares the version in all manifests and in CHANGELOG.md, and the format numbers in README.md with the code and the newest tag.

  versions.py VERSION

The first heading of CHANGELOG.md is `## VERSION` or `## VERSION - YYYY-MM-DD`, or `## Unreleased` as long as VERSION has no tag. A line below it
begins with `Stored state: `. README.md has a section `## Stability` with a row for each number in STORED.

Without a tag (`0.1.0` or `v0.1.0`) a number may change freely. With one, README.md has the numbers of the newest tag. A version with another minor number
may change a format number if the newest entry of CHANGELOG.md says so, for example `exported users: 7 to 8`.
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
# Format numbers: first cell of the row in README.md, file and constant in the code.
STORED = [
    ("events, snapshots, priors", "fable-core/src/record/mod.rs", "VERSION"),
    ("exported users", "fable-std/src/store/transfer.rs", "VERSION"),
    ("files of a store", "fable-std/src/store/file/mod.rs", "VERSION"),
    ("keys of a store", "fable-std/src/store/file/keys.rs", "VERSION"),
    ("memory of a user", "fable-std/src/memory/mod.rs", "VERSION"),
    ("tables in PostgreSQL", "fable-std/src/store/postgres/tables.rs", "VERSION"),
    ("slots in a device's flash", "fable-embedded/src/flash/slot.rs", "VERSION"),
    ("prior in a device's flash", "fable-embedded/src/flash/prior.rs", "VERSION"),
    ("protocol between host and device", "fable-embedded/wire/src/lib.rs", "VERSION"),
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


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd=TOP).stdout


def newest_tag(tags):
    """The highest of the tags `1.2.3` and `v1.2.3`, or nothing."""
    return max((tag for tag in tags if re.fullmatch(r"v?\d+\.\d+\.\d+", tag)), key=lambda tag: [int(part) for part in tag.removeprefix("v").split(".")], default="")


def entry(text):
    """The first heading of a changelog and the text below it."""
    heading = re.search("^## .*", text, re.M)
    return (heading[0], text[heading.end() :].split("\n## ")[0]) if heading else ("", "")


def changelog(text, version, tag=""):
    """Faults in the heading and the newest entry of a changelog."""
    heading, newest = entry(text)
    unreleased = heading == "## Unreleased" and tag.removeprefix("v") != version
    if not unreleased and not re.fullmatch(rf"## {re.escape(version)}( - \d{{4}}-\d\d-\d\d)?", heading):
        yield f"CHANGELOG.md: its first heading is '{heading}' and has to be '## {version}', or that with ' - ' and the day"
    if not re.search("^Stored state: ", newest, re.M):
        yield "CHANGELOG.md: its newest version has no line that begins with 'Stored state: '"


def numbers(text):
    """The rows of README.md's section on stability, or nothing without that section."""
    section = re.search(r"^## Stability\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return section and dict(re.findall(r"^\| ([^|]*?) \| (\d+) \|", section[1], re.M))


def kept(text, tagged, newest, patch):
    """Numbers that differ from the tag's and are not in the newest entry of the changelog; in a patch version every difference."""
    now = numbers(text) or {}
    for what, before in (numbers(tagged) or {}).items():
        change = f"{what}: {before} to {now.get(what, 'nothing')}"
        if now.get(what) != before and (patch or not re.search(rf"{re.escape(change)}\b", newest)):
            yield f"README.md: {change} since the newest tag, " + ("in a patch version" if patch else "and the newest entry of CHANGELOG.md does not say so")


def stability(text, top):
    """Differences between README.md's section on stability and the code."""
    rows = numbers(text)
    if rows is None:
        yield "README.md: there is no section '## Stability'"
        return
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
    wanted, changes, readme = sys.argv[1], (TOP / "CHANGELOG.md").read_text(), (TOP / "README.md").read_text()
    found = list(said(TOP, git("ls-files").splitlines()))
    tag = newest_tag(git("tag", "--merged").split())
    faults = [f"{place}: {version}, not {wanted}" for place, version in found if version != wanted]
    faults += [*changelog(changes, wanted, tag), *stability(readme, TOP)]
    if tag:
        patch = tag.removeprefix("v").split(".")[:2] == wanted.split(".")[:2]
        faults += kept(readme, git("show", f"{tag}:README.md"), entry(changes)[1], patch)
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    since = f"tag {tag}" if tag else "no tag yet"
    print(f"{len(found)} places in manifests and {len(STORED)} numbers of formats were compared ({since}): {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
