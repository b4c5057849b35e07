"""Fable in the proxy of `LiteLLM <https://pypi.org/project/litellm/>`_, as a callback with ``async_pre_call_hook``.

A file ``layer.py`` beside the proxy's configuration makes the callback, and the configuration names it::

    import fable                                       # layer.py
    from fable.litellm import FableHandler
    policy = fable.Policy(fable.Catalog("agent"))
    handler = FableHandler(policy)

    litellm_settings:                                  # config.yaml
      callbacks: layer.handler

Requests to ``/v1/chat/completions`` get one more message, the last one; others go on as they came. The user is named by the header ``x-fable-user``, or
in the body by ``user``, ``safety_identifier`` or ``metadata.user_id``; nobody else's id is taken, and without one a request goes on as it came. The headers
``x-fable-conversation`` and ``x-fable-context`` are those of ``fable proxy``. The answer's header ``x-fable-decision`` has the id of the decision, for
:meth:`FableHandler.feedback` or, after :meth:`FableHandler.serve_feedback`, for ``POST /fable/feedback``. See :mod:`fable.assistant`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from typing import Any, Optional

from litellm.integrations.custom_logger import CustomLogger

import fable
from fable.assistant import Assistant, Said, Turn, text_of

__all__ = ["FableHandler"]

_CHAT = frozenset({"completion", "acompletion"})
_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool", "system": "system", "developer": "system"}


class FableHandler(CustomLogger):
    """The callback; ``users`` and ``options`` as those of :class:`fable.assistant.Assistant`. ``role`` says who speaks the instruction."""

    def __init__(self, users: Any, *, role: str = "system", **options: Any) -> None:
        super().__init__()
        self.assistant = Assistant(users, **options)
        self._role = role
        self._calls: OrderedDict[str, Turn] = OrderedDict()

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str) -> Optional[dict[str, Any]]:
        """Adds the instruction to a chat; changes nothing where there is no decision."""
        try:
            messages = data.get("messages")
            if call_type not in _CHAT or not isinstance(messages, list):
                return None
            headers = _headers(data)
            stated = headers.get("x-fable-context")
            context = json.loads(stated) if stated else None
            name = _user(data, headers)
            said = [_said(message) for message in messages]
        except Exception:  # a request that is not understood is not ours
            self.assistant.bypassed += 1
            return None
        turn = self.assistant.turn(name, said, conversation=headers.get("x-fable-conversation"), context=context)
        if turn is None:
            return None
        call = data.get("litellm_call_id")
        if isinstance(call, str):
            self._calls[call] = turn
            while len(self._calls) > 10_000:
                self._calls.popitem(last=False)
        return {**data, "messages": [*messages, {"role": self._role, "content": turn.text}]}

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any, request_headers: Any = None, litellm_call_info: Any = None
    ) -> Optional[dict[str, str]]:
        """The id of the decision, as a header of the answer."""
        turn = self._calls.get(str(data.get("litellm_call_id")))
        return None if turn is None else {"x-fable-decision": turn.decision}

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """An answer that calls no tools ends the turn."""
        self._ends(data, _calls_tools(response))
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """The same for an answer that comes in pieces, which are passed on as they are."""
        tools = False
        async for piece in response:
            tools = tools or _calls_tools(piece)
            yield piece
        self._ends(request_data, tools)

    def _ends(self, data: Mapping[str, Any], tools: bool) -> None:
        turn = self._calls.get(str(data.get("litellm_call_id")))
        if turn is not None and not tools:
            self.assistant.answered(turn)

    def feedback(self, decision: str, reward: float) -> None:
        """Tells how an answer went, from -1 to 1."""
        self.assistant.feedback(decision, reward)

    def serve_feedback(self, app: Any, path: str = "/fable/feedback") -> None:
        """Adds ``POST /fable/feedback`` to the proxy's application, behind its own keys: ``{"inference_id": DECISION, "value": REWARD}``."""
        from fastapi import Body, Depends, HTTPException
        from litellm.proxy.auth.user_api_key_auth import user_api_key_auth

        def take(said: dict[str, Any] = Body(...)) -> dict[str, str]:
            try:
                self.feedback(str(said["inference_id"]), float(said["value"]))
            except (KeyError, TypeError, ValueError) as flaw:
                raise HTTPException(400, "inference_id names a decision and value is a number from -1 to 1") from flaw
            except fable.FableError as refused:
                raise HTTPException(400, f"{refused.code}: {refused}") from refused
            return {"feedback_id": str(said["inference_id"])}

        app.add_api_route(path, take, methods=["POST"], dependencies=[Depends(user_api_key_auth)])


def _headers(data: Mapping[str, Any]) -> dict[str, str]:
    request = data.get("proxy_server_request")
    headers = request.get("headers") if isinstance(request, Mapping) else None
    return {str(name).lower(): str(value) for name, value in headers.items()} if isinstance(headers, Mapping) else {}


def _user(data: Mapping[str, Any], headers: Mapping[str, str]) -> Optional[str]:
    metadata = data.get("metadata")
    inside = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    for name in (headers.get("x-fable-user"), data.get("user"), data.get("safety_identifier"), inside):
        if isinstance(name, str) and name.strip():
            return name.strip()
    return None


def _said(message: Mapping[str, Any]) -> Said:
    return _ROLES.get(str(message.get("role")), "system"), text_of(message.get("content"))


def _calls_tools(answer: Any) -> bool:
    for choice in getattr(answer, "choices", None) or ():
        for part in (getattr(choice, "message", None), getattr(choice, "delta", None)):
            if part is not None and (getattr(part, "tool_calls", None) or getattr(part, "function_call", None)):
                return True
    return False
