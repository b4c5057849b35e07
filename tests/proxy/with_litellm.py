#!/usr/bin/env python3
"""The package `litellm`, unmodified: completion and acompletion, whole and streamed, by way of OpenAI's API and of Anthropic's."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices

import litellm

from parts import KEY, bench, check, main

litellm.telemetry = False
litellm.suppress_debug_info = True
PARAMETERS = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Größe ✓", "parameters": PARAMETERS}}
    for name in ("look_up", "add")
]
APIS = {"chat": "openai/small", "messages": "anthropic/small"}


def options(url, seed, api, **more):
    headers = {"x-seed": seed, "x-fable-user": f"ana {api}"}
    place = f"{url}/v1" if api == "chat" else url
    return {
        "model": APIS[api],
        "api_base": place,
        "api_key": KEY,
        "extra_headers": headers,
        "num_retries": 0,
        "timeout": 20,
        **more,
    }


def plain(answer):
    """What a client has in its hands; litellm gives some ids and times of its own, and what Fable adds is not in the comparison."""
    answer = answer.model_dump()
    for name in ("fable", "id", "created", "provider_specific_fields"):
        answer.pop(name, None)
    return answer


def messages(mark):
    return [{"role": "system", "content": "Sei höflich."}, {"role": "user", "content": f"Explain [{mark}] 🦀"}]


def completion(url, seed, api, **more):
    return plain(litellm.completion(messages=messages("l1"), **options(url, seed, api, **more)))


def stream(url, seed, api, **more):
    made = litellm.completion(messages=messages("l2"), stream=True, **options(url, seed, api, **more))
    return [plain(chunk) for chunk in made]


async def at_once(url, seed, api):
    async def one(number):
        made = await litellm.acompletion(messages=messages(f"n{number}"), stream=number % 2 == 1, **options(url, seed, api))
        return [plain(chunk) async for chunk in made] if number % 2 else plain(made)

    return await asyncio.gather(*(one(number) for number in range(8)))


def loop(url, seed, api, streamed):
    talk, said = [{"role": "user", "content": "[l3] use tool look_up,add then add"}], []
    while True:
        made = litellm.completion(messages=talk, tools=TOOLS, stream=streamed, **options(url, f"{seed} {len(said)}", api))
        if streamed:
            made = litellm.stream_chunk_builder(list(made), messages=talk)
        message = made.choices[0].message
        said.append(message.model_dump())
        if not message.tool_calls:
            return said
        talk.append(
            {"role": "assistant", "content": message.content, "tool_calls": [call.model_dump() for call in message.tool_calls]}
        )
        talk += [{"role": "tool", "tool_call_id": call.id, "content": "a result"} for call in message.tool_calls]


def errors(test, api):
    for fault, kind in {"limit": litellm.RateLimitError, "html": litellm.InternalServerError}.items():
        seen = []
        for url in (test.upstream.url, test.proxy.url):
            given = options(url, "e", api)
            given["extra_headers"]["x-fault"] = fault
            try:
                litellm.completion(messages=messages("l4"), **given)
            except kind as error:
                seen.append((error.status_code, str(error)))
        check(len(seen) == 2 and seen[0] == seen[1], f"{api}: {kind.__name__} is the same both ways", seen)


def test():
    with bench("--catalog", "agent") as made:
        for api in APIS:
            made.both(f"{api}, completion", lambda url, seed: completion(url, seed, api))
            made.both(f"{api}, completion with tools", lambda url, seed: completion(url, seed, api, tools=TOOLS))
            made.both(f"{api}, streamed", lambda url, seed: stream(url, seed, api))
            made.both(f"{api}, streamed with tools", lambda url, seed: stream(url, seed, api, tools=TOOLS))
            made.both(f"{api}, eight acompletions at once", lambda url, seed: asyncio.run(at_once(url, seed, api)))
            made.both(f"{api}, a loop of tools", lambda url, seed: loop(url, seed, api, False))
            made.both(f"{api}, the same streamed", lambda url, seed: loop(url, seed, api, True))
            answer = litellm.completion(messages=messages("l5"), **options(made.proxy.url, "x", api))
            check(answer.choices[0].message.content, f"{api}: an answer with Fable's member in it is understood")
            errors(made, api)


if __name__ == "__main__":
    main(test)
