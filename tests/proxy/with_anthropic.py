#!/usr/bin/env python3
"""The package `anthropic`, unmodified: messages, whole and streamed, with tools."""

import anthropic

from parts import KEY, bench, check, main

TOOLS = [
    {"name": "look_up", "description": "Größe ✓", "input_schema": {"type": "object", "properties": {"what": {"type": "string"}}}},
    {"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}},
]
SYSTEM = [{"type": "text", "text": "Be kind — always.", "cache_control": {"type": "ephemeral"}}]


def client(url, seed, **headers):
    headers = {"x-seed": seed, "x-fable-user": "ana", **headers}
    return anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0, timeout=20, default_headers=headers)


def plain(answer):
    """What a client has in its hands, without what Fable adds and declares."""
    answer = answer.model_dump()
    answer.pop("fable", None)
    return answer


def create(url, seed, content="Explain [m1] ü 🦀", **more):
    messages = [
        {"role": "user", "content": "Before."},
        {"role": "assistant", "content": [{"type": "text", "text": "Well."}]},
        {"role": "user", "content": content},
    ]
    return client(url, seed).messages.create(model="small", max_tokens=100, messages=messages, **more)


def stream(url, seed, **more):
    return [event.model_dump() for event in create(url, seed, stream=True, metadata={"user_id": "ben"}, **more)]


def helper(url, seed):
    """The package's own way to read a stream, which puts the message together."""
    with client(url, seed).messages.stream(
        model="small", max_tokens=100, messages=[{"role": "user", "content": "Hi [m2]"}]
    ) as made:
        kinds = [event.type for event in made]
        return kinds, plain(made.get_final_message())


def loop(test):
    """A loop over two turns of tools, two tools in the first one."""
    decisions = []

    def call(url, seed):
        messages, said = [{"role": "user", "content": "[m3] use tool look_up,add then add"}], []
        decisions.clear()
        while True:
            raw = client(url, f"{seed} {len(said)}").messages.with_raw_response.create(
                model="small", max_tokens=100, system=SYSTEM, tools=TOOLS, messages=messages
            )
            decisions.append(raw.headers.get("x-fable-decision"))
            content = [part.model_dump(exclude_none=True) for part in raw.parse().content]
            said.append(content)
            calls = [part for part in content if part["type"] == "tool_use"]
            if not calls:
                return said
            results = [{"type": "tool_result", "tool_use_id": call["id"], "content": f"result of {call['name']}"} for call in calls]
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]

    test.both("messages, a loop of tools", call)
    check(None not in decisions and len(set(decisions)) == 1, "one decision through a loop of 3 requests", decisions)


def errors(test):
    """What the upstream refuses comes back as it is."""
    for fault, kind in {"limit": anthropic.RateLimitError, "html": anthropic.InternalServerError}.items():
        seen = []
        for url in (test.upstream.url, test.proxy.url):
            try:
                client(url, "e", **{"x-fault": fault}).messages.create(
                    model="small", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
                )
            except kind as error:
                seen.append((error.status_code, error.body, error.response.text, error.response.headers.get("retry-after")))
        check(len(seen) == 2 and seen[0] == seen[1], f"{kind.__name__} is the same both ways", seen)


def test():
    with bench("--catalog", "agent") as made:
        blocks = [{"type": "text", "text": "Explain [m4]", "cache_control": {"type": "ephemeral"}}]
        made.both("messages", lambda url, seed: plain(create(url, seed)))
        made.both("messages with blocks", lambda url, seed: plain(create(url, seed, blocks, system=SYSTEM)))
        made.both("messages with tools", lambda url, seed: plain(create(url, seed, tools=TOOLS)))
        made.both("messages, streamed", stream)
        made.both("messages, streamed, with tools", lambda url, seed: stream(url, seed, tools=TOOLS, system=SYSTEM))
        made.both("messages, the package's own stream", helper)
        loop(made)
        answer = create(made.proxy.url, "x")
        check(answer.model_extra["fable"]["decision"], "the decision is in the body")
        errors(made)


if __name__ == "__main__":
    main(test)
