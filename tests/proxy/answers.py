"""What the upstream answers: chat completions, responses and messages, whole and as streams, always the same for the same request.

An answer obeys the trailing instruction ("Answer briefly." makes it short), calls the tools that the last user message asks for
("use tool look_up then add", a comma calls two at once) if they are offered and allowed, and repeats what they returned. Requests are read
more strictly than the real services do: a member that is there twice, a choice of a tool that does not exist or a result that
nobody waits for is refused.
"""

import hashlib
import json
import re

CREATED = 1_700_000_000
SENTENCES = {
    "Answer briefly.": ["Done."],
    "Answer in detail.": [f"Point {n} — as long as it is thorough, and then some more of it." for n in range(1, 9)],
    "Answer step by step.": [f"{n}. A step." for n in range(1, 5)],
    "Answer with a question that clarifies the request.": ["Which one do you mean?"],
    "Say what you are about to do and wait for confirmation.": ["I am about to begin.", "Shall I?"],
}
PLAIN = ["This is the answer, naïve but true ✓.", "It has two sentences."]


class Refused(Exception):
    """A request that the real service would refuse."""

    def __init__(self, message, status=400):
        super().__init__(message)
        self.status = status


def need(so, message):
    if not so:
        raise Refused(message)


def parse(body):
    """The object in a body, in which no member may be there twice."""

    def unique(pairs):
        names = [name for name, _ in pairs]
        need(len(set(names)) == len(names), f"a member is there twice in {names}")
        return dict(pairs)

    try:
        request = json.loads(body, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}") from None
    need(isinstance(request, dict), "the body is not an object")
    return request


def text_of(content):
    """The text of a message, whose content is a text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    need(isinstance(content, list), "content is neither a text nor a list")
    return "".join(part.get("text", "") for part in content)


class Asked:
    """What a request comes to, whichever API it is of."""

    def __init__(self, question, instruction, steps, results, tools, allowed):
        self.question = question
        self.instruction = instruction
        self.steps, self.results = steps, results
        wanted = re.search(r"use tool ([\w,]+(?: then [\w,]+)*)", question)
        turns = wanted.group(1).split(" then ") if wanted else []
        names = turns[steps].split(",") if steps < len(turns) else []
        self.offered = [(name, arguments(tools[name], question)) for name in names if name in tools]
        self.calls = [call for call in self.offered if call[0] in allowed]

    def text(self, obey=True):
        sentences = next((said for told, said in SENTENCES.items() if told in self.instruction), PLAIN) if obey else PLAIN
        marks = re.findall(r"\[[\w-]+\]", self.question)[:1]
        returned = [f"It returned {result}." for result in self.results]
        return " ".join(marks + returned + sentences)


def arguments(schema, question):
    """Arguments that a schema asks for: the mark of the question, or 1."""
    mark = re.search(r"\[([\w-]+)\]", question)
    kinds = {name: part.get("type") for name, part in (schema or {}).get("properties", {}).items()}
    values = {"integer": 1, "number": 1.5, "boolean": True}
    return {name: values.get(kind, mark.group(1) if mark else "nothing") for name, kind in kinds.items()}


def only_allowed(tools, choice, entries, name):
    """The names among `tools` that a choice of OpenAI's leaves."""
    if choice is None or choice in ("auto", "required"):
        return set(tools)
    need(bool(tools), "tool_choice is only allowed when tools are specified")
    if choice == "none":
        return set()
    need(isinstance(choice, dict), f"tool_choice {choice!r} is unknown")
    if choice.get("type") == "function":
        need(name(choice) in tools, "tool_choice is not among the tools")
        return {name(choice)}
    need(choice.get("type") == "allowed_tools", f"tool_choice {choice!r} is unknown")
    body = entries(choice)
    need(body.get("mode") in ("auto", "required"), "allowed_tools needs a mode")
    listed = [name(tool) for tool in body.get("tools", []) if tool.get("type") == "function"]
    need(listed, "allowed_tools are empty")
    need(set(listed) <= set(tools), "allowed_tools are not among the tools")
    return set(listed)


def identity(*parts):
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:24]


def pieces(text):
    """A text as the pieces of a stream; joined they are the text."""
    return re.findall(r"\S+\s*", text)


