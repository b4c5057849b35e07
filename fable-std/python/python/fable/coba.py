"""Fable as a learner of `Coba <https://pypi.org/project/coba/>`_: ``predict`` and ``learn``.

>>> import coba                                                                              # doctest: +SKIP
>>> from fable.coba import FableLearner                                                      # doctest: +SKIP
>>> environments = coba.Environments.from_linear_synthetic(500, n_action_features=0)         # doctest: +SKIP
>>> coba.Experiment(environments, [FableLearner("ana"), coba.RandomLearner()]).run()         # doctest: +SKIP

How contexts and actions become a catalog is in :mod:`fable.bandit`. Offered actions are the feasible set: nothing else is compared. A decision
waits for its ``learn`` by its id, which Coba carries along; ``learn`` without one is an observation of what somebody else chose.

The probability that ``predict`` returns is 1 where the choice is not left to chance. With ``nu``, which draws, it is an estimate from
``propensities`` draws, and with ``probe`` it is exact; without ``propensities`` it is 1 there too, as Coba's own LinTS has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from coba.primitives import Learner

from fable.bandit import Bandit

__all__ = ["FableLearner"]


class FableLearner(Learner):
    """A user of Fable who meets Coba's environments; options as those of :class:`fable.bandit.Bandit`."""

    def __init__(self, user: str = "coba", **options: Any) -> None:
        self._user, self._options = user, options
        self._bandit: Optional[Bandit] = None
        Bandit(user, **options)  # a mistake in the options is told now and not in the middle of an experiment

    @property
    def bandit(self) -> Bandit:
        """What translates and learns; made when it is needed, so that a learner can be pickled before it has begun."""
        if self._bandit is None:
            self._bandit = Bandit(self._user, **self._options)
        return self._bandit

    @property
    def params(self) -> Mapping[str, Any]:
        """What Coba writes into its tables."""
        shown = {name: value for name, value in self._options.items() if not callable(value)}
        return {"family": "Fable", "user": self._user, **shown}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, Any]]:
        """Chooses one of the actions."""
        choice = self.bandit.decide(context, actions)
        probability = 1.0 if choice.probability is None else choice.probability
        return choice.action, probability, {"decision": choice.decision}

    def learn(self, context: Any, action: Any, reward: float, probability: Optional[float], decision: Optional[str] = None) -> None:
        """Learns how an action went: one that ``predict`` has returned, or another one."""
        if decision is None:
            self.bandit.observe(context, action, reward)
        else:
            self.bandit.learn(decision, reward)
