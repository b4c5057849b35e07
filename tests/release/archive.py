#!/usr/bin/env python3
"""Packs a folder so that the same files give the same bytes, and looks into archives.

  archive.py FOLDER ARCHIVE              the folder, by its own name, as .tar.gz or .zip: names in order, owner 0, the time SOURCE_DATE_EPOCH;
                                         in a .tar.gz a file that is equal to one before it is a hard link to that one
  archive.py --without TEXT... FOLDER    fails if a file below the folder, or one inside of an archive there, has one of the texts in it
"""

import gzip
import io
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path


def files(folder):
    """Every file below the folder, in the order of names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def pack(folder, archive):
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for path in files(folder):
                entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), time.gmtime(epoch)[:6])
                entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, mode(path) << 16
                packed.writestr(entry, path.read_bytes(), compresslevel=9)
        return
    plain, seen = io.BytesIO(), {}
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for path in files(folder):
            entry, data = tarfile.TarInfo(str(path.relative_to(folder.parent))), path.read_bytes()
            entry.mtime, entry.mode = epoch, mode(path)
            first = seen.setdefault((data, entry.mode), entry.name)
            if first == entry.name:
                entry.size = len(data)
            else:
                entry.type, entry.linkname, data = tarfile.LNKTYPE, first, b""
            packed.addfile(entry, io.BytesIO(data))
    with archive.open("wb") as file, gzip.GzipFile("", "wb", 9, file, epoch) as packed:
        packed.write(plain.getvalue())


def mode(path):
    return 0o755 if os.access(path, os.X_OK) else 0o644


def contents(name, data):
    """The file itself, and what is inside of it if it is an archive, as pairs of a name and bytes."""
    yield name, data
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for inner in packed.namelist():
                yield from contents(f"{name}: {inner}", packed.read(inner))
    elif data[:2] == b"\x1f\x8b":
        plain = gzip.decompress(data)
        yield from contents(f"{name}: unpacked", plain) if not name.endswith((".tgz", ".crate", ".tar.gz")) else inside(name, plain)


def inside(name, plain):
    with tarfile.open(fileobj=io.BytesIO(plain)) as packed:
        for entry in packed:
            if entry.isfile():
                yield from contents(f"{name}: {entry.name}", packed.extractfile(entry).read())


def without(texts, folder):
    """Sentences about files that have one of the texts in them."""
    for path in files(folder):
        for name, data in contents(path.name, path.read_bytes()):
            for text in texts:
                if text.encode() in data:
                    yield f"{name} has '{text}' in it"


def main():
    arguments, texts = sys.argv[1:], []
    while arguments[:1] == ["--without"] and len(arguments) > 2:
        texts.append(arguments[1])
        del arguments[:2]
    if texts and len(arguments) == 1:
        found = list(without(texts, Path(arguments[0])))
        print("\n".join(found), end="\n" if found else "", file=sys.stderr)
        return 1 if found else 0
    if texts or len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    pack(Path(arguments[0]), Path(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