def event(kind, body):
    body = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {kind}\n" if kind else "") + f"data: {body}\n\n"


class Chat:
    """`/v1/chat/completions`."""

    def ask(self, request, _memory):
        messages = request.get("messages")
        need(isinstance(messages, list) and messages, "messages are missing")
        tools = {tool["function"]["name"]: tool["function"].get("parameters") for tool in request.get("tools", [])}
        waiting, question, steps, results = set(), "", 0, []
        for message in messages:
            role = message.get("role")
            need(role in ("system", "developer", "user", "assistant", "tool"), f"role {role!r} is unknown")
            if role == "tool":
                need(message.get("tool_call_id") in waiting, "a tool result that nobody waits for")
                waiting.discard(message["tool_call_id"])
                results.append(text_of(message["content"]))
                continue
            need(not waiting, "tool calls without a result")
            if role == "user":
                question, steps, results = text_of(message["content"]), 0, []
            elif role == "assistant" and message.get("tool_calls"):
                waiting, steps = {call["id"] for call in message["tool_calls"]}, steps + 1
        need(not waiting, "tool calls without a result")
        last = messages[-1]
        instruction = text_of(last["content"]) if last["role"] in ("system", "developer") and len(messages) > 1 else ""
        choice = request.get("tool_choice")
        allowed = only_allowed(tools, choice, lambda body: body.get("allowed_tools", {}), lambda tool: tool["function"]["name"])
        return Asked(question, instruction, steps, results, tools, allowed)

    def calls(self, asked, seed):
        return [
            {"id": f"call_{identity(seed, str(n))}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(asked.calls)
        ]

    def whole(self, request, asked, text, seed, _memory):
        message = {"role": "assistant", "content": None if asked.calls else text, "refusal": None}
        if asked.calls:
            message["tool_calls"] = self.calls(asked, seed)
        return self.head(request, seed, "chat.completion") | {
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": self.reason(asked)}],
            "usage": self.usage(text),
        }

    def stream(self, request, asked, text, seed, _memory):
        head = self.head(request, seed, "chat.completion.chunk")
        counted = request.get("stream_options", {}).get("include_usage", False)

        def chunk(delta, reason=None):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return event(None, head | {"choices": [choice]} | ({"usage": None} if counted else {}))

        yield chunk({"role": "assistant", "content": None if asked.calls else "", "refusal": None})
        for n, call in enumerate(self.calls(asked, seed)):
            given = call["function"]["arguments"]
            yield chunk({"tool_calls": [{"index": n} | call | {"function": call["function"] | {"arguments": ""}}]})
            for part in (given[:5], given[5:]):
                yield chunk({"tool_calls": [{"index": n, "function": {"arguments": part}}]})
        for piece in [] if asked.calls else pieces(text):
            yield chunk({"content": piece})
        yield chunk({}, self.reason(asked))
        if counted:
            yield event(None, head | {"choices": [], "usage": self.usage(text)})
        yield "data: [DONE]\n\n"

    def head(self, request, seed, kind):
        made = {"id": f"chatcmpl-{identity(seed)}", "object": kind, "created": CREATED}
        return made | {"model": request.get("model"), "service_tier": "default", "system_fingerprint": "fp_1"}

    def reason(self, asked):
        return "tool_calls" if asked.calls else "stop"

    def usage(self, text):
        return {"prompt_tokens": 10, "completion_tokens": len(pieces(text)), "total_tokens": 10 + len(pieces(text))}

    def error(self, status, message):
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": str(status)}}


class Responses(Chat):
    """`/v1/responses`, which remembers what `previous_response_id` or `conversation` stand for."""

    def items(self, request, memory):
        given = request.get("input")
        need(isinstance(given, (str, list)) and given, "input is missing")
        given = [{"role": "user", "content": given}] if isinstance(given, str) else given
        before = request.get("previous_response_id") or self.conversation(request)
        need(before is None or before.startswith("conv_") or before in memory, f"{before} is unknown")
        return memory.get(before, []) + given

    def conversation(self, request):
        place = request.get("conversation")
        return place["id"] if isinstance(place, dict) else place

    def ask(self, request, memory):
        tools = {tool["name"]: tool.get("parameters") for tool in request.get("tools", []) if tool.get("type") == "function"}
        waiting, question, steps, results, before = set(), "", 0, [], None
        items = self.items(request, memory)
        for item in items:
            kind = item.get("type", "message")
            if kind == "function_call":
                waiting.add(item["call_id"])
                steps += before != "function_call"
            elif kind == "function_call_output":
                need(item["call_id"] in waiting, "an output that nobody waits for")
                waiting.discard(item["call_id"])
                results.append(text_of(item["output"]))
            elif kind == "message":
                role = item.get("role")
                need(role in ("system", "developer", "user", "assistant"), f"role {role!r} is unknown")
                if role == "user":
                    question, steps, results = text_of(item["content"]), 0, []
            before = kind
        need(not waiting, "calls without an output")
        last = items[-1]
        told = last.get("type", "message") == "message" and last.get("role") in ("system", "developer") and len(items) > 1
        choice = request.get("tool_choice")
        allowed = only_allowed(tools, choice, lambda body: body, lambda tool: tool["name"])
        return Asked(question, text_of(last["content"]) if told else "", steps, results, tools, allowed)

    def output(self, asked, text, seed):
        if not asked.calls:
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            head = {"id": f"msg_{identity(seed)}", "type": "message", "status": "completed", "role": "assistant"}
            return [head | {"content": [part]}]
        return [
            {
                "id": f"fc_{identity(seed, str(n))}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{identity(seed, str(n))}",
                "name": name,
                "arguments": json.dumps(given),
            }
            for n, (name, given) in enumerate(asked.calls)
        ]

    def whole(self, request, asked, text, seed, memory):
        made = self.head(request, seed) | {"output": self.output(asked, text, seed)}
        self.remember(request, made, memory)
        return made

    def remember(self, request, made, memory):
        memory[made["id"]] = self.items(request, memory) + made["output"]
        if self.conversation(request):
            memory[self.conversation(request)] = memory[made["id"]]

    def head(self, request, seed, status="completed"):
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
        usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
        return {
            "id": f"resp_{identity(seed)}",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": request.get("instructions"),
            "metadata": {},
            "model": request.get("model"),
            "output": [],
            "parallel_tool_calls": True,
            "previous_response_id": request.get("previous_response_id"),
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage if status == "completed" else None,
        }

    def stream(self, request, asked, text, seed, memory):
        count = iter(range(10_000))

        def sent(kind, **body):
            return event(kind, {"type": kind, "sequence_number": next(count)} | body)

        begun = self.head(request, seed, "in_progress")
        yield sent("response.created", response=begun)
        yield sent("response.in_progress", response=begun)
        for n, item in enumerate(self.output(asked, text, seed)):
            where = {"output_index": n, "item_id": item["id"]}
            if item["type"] == "function_call":
                empty = item | {"status": "in_progress", "arguments": ""}
                yield sent("response.output_item.added", output_index=n, item=empty)
                for part in (item["arguments"][:5], item["arguments"][5:]):
                    yield sent("response.function_call_arguments.delta", delta=part, **where)
                kind = "response.function_call_arguments.done"
                yield sent(kind, name=item["name"], arguments=item["arguments"], **where)
            else:
                part = item["content"][0]
                empty = part | {"text": ""}
                yield sent("response.output_item.added", output_index=n, item=item | {"status": "in_progress", "content": []})
                yield sent("response.content_part.added", content_index=0, part=empty, **where)
                for piece in pieces(text):
                    yield sent("response.output_text.delta", content_index=0, delta=piece, logprobs=[], **where)
                yield sent("response.output_text.done", content_index=0, text=text, logprobs=[], **where)
                yield sent("response.content_part.done", content_index=0, part=part, **where)
            yield sent("response.output_item.done", output_index=n, item=item)
        yield sent("response.completed", response=self.whole(request, asked, text, seed, memory))


class Messages(Chat):
    """`/v1/messages`."""

    def ask(self, request, _memory):
        messages = request.get("messages")
        need(isinstance(messages, list) and messages, "messages are missing")
        need(isinstance(request.get("max_tokens"), int), "max_tokens are missing")
        tools = {tool["name"]: tool.get("input_schema") for tool in request.get("tools", [])}
        waiting, question, steps, results, before = set(), "", 0, [], None
        for message in messages:
            role, content = message.get("role"), message["content"]
            need(role in ("user", "assistant"), f"role {role!r} is unknown")
            need(before is not None or role == "user", "the first message has to be the user's")
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            need(all(part["text"].strip() for part in parts if part["type"] == "text"), "a text block is empty")
            returned = [part for part in parts if part["type"] == "tool_result"]
            need({part["tool_use_id"] for part in returned} == waiting, "tool_use without tool_result, or the other way round")
            need(parts[: len(returned)] == returned, "tool_result has to come first")
            waiting = {part["id"] for part in parts if part["type"] == "tool_use"}
            results += [text_of(part.get("content")) for part in returned]
            steps += bool(waiting)
            if role == "user" and not returned:
                question, steps, results = text_of(parts[:1]), 0, []
            before = role
        need(not waiting, "tool_use without tool_result")
        # The last of several blocks of the last message.
        told = parts[-1]["text"] if role == "user" and len(parts) > 1 and parts[-1]["type"] == "text" else ""
        choice = request.get("tool_choice") or {"type": "auto"}
        need(choice.get("type") in ("auto", "any", "none", "tool"), f"tool_choice {choice!r} is unknown")
        need(bool(tools) or "tool_choice" not in request, "tool_choice without tools")
        allowed = {"none": set(), "tool": {choice.get("name")}}.get(choice["type"], set(tools))
        return Asked(question, told, steps, results, tools, allowed)

    def content(self, asked, text, seed):
        if not asked.calls:
            return [{"type": "text", "text": text}]
        return [
            {"type": "tool_use", "id": f"toolu_{identity(seed, str(n))}", "name": name, "input": given}
            for n, (name, given) in enumerate(asked.calls)
        ]

    def head(self, request, seed):
        made = {"id": f"msg_{identity(seed)}", "type": "message", "role": "assistant", "model": request.get("model")}
        return made | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}

    def reason(self, asked):
        return "tool_use" if asked.calls else "end_turn"

    def whole(self, request, asked, text, seed, _memory):
        made = self.head(request, seed) | {"content": self.content(asked, text, seed), "stop_reason": self.reason(asked)}
        return made | {"usage": {"input_tokens": 10, "output_tokens": len(pieces(text))}}

    def stream(self, request, asked, text, seed, _memory):
        yield event("message_start", {"type": "message_start", "message": self.head(request, seed)})
        for n, block in enumerate(self.content(asked, text, seed)):
            call = block["type"] == "tool_use"
            empty = block | ({"input": {}} if call else {"text": ""})
            yield event("content_block_start", {"type": "content_block_start", "index": n, "content_block": empty})
            yield event("ping", {"type": "ping"})
            given = json.dumps(block["input"]) if call else ""
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in (given[:5], given[5:]) if call]
            deltas += [{"type": "text_delta", "text": piece} for piece in pieces(text) if not call]
            for delta in deltas:
                yield event("content_block_delta", {"type": "content_block_delta", "index": n, "delta": delta})
            yield event("content_block_stop", {"type": "content_block_stop", "index": n})
        ended = {"stop_reason": self.reason(asked), "stop_sequence": None}
        usage = {"input_tokens": 10, "output_tokens": len(pieces(text))}
        yield event("message_delta", {"type": "message_delta", "delta": ended, "usage": usage})
        yield event("message_stop", {"type": "message_stop"})

    def error(self, status, message):
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": f"req_{status}"}


APIS = {"/v1/chat/completions": Chat(), "/v1/responses": Responses(), "/v1/messages": Messages()}


def answer(path, body, seed, obey, memory):
    """The whole answer of an API as an object, or its stream as an iterator of texts."""
    api = APIS[path]
    request = parse(body)
    asked = api.ask(request, memory)
    if not obey:
        asked.calls = asked.offered
    text = asked.text(obey)
    seed = f"{seed} {asked.steps} {asked.question}"  # no two steps of a loop have the same ids
    make = api.stream if request.get("stream") else api.whole
    return make(request, asked, text, seed, memory)
