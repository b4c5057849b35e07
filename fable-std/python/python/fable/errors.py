"""Every exception that Fable raises, one class for each code.

The codes are those of the service (``fable serve``), so that a program that moves from one to the other keeps them, and a
few that only a library needs: ``bad_catalog``, ``busy``, ``closed``, ``foreign``, ``unfit``. What raises has changed nothing.

>>> import fable
>>> try:
...     fable.Catalog("golf")
... except fable.UnknownName as error:
...     print(error.code)
unknown_name
"""

from __future__ import annotations


class FableError(Exception):
    """What all exceptions of Fable have in common: a ``code`` for programs and a sentence for people."""

    code: str = "internal"


class BadRequest(FableError, TypeError):
    """A value has the wrong type, or values do not go together."""

    code = "bad_request"


class UnknownName(FableError, ValueError):
    """The catalog has no such component, value, task, signal, coordinate or contrast; or no such catalog ships."""

    code = "unknown_name"


class OutOfRange(FableError, ValueError):
    """A number is out of its range or not a number, or a list or an array has the wrong length."""

    code = "out_of_range"


class IncompleteAction(FableError, ValueError):
    """An action has not exactly one value for each component."""

    code = "incomplete_action"


class BadContext(FableError, ValueError):
    """A signal is missing."""

    code = "bad_context"


class BadPattern(FableError, ValueError):
    """A pattern is empty, or names a component or value twice."""

    code = "bad_pattern"


class Infeasible(FableError, ValueError):
    """``forbid``, ``require`` and ``only``, the catalog's rules and the user's own leave nothing to choose."""

    code = "infeasible"


class Off(FableError):
    """The user has switched this off."""

    code = "off"


class BadDirection(FableError, ValueError):
    """A direction is empty, has too many coordinates or one twice, or touches two tasks."""

    code = "bad_direction"


class NoCoordinate(FableError, ValueError):
    """The dictionary has no coordinate for a stated preference."""

    code = "no_coordinate"


class Unreadable(FableError, ValueError):
    """The fixed rules that read texts do not know the catalog's words."""

    code = "unreadable"


class BadContrast(FableError, ValueError):
    """The two actions of a contrast do not differ in exactly one component."""

    code = "bad_contrast"


class UnknownDecision(FableError, ValueError):
    """There is no such decision of this user."""

    code = "unknown_decision"


class Expired(FableError):
    """The decision waits no longer for its reward."""

    code = "expired"


class DuplicateFeedback(FableError):
    """The decision has had its reward."""

    code = "duplicate_feedback"


class Stale(FableError):
    """The decision cannot be explained any more: something was learned since, or the defaults are others."""

    code = "stale"


class NotLearned(FableError):
    """Nothing was learned from the decision that could be taken back."""

    code = "not_learned"


class Damaged(FableError):
    """What is stored about the user, or a snapshot, is damaged."""

    code = "damaged"


class Exhausted(FableError):
    """A counter has reached its end."""

    code = "exhausted"


class Storage(FableError):
    """It could not be stored, or what is stored could not be read; or the store belongs to somebody else."""

    code = "storage"


class Uncertain(FableError):
    """The database went away in the middle, and it is not known whether it has happened."""

    code = "uncertain"


class Internal(FableError):
    """A mistake in this program."""

    code = "internal"


class BadCatalog(FableError, ValueError):
    """A catalog has a mistake in it; the message says where."""

    code = "bad_catalog"


class Busy(FableError):
    """Another thread is using the same user at this moment."""

    code = "busy"


class Closed(FableError):
    """The store was closed, or belongs to the process that this one was forked from."""

    code = "closed"


class Foreign(FableError, ValueError):
    """The bytes are whole and belong to another catalog, to other settings, to another prior or to the other scalar."""

    code = "foreign"


class Unfit(FableError):
    """No prior can be fitted from these users."""

    code = "unfit"


_ALL: tuple[type[FableError], ...] = (
    BadRequest,
    UnknownName,
    OutOfRange,
    IncompleteAction,
    BadContext,
    BadPattern,
    Infeasible,
    Off,
    BadDirection,
    NoCoordinate,
    Unreadable,
    BadContrast,
    UnknownDecision,
    Expired,
    DuplicateFeedback,
    Stale,
    NotLearned,
    Damaged,
    Exhausted,
    Storage,
    Uncertain,
    Internal,
    BadCatalog,
    Busy,
    Closed,
    Foreign,
    Unfit,
)

BY_CODE: dict[str, type[FableError]] = {kind.code: kind for kind in _ALL}
"""The class of each code."""
