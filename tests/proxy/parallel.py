#!/usr/bin/env python3
"""Many conversations at the same time with the package `openai`: nothing of one is ever in another, whatever goes wrong upstream.

    parallel.py [CONVERSATIONS]      200 if nothing is said

Every user has five of them. Half are chat completions and half are responses, half of both streamed; every turn but one runs
tools; in each sixth request the upstream fails in some way, and the client asks again.
"""

import asyncio
import collections
import random
import re
import sys

import openai

from parts import KEY, Trouble, bench, check, main
from splice import compare

TURNS = ["[{}] use tool look_up then add", "[{}] thanks, perfect. use tool web_search", "[{}] no, that is wrong. Explain it"]
FAULTS = ["cut", "limit", "html", "empty", "reset", "slow=0.3", "close", "slow-chunks=0.02", "not-json", "bytes"]
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
NAMES = ["look_up", "add", "web_search", "file_search"]
CHAT_TOOLS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
RESPONSE_TOOLS = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]


class Conversation:
    """One conversation, with a client of its own and everything that it has sent and received."""

    def __init__(self, number, url):
        self.number, self.mark = number, f"c{number}"
        self.user = f"user {number // 5}"
        self.chance = random.Random(number)
        self.stream, self.responses = number % 2 == 1, number % 4 >= 2
        self.sent = {}  # the bodies of requests, by their number
        self.failed = 0
        self.refused = set()  # numbers of requests that the proxy has answered with 502
        self.decisions = []  # those of each turn, with the faults that they met
        hooks = {"request": [self.note], "response": [self.decided]}
        self.client = openai.AsyncOpenAI(
            base_url=f"{url}/v1",
            api_key=KEY,
            max_retries=0,
            timeout=60,
            http_client=openai.DefaultAsyncHttpxClient(event_hooks=hooks),
            default_headers={"x-seed": f"parallel {number}"},
        )

    async def note(self, request):
        self.sent[request.headers["x-call"]] = request.content

    async def decided(self, answer):
        """Notes the decision of every answer, also of one that comes to nothing."""
        if answer.status_code == 502:
            self.refused.add(answer.request.headers["x-call"])
        decision = answer.headers.get("x-fable-decision")
        if decision or answer.status_code == 200:
            self.decisions[-1].append((decision, answer.request.headers.get("x-fault")))

    async def call(self, talk):
        """One request, until it succeeds: the text, the calls of tools, and what belongs into the talk."""
        for _ in range(20):
            headers = {"x-call": f"{self.mark}-{len(self.sent)}"}
            if self.chance.random() < 1 / 6:
                headers["x-fault"] = self.chance.choice(FAULTS)
            try:
                make = self.respond if self.responses else self.chat
                return await make(talk, headers)
            except (openai.APIError, ValueError, Unfinished):
                self.failed += 1
        raise Trouble(f"conversation {self.mark} has failed 20 times in a row")

    async def chat(self, talk, headers):
        answer = await self.client.chat.completions.create(
            model="small", messages=talk, tools=CHAT_TOOLS, user=self.user, stream=self.stream, extra_headers=headers
        )
        if self.stream:
            text, calls, reason = "", [], None
            async for chunk in answer:
                for choice in chunk.choices:
                    text, reason = text + (choice.delta.content or ""), choice.finish_reason or reason
                    calls += [[part.id, part.function.name] for part in choice.delta.tool_calls or [] if part.id]
            if reason is None:
                raise Unfinished
        else:
            if not answer.choices:
                raise Unfinished
            text = answer.choices[0].message.content or ""
            calls = [[call.id, call.function.name] for call in answer.choices[0].message.tool_calls or []]
        message = {"role": "assistant", "content": text or None}
        if calls:
            arguments = f'{{"what": "{self.mark}"}}'
            message["tool_calls"] = [
                {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}} for call, name in calls
            ]
        results = [{"role": "tool", "tool_call_id": call, "content": f"{name} of [{self.mark}]"} for call, name in calls]
        return text, calls, [message, *results]

    async def respond(self, talk, headers):
        answer = await self.client.responses.create(
            model="small", input=talk, tools=RESPONSE_TOOLS, user=self.user, stream=self.stream, extra_headers=headers
        )
        if self.stream:
            ended = [event async for event in answer if event.type == "response.completed"]
            if not ended:
                raise Unfinished
            answer = ended[0].response
        output = [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [[item.call_id, item.name] for item in answer.output if item.type == "function_call"]
        results = [{"type": "function_call_output", "call_id": call, "output": f"{name} of [{self.mark}]"} for call, name in calls]
        return answer.output_text, calls, output + results

    async def play(self):
        talk = []
        async with self.client:
            for turn in TURNS:
                talk.append({"role": "user", "content": turn.format(self.mark)})
                self.decisions.append([])
                while True:
                    text, calls, items = await self.call(talk)
                    talk += items
                    if not calls:
                        break
                strangers = set(re.findall(r"\[(c\d+)\]", text)) - {self.mark}
                if f"[{self.mark}]" not in text or strangers:
                    raise Trouble(f"conversation {self.mark} was answered with {text!r}")


class Unfinished(Exception):
    """A stream ended before it was at its end, or there is no answer in the answer."""


async def play(conversations):
    await asyncio.gather(*(conversation.play() for conversation in conversations))


def judge(test, conversations):
    records = {record.header("x-call"): record for record in test.upstream.taken()}
    sent = {number: (conversation, body) for conversation in conversations for number, body in conversation.sent.items()}
    failed = sum(conversation.failed for conversation in conversations)
    missing = set(sent) - set(records)  # they met the end of a connection, see `stale` in faults.py
    refused = set().union(*(conversation.refused for conversation in conversations))
    so = set(records) <= set(sent) and missing <= refused and len(missing) <= len(sent) / 50
    check(so, f"of {len(sent)} requests all but {len(missing)} have arrived; {failed} were in vain and made again", missing)
    choices = 0
    for number, record in records.items():
        conversation, body = sent[number]
        _, choice = compare(record.path, body, record.body)
        choices += choice is not None
        marks = set(re.findall(rb"\[(c\d+)\]", record.body + record.sent))
        if marks - {conversation.mark.encode()} or record.header("x-fault") is None and not marks:
            raise Trouble(f"request {number} has the marks {marks}")
    check(True, f"all of them are intact but for the instruction and {choices} choices of tools, with no other conversation's mark")
    turns = [
        (conversation, {decision for decision, _ in noted}, noted)
        for conversation in conversations
        for noted in conversation.decisions
    ]
    wrong = [(conversation.mark, noted) for conversation, decisions, noted in turns if len(decisions) != 1 or None in decisions]
    check(not wrong, f"each of {len(turns)} turns has one decision, through its tools and failures", wrong[:5])
    owners = collections.Counter(decision for _, decisions, _ in turns for decision in decisions)
    check(len(owners) == len(turns), "no two turns have the same one", owners.most_common(3))
    users = collections.Counter(conversation.user for conversation in conversations)
    for user, count in users.items():
        known = test.proxy.op("posterior", user=user)
        seen = (known["rounds"], known["observations"])
        if seen != (count * len(TURNS), count * (len(TURNS) - 1)):
            raise Trouble(f"{user} has {count} conversations of {len(TURNS)} turns, and {seen} rounds and rewards")
    check(True, f"each of {len(users)} users has a round for each turn and a reward for each but the last of a conversation")


def test(count):
    with bench("--catalog", "agent") as made:
        conversations = [Conversation(number, made.proxy.url) for number in range(count)]
        asyncio.run(play(conversations))
        judge(made, conversations)


if __name__ == "__main__":
    main(lambda: test(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
