#!/usr/bin/env python3
"""The package `openai`, unmodified: chat completions and responses, whole and streamed, with tools, sync and async."""

import asyncio

import openai

from parts import KEY, bench, check, main

TOOLS = {
    "look_up": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"], "additionalProperties": False},
    "add": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
}
CHAT_TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Größe ✓", "parameters": schema}}
    for name, schema in TOOLS.items()
]
RESPONSE_TOOLS = [{"type": "function", "name": name, "parameters": schema, "strict": False} for name, schema in TOOLS.items()]


def client(url, seed, asynchronous=False, **headers):
    kind = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    return kind(base_url=f"{url}/v1", api_key=KEY, max_retries=0, timeout=20, default_headers={"x-seed": seed, **headers})


def plain(answer):
    """What a client has in its hands, without what Fable adds and declares."""
    answer = answer.model_dump()
    answer.pop("fable", None)
    return answer


def chat(url, seed, **more):
    messages = [{"role": "system", "content": "Sei höflich."}, {"role": "user", "content": 'Explain [a1] \u2028 "quotes" \\ 🦀'}]
    return plain(client(url, seed).chat.completions.create(model="small", messages=messages, user="ana", **more))


def chat_stream(url, seed, **more):
    messages = [{"role": "user", "content": [{"type": "text", "text": "Explain [a2]"}]}]
    options = {"include_usage": True}
    with client(url, seed).chat.completions.create(
        model="small", messages=messages, user="ben", stream=True, stream_options=options, **more
    ) as stream:
        return [chunk.model_dump() for chunk in stream]


def chat_helper(url, seed):
    """The package's own way to read a stream, which checks its order."""
    with client(url, seed).chat.completions.stream(
        model="small", messages=[{"role": "user", "content": "Explain [a3]"}], user="ben"
    ) as stream:
        kinds = [event.type for event in stream]
        return kinds, plain(stream.get_final_completion())


def chat_loop(url, seed, stream=False):
    """A loop over two turns of tools, two tools in the first one."""
    messages = [{"role": "system", "content": "Use tools."}, {"role": "user", "content": "[a4] use tool look_up,add then add"}]
    said, decisions = [], []
    while True:
        raw = client(url, seed + str(len(messages))).chat.completions.with_raw_response.create(
            model="small", messages=messages, tools=CHAT_TOOLS, user="cleo", stream=stream
        )
        decisions.append(raw.headers.get("x-fable-decision"))
        if stream:
            message = gather(raw.parse())
        else:
            message = raw.parse().choices[0].message.model_dump(exclude_none=True)
        said.append(message)
        messages.append(message)
        if not message.get("tool_calls"):
            return said, decisions
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result of {call['function']['name']}"})


