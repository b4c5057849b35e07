"""The wheel from its archive: decides and learns in memory, keeps a user in a store, and says its version.

  wheel.py VERSION
"""

import os
import sys
import tempfile
from importlib.metadata import version

import fable

assert version("fable-bandit") == sys.argv[1], version("fable-bandit")
context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
policy = fable.Policy(fable.Catalog("agent"))
ana, liked = fable.User(policy, "ana"), 0
for turn in range(60):
    decision = ana.decide(context)
    pleased = decision.action["style"] == "concise"
    liked += pleased and turn >= 40
    ana.feedback(decision, 0.8 if pleased else -0.4)
assert liked >= 15, f"{liked} of the last 20 were liked"
with tempfile.TemporaryDirectory() as folder:
    for decisions in range(2):
        with fable.Store(os.path.join(folder, "users.fable"), policy) as store:
            ben = store.user("ben")
            ben.feedback(ben.decide(context).id, 0.5)
print(f"{liked} of the last 20 were liked, and a store was opened twice")
