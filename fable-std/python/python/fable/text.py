"""Words as numbers, by fixed rules and without a language model: what a request is about, and how a reaction was meant.

They are the rules by which ``fable proxy`` reads. They read English, and they were made for the catalog ``agent``: a catalog with tasks or signals that
they do not know is refused with ``BadContext``.

>>> import fable, fable.text
>>> agent = fable.Catalog("agent")
>>> fable.text.context(agent, "Fix the bug in parser.rs")["task"]
'coding'
>>> fable.text.context(agent, "and in French?", history=[("Translate it into Spanish", "Buenos dias.")])["task"]
'translation'
>>> reward, request = fable.text.reaction("Thanks, perfect! Now translate it")
>>> reward > 0.5, request
(True, 'Now translate it')
>>> fable.text.reaction("Who wrote Emma?")
(None, 'Who wrote Emma?')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from fable import Catalog
from fable._fable import read_context, read_reaction

__all__ = ["context", "reaction"]


def context(
    catalog: Catalog, request: str, *, history: Sequence[tuple[str, Optional[str]]] = (), background: Optional[str] = None
) -> dict[str, Any]:
    """The context of a request: its task, if one is recognized, and the catalog's signals.

    ``history`` has the exchanges before, the oldest first: a request, and its answer or ``None``. ``background`` is what the application tells its
    assistant. Nothing that a user likes belongs into any of them.
    """
    made: dict[str, Any] = read_context(catalog, request, list(history), background)
    return made


def reaction(line: str) -> tuple[Optional[float], Optional[str]]:
    """What a line after an answer says: a reward from -1 to 1 if it is about the answer, and the next request if there is one."""
    made: tuple[Optional[float], Optional[str]] = read_reaction(line)
    return made
