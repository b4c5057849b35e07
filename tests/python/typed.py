"""A program as a user of the package writes it, for `mypy --strict`: it has to be accepted as it stands, and what is wrong not."""

import fable
from fable.types import Context, Contrasted, Pattern

context: Context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
never: list[Pattern] = [{"tool": ["web_search", "file_search"]}]

policy = fable.Policy(fable.Catalog("agent"), nu=0.3, seed=7, half_life=50)
ana = fable.User(policy, "ana")
decision = ana.decide(context, forbid=never, propensities=100)
style: str = decision.action["style"]
rewards: int = ana.feedback(decision, 0.5)
shown: Contrasted = ana.contrast("concise_over_detailed")
assert decision.propensities is not None and sum(decision.propensities) > 0.99

users = fable.Users(policy, ["u1", "u2"])
batch = users.decide([0, -1], [[0.1, 0.2, 0.7, 0.3]] * 2)
users.feedback(batch, [0.5, -0.5])
best = int(batch.actions[0])

# What is wrong is found before anything runs: each of these is an error, or mypy complains about the comment.
fable.Policy(fable.Catalog("agent"), nuu=0.3)  # type: ignore[call-arg]
ana.decide(context, forbid="tool")  # type: ignore[arg-type]
ana.feedback(3, 0.5)  # type: ignore[arg-type]
ana.onboard({"prefer": {"style": "concise"}})  # type: ignore[typeddict-item]
fable.Policy(policy)  # type: ignore[arg-type]
