#!/usr/bin/env python3
"""The framework `openai-agents`, unmodified: agents that run function tools, over responses and over chat completions."""

import asyncio
import re

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)

from parts import KEY, bench, check, main

set_tracing_disabled(True)  # it would send what it sees to its makers
RAN = []  # the tools that were run
LOOP = asyncio.new_event_loop()  # one for all: clients keep their connections in it


@function_tool
def look_up(what: str) -> str:
    """Looks something up — größer."""
    RAN.append(("look_up", what))
    return f"the page about {what}"


@function_tool
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    RAN.append(("add", a, b))
    return str(a + b)


MODELS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}


def agent(url, seed, api, **more):
    """An agent with two tools. Each request of a run has a seed of its own."""
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, timeout=20)
    headers = {"x-seed": seed, "x-fable-user": f"ana {api}"}
    model = MODELS[api](model="small", openai_client=client)
    settings = ModelSettings(extra_headers=headers, include_usage=True)
    return Agent(
        name="Helper", instructions="Use tools — always.", tools=[look_up, add], model=model, model_settings=settings, **more
    )


def plain(items):
    """The items of a run, without ids that the framework makes up, and without what Fable adds."""
    return [re.sub(r"'(id|created_at)': [^,}]*", "", str(item)) for item in items]


def run(url, seed, api, text="[g1] use tool look_up,add then add"):
    RAN.clear()
    made = LOOP.run_until_complete(Runner.run(agent(url, seed, api), text))
    usage = made.context_wrapper.usage
    return made.final_output, list(RAN), plain(made.to_input_list()), (usage.requests, usage.total_tokens)


async def streamed(url, seed, api):
    RAN.clear()
    made = Runner.run_streamed(agent(url, seed, api), "[g2] use tool look_up then add")
    kinds = [
        getattr(event.data, "type", "") if event.type == "raw_response_event" else event.type
        async for event in made.stream_events()
    ]
    return kinds, made.final_output, list(RAN), plain(made.to_input_list())


async def conversation(url, seed, api):
    """Three turns; each goes on with all that was said."""
    said, items = [], []
    for number, text in enumerate(["[g3] use tool add", "[g3] thanks, perfect. Explain it", "[g3] use tool look_up"]):
        made = await Runner.run(agent(url, f"{seed} {number}", api), items + [{"role": "user", "content": text}])
        items = made.to_input_list()
        said.append(made.final_output)
    return said, plain(items)


async def handoff(url, seed, api):
    """An agent that hands over to another one, which has tools of its own."""
    second = agent(url, seed, api)
    second.name, second.handoff_description = "Second", "Knows more."
    first = agent(url, seed, api, handoffs=[second])
    made = await Runner.run(first, "[g4] use tool transfer_to_second then add")
    return made.last_agent.name, made.final_output, plain(made.to_input_list())


def decisions(test, api):
    """One decision through a run, seen by the hook of the HTTP client that the framework uses."""
    seen = []

    async def note(answer):
        seen.append(answer.headers.get("x-fable-decision"))

    async def go():
        client = openai.AsyncOpenAI(base_url=f"{test.proxy.url}/v1", api_key=KEY, max_retries=0)
        client._client.event_hooks["response"].append(note)
        helper = agent(test.proxy.url, "d", api)
        helper.model = MODELS[api](model="small", openai_client=client)
        first = await Runner.run(helper, "[g5] use tool look_up then add")
        await Runner.run(helper, first.to_input_list() + [{"role": "user", "content": "[g5] thanks, perfect. Explain more"}])

    LOOP.run_until_complete(go())
    check(len(seen) == 4 and None not in seen, f"{api}: every answer has its decision", seen)
    check(len(set(seen[:3])) == 1, f"{api}: one decision through a run of three requests", seen)
    check(seen[3] != seen[0], f"{api}: the next turn has another one", seen)


def test():
    with bench("--catalog", "agent") as made:
        for api in MODELS:
            (output, ran, *_), _, _ = made.both(f"{api}, a run with tools", lambda url, seed: run(url, seed, api))
            check([name for name, *_ in ran] == ["look_up", "add", "add"], f"{api}: three tools were run", ran)
            check("It returned 2." in output, f"{api}: the answer has what they returned", output)
            made.both(f"{api}, a run without tools", lambda url, seed: run(url, seed, api, "[g0] Explain"))
            made.both(f"{api}, a streamed run", lambda url, seed: LOOP.run_until_complete(streamed(url, seed, api)))
            made.both(f"{api}, three turns", lambda url, seed: LOOP.run_until_complete(conversation(url, seed, api)))
            made.both(f"{api}, a handoff", lambda url, seed: LOOP.run_until_complete(handoff(url, seed, api)))
            decisions(made, api)


if __name__ == "__main__":
    main(test)
