#!/usr/bin/env python3
"""The checks of a release find what is wrong: each is given something right and something wrong. Nothing is built."""

import io
import os
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import archive
import linked
import manifest
import versions

CHANGELOG = "# Changelog\n\n## 0.1.0 - 2026-11-18\n\nStored state: version 4.\n\n## 0.0.9\n"


def readme(*changed):
    """A section with the numbers of the code, but for the changed rows."""
    rows = {}
    for what, name, constant in versions.STORED:
        line = next(line for line in (versions.TOP / name).read_text().splitlines() if f"const {constant}: " in line)
        rows[what] = line.split("=")[1].strip(" ;")
    rows |= dict(changed)
    return "# Fable\n\n## Stability\n\n" + "".join(f"| {what} | {number} | |\n" for what, number in rows.items() if number) + "\n## License\n"


class Versions(unittest.TestCase):
    def test_changelog(self):
        self.assertEqual(list(versions.changelog(CHANGELOG, "0.1.0")), [])
        self.assertEqual(list(versions.changelog(CHANGELOG.replace(" - 2026-11-18", ""), "0.1.0")), [])
        unreleased = CHANGELOG.replace("## 0.1.0 - 2026-11-18", "## Unreleased")
        for tag in ["", "0.0.9", "v0.0.9"]:
            self.assertEqual(list(versions.changelog(unreleased, "0.1.0", tag)), [])
        for tag in ["0.1.0", "v0.1.0"]:
            self.assertEqual(list(versions.changelog(CHANGELOG, "0.1.0", tag)), [])
            self.assertIn("its first heading", "".join(versions.changelog(unreleased, "0.1.0", tag)))
        for wrong in [CHANGELOG.replace("## 0.1.0", "## 0.0.8"), CHANGELOG.replace("## 0.1.0 ", "## 0.1.0-rc "), "# Changelog\n"]:
            self.assertIn("its first heading", "".join(versions.changelog(wrong, "0.1.0")))
        self.assertIn("Stored state", "".join(versions.changelog(CHANGELOG.replace("Stored state: ", ""), "0.1.0")))

    def test_stability(self):
        self.assertEqual(list(versions.stability(readme(), versions.TOP)), [])
        self.assertIn("no section", "".join(versions.stability("# Fable\n", versions.TOP)))
        self.assertIn("says 99 of 'bits'", "".join(versions.stability(readme(("bits", "99")), versions.TOP)))
        self.assertIn("says nothing of 'bits'", "".join(versions.stability(readme(("bits", "")), versions.TOP)))
        self.assertIn("nobody checks", "".join(versions.stability(readme(("colours", "1")), versions.TOP)))

    def test_tags(self):
        self.assertEqual(versions.newest_tag(["0.9.0", "v0.10.0", "0.10.0-rc", "wip"]), "v0.10.0")
        self.assertEqual(versions.newest_tag(["wip"]), "")

    def test_kept(self):
        tagged, changed, silent = readme(("exported users", "7")), readme(("exported users", "8")), "\n\nNothing about numbers.\n"
        self.assertEqual(list(versions.kept(tagged, tagged, silent, True)), [])
        self.assertEqual(list(versions.kept(changed, tagged, "\n- exported users: 7 to 8\n", False)), [])
        for wrong in [silent, "\n- exported users: 7 to 80\n", "\n- exported users: 6 to 8\n"]:
            self.assertIn("does not say so", "".join(versions.kept(changed, tagged, wrong, False)))
        self.assertIn("exported users: 7 to nothing", "".join(versions.kept(readme(("exported users", "")), tagged, silent, False)))
        self.assertIn("in a patch version", "".join(versions.kept(changed, tagged, "\n- exported users: 7 to 8\n", True)))
        self.assertEqual(list(versions.kept(changed, "# A page without that section\n", silent, False)), [])

    def test_manifests(self):
        found = dict(versions.of_cargo('[package]\nversion = "0.2.0"\n[dependencies]\nown = { path = "own", version = "0.3.0" }\nelse = "1"\n', "0.1.0"))
        self.assertEqual(found, {"its package": "0.2.0", "its own": "0.3.0"})
        self.assertEqual(dict(versions.of_cargo("[package]\nversion.workspace = true\n", "0.1.0")), {"its package": "0.1.0"})


