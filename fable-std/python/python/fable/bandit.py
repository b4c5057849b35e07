"""Bandit problems of other packages as catalogs of Fable: the one place where their words are translated into ours.

Such a problem hands over a context, which is a vector, a dictionary or nothing, and a list of actions. Fable has signals from 0 to 1, at
most 16 of them, and actions that are made of components. What becomes of what:

*A context becomes signals.* Up to 16 numbers are a signal each. More than 16, or a dictionary, are added up in 16 buckets by a hash of
their names, so some share a signal; texts count as 1 under their own name. A signal is scaled by the range of what was seen: it begins as 0 to
1, widens with the first 200 contexts, and stands then. What lies outside later is clipped, and :attr:`Signals.clipped` counts it. Those who
know the ranges give them.

*Actions without features become arms*: one component ``arm`` with a value for each. What is learned is a weight for each arm and, with each
signal, a slope for each arm. An arm that is not offered is not feasible, so nothing can choose it.

*Actions with numeric features become cells*: each of the first 8 features is a component whose values are bins, as many as 1,024 cells have
room for and at most 4, cut at the quantiles of the first 200 values. The cells of the actions that are offered are the feasible set. What is
learned is a weight for each bin and, with each signal, a slope for each bin. So an action is known by its bins and not by its numbers, two
actions in one cell are the same, and features do not interact with each other; a learner that multiplies the numbers themselves knows more.

*A reward becomes a number from -1 to 1*: a range, 0 to 1 unless another one is given, is stretched to that, and what lies outside is
clipped and counted (:attr:`Bandit.clipped`).

>>> from fable.bandit import Bandit
>>> bandit = Bandit(user="ana")
>>> choice = bandit.decide([0.3, 0.9], ["left", "right"])
>>> choice.action in ("left", "right")
True
>>> bandit.learn(choice, 1.0)
>>> bandit.catalog.components
{'arm': ('a0', 'a1')}
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import fable

MAX_SIGNALS = 16
MAX_COMPONENTS = 8
MAX_ACTIONS = 1024
MAX_ARMS = 256
MAX_BINS = 4
MAX_BLOCKS = 128

#: Contexts, and values of an action's feature, after which ranges and bins stand.
SETTLED = 200


def features(thing: Any) -> list[tuple[Hashable, float]]:
    """The features of a context or an action, with their names: positions for a vector, keys for a dictionary.

    >>> features([0.5, "red"])
    [(0, 0.5), ((1, 'red'), 1.0)]
    >>> features({"age": 7}), features(None), features("red")
    ([('age', 7.0)], [], [((0, 'red'), 1.0)])
    """
    if thing is None:
        return []
    if isinstance(thing, Mapping):
        pairs: Any = thing.items()
    elif isinstance(thing, str) or not hasattr(thing, "__iter__"):
        pairs = [(0, thing)]
    else:
        pairs = enumerate(thing)
    return [((name, value), 1.0) if isinstance(value, str) else (name, float(value)) for name, value in pairs]


def _bucket(name: Hashable, count: int) -> int:
    digest = hashlib.blake2b(repr(name).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count


class Signals:
    """Contexts as signals.

    >>> signals = Signals([-1.0, 0.5])
    >>> signals.of([-1.0, 0.5])
    {'s0': 0.0, 's1': 0.5}
    >>> signals.of([1.0, 3.0])
    {'s0': 1.0, 's1': 1.0}
    """

    def __init__(
        self, first: Any, *, most: int = MAX_SIGNALS, ranges: Optional[Sequence[tuple[float, float]]] = None
    ) -> None:
        if not 0 <= most <= MAX_SIGNALS:
            raise ValueError(f"there can be 0 to {MAX_SIGNALS} signals, not {most}")
        named = features(first)
        plain = not isinstance(first, Mapping) and all(name == place for place, (name, _) in enumerate(named))
        self._length = len(named) if plain else None
        #: Whether features share signals by a hash of their names.
        self.hashed = not plain or len(named) > most
        count = 0 if first is None or most == 0 else most if self.hashed else len(named)
        #: The names of the signals, as the catalog has them.
        self.names = tuple(f"s{place}" for place in range(count))
        if ranges is not None and len(ranges) != count:
            raise ValueError(f"there are {count} signals and {len(ranges)} ranges")
        self._low = [low for low, _ in ranges] if ranges is not None else [0.0] * count
        self._high = [high for _, high in ranges] if ranges is not None else [1.0] * count
        if any(not low < high for low, high in zip(self._low, self._high)):
            raise ValueError("a range is two numbers, the smaller one first")
        self._left = 0 if ranges is not None else SETTLED
        #: How many values lay outside of their range after it stood.
        self.clipped = 0

    def of(self, context: Any) -> dict[str, float]:
        """The signals of a context; while ranges do not stand yet they widen."""
        count = len(self.names)
        named = features(context)
        if self._length is not None and len(named) != self._length and context is not None:
            raise ValueError(f"a context had {self._length} features at first and has {len(named)} now")
        if count == 0:
            return {}
        values = [0.0] * count
        for place, (name, value) in enumerate(named):
            if value - value != 0.0:
                raise ValueError(f"feature {name!r} of the context is {value}, which is not a finite number")
            values[_bucket(name, count) if self.hashed else place] += value
        signals = {}
        for place, (name, value) in enumerate(zip(self.names, values)):
            low, high = self._low[place], self._high[place]
            if not low <= value <= high:
                if self._left:
                    low, high = self._low[place], self._high[place] = min(low, value), max(high, value)
                else:
                    self.clipped += 1
            signals[name] = min(max((value - low) / (high - low), 0.0), 1.0)
        self._left = max(self._left - 1, 0)
        return signals


class Arms:
    """Actions that are known by what they are, one value each.

    >>> arms = Arms(["left", "right"])
    >>> arms.places(["right"]), arms.components()
    ([1], {'arm': 2})
    """

    def __init__(self, actions: Sequence[Any]) -> None:
        self._places: dict[Hashable, int] = {}
        for action in actions:
            self._places.setdefault(_key(action), len(self._places))
        if not 1 <= len(self._places) <= MAX_ARMS:
            raise ValueError(f"there can be 1 to {MAX_ARMS} arms, not {len(self._places)}")

    def components(self) -> dict[str, int]:
        """The components of the catalog, with how many values each has."""
        return {"arm": len(self._places)}

    def places(self, actions: Sequence[Any]) -> list[int]:
        """The catalog's action for each of these."""
        try:
            return [self._places[_key(action)] for action in actions]
        except KeyError as unknown:
            raise ValueError(f"the action {unknown.args[0]!r} was not there at the beginning; name all arms first") from None


