"""Fable: a per-user policy layer around a frozen assistant, a bandit that learns from one number per interaction.

>>> import fable
>>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
>>> decision = ana.decide({"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3})
>>> decision.action["style"] in fable.Catalog("agent").components["style"]
True
>>> ana.feedback(decision, 0.5)
1
"""

from . import prior
from ._fable import (
    Batch,
    Catalog,
    Decision,
    Policy,
    Prior,
    Recommendation,
    Store,
    StoreUser,
    User,
    Users,
    __version__,
)
from .errors import (
    BadCatalog,
    BadContext,
    BadContrast,
    BadDirection,
    BadPattern,
    BadRequest,
    Busy,
    Closed,
    Damaged,
    DuplicateFeedback,
    Exhausted,
    Expired,
    FableError,
    Foreign,
    IncompleteAction,
    Infeasible,
    Internal,
    NoCoordinate,
    NotLearned,
    Off,
    OutOfRange,
    Stale,
    Storage,
    Uncertain,
    Unfit,
    UnknownDecision,
    UnknownName,
    Unreadable,
)

__all__ = [
    "BadCatalog",
    "BadContext",
    "BadContrast",
    "BadDirection",
    "BadPattern",
    "BadRequest",
    "Batch",
    "Busy",
    "Catalog",
    "Closed",
    "Damaged",
    "Decision",
    "DuplicateFeedback",
    "Exhausted",
    "Expired",
    "FableError",
    "Foreign",
    "IncompleteAction",
    "Infeasible",
    "Internal",
    "NoCoordinate",
    "NotLearned",
    "Off",
    "OutOfRange",
    "Policy",
    "Prior",
    "Recommendation",
    "Stale",
    "Storage",
    "Store",
    "StoreUser",
    "Uncertain",
    "Unfit",
    "UnknownDecision",
    "UnknownName",
    "Unreadable",
    "User",
    "Users",
    "__version__",
    "prior",
]
