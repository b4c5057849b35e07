"""Fable in the `Open Bandit Pipeline <https://pypi.org/project/obp/>`_: a policy for its simulator, and our log as its ``bandit_feedback``.

>>> from obp.dataset import OpenBanditDataset                                                # doctest: +SKIP
>>> from obp.simulator import run_bandit_simulation                                          # doctest: +SKIP
>>> from fable.obp import FablePolicy                                                        # doctest: +SKIP
>>> feedback = OpenBanditDataset(behavior_policy="random", campaign="men").obtain_batch_bandit_feedback()  # doctest: +SKIP
>>> policy = FablePolicy(dim=feedback["context"].shape[1], n_actions=34, len_list=3, user="ana")           # doctest: +SKIP
>>> chosen = run_bandit_simulation(feedback, policy)                                         # doctest: +SKIP

How contexts and actions become a catalog is in :mod:`fable.bandit`: every action is an arm, and a context of more than 16 features shares 16
signals. A list of several actions is several decisions, each without what the earlier ones took; ``update_params`` gives the reward to the decision of
that action if it was in the last list for that context, and is an observation otherwise.

:func:`bandit_feedback` makes OBP's dictionary of a log, the lines that ``fable evaluate`` reads; :func:`line` makes such a line of a decision. A log
needs chance in it: of ``nu``, with ``propensities``, or of ``probe``. Without chance every probability is 1, and OBP cannot tell what anything else
would have earned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Optional, Union

import numpy as np
from obp.policy.base import BaseContextualPolicy

import fable
from fable.bandit import Bandit

__all__ = ["FablePolicy", "bandit_feedback", "line"]


@dataclass
class FablePolicy(BaseContextualPolicy):
    """A user of Fable among OBP's policies; ``options`` as those of :class:`fable.bandit.Bandit`.

    ``batch_size`` must be 1: Fable learns from each reward when it comes. ``random_state`` is the seed of the policy.
    """

    user: str = "obp"
    options: dict[str, Any] = field(default_factory=dict)
    policy_name: str = "fable"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size != 1:
            raise ValueError("Fable learns from each reward when it comes: batch_size must be 1")
        self._begin()

    def _begin(self) -> None:
        seed = {} if self.random_state is None else {"seed": int(self.random_state)}
        self.bandit = Bandit(self.user, actions=range(self.n_actions), kind="arms", **{**seed, **self.options})
        self._last: tuple[bytes, dict[int, str]] = (b"", {})

    def initialize(self) -> None:
        """Forgets everything."""
        super().initialize()
        self._begin()

    def _row(self, context: Any) -> Any:
        if getattr(context, "ndim", None) != 2 or context.shape != (1, self.dim):
            raise ValueError(f"context shape must be (1, {self.dim}), but {getattr(context, 'shape', None)} is given")
        return context[0].astype(float)

    def select_action(self, context: Any) -> Any:
        """Chooses a list of actions, each the best of those that are left."""
        row = self._row(context)
        left, chosen = list(range(self.n_actions)), {}
        for _ in range(self.len_list):
            choice = self.bandit.decide(row, left)
            left.remove(choice.action)
            chosen[choice.action] = choice.decision
        self._last = (row.tobytes(), chosen)
        return np.fromiter(chosen, dtype=int)

    def update_params(self, action: int, reward: float, context: Any) -> None:
        """Learns how an action went."""
        row = self._row(context)
        seen, chosen = self._last
        decision = chosen.pop(int(action), None) if seen == row.tobytes() else None
        if decision is None:
            self.bandit.observe(row, int(action), reward)
        else:
            self.bandit.learn(decision, reward)
        self.n_trial += 1
        self.action_counts[action] += 1

    def best(self, context: Any) -> int:
        """The action that is best by what is known, without exploring."""
        return self.bandit.best(self._row(context), range(self.n_actions))


def line(
    context: Mapping[str, Any], decision: fable.Decision, reward: float, *, user: Optional[str] = None, draws: Optional[int] = None
) -> dict[str, Any]:
    """A line of a log, as ``fable evaluate`` and :func:`bandit_feedback` read it: what was asked, what was done, and how it went.

    ``draws`` says how many draws the propensities were estimated from; they are exact without it.
    """
    if decision.propensities is None:
        raise ValueError("a log needs the probability of every action: decide(..., propensities=K)")
    made = {
        "context": dict(context),
        "action": decision.action,
        "reward": float(reward),
        "propensities": list(decision.propensities),
    }
    if user is not None:
        made["user"] = user
    if draws is not None:
        made["draws"] = int(draws)
    return made


def bandit_feedback(
    catalog: fable.Catalog, log: Union[str, PathLike[str], Iterable[Mapping[str, Any]]]
) -> dict[str, Any]:
    """OBP's dictionary of a log: a file of JSON lines, or the lines themselves.

    The context is the task, one column for each, then the signals; ``action_context`` has a column for each value of each component. Where
    propensities were estimated from K draws, as (n + 1) / (K + allowed), ``pscore`` is (n + 1) / (K + 1), as ``fable evaluate`` has it and for the
    reason that is given there. All lines are one position. Rewards stay from -1 to 1.
    """
    tasks, signals = tuple(catalog.tasks), tuple(catalog.signals)
    contexts, actions, rewards, scores = [], [], [], []
    for number, said in enumerate(_lines(log), start=1):
        try:
            given, propensities = said["context"], said["propensities"]
            action = catalog.index(said["action"])
            if len(propensities) != catalog.size:
                raise ValueError(f"there are {len(propensities)} propensities for {catalog.size} actions")
            task = given.get("task")
            if task is not None and task not in tasks:
                raise ValueError(f"the catalog has no task {task!r}")
            row = [float(task == name) for name in tasks] + [float(given[name]) for name in signals]
            score, reward = float(propensities[action]), float(said["reward"])
            draws, allowed = said.get("draws"), sum(value > 0 for value in propensities)
            if draws is not None:
                score *= (draws + allowed) / (draws + 1)
            if not 0 < score or not -1 <= reward <= 1 or not np.isfinite(row).all():
                raise ValueError("a propensity is above 0, a reward from -1 to 1, and a signal a number")
        except (KeyError, TypeError, ValueError, fable.FableError) as flaw:
            raise ValueError(f"line {number} of the log: {flaw}") from flaw
        contexts.append(row)
        actions.append(action)
        rewards.append(reward)
        scores.append(min(score, 1.0))
    if not actions:
        raise ValueError("the log has no line")
    values = [(name, value) for name, all_values in catalog.components.items() for value in all_values]
    made = [catalog.action(index) for index in range(catalog.size)]
    return {
        "n_rounds": len(actions),
        "n_actions": catalog.size,
        "context": np.array(contexts, dtype=float).reshape(len(actions), -1),
        "action_context": np.array([[float(action[name] == value) for name, value in values] for action in made]),
        "action": np.array(actions, dtype=int),
        "position": None,
        "reward": np.array(rewards, dtype=float),
        "pscore": np.array(scores, dtype=float),
    }


def _lines(log: Union[str, PathLike[str], Iterable[Mapping[str, Any]]]) -> Iterable[Mapping[str, Any]]:
    if not isinstance(log, (str, PathLike)):
        yield from log
        return
    with open(log, encoding="utf-8") as file:
        for text in file:
            if text.strip():
                yield json.loads(text)
