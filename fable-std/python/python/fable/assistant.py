"""Fable between an application and its assistant: what the adapters for LiteLLM and LangChain have in common.

One decision is made for each turn of a user. It lasts while the assistant works with tools and while a request is sent again because there was no
answer. A conversation is known by its name, or by what the user has said in it so far. What the assistant is told is one more message after all others:
nothing before it is changed, so a provider's cache goes on working. Whatever goes wrong, the request goes on as it came: :meth:`Assistant.turn`
gives nothing then, and logs why.

>>> import fable
>>> from fable.assistant import Assistant
>>> policy = fable.Policy(fable.Catalog("tau2"))
>>> assistant = Assistant(policy, context={})
>>> turn = assistant.turn("ana", [("user", "What's new?")])
>>> turn.text.startswith("For this answer: ")
True
>>> again = assistant.turn("ana", [("user", "What's new?"), ("assistant", ""), ("tool", "Nothing.")])
>>> again.decision == turn.decision
True
>>> assistant.feedback(turn.decision, 0.5)
>>> assistant.turn("", [("user", "What's new?")]) is None
True
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Optional, Union

import fable

__all__ = ["Assistant", "Said", "Turn"]

#: Who said something and what: ``user``, ``assistant``, ``system`` or ``tool``, and the text.
Said = tuple[str, str]

_log = logging.getLogger("fable")


class Turn:
    """What was decided for a turn of a user."""

    def __init__(self, user: str, decision: str, action: Mapping[str, str], instruction: str) -> None:
        self.user = user
        #: The id of the decision, for its reward.
        self.decision = decision
        self.action = dict(action)
        #: What the assistant is told.
        self.text = f"For this answer: {instruction}"
        #: Whether there was an answer that calls no tools.
        self.answered = False


class Assistant:
    """The users of an assistant.

    ``users`` is a :class:`fable.Policy`, and users are in memory then, or a ``fable.Store``. ``context`` says what a turn is about: a function of what was
    said, or always the same dictionary; without it the rules of :mod:`fable.text` read the words, as ``fable proxy`` does. ``rules``, a function of the user and of
    what was said, gives the hard rules of a turn, as ``forbid``, ``require`` and ``only`` of ``decide``: they are settled before anything is explored.
    ``reaction`` reads a reward from -1 to 1, or nothing, from what a user says after an answer; without it :mod:`fable.text` does, and with ``False``
    nobody. ``keep`` is how many turns are remembered.
    """

    def __init__(
        self,
        users: Any,
        *,
        context: Union[Mapping[str, Any], Callable[[Sequence[Said]], Mapping[str, Any]], None] = None,
        rules: Optional[Callable[[str, Sequence[Said]], Mapping[str, Any]]] = None,
        reaction: Union[Callable[[str], Optional[float]], Literal[False], None] = None,
        keep: int = 10_000,
    ) -> None:
        if keep < 1:
            raise ValueError("at least one turn has to be remembered")
        self._policy = users if isinstance(users, fable.Policy) else None
        self._store = None if self._policy is not None else users
        self._catalog = users.policy.catalog if self._policy is None else self._policy.catalog
        self._context = self._read if context is None else context
        self._reaction = _reward if reaction is None else reaction
        self._rules, self._keep = rules, keep
        self._here: dict[str, fable.User] = {}
        self._turns: OrderedDict[bytes, Turn] = OrderedDict()
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        #: How many requests went on as they came.
        self.bypassed = 0

    def user(self, name: str) -> Any:
        """A user, who is new if nobody of that name is known."""
        if self._store is not None:
            return self._store.user(name)
        if name not in self._here:
            assert self._policy is not None
            self._here[name] = fable.User(self._policy, name)
        return self._here[name]

    def turn(
        self,
        user: Optional[str],
        said: Sequence[Said],
        *,
        conversation: Optional[str] = None,
        context: Optional[Mapping[str, Any]] = None,
    ) -> Optional[Turn]:
        """What to tell the assistant for what was said; nothing if there is no user, or something is wrong, which is logged."""
        try:
            if not user:
                raise LookupError("nobody says who the user is")
            asked = [text for who, text in said if who == "user"]
            if not asked:
                raise LookupError("the user has said nothing")
            with self._lock:
                return self._decide(user, said, asked, conversation, context)
        except Exception as fault:  # an assistant without Fable is better than none
            self.bypassed += 1
            _log.warning("the request goes on as it came: %s: %s", type(fault).__name__, fault)
            return None

    def _decide(
        self, user: str, said: Sequence[Said], asked: Sequence[str], conversation: Optional[str], context: Optional[Mapping[str, Any]]
    ) -> Turn:
        key = _key(user, conversation, asked)
        turn = self._turns.get(key)
        if turn is not None and not turn.answered:
            return turn
        known = self.user(user)
        self._hear(known, self._turns.get(_key(user, conversation, asked[:-1])), asked[-1])
        if context is None:
            context = self._context(said) if callable(self._context) else self._context
        rules = self._rules(user, said) if self._rules is not None else {}
        made = known.decide(dict(context), **rules)
        turn = Turn(user, made.id, made.action, made.instruction)
        self._remember(self._turns, key, turn)
        self._remember(self._owners, turn.decision, user)
        return turn

    def _read(self, said: Sequence[Said]) -> Mapping[str, Any]:
        """The context by the rules of ``fable.text``."""
        from fable import text

        history: list[tuple[str, Optional[str]]] = []
        for who, words in said:
            if who == "user":
                history.append((words, None))
            elif who == "assistant" and history and words:
                history[-1] = (history[-1][0], words)
        request, _ = history.pop()
        if history:
            request = text.reaction(request)[1] or request
        background = "\n".join(words for who, words in said if who == "system")
        return text.context(self._catalog, request, history=history, background=background or None)

    def _hear(self, known: Any, before: Optional[Turn], text: str) -> None:
        """Learns what the user says about the answer before."""
        if not self._reaction or before is None or not before.answered:
            return
        reward = self._reaction(text)
        if reward is not None:
            try:
                known.feedback(before.decision, reward)
            except fable.DuplicateFeedback:
                pass  # the first reward counts

    def _remember(self, where: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        where[key] = value
        while len(where) > self._keep:
            where.popitem(last=False)

    def answered(self, turn: Turn) -> None:
        """There is an answer, and it calls no tools: the same words are a new turn from now on."""
        turn.answered = True

    def feedback(self, decision: str, reward: float) -> None:
        """Tells how an answer went. Here errors are the caller's: the assistant is not in between."""
        with self._lock:
            owner = self._owners.get(decision)
            if owner is None:
                raise fable.UnknownDecision(f"no decision {decision!r} is remembered here")
            self.user(owner).feedback(decision, reward)


def _reward(words: str) -> Optional[float]:
    """The reward by the rules of ``fable.text``."""
    from fable import text

    return text.reaction(words)[0]


def _key(user: str, conversation: Optional[str], asked: Sequence[str]) -> bytes:
    made = hashlib.blake2b(digest_size=16)
    for text in (user, conversation or "", *asked):
        made.update(len(text).to_bytes(8, "little") + text.encode("utf-8", "surrogatepass"))
    return made.digest()


def text_of(content: Any) -> str:
    """The text of a message, whose content is a text or a list of blocks.

    >>> text_of([{"type": "text", "text": "Look: "}, {"type": "image_url", "image_url": "..."}, "there"])
    'Look: there'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = (part if isinstance(part, str) else part.get("text") if isinstance(part, Mapping) else None for part in content)
    return "".join(part for part in parts if isinstance(part, str))
