"""The extension module: what every class and method does. All of it is in the package ``fable``, too."""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Optional, Union, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, Unpack

from .types import (
    Action,
    Coins,
    Context,
    Contrasted,
    Copied,
    Explained,
    Found,
    Memories,
    Pattern,
    Posterior,
    Probe,
    Profile,
    Recalled,
    Remembered,
    Rewarded,
    Rules,
    Settings,
    Statement,
)
from .types import Users as Source

__all__ = [
    "Batch",
    "Catalog",
    "Decision",
    "Policy",
    "Prior",
    "Recommendation",
    "Store",
    "StoreUser",
    "User",
    "Users",
    "_RustUsers",
    "__version__",
    "_policy",
    "fit_prior",
    "read_context",
    "read_reaction",
]

__version__: str

@final
class Catalog:
    """What can be chosen: components with values, contexts, what is learned, contrasts and rules.

    ``Catalog("agent")`` is one that ships (agent, tau2, rubric), ``Catalog("lamp.toml")`` one from a file.

    >>> import fable
    >>> agent = fable.Catalog("agent")
    >>> agent.size, agent.dimension, agent.signals
    (180, 254, ('risk', 'ambiguity', 'memory_need', 'tool_need'))
    """

    def __new__(cls, name_or_path: Union[str, os.PathLike[str]]) -> Self: ...
    @classmethod
    def from_toml(cls, toml: str) -> Self:
        """A catalog from the text of a TOML file.

        >>> import fable
        >>> text = fable.Catalog("tau2").to_toml()
        >>> fable.Catalog.from_toml(text).fingerprint == fable.Catalog("tau2").fingerprint
        True
        """

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Self:
        """The same tables as Python objects.

        >>> import fable
        >>> lamp = fable.Catalog.from_dict({
        ...     "name": "lamp",
        ...     "signals": ["daylight"],
        ...     "components": [{"name": "light", "values": [{"name": "warm"}, {"name": "cold"}]}],
        ...     "dictionary": {"blocks": [{"of": "light"}, {"of": "light", "scaled_by": "daylight"}]},
        ... })
        >>> lamp.size, lamp.coordinates
        (2, ('light=warm', 'light=cold', 'daylight*light=warm', 'daylight*light=cold'))
        """

    def to_toml(self) -> str:
        """The catalog as the text of a TOML file."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def components(self) -> dict[str, tuple[str, ...]]:
        """The values of each component, in their order."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of contexts."""
    @property
    def signals(self) -> tuple[str, ...]:
        """The signals of contexts, numbers from 0 to 1."""
    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of what is learned."""

    @property
    def contrasts(self) -> tuple[str, ...]:
        """The names of the declared contrasts."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    @property
    def size(self) -> int:
        """The number of actions; the last component varies fastest."""

    @property
    def fingerprint(self) -> str:
        """Covers everything but texts."""
    def action(self, index: Action) -> dict[str, str]:
        """The value of each component of an action.

        >>> import fable
        >>> fable.Catalog("agent").action(0)
        {'memory': 'no_memory', 'tool': 'no_tool', 'style': 'direct'}
        """

    def index(self, action: Action) -> int:
        """The position of an action.

        >>> import fable
        >>> fable.Catalog("agent").index({"memory": "no_memory", "tool": "no_tool", "style": "concise"})
        1
        """

    def instruction(self, action: Action) -> str:
        """What the assistant is told.

        >>> import fable
        >>> fable.Catalog("agent").instruction(1)
        'Do not use stored memory. Use no tool. Answer briefly.'
        """

    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Prior:
    """What users have in common, as ``fable prior fit`` writes it. See ``fable.prior.fit``."""

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Self:
        """Reads a prior from a file; ``fable prior fit`` writes such files, too."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A prior from the bytes of its file."""
    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the file."""
    def to_bytes(self) -> bytes:
        """The bytes of the file."""
    @property
    def scalar(self) -> Literal["f32", "f64"]:
        """The numbers that it is in."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class Policy:
    """A catalog with settings: everything about deciding and learning that is not one user's. Users and threads share it.

    Every setting of the learner is a keyword (``Settings``); the table ``[settings]`` of the catalog's file comes before the defaults.

    >>> import fable
    >>> policy = fable.Policy(fable.Catalog("agent"), nu=0.3, seed=7)
    >>> policy.settings["nu"], policy.settings["seed"], policy.scalar
    (0.3, 7, 'f32')
    """

    def __new__(
        cls,
        catalog: Catalog,
        *,
        scalar: Optional[Literal["f32", "f64"]] = None,
        prior: Optional[Prior] = None,
        **settings: Unpack[Settings],
    ) -> Self: ...
    @classmethod
    def paper(
        cls,
        catalog: Catalog,
        *,
        scalar: Optional[Literal["f32", "f64"]] = None,
        prior: Optional[Prior] = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """The paper's learner: scores from a draw, a precision of 16 in every coordinate, nothing fades.

        >>> import fable
        >>> fable.Policy.paper(fable.Catalog("tau2")).settings["nu"]
        0.3
        """

    @property
    def catalog(self) -> Catalog:
        """What can be chosen."""
    @property
    def scalar(self) -> Literal["f32", "f64"]:
        """The numbers that users are kept in."""
    @property
    def fingerprint(self) -> str:
        """Covers what gives a stored number its meaning: snapshots belong to one."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings in force, by their names."""

    def __reduce__(self) -> tuple[Any, tuple[Catalog, str, Optional[Prior], dict[str, Any]]]: ...

@final
class Decision:
    """An action that was chosen, and waits for its reward."""

    @property
    def id(self) -> str:
        """The user's number, the incarnation and the round; the place that decided, unless it is 0."""

    @property
    def action(self) -> dict[str, str]:
        """The value of each component."""
    @property
    def index(self) -> int:
        """The position of the action in the catalog."""

    @property
    def instruction(self) -> str:
        """What the assistant is told."""

    @property
    def score(self) -> float:
        """The mean score of the action."""

    @property
    def sampled_score(self) -> float:
        """What optimism, or the draw, made of it."""

    @property
    def explored(self) -> bool:
        """Whether another feasible action has a higher mean score."""

    @property
    def feasible(self) -> int:
        """How many actions there were to choose from."""

    @property
    def probes(self) -> list[Probe]:
        """The coins that were tossed."""

    @property
    def propensity(self) -> Optional[float]:
        """How probable the action was, where chance is in coins alone (``probe`` with optimism)."""

    @property
    def propensities(self) -> Optional[list[float]]:
        """How probable every action was, if that was asked for."""

@final
class Recommendation:
    """The best action by what is known. Nothing is remembered."""

    @property
    def action(self) -> dict[str, str]:
        """The value of each component."""
    @property
    def index(self) -> int:
        """The position of the action in the catalog."""
    @property
    def instruction(self) -> str:
        """What the assistant is told."""
    @property
    def score(self) -> float:
        """The mean score of the action."""
    @property
    def feasible(self) -> int:
        """How many actions there were to choose from."""

@final
class User:
    """One user in memory. Two threads may not use one at the same time: the second one gets ``Busy``.

    >>> import fable
    >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
    >>> context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
    >>> decision = ana.decide(context, forbid=[{"tool": "web_search"}])
    >>> decision.id, decision.feasible
    ('e6f79c19051ffb05-0-1', 150)
    >>> ana.feedback(decision, 0.5)
    1
    >>> again = fable.User.restore(ana.policy, "ana", ana.snapshot())
    >>> again.observations
    1
    """

    def __new__(cls, policy: Policy, name: str) -> Self: ...
    @classmethod
    def restore(cls, policy: Policy, name: str, snapshot: bytes) -> Self:
        """A user from the bytes of a snapshot: of this package, of a device, of the browser. Raises ``Foreign`` for those of another
        user, catalog or setting, and ``Damaged``."""

    def snapshot(self) -> bytes:
        """Everything about the user, the same bytes as on a device."""

    @property
    def name(self) -> str:
        """The name; its hash is the user's number."""
    @property
    def policy(self) -> Policy:
        """How this user is decided for."""
    @property
    def rounds(self) -> int:
        """Decisions made."""

    @property
    def observations(self) -> int:
        """Rewards learned."""

    def decide(
        self,
        context: Context,
        *,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
        propensities: Optional[int] = None,
        at: Optional[int] = None,
    ) -> Decision:
        """Chooses an action and remembers it until its reward comes.

        An action is feasible when it matches no pattern of ``forbid``, every one of ``require``, and, if it is given, one of ``only``.
        ``defaults`` are the default scores of all actions for this round. ``propensities=K`` estimates the probability of every
        action from K further draws. ``at`` is the caller's time, in any unit.
        """

    def recommend(
        self,
        context: Context,
        *,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
    ) -> Recommendation:
        """The feasible action with the highest mean score: no exploring, no coins, nothing kept.

        >>> import fable
        >>> fable.User(fable.Policy(fable.Catalog("tau2")), "ana").recommend({}).feasible
        18
        """

    def feedback(self, decision: Rewarded, reward: float, *, weight: Optional[float] = None, at: Optional[int] = None) -> int:
        """Learns the reward of a decision, from -1 to 1, and promotes what has become certain; how many rewards were learned.
        Each decision has one reward: another one is ``DuplicateFeedback``."""

    def observe(
        self,
        context: Context,
        action: Action,
        reward: float,
        *,
        weight: Optional[float] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
        at: Optional[int] = None,
    ) -> int:
        """Learns from an action that was chosen elsewhere.

        >>> import fable
        >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
        >>> ana.observe({}, {"memory": "conversation", "tool": "standard", "style": "concise"}, 0.5)
        1
        """

    def onboard(self, *statements: Statement) -> int:
        """Takes stated preferences, all of them or none; how many.

        >>> import fable
        >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
        >>> ana.onboard({"prefer": {"style": "concise"}, "over": {"style": "detailed"}, "when": {"task": "coding"},
        ...              "response": 1.0, "precision": 4.0})
        1
        """

    def contrast(
        self,
        name: Optional[str] = None,
        *,
        context: Optional[Context] = None,
        prefer: Optional[Action] = None,
        over: Optional[Action] = None,
        total: bool = False,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
    ) -> Contrasted:
        """How sure a preference is: of a declared contrast by its name, or of two actions that differ in one component.

        >>> import fable
        >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
        >>> ana.contrast("concise_over_detailed")["promoted"]
        0
        """

    def explain(
        self,
        decision: Rewarded,
        *,
        against: Optional[Action] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
    ) -> Explained:
        """The score of a decision taken apart, against another action or the runner-up; exact until the user's next reward.

        >>> import fable
        >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
        >>> why = ana.explain(ana.decide({}))
        >>> abs(sum(share["chosen"] for share in why["shares"]) - why["chosen_score"]) < 1e-6
        True
        """

    def profile(self) -> Profile:
        """The promoted preferences, and what they say in a prompt."""

    def posterior(self) -> Posterior:
        """Mean and standard deviation of every coordinate."""

    def waiting(self, *, at: Optional[int] = None) -> list[str]:
        """The decisions that wait for their reward, oldest first.

        >>> import fable
        >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
        >>> [ana.decide({}).id] == ana.waiting()
        True
        """

    def probes(self) -> dict[str, Coins]:
        """What coins have shown about each declared contrast."""

    def promote(self, *, at: Optional[int] = None) -> int:
        """Promotes what is certain now; how much."""

    def forget(self) -> None:
        """Goes back to the prior, in the next incarnation."""

    def inspect(self) -> dict[str, Any]:
        """Everything there is to see about the user: the report of ``fable inspect --json``."""

    def svg(self) -> str:
        """The picture of ``fable inspect --svg``."""

    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, tuple[Policy, str, bytes]]: ...