def _key(action: Any) -> Hashable:
    if isinstance(action, Mapping):
        return tuple(sorted((repr(name), value) for name, value in action.items()))
    return action if isinstance(action, str) or not hasattr(action, "__iter__") else tuple(action)


class Cells:
    """Actions that are known by numeric features, each of which is in a bin.

    >>> cells = Cells(2)
    >>> cells.components()
    {'f0': 4, 'f1': 4}
    >>> cells.places([[0.1, 5.0], [0.9, 5.0]])
    [7, 15]
    """

    def __init__(self, length: int) -> None:
        if length < 1:
            raise ValueError("an action has at least one feature")
        self._length = length
        #: How many of the features are used: the first ones.
        self.used = min(length, MAX_COMPONENTS)
        self.bins = max(bins for bins in range(2, MAX_BINS + 1) if bins == 2 or bins**self.used <= MAX_ACTIONS)
        self._seen: list[list[float]] = [[] for _ in range(self.used)]
        self._edges: list[list[float]] = [[] for _ in range(self.used)]

    def components(self) -> dict[str, int]:
        """The components of the catalog, with how many values each has."""
        return {f"f{place}": self.bins for place in range(self.used)}

    def places(self, actions: Sequence[Sequence[float]]) -> list[int]:
        """The catalog's action for each of these; while bins do not stand yet they are cut anew."""
        for action in actions:
            if len(action) != self._length:
                raise ValueError(f"an action had {self._length} features at first and has {len(action)} now")
            if any(value - value != 0.0 for value in action):
                raise ValueError(f"the features {list(action)} of an action are not all finite numbers")
        if len(self._seen[0]) < SETTLED:
            for place, seen in enumerate(self._seen):
                seen.extend(float(action[place]) for action in actions)
                ordered = sorted(seen)
                self._edges[place] = [ordered[len(ordered) * cut // self.bins] for cut in range(1, self.bins)]
        return [self._place(action) for action in actions]

    def _place(self, action: Sequence[float]) -> int:
        place = 0
        for edges, value in zip(self._edges, action):
            place = place * self.bins + bisect_right(edges, value)
        return place


def is_featured(action: Any) -> bool:
    """Whether an action is a vector of numbers that says something about it, and not one place of a one-hot vector.

    >>> is_featured([0.2, 0.7]), is_featured((0, 1, 0)), is_featured("left"), is_featured(3)
    (True, False, False, False)
    """
    if isinstance(action, (str, Mapping)) or not hasattr(action, "__iter__"):
        return False
    values = list(action)
    if not values or any(isinstance(value, str) for value in values):
        return False
    return not (sum(value == 1 for value in values) == 1 and sum(value == 0 for value in values) == len(values) - 1)


def catalog_of(components: Mapping[str, int], signals: Sequence[str], *, flat: bool = False) -> dict[str, Any]:
    """The tables of a catalog: a weight for each value and, times each signal, another one; or, flat, one for each complete action.

    >>> catalog_of({"arm": 2}, ["s0"])["dictionary"]
    {'blocks': [{'of': 'arm'}, {'of': 'arm', 'scaled_by': 's0'}]}
    """
    blocks: list[dict[str, Any]] = [{"of": name} for name in components]
    for signal in signals:
        blocks += [{"of": name, "scaled_by": signal} for name in components]
    if flat:
        blocks = [{"of": "*"}]
    if len(blocks) > MAX_BLOCKS:
        raise ValueError(f"{len(components)} components and {len(signals)} signals make {len(blocks)} blocks; {MAX_BLOCKS} is the most")
    letter = {name: "a" if name == "arm" else "b" for name in components}
    return {
        "name": "bandit",
        "signals": list(signals),
        "components": [
            {"name": name, "values": [{"name": f"{letter[name]}{value}"} for value in range(count)]}
            for name, count in components.items()
        ],
        "dictionary": {"blocks": blocks},
    }


class Choice(NamedTuple):
    """What was chosen: the action, its position among those offered, how probable it was if that is known, and the decision's id."""

    action: Any
    position: int
    probability: Optional[float]
    decision: str


class Bandit:
    """One user of a bandit problem; the catalog is made from the first context and the first actions.

    ``user`` is the id that the caller has for whom is learned about. ``settings`` are those of :class:`fable.Policy` by name, or its
    ``paper=True``. ``allowed(context, action)`` is a hard rule: what it refuses is not among what is compared. ``kind`` says how actions are
    translated: ``"arms"``, ``"cells"``, or by :func:`is_featured` of the first one. ``actions`` names all arms; without it the first list that is offered does.
    """

    def __init__(
        self,
        user: str,
        *,
        rewards: tuple[float, float] = (0.0, 1.0),
        actions: Optional[Sequence[Any]] = None,
        kind: Optional[str] = None,
        flat: bool = False,
        paper: bool = False,
        signals: int = MAX_SIGNALS,
        ranges: Optional[Sequence[tuple[float, float]]] = None,
        allowed: Optional[Callable[[Any, Any], bool]] = None,
        propensities: Optional[int] = None,
        **settings: Any,
    ) -> None:
        if kind not in (None, "arms", "cells"):
            raise ValueError(f"actions are translated as 'arms' or as 'cells', not as {kind!r}")
        if not rewards[0] < rewards[1]:
            raise ValueError("the range of rewards is two numbers, the smaller one first")
        self.name = user
        self.rewards = rewards
        self.kind = kind
        self.flat = flat
        self.paper = paper
        self.settings = settings
        #: How many rewards lay outside of the range.
        self.clipped = 0
        self._most, self._ranges, self._allowed, self._propensities = signals, ranges, allowed, propensities
        self._actions: Union[Arms, Cells, None] = None
        self._names: dict[int, dict[str, str]] = {}
        self._arms = None if actions is None else list(actions)

    def begin(self, context: Any, actions: Sequence[Any]) -> None:
        """Makes the catalog for contexts and actions like these; the first call of any other function does it otherwise."""
        if len(actions) == 0:
            raise ValueError("there is no action to choose from")
        actions = actions if self._arms is None else self._arms
        kind = self.kind or ("cells" if is_featured(actions[0]) else "arms")
        self._translate = Signals(context, most=0 if self.flat else self._most, ranges=None if self.flat else self._ranges)
        made = Arms(actions) if kind == "arms" else Cells(len(actions[0]))
        tables = catalog_of(made.components(), self._translate.names, flat=self.flat)
        self.catalog = fable.Catalog.from_dict(tables)
        policy = fable.Policy.paper if self.paper else fable.Policy
        self.policy = policy(self.catalog, **self.settings)
        self.user = fable.User(self.policy, self.name)
        self._actions = made

    def _ready(self, context: Any, actions: Sequence[Any]) -> Union[Arms, Cells]:
        if self._actions is None:
            self.begin(context, actions)
        assert self._actions is not None
        return self._actions

    @property
    def signals(self) -> Signals:
        """How contexts are translated, once there was one."""
        return self._translate

    def decide(self, context: Any, actions: Sequence[Any]) -> Choice:
        """Chooses one of the actions; those that are not allowed are not compared."""
        positions = self._positions(context, actions)
        made = self.user.decide(self._translate.of(context), only=self._only(positions), propensities=self._propensities)
        position = positions[made.index]
        estimates = made.propensities
        probability = made.propensity if estimates is None else estimates[made.index]
        return Choice(actions[position], position, probability, made.id)

    def learn(self, choice: Union[Choice, str], reward: float) -> None:
        """Learns how a choice went; it may come late and in any order, once."""
        self.user.feedback(choice if isinstance(choice, str) else choice.decision, self.scaled(reward))

    def observe(self, context: Any, action: Any, reward: float) -> None:
        """Learns how an action went that something else has chosen."""
        (place,) = self._ready(context, [action]).places([action])
        self.user.observe(self._translate.of(context), place, self.scaled(reward))

    def best(self, context: Any, actions: Sequence[Any]) -> int:
        """The position of the action that is best by what is known, without exploring."""
        positions = self._positions(context, actions)
        return positions[self.user.recommend(self._translate.of(context), only=self._only(positions)).index]

    def _positions(self, context: Any, actions: Sequence[Any]) -> dict[int, int]:
        """Which of the catalog's actions are offered and allowed, and where; of those in one cell the first counts."""
        positions: dict[int, int] = {}
        for position, place in enumerate(self._ready(context, actions).places(actions)):
            if self._allowed is None or self._allowed(context, actions[position]):
                positions.setdefault(place, position)
        return positions

    def _only(self, places: Iterable[int]) -> Optional[list[dict[str, str]]]:
        """The feasible set in the words of a request; nothing where everything is offered."""
        named = [self._named(place) for place in places]
        return None if len(named) == self.catalog.size else named

    def _named(self, place: int) -> dict[str, str]:
        known = self._names.get(place)
        if known is None:
            known = self._names[place] = self.catalog.action(place)
        return known

    def scaled(self, reward: float) -> float:
        """The reward from -1 to 1."""
        low, high = self.rewards
        value = 2.0 * (float(reward) - low) / (high - low) - 1.0
        if not -1.0 <= value <= 1.0:
            if value != value:
                raise ValueError("the reward is not a number")
            self.clipped += 1
        return min(max(value, -1.0), 1.0)
