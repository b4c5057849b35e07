"""The types of what is given and answered, for annotations: contexts, patterns, statements, answers. Nothing else imports this."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from ._fable import Decision, Store

Context = Mapping[str, Union[float, str, None]]
"""Every signal of the catalog, from 0 to 1, and ``task``, which may be None or left out."""

Action = Union[Mapping[str, str], int]
"""A value for each component, or the index of the action in the catalog."""

Pattern = Mapping[str, Union[str, Sequence[str]]]
"""A conjunction: a component with its value, or with any of a list of values."""

Rewarded = Union[Decision, str]
"""A decision, or its id."""


class _Statement(TypedDict):
    response: float
    precision: float


class Statement(_Statement, total=False):
    """A stated preference: ``prefer``, with or without ``over`` and ``when``; or a ``direction`` in the catalog's coordinates."""

    prefer: Mapping[str, str]
    over: Mapping[str, str]
    when: Mapping[str, str]
    direction: Mapping[str, float]


class Settings(TypedDict, total=False):
    """The settings of core, by their names; each has the default of ``fable serve`` when it is left out or None."""

    noise_variance: Optional[float]
    precision_per_feature: Optional[float]
    base_precision: Optional[float]
    cost_weight: Optional[float]
    optimism: Optional[float]
    nu: Optional[float]
    delta: Optional[float]
    scale: Optional[Literal["fixed", "learned"]]
    half_life: Optional[Union[int, Literal["none"]]]
    on_change: Optional[Literal["tell", "halve", "reset"]]
    alpha: Optional[float]
    prior_radius: Optional[float]
    noise_proxy: Optional[float]
    probe: Optional[float]
    min_evidence: Optional[int]
    deadline: Optional[str]
    expiry: Optional[str]
    retained: Optional[Sequence[str]]
    seed: Optional[int]
    site: Optional[int]
    context_adapter: Optional[str]
    feedback_adapter: Optional[str]


class Probe(TypedDict):
    """A coin that was tossed for a decision."""

    contrast: str
    preferred: bool
    expected: float


class Average(TypedDict):
    mean: float
    lower: float
    upper: float


class Coins(TypedDict):
    """What coins have shown about a contrast."""

    trials: int
    e_value: float
    needed: float
    average: Average
    certified: int


class _Contrasted(TypedDict):
    mean: float
    sd: float
    probability: float
    lower: float
    upper: float
    beta: float
    evidence: int
    valid: bool
    promoted: int


class Contrasted(_Contrasted, total=False):
    """How sure a preference is; the last five are those of a declared contrast."""

    identifiable: bool
    trials: int
    e_value: float
    needed: float
    average: Average
    certified: int


class Share(TypedDict):
    part: Literal["default", "cost", "block", "draw", "bonus"]
    chosen: float
    other: float
    chosen_coordinate: Optional[str]
    other_coordinate: Optional[str]


class _Explained(TypedDict):
    chosen: Dict[str, str]
    other: Dict[str, str]
    feasible: bool
    explored: bool
    chosen_score: float
    other_score: float
    shares: List[Share]


class Explained(_Explained, total=False):
    """The score of a decision taken apart, against another action."""

    intended: Dict[str, str]
    probed: List[str]
    rule: str


class Promoted(Coins):
    """A promoted preference."""

    contrast: str
    verdict: int
    standing: str
    sentence: str
    by: Literal["coins", "ellipsoid"]
    valid: bool
    round: int
    at: int
    evidence: int
    lower: float
    upper: float


class Profile(TypedDict):
    """The promoted preferences, and what they say in a prompt."""

    profile: List[Promoted]
    text: str


class Posterior(TypedDict):
    """Mean and standard deviation of every coordinate."""

    rounds: int
    observations: int
    mean: Dict[str, float]
    sd: Dict[str, float]
    log_det_ratio: float


class Rule(TypedDict):
    effect: Literal["forbid", "require"]
    values: List[str]
    when: Optional[str]
    words: str


class Rules(TypedDict):
    """A user's own rules and switches, and the rules of the catalog."""

    rules: List[Rule]
    catalog: List[Dict[str, Any]]
    layer: bool
    memory: Optional[bool]


class Exchange(TypedDict):
    request: str
    answer: str
    at: int


class Remembered(TypedDict):
    remembered: bool
    exchanges: int


class Recalled(TypedDict):
    text: str
    exchanges: List[Exchange]


class Memories(TypedDict):
    memory: Literal["on", "off"]
    exchanges: List[Exchange]


class Copied(TypedDict):
    backup: str
    state: Literal["running", "done", "failed"]
    users: int
    of: int
    bytes: int
    error: Optional[str]


class Found(TypedDict):
    """What the fit of a prior has found."""

    users: int
    observations: int
    share_of_mean: Optional[float]
    imagined_users: Optional[float]
    isotropic_precision: Optional[float]
    gain: Optional[Tuple[float, float]]
    noise_variance: float


Observation = Union[Tuple[Context, Action, float], Tuple[Context, Action, float, float]]
"""What was done and how it went; a weight may be after it."""

Users = Union[Store, Sequence[bytes], Sequence[Sequence[Observation]]]
"""Whom a prior is fitted from: a store, exported users, or the observations of each."""