class Manifest(unittest.TestCase):
    def test_judge(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for name in ["wheel", "npm", ".notes"]:
                (folder / name).mkdir()
            (folder / "wheel/fable-1-cp39-abi3-linux_x86_64.whl").write_bytes(b"12345")
            limits, known = [("wheel", "fable-1-WHEEL.whl", 5)], {"fable-1-cp39-abi3-linux_x86_64.whl": "MIT"}
            rows, faults = manifest.judge(folder, limits, known)
            self.assertEqual((len(rows), faults), (1, []))
            self.assertEqual(rows[0][2:], ("5", "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5", "MIT"))
            for limits, known, said in [
                ([("wheel", "fable-1-WHEEL.whl", 4)], known, "has 5 bytes, and 4 are the most"),
                (limits, {}, "nobody has looked at the licences"),
                ([], known, "in no row of the limits"),
                ([*limits, ("npm", "fable.tgz", 9)], known, "npm: fable.tgz is missing"),
            ]:
                self.assertEqual([said in fault for fault in manifest.judge(folder, limits, known)[1]], [True])


class Archive(unittest.TestCase):
    def test_same_bytes_and_what_is_inside(self):
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder, "part"), Path(folder, "made")
            (source / "in").mkdir(parents=True), made.mkdir()
            (source / "in/a.txt").write_text("secret place")
            (source / "b").write_text("program")
            (source / "b").chmod(0o755)
            (source / "in/c.txt").write_text("secret place")
            packed = []
            for turn in range(2):
                os.utime(source / "b", (turn + 1, turn + 1))
                for ending in ["tar.gz", "zip"]:
                    archive.pack(source, made / f"part.{ending}")
                    packed.append((made / f"part.{ending}").read_bytes())
            self.assertEqual(packed[:2], packed[2:])
            with tarfile.open(fileobj=io.BytesIO(packed[0])) as tar:
                self.assertEqual([(each.name, each.mode, each.mtime) for each in tar], [("part/b", 0o755, 1700000000), ("part/in/a.txt", 0o644, 1700000000), ("part/in/c.txt", 0o644, 1700000000)])
                self.assertEqual(tar.extractfile("part/in/c.txt").read(), b"secret place")
                self.assertEqual(tar.getmember("part/in/c.txt").linkname, "part/in/a.txt")
            with zipfile.ZipFile(io.BytesIO(packed[1])) as zipped:
                self.assertEqual(zipped.namelist(), ["part/b", "part/in/a.txt", "part/in/c.txt"])
            self.assertEqual(list(archive.without(["not there"], made)), [])
            self.assertEqual(len(list(archive.without(["secret place"], made))), 3)


class Linked(unittest.TestCase):
    def test_expression(self):
        self.assertEqual(linked.expression([]), "MIT OR Apache-2.0")
        self.assertEqual(linked.expression(["Apache-2.0/MIT", "Apache-2.0 OR MIT"]), "MIT OR Apache-2.0")
        parts = ["Apache-2.0 AND ISC", "(MIT OR Apache-2.0) AND Unicode-3.0", "(A AND B) OR C", "Apache-2.0 WITH LLVM-exception"]
        self.assertEqual(linked.expression(parts), "(MIT OR Apache-2.0) AND ((A AND B) OR C) AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND ISC AND Unicode-3.0")

    def test_texts(self):
        satisfied = linked.judging().satisfied
        with tempfile.TemporaryDirectory() as folder:
            package = {"manifest_path": f"{folder}/Cargo.toml", "license": "MIT OR Apache-2.0", "authors": ["Ana"]}
            self.assertIn("Apache License", linked.texts(package, satisfied)[0][1])
            self.assertIn("\nCopyright (c) Ana\n", linked.texts(package | {"license": "MIT"}, satisfied)[0][1])
            for nothing in [{"license": "ISC"}, {"license": "MIT", "authors": []}]:
                self.assertEqual(linked.texts(package | nothing, satisfied), [])
            for name in ["NOTICE", "LICENSE-MIT", "LICENSE-APACHE", "license.rs"]:
                Path(folder, name).write_text(name)
            self.assertEqual([label for label, _ in linked.texts(package, satisfied)], ["NOTICE", "LICENSE-MIT"])
            self.assertEqual([label for label, _ in linked.texts(package | {"license": "Apache-2.0 AND MIT"}, satisfied)], ["NOTICE", "LICENSE-APACHE", "LICENSE-MIT"])

    def test_what_is_linked(self):
        names = {name for name, _ in linked.tree("Cargo.toml", "fable-forms@x86_64-unknown-linux-gnu")}
        self.assertEqual(names, {"fable-forms"})
        core = {name for name, _ in linked.tree("Cargo.toml", "fable-core@thumbv6m-none-eabi")}
        self.assertLessEqual({"fable-core", "libm"}, core)
        self.assertNotIn("proptest", core)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1)