def gather(stream):
    """The message that a stream of chunks is."""
    message = {"role": "assistant", "content": None}
    calls = {}
    for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                message["content"] = (message["content"] or "") + choice.delta.content
            for part in choice.delta.tool_calls or []:
                call = calls.setdefault(part.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
                call["id"] += part.id or ""
                call["function"]["name"] += part.function.name or ""
                call["function"]["arguments"] += part.function.arguments or ""
    if calls:
        message["tool_calls"] = list(calls.values())
    return message


def respond(url, seed, **more):
    given = more.pop("input", "Explain [r1] ü")
    return plain(client(url, seed).responses.create(model="small", input=given, safety_identifier="dan", **more))


def respond_stream(url, seed, **more):
    given = [{"role": "user", "content": [{"type": "input_text", "text": "Explain [r2]"}]}]
    with client(url, seed).responses.create(
        model="small", instructions="Be kind.", input=given, metadata={"user_id": "eve"}, stream=True, **more
    ) as stream:
        return [event.model_dump() for event in stream]


def respond_loop(url, seed, remembered):
    """The same with responses: all items sent again, or remembered by the upstream."""
    items, said, decisions, last = [{"role": "user", "content": "[r3] use tool look_up then add"}], [], [], None
    while True:
        more = {"previous_response_id": last} if remembered and last else {}
        raw = client(url, f"{seed} {len(said)}").responses.with_raw_response.create(
            model="small", input=items, tools=RESPONSE_TOOLS, safety_identifier=f"finn{remembered}", **more
        )
        decisions.append(raw.headers.get("x-fable-decision"))
        answer = raw.parse()
        said.append(plain(answer)["output"])
        last = answer.id
        calls = [item for item in answer.output if item.type == "function_call"]
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": f"result of {call.name}"} for call in calls]
        if not calls:
            return said, decisions
        items = results if remembered else items + [item.model_dump(exclude_none=True) for item in answer.output] + results


async def at_once(url, seed):
    """Ten calls of one async client at the same time, half of them streams."""

    async def one(number):
        messages = [{"role": "user", "content": f"Explain [c{number}]"}]
        made = await one_client.chat.completions.create(
            model="small", messages=messages, user=f"user {number}", stream=number % 2 == 1
        )
        return [chunk.model_dump() async for chunk in made] if number % 2 else plain(made)

    async with client(url, seed, asynchronous=True) as one_client:
        return await asyncio.gather(*(one(number) for number in range(10)))


def same_decision(decisions):
    check(
        None not in decisions and len(set(decisions)) == 1, f"one decision through a loop of {len(decisions)} requests", decisions
    )


def loops(test):
    """A loop both ways. The decisions are compared apart: a direct call has none."""

    def both(name, call):
        seen = []

        def said(url, seed):
            answers, decisions = call(url, seed)
            seen.append(decisions)
            return answers

        test.both(name, said)
        check(set(seen[0]) == {None}, "the upstream knows nothing of decisions")
        same_decision(seen[1])

    both("chat, a loop of tools", chat_loop)
    both("chat, the same streamed", lambda url, seed: chat_loop(url, seed, True))
    both("responses, a loop of tools", lambda url, seed: respond_loop(url, seed, False))
    both("responses, the same remembered upstream", lambda url, seed: respond_loop(url, seed, True))


def told(test):
    """What the proxy says about a decision, and that the answer obeys."""
    raw = client(test.proxy.url, "x").chat.completions.with_raw_response
    made = raw.create(model="small", messages=[{"role": "user", "content": "Explain [t1]"}], user="gus")
    answer = made.parse()
    decision = made.headers.get("x-fable-decision")
    fable = answer.model_extra.get("fable") or {}
    check(decision and fable.get("decision") == decision, "the decision is in the head and in the body", fable)
    check(set(fable["action"]) == {"memory", "tool", "style"}, f"and what was chosen: {fable['action']}", fable)
    stream = raw.create(model="small", messages=[{"role": "user", "content": "Explain [t2]"}], user="gus", stream=True)
    other = stream.headers.get("x-fable-decision")
    list(stream.parse())
    check(other and other != decision, "a stream has its decision in the head, another one")
    explained = test.proxy.op("explain", decision=other)
    check("chosen" in explained, "the service explains it", explained)


def errors(test):
    """What the upstream refuses comes back as it is."""
    for fault, kind in {"limit": openai.RateLimitError, "html": openai.InternalServerError}.items():
        seen = []
        for url in (test.upstream.url, test.proxy.url):
            for stream in (False, True):
                try:
                    client(url, "e", **{"x-fault": fault}).chat.completions.create(
                        model="small", messages=[{"role": "user", "content": "Hello"}], user="hana", stream=stream
                    )
                except kind as error:
                    headers = {name: error.response.headers.get(name) for name in ("content-type", "retry-after", "content-length")}
                    seen.append((error.status_code, error.body, error.response.text, headers))
        check(len(seen) == 4 and all(one == seen[0] for one in seen), f"{kind.__name__} is the same both ways", seen)
    other = client(test.proxy.url, "m")
    check([model.id for model in other.models.list()] == ["small"], "models are listed through the proxy")
    made = other.embeddings.create(model="small", input="x", encoding_format="float")
    check(made.data[0].embedding == [0.25, -0.5, 1.0], "embeddings come through the proxy")


def test():
    with bench("--catalog", "agent") as made:
        made.both("chat", chat)
        made.both("chat with tools", lambda url, seed: chat(url, seed, tools=CHAT_TOOLS))
        made.both("chat with the client's own choice", lambda url, seed: chat(url, seed, tools=CHAT_TOOLS, tool_choice="required"))
        made.both("chat that is free to choose", lambda url, seed: chat(url, seed, tools=CHAT_TOOLS, tool_choice="auto"))
        made.both("chat, streamed", chat_stream)
        made.both("chat, streamed, with tools", lambda url, seed: chat_stream(url, seed, tools=CHAT_TOOLS))
        made.both("chat, the package's own stream", chat_helper)
        made.both("responses, a text", respond)
        made.both("responses with tools", lambda url, seed: respond(url, seed, tools=RESPONSE_TOOLS, instructions="Be kind."))
        made.both("responses, a list", lambda url, seed: respond(url, seed, input=[{"role": "user", "content": "Hi [r9]"}]))
        made.both("responses, streamed", respond_stream)
        made.both("responses, streamed, with tools", lambda url, seed: respond_stream(url, seed, tools=RESPONSE_TOOLS))
        made.both("ten at once", lambda url, seed: asyncio.run(at_once(url, seed)))
        loops(made)
        told(made)
        errors(made)


if __name__ == "__main__":
    main(test)
