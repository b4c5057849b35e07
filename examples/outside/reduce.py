#!/usr/bin/env python3
"""Makes exact numbers of a reduced run, or compares them: reduce.py COBA.json OBP.json [EXPECTED.json]"""

import hashlib
import json
import sys
from pathlib import Path


def reduced(coba, obp):
    """What does not depend on time or on other packages' arithmetic: every reward of Fable's, and every choice."""
    made = {f"{run['environment']}, {run['seed']}": {name: [repr(got) for got in quarters] for name, quarters in run["got"].items()} for run in coba["runs"]}
    made["replay"] = {name: played["matched"] for name, played in obp["replay"].items()}
    for pair in obp["pairs"]:
        chosen = {name: ",".join(map(str, learner["actions"])) for name, learner in pair["learners"].items()}
        made[f"{pair['campaign']}, {pair['taught']}"] = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in chosen.items()}
    return made


def main():
    coba, obp, *expected = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:])
    made = json.loads(json.dumps(reduced(coba, obp)))
    if not expected:
        print(json.dumps(made, indent=1))
        return
    wrong = [name for name in {**made, **expected[0]} if made.get(name) != expected[0].get(name)]
    for name in wrong:
        print(f"{name}\n  expected {expected[0].get(name)}\n  seen     {made.get(name)}", file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} of {len(made)} results are not the expected ones")
    print(f"   {len(made)} results as expected, exactly")


if __name__ == "__main__":
    main()