@final
class Users:
    """Many users of one policy in memory, decided for in batches over numpy arrays, with the GIL released.

    >>> import fable, numpy as np
    >>> users = fable.Users(fable.Policy(fable.Catalog("agent")), [f"u{n}" for n in range(100)])
    >>> batch = users.decide(tasks=np.zeros(100, int), signals=np.full((100, 4), 0.5, np.float32))
    >>> batch.actions.shape
    (100,)
    >>> users.feedback(batch, np.where(batch.actions % 6 == 1, 0.5, -0.1))
    100
    """

    def __new__(cls, policy: Policy, names: Sequence[str]) -> Self: ...
    @classmethod
    def restore(cls, policy: Policy, names: Sequence[str], snapshots: Sequence[bytes]) -> Self:
        """Users from their snapshots."""

    def snapshots(self) -> list[bytes]:
        """The snapshot of every user."""
    @property
    def policy(self) -> Policy:
        """How these users are decided for."""
    @property
    def names(self) -> list[str]:
        """The names, in the order of positions."""
    @property
    def rounds(self) -> NDArray[np.int64]:
        """Decisions made, of each user."""
    @property
    def observations(self) -> NDArray[np.int64]:
        """Rewards learned, of each user."""
    def decide(
        self,
        tasks: Optional[ArrayLike] = None,
        signals: Optional[ArrayLike] = None,
        *,
        feasible: Optional[ArrayLike] = None,
        who: Optional[ArrayLike] = None,
        propensities: Optional[int] = None,
    ) -> Batch:
        """Decides once for every user, or for those of ``who``: positions, or a mask. All rows or, when one is wrong, none.

        ``tasks`` are positions in the catalog's tasks, -1 for none; ``signals`` has a row for each user and a column for each signal;
        ``feasible`` is a mask of the actions, one for all rows or one for each.
        """

    def recommend(
        self,
        tasks: Optional[ArrayLike] = None,
        signals: Optional[ArrayLike] = None,
        *,
        feasible: Optional[ArrayLike] = None,
        who: Optional[ArrayLike] = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The best action of every row by what is known, and its mean score; nothing is kept."""

    def feedback(
        self,
        batch: Batch,
        rewards: ArrayLike,
        *,
        weights: Optional[ArrayLike] = None,
        who: Optional[ArrayLike] = None,
        at: Optional[int] = None,
    ) -> int:
        """Learns the rewards of a batch, one for each row; how many. With ``who`` only those rows are looked at, so the others may have
        no reward yet (NaN, say). All of them or, when one is wrong, none."""

    def __len__(self) -> int: ...

@final
class Batch:
    """Decisions of a batch, as columns; ``batch[row]`` is one of them."""

    @property
    def who(self) -> NDArray[np.int64]:
        """The position of each row's user."""

    @property
    def actions(self) -> NDArray[np.int64]:
        """The position of each row's action in the catalog."""
    @property
    def scores(self) -> NDArray[np.float64]:
        """The mean score of each row's action."""
    @property
    def sampled_scores(self) -> NDArray[np.float64]:
        """What optimism, or the draw, made of it."""
    @property
    def explored(self) -> NDArray[np.bool_]:
        """Whether another feasible action has a higher mean score."""
    @property
    def feasible(self) -> NDArray[np.int64]:
        """How many actions there were to choose from."""
    @property
    def propensity(self) -> Optional[NDArray[np.float64]]:
        """How probable each row's action was, if that is exact or was asked for."""

    @property
    def propensities(self) -> Optional[NDArray[np.float64]]:
        """How probable every action was, a row each, if that was asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> Decision: ...

@final
class Store:
    """Users in a file, or in PostgreSQL (``postgres://...``): what was returned is durable.

    It is the store of ``fable serve``: the command, HTTP and other languages use the same one. A file belongs to one process at a time, a
    database to many. Threads may share a store and its users.

    >>> import fable, os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "users.fable")
    >>> with fable.Store(place, fable.Policy(fable.Catalog("tau2"))) as store:
    ...     ana = store.user("ana")
    ...     ana.feedback(ana.decide({}), 0.5)
    ...     store.users()
    1
    ['ana']
    """

    def __new__(
        cls,
        place: Union[str, os.PathLike[str]],
        policy: Policy,
        *,
        durable: bool = True,
        memory: bool = False,
        history: Optional[Union[int, Literal["all"]]] = None,
        cache: Optional[int] = None,
        threads: Optional[int] = None,
        key: Optional[str] = None,
    ) -> Self:
        """Opens a store, or makes one.

        ``durable``: whether a call waits until it is on disk. ``memory``: whether exchanges are kept. ``history``: how many events are kept of a
        user. ``cache``: bytes for users in memory. ``key``: 64 hexadecimal digits, if the key is not in the file beside the store.
        """

    @property
    def policy(self) -> Policy:
        """How its users are decided for."""
    @property
    def place(self) -> str:
        """Where it is, without a password."""

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    def close(self) -> None:
        """Ends it; every later call is ``Closed``."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: Union[type[BaseException], BaseException, TracebackType, None],
    ) -> None: ...
    def user(self, name: str) -> StoreUser:
        """A user, who need not be there yet."""

    def users(self) -> list[str]:
        """The names of all users."""

    def stats(self) -> dict[str, Any]:
        """Counts, and what is served."""

    def forget(self, name: str) -> bool:
        """Erases a user; whether there was one."""

    def export(self, name: str) -> Optional[bytes]:
        """Everything about a user as a file that ``fable import`` and ``fable replay`` take; None when nobody of that name is there."""

    def backup(self, path: Union[str, os.PathLike[str]]) -> Copied:
        """Copies the store to a new file, while it is used, and waits for it."""

    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...

