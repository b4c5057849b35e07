"""Fable in agents of `LangChain <https://pypi.org/project/langchain/>`_ 1.x, as middleware with ``wrap_model_call``.

>>> from langchain.agents import create_agent                                                # doctest: +SKIP
>>> from fable.langchain import FableMiddleware                                              # doctest: +SKIP
>>> layer = FableMiddleware(fable.Policy(fable.Catalog("agent")))                           # doctest: +SKIP
>>> agent = create_agent(model, tools, middleware=[layer], context_schema=Caller)            # doctest: +SKIP
>>> agent.invoke({"messages": [("user", "Fix the bug")]}, context=Caller(user_id="ana"))     # doctest: +SKIP
>>> layer.feedback(layer.last("ana"), 0.5)                                                   # doctest: +SKIP

Each call of the model gets one more message, the last one, which is not part of the agent's state: nothing is left of it in the next call. All calls of a
turn, with the work of tools between them, have the same decision. The user is who the caller's run-time context names: its ``user_id``, as an attribute or
as a key, or what the function ``user`` makes of a request; nobody means that the agent works as without Fable. See :mod:`fable.assistant`.

The message is the system's. Providers that take system messages at the beginning alone want ``role="human"``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Optional

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from fable.assistant import Assistant, Said, Turn, text_of

__all__ = ["FableMiddleware"]

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "function": "tool", "system": "system"}


class FableMiddleware(AgentMiddleware[Any, Any]):
    """The middleware; ``users`` and ``options`` as those of :class:`fable.assistant.Assistant`.

    ``conversation`` makes the name of a conversation of a request, where the application has one.
    """

    def __init__(
        self,
        users: Any,
        *,
        user: Optional[Callable[[Any], Optional[str]]] = None,
        conversation: Optional[Callable[[Any], Optional[str]]] = None,
        role: str = "system",
        **options: Any,
    ) -> None:
        super().__init__()
        if role not in ("system", "human"):
            raise ValueError("the instruction is said by 'system' or 'human'")
        self.assistant = Assistant(users, **options)
        self._user, self._conversation = user or _caller, conversation
        self._message = SystemMessage if role == "system" else HumanMessage
        self._last: dict[str, str] = {}

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Calls the model with the instruction after everything else."""
        told, turn = self._tell(request)
        response = handler(told)
        self._ends(turn, response)
        return response

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same, asynchronously."""
        told, turn = self._tell(request)
        response = await handler(told)
        self._ends(turn, response)
        return response

    def _tell(self, request: Any) -> tuple[Any, Optional[Turn]]:
        try:
            user = self._user(request)
            conversation = self._conversation(request) if self._conversation is not None else None
            said = [_said(message) for message in request.messages]
        except Exception:  # a request that is not understood is not ours
            self.assistant.bypassed += 1
            return request, None
        turn = self.assistant.turn(user, said, conversation=conversation)
        if turn is None:
            return request, None
        self._last[turn.user] = turn.decision
        return request.override(messages=[*request.messages, self._message(content=turn.text)]), turn

    def _ends(self, turn: Optional[Turn], response: Any) -> None:
        if turn is None:
            return
        made = response if isinstance(response, AIMessage) else next(iter(getattr(response, "result", None) or ()), None)
        if not getattr(made, "tool_calls", None):
            self.assistant.answered(turn)

    def last(self, user: str) -> Optional[str]:
        """The id of the last decision for a user."""
        return self._last.get(user)

    def feedback(self, decision: str, reward: float) -> None:
        """Tells how an answer went, from -1 to 1."""
        self.assistant.feedback(decision, reward)


def _caller(request: Any) -> Optional[str]:
    """The ``user_id`` of the run-time context."""
    context = getattr(request.runtime, "context", None)
    name = context.get("user_id") if isinstance(context, Mapping) else getattr(context, "user_id", None)
    return name if isinstance(name, str) and name else None


def _said(message: Any) -> Said:
    content: Sequence[Any] | str = message.content
    return _ROLES.get(message.type, "system"), text_of(content)
