#!/usr/bin/env python3
"""Writes MANIFEST.tsv of a release candidate, and fails where a file is too large, missing or not expected.

  manifest.py DIR LICENCES    on standard input the limits: lines of a part, a file and its most bytes; LICENCES has lines of a file, a tab and
                              a licence expression, of which the last one for a file counts

Only parts whose folder is there are looked at. `WHEEL` in a name stands for the tags of a wheel, which depend on the machine.
"""

import hashlib
import re
import sys
from pathlib import Path


def pattern(name):
    return re.compile(re.escape(name).replace("WHEEL", "[a-z0-9_.-]+"))


def judge(folder, limits, licences):
    """Rows of the manifest, and sentences about what is wrong."""
    rows, faults = [], []
    present = sorted(part.name for part in folder.iterdir() if part.is_dir() and not part.name.startswith("."))
    for part in present:
        wanted = [(pattern(name), name, most) for kind, name, most in limits if kind == part]
        names = sorted(path.name for path in (folder / part).iterdir())
        faults += [f"{part}: {name} is missing" for known, name, _ in wanted if not any(known.fullmatch(each) for each in names)]
        for name in names:
            data = (folder / part / name).read_bytes()
            most = [most for known, _, most in wanted if known.fullmatch(name)]
            if not most:
                faults.append(f"{part}: {name} is in no row of the limits")
            elif len(data) > most[0]:
                faults.append(f"{part}: {name} has {len(data):,} bytes, and {most[0]:,} are the most")
            if name not in licences:
                faults.append(f"{part}: nobody has looked at the licences of {name}")
            rows.append((f"{part}/{name}", part, str(len(data)), hashlib.sha256(data).hexdigest(), licences.get(name, "")))
    return rows, faults


def read(text, separator, count):
    return [tuple(line.split(separator, count - 1)) for line in text.splitlines() if line.strip()]


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder, licences = Path(sys.argv[1]), Path(sys.argv[2])
    limits = [(kind, name, int(most)) for kind, name, most in read(sys.stdin.read(), None, 3)]
    known = dict(read(licences.read_text(), "\t", 2))
    rows, faults = judge(folder, limits, known)
    with open(folder / "MANIFEST.tsv", "w", encoding="utf-8") as file:
        for row in [("name", "kind", "bytes", "sha256", "licence"), *rows]:
            file.write("\t".join(row) + "\n")
    for name, _, size, digest, _ in rows:
        print(f"{int(size):>10,}  {digest[:12]}  {name}")
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    print(f"{len(rows)} files, {len(faults)} faults: {folder / 'MANIFEST.tsv'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