@final
class StoreUser:
    """One user of a store: the verbs of ``User``, durable, and those that take a journal."""

    @property
    def name(self) -> str:
        """The name."""
    @property
    def store(self) -> Store:
        """The store."""
    @property
    def rounds(self) -> int:
        """Decisions made."""
    @property
    def observations(self) -> int:
        """Rewards learned."""
    def decide(
        self,
        context: Context,
        *,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
        propensities: Optional[int] = None,
        at: Optional[int] = None,
    ) -> Decision:
        """Chooses an action and remembers it; as ``User.decide``, durable."""
    def recommend(
        self,
        context: Context,
        *,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
    ) -> Recommendation:
        """The feasible action with the highest mean score; as ``User.recommend``."""
    def feedback(self, decision: Rewarded, reward: float, *, weight: Optional[float] = None, at: Optional[int] = None) -> int:
        """Learns the reward of a decision; as ``User.feedback``, durable. The decision has to be this user's."""
    def observe(
        self,
        context: Context,
        action: Action,
        reward: float,
        *,
        weight: Optional[float] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
        at: Optional[int] = None,
    ) -> int:
        """Learns from an action that was chosen elsewhere; as ``User.observe``, durable."""
    def unlearn(self, decision: Rewarded) -> int:
        """Takes the reward of a decision back, even one that was learned long ago, as far as the history goes."""

    def onboard(self, *statements: Statement) -> int:
        """Takes stated preferences; as ``User.onboard``, durable."""
    def contrast(
        self,
        name: Optional[str] = None,
        *,
        context: Optional[Context] = None,
        prefer: Optional[Action] = None,
        over: Optional[Action] = None,
        total: bool = False,
        forbid: Optional[Sequence[Pattern]] = None,
        require: Optional[Sequence[Pattern]] = None,
        only: Optional[Sequence[Pattern]] = None,
    ) -> Contrasted:
        """How sure a preference is; as ``User.contrast``."""
    def explain(
        self,
        decision: Rewarded,
        *,
        against: Optional[Action] = None,
        defaults: Optional[Union[Sequence[float], NDArray[np.floating[Any]]]] = None,
    ) -> Explained:
        """The score of a decision taken apart; as ``User.explain``."""
    def profile(self) -> Profile:
        """The promoted preferences, and what they say in a prompt."""
    def posterior(self) -> Posterior:
        """Mean and standard deviation of every coordinate."""
    def waiting(self, *, at: Optional[int] = None) -> list[str]:
        """The decisions that wait for their reward, oldest first."""
    def probes(self) -> dict[str, Coins]:
        """What coins have shown about each declared contrast."""
    def promote(self, *, at: Optional[int] = None) -> int:
        """Promotes what is certain now; how much."""
    def rules(self) -> Rules:
        """The user's own rules and switches."""

    def forbid(self, values: Union[str, Sequence[str]], *, when: Optional[str] = None, words: Optional[str] = None) -> Rules:
        """Never these values, like ``"tool=web_search"``; in a task (``"task=coding"``) or while a signal is above 0.5."""

    def require(self, values: Union[str, Sequence[str]], *, when: Optional[str] = None, words: Optional[str] = None) -> Rules:
        """Always one of these values."""

    def allow(self, values: Union[str, Sequence[str]]) -> Rules:
        """Lifts what stands against these values."""

    def switch(self, *, layer: Optional[bool] = None, memory: Optional[bool] = None) -> Rules:
        """Switches everything off for the user, or on; whether what the user says may be remembered."""

    def remember(self, request: str, answer: str, *, at: Optional[int] = None) -> Remembered:
        """Keeps an exchange, if the store was opened with ``memory`` and the user has not said no."""

    def recall(self, mode: str, *, request: Optional[str] = None) -> Recalled:
        """What the chosen value of the component ``memory`` means for the assistant."""

    def memories(self) -> Memories:
        """All exchanges that are kept, the oldest first."""
    def unremember(self) -> int:
        """Lets go of what was exchanged, and of nothing else; how many exchanges."""
    def forget(self) -> bool:
        """Erases the user; whether there was one."""
    def export(self) -> Optional[bytes]:
        """Everything about the user as a file that ``fable import`` and ``fable replay`` take."""
    def snapshot(self) -> bytes:
        """The user as ``User.restore`` takes it."""

    def inspect(self) -> dict[str, Any]:
        """Everything there is to see about the user: the report of ``fable inspect --json``."""
    def svg(self) -> str:
        """The picture of ``fable inspect --svg``."""
    def _repr_html_(self) -> str: ...

@final
class _RustUsers:
    """The same rounds in Rust alone, for ``bench.py``."""

    def __new__(cls, policy: Policy, count: int, context: Context) -> Self: ...
    def run(self, count: int) -> None: ...

def _policy(catalog: Catalog, scalar: str, prior: Optional[Prior], settings: dict[str, Any]) -> Policy: ...
def fit_prior(
    users: Source,
    policy: Optional[Policy] = None,
    *,
    shrinkage: Optional[float] = None,
    choose_noise: bool = False,
    steps: Optional[int] = None,
) -> tuple[Prior, Found]: ...

def read_context(
    catalog: Catalog, request: str, history: Optional[Sequence[Sequence[Optional[str]]]] = None, background: Optional[str] = None
) -> dict[str, Any]:
    """The context of a request, by the rules of ``fable proxy``; see ``fable.text.context``."""

def read_reaction(line: str) -> tuple[Optional[float], Optional[str]]:
    """The reward that a line after an answer says, and the next request; see ``fable.text.reaction``."""
