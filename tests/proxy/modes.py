#!/usr/bin/env python3
"""What the proxy does for whom: modes, shares, tools, what it learns, and that its own faults stay its own."""

import collections
import json
import re

from parts import Trouble, ask, bench, check, main
from splice import compare
from wire import PATHS, exchange, request

CHAT = PATHS["chat"]
NAMES = ["web_search", "file_search", "code_execution", "my_own"]
CHAT_TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES]
RESPONSE_TOOLS = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in NAMES]
JSON = {"content-type": "application/json"}


def post(test, api, body, **headers):
    """The answer through the proxy, and the request as it arrived."""
    test.upstream.taken()
    answer = exchange(test.proxy.port, "POST", PATHS[api], body, **headers)
    records = test.upstream.taken()
    if len(records) != 1:
        raise Trouble(f"the upstream was asked {len(records)} times; the answer is {answer and (answer.status, answer.body)}")
    return answer, records[0]


def untouched(mode):
    """Modes that change nothing of a request."""
    with bench("--catalog", "agent", "--mode", mode) as test:
        decisions = []
        for api in PATHS:
            for stream in (False, True):
                body = request(api, stream=stream, user=f"{api} {stream}")
                direct = exchange(test.upstream.port, "POST", PATHS[api], body, x_seed="mode")
                answer, record = post(test, api, body, x_seed="mode")
                if record.body != body or answer.status != 200 or answer.without_fable() != direct.body:
                    raise Trouble(f"{mode}, {api}: {body} became {record.body}, and the answer {answer.body}")
                decisions.append(answer.decision())
                if mode == "bypass" and not answer.bypass():
                    raise Trouble(f"bypass, {api}: x-fable-bypass is missing")
        check(True, f"{mode}: not a byte of a request changes")
        wanted = len(PATHS) * 2 if mode == "observe" else 0
        check(len(set(filter(None, decisions))) == wanted, f"{mode}: {wanted} decisions", decisions)


def share():
    """Users are in a share or not, always the same ones."""
    with bench("--catalog", "agent", "--share", "0.25") as test:
        users = [f"user-{number}" for number in range(400)]
        seen = collections.defaultdict(list)
        for turn in range(2):
            for user in users:
                body = request("chat", f"Explain [s{turn}]", user)
                answer = exchange(test.proxy.port, "POST", CHAT, body)
                seen[user].append(answer.decision() is not None)
                if not answer.decision() and answer.bypass() != "share":
                    raise Trouble(f"{user}: {answer.headers}")
        inside = sum(first for first, _ in seen.values())
        check(all(first == second for first, second in seen.values()), "who is in a share stays in it")
        check(70 <= inside <= 130, f"a share of 0.25 is {inside} of {len(users)} users", inside)
        arrived = {json.loads(record.body)["user"]: len(json.loads(record.body)["messages"]) for record in test.upstream.taken()}
        check(all((arrived[user] == 2) == seen[user][0] for user in users), "the others' requests go on as they came")


def learning(test):
    """What the user says next is the reward, and so is feedback."""
    talk = [{"role": "user", "content": "Explain [t1] how rainbows work"}]
    decisions = []
    for reaction in ("thanks, perfect! And [t1] snow?", "no, that is wrong. [t1] Again", "Tell me about [t1] hail"):
        answer, _ = post(test, "chat", json.dumps({"user": "lea", "model": "small", "messages": talk}).encode(), x_seed="talk")
        decisions.append(answer.decision())
        talk += [{"role": "assistant", "content": answer.json()["choices"][0]["message"]["content"]}]
        talk += [{"role": "user", "content": reaction}]
    check(len(set(decisions)) == 3 and None not in decisions, "each turn has a decision", decisions)
    known = test.proxy.op("posterior", user="lea")
    check((known["rounds"], known["observations"]) == (3, 2), "two reactions in words are two rewards", known)
    reward = {"inference_id": decisions[-1], "metric_name": "reward", "value": 1.0}
    answer = ask(test.proxy.port, "POST", "/feedback", json.dumps(reward), JSON)
    check(answer.status == 200, "feedback is taken at the proxy's own port", answer.body)
    check(test.proxy.op("posterior", user="lea")["observations"] == 3, "and is the third one")
    check(not test.upstream.taken(), "neither it nor an op of the service goes upstream")
    answer = ask(test.proxy.port, "POST", "/feedback", json.dumps(reward), JSON)
    check(answer.status == 409, "a second one is refused", answer.body)
    again, _ = post(test, "chat", json.dumps({"user": "lea", "model": "small", "messages": talk}).encode(), x_seed="talk")
    check(test.proxy.op("posterior", user="lea")["observations"] == 3, "a reaction in words to what has its reward changes nothing")
    check(again.status == 200 and again.decision() not in decisions, "and the conversation goes on")


def conversations(test):
    """The same words in two conversations that have names are two turns; without names, they are one if there was no answer."""
    body = request("chat", "Explain [v1]", "kai")
    one, _ = post(test, "chat", body, x_fable_conversation="one")
    two, _ = post(test, "chat", body, x_fable_conversation="two")
    check(one.decision() != two.decision(), "two conversations have two decisions")
    body = request("chat", "Explain [v2]", "kai")
    failed, _ = post(test, "chat", body, x_fault="html")
    again, _ = post(test, "chat", body)
    check(again.decision() and failed.decision() in (None, again.decision()), "a request that is sent again has the same decision")
    answered = exchange(test.proxy.port, "POST", CHAT, request("chat", "Explain [v3]", "kai"), x_fault="limit")
    check(answered.status == 429, "an upstream that refuses is told as it is")


def remembered(test):
    """Responses that go on from others: the reward comes home by the id that the upstream gave."""
    for stream in (False, True):
        user = f"ivo {stream}"
        body = request("responses", "Explain [p1] the moon", user, stream=stream)
        answer, record = post(test, "responses", body)
        last = json.loads(record.sent.partition(b"\r\n\r\n")[2])["id"] if not stream else first_id(answer.body)
        answer, _ = post(
            test, "responses", request("responses", "thanks, perfect!", user, stream=stream, previous_response_id=last)
        )
        known = test.proxy.op("posterior", user=user)
        check(known["observations"] == 1, f"previous_response_id{', streamed' if stream else ''}: the reaction is learned", known)


def named(test):
    """Responses in a conversation that the upstream keeps."""
    for place in ("conv_1", {"id": "conv_2"}):
        user = f"mia {place}"
        post(test, "responses", request("responses", "Explain [n1] the sun", user, conversation=place))
        post(test, "responses", request("responses", "thanks, perfect!", user, conversation=place))
        known = test.proxy.op("posterior", user=user)
        check((known["rounds"], known["observations"]) == (2, 1), f"conversation {place}: the reaction is learned", known)


def first_id(body):
    line = next(line for line in body.decode().splitlines() if line.startswith("data: "))
    return json.loads(line[6:])["response"]["id"]


def tools(test):
    """Which tools remain, by what was chosen."""
    seen = collections.Counter()
    for number in range(60):
        for api, offered in (("chat", CHAT_TOOLS), ("responses", RESPONSE_TOOLS)):
            text = f"Search the web for [w{number}], the latest news, and look into my files"
            body = request(api, text, f"tools {number % 7}", tools=offered)
            answer, record = post(test, api, body)
            _, choice = compare(PATHS[api], body, record.body)
            chosen = answer.json()["fable"]["action"]["tool"]
            seen[chosen] += 1
            worse = {"inference_id": answer.decision(), "metric_name": "reward", "value": -1.0}  # so that others are chosen, too
            ask(test.proxy.port, "POST", "/feedback", json.dumps(worse), JSON)
            left = set(NAMES)
            if isinstance(choice, dict):
                listed = choice["allowed_tools"]["tools"] if api == "chat" else choice["tools"]
                left = {tool["function"]["name"] if api == "chat" else tool["name"] for tool in listed}
            elif choice == "none":
                left = set()
            governed = {"web_search", "file_search", "code_execution"}
            so = "my_own" in left and not (left & governed) - {chosen} and (chosen not in governed or chosen in left)
            if not so:
                raise Trouble(f"{api}: {chosen} was chosen, and {choice} says which tools are left")
    check(len(seen) > 3, f"the tools that are left are those of what was chosen: {dict(seen)}", seen)


def switched(test):
    """A user for whom the layer is switched off, and on again."""
    body = request("chat", "Explain [q1]", "oli")
    test.proxy.op("switch", user="oli", layer=False)
    off, record = post(test, "chat", body)
    check(
        record.body == body and not off.decision() and off.bypass(), f"switched off, a request goes on as it came: {off.bypass()}"
    )
    test.proxy.op("switch", user="oli", layer=True)
    on, record = post(test, "chat", body)
    check(on.decision() and record.body != body, "switched on again, it does not")


def memory():
    """What is remembered is told to the same user alone, in the one instruction, and is forgotten with the user."""
    with bench("--catalog", "agent", "--memory") as test:
        told = collections.Counter()
        for number in range(60):
            user, api = f"m{number % 3}", list(PATHS)[number // 3 % 3]
            text = f"Explain [{user}] once more what I said before about my bicycle, number {number}"
            body = request(api, text, user, stream=number % 2 == 1)
            answer, record = post(test, api, body, x_seed="memory")
            instruction, _ = compare(PATHS[api], body, record.body)
            marks = set(re.findall(r"\[(m\d)\]", instruction))
            if marks - {user}:
                raise Trouble(f"{user} is told what {marks - {user}} said: {instruction}")
            told[user] += bool(marks)
            worse = {"inference_id": answer.decision(), "metric_name": "reward", "value": -1.0}  # so that all values are chosen
            ask(test.proxy.port, "POST", "/feedback", json.dumps(worse), JSON)
        check(
            len(told) == 3 and min(told.values()) > 2, f"memory: users are told what they said themselves, {dict(told)} times", told
        )
        kept = test.proxy.op("memories", user="m1")["exchanges"]
        check(len(kept) == 20, "memory: every exchange is kept, streamed or not, of all three APIs", len(kept))
        test.proxy.op("forget", user="m1")
        left = [len(test.proxy.op("memories", user=user)["exchanges"]) for user in ("m0", "m1", "m2")]
        check(left == [20, 0, 20], "memory: who is forgotten has none any more, and the others have theirs", left)


def filtered():
    """Tools that are taken out of the list: those that are left keep their bytes and their order."""
    own = {"input_schema": {"type": "object"}}
    offers = {"chat": CHAT_TOOLS, "responses": RESPONSE_TOOLS, "messages": [{"name": name, **own} for name in NAMES]}
    with bench("--catalog", "agent", "--filter-tools") as test:
        seen = collections.Counter()
        for number in range(40):
            for api, offered in offers.items():
                body = request(api, f"Search the web for [w{number}], the latest news", f"filter {number % 5}", tools=offered)
                answer, record = post(test, api, body)
                chosen, left = answer.json()["fable"]["action"]["tool"], record.json().get("tools", [])
                governed = {"web_search", "file_search", "code_execution"}
                wanted = [tool for tool, name in zip(offered, NAMES) if name not in governed - {chosen}]
                kept = all(json.dumps(tool).encode() in record.body for tool in wanted)
                if left != wanted or not kept or "tool_choice" in record.json():
                    raise Trouble(f"{api}: {chosen} was chosen, and {left} is left")
                seen[chosen] += 1
                worse = {"inference_id": answer.decision(), "metric_name": "reward", "value": -1.0}
                ask(test.proxy.port, "POST", "/feedback", json.dumps(worse), JSON)
        check(len(seen) > 3, f"--filter-tools: the tools of what was not chosen are gone: {dict(seen)}", seen)


def roles():
    """Who tells the assistant."""
    for role in ("developer", "user"):
        with bench("--catalog", "agent", "--role", role) as test:
            for api, name in (("chat", "messages"), ("responses", "input")):
                _, record = post(test, api, request(api))
                last = record.json()[name][-1]
                check(last["role"] == role and "Answer" in json.dumps(last["content"]), f"--role {role}: {api} has it last", last)


def impatient():
    """A proxy that has hardly time to decide passes on what it cannot do: every request is told something, or goes on as it came."""
    with bench("--catalog", "agent", "--patience", "1", "--largest", "1KiB") as test:
        passed = 0
        for number in range(100):
            body = request("chat", f"Explain [i{number}]", f"user {number % 9}")
            answer, record = post(test, "chat", body)
            if answer.decision():
                compare(CHAT, body, record.body)
            elif record.body != body or not answer.bypass():
                raise Trouble(f"{body} became {record.body} with {answer.headers}")
            passed += not answer.decision()
            if answer.status != 200:
                raise Trouble(f"{answer.status}: {answer.body}")
        check(True, f"a millisecond of patience: {passed} of 100 requests go on as they came, the others are told something")
        body = request("chat", "Explain " + "this " * 500)
        answer, record = post(test, "chat", body)
        check(record.body == body and answer.status == 200 and not answer.decision(), f"a long one goes on: {answer.bypass()}")


def full_disk():
    """A store that cannot be written: requests go on, changed or as they came."""
    with bench("--catalog", "agent", largest_file=60_000) as test:
        seen = collections.Counter()
        for number in range(600):
            body = request("chat", f"Explain [f{number}]", f"user {number % 40}")
            answer, record = post(test, "chat", body)
            if answer.status != 200 or not answer.decision() and (record.body != body or answer.bypass() != "storage"):
                raise Trouble(f"a full disk: {answer.status} {answer.headers} {answer.body}")
            seen[answer.decision() is not None] += 1
        check(
            seen[True] and seen[False],
            f"a full disk: {seen[True]} requests with a decision, then {seen[False]} that go on as they came",
            seen,
        )


def killed(test):
    """After kill -9 everything that was learned is there, and a conversation goes on."""
    talk = [{"role": "user", "content": "Explain [k1] tides"}]
    answer, _ = post(test, "chat", json.dumps({"user": "max", "model": "small", "messages": talk}).encode(), x_seed="kill")
    known = test.proxy.op("posterior", user="lea")
    test.proxy.kill()
    test.proxy.start()
    check(test.proxy.op("posterior", user="lea") == known, "after kill -9 everyone is as before")
    talk += [{"role": "assistant", "content": "So."}, {"role": "user", "content": "thanks, perfect! [k1] And waves?"}]
    other, record = post(test, "chat", json.dumps({"user": "max", "model": "small", "messages": talk}).encode(), x_seed="kill")
    check(
        other.status == 200 and other.decision() not in (None, answer.decision()),
        "and a conversation goes on with its next decision",
    )


def forgotten(test):
    before = test.proxy.op("posterior", user="lea")["rounds"]
    check(before > 0 and test.proxy.op("forget", user="lea")["forgotten"], "a user is forgotten")
    check(test.proxy.op("posterior", user="lea")["rounds"] == 0, "and is nobody known any more")


def test():
    with bench("--catalog", "agent") as made:
        learning(made)
        conversations(made)
        remembered(made)
        named(made)
        tools(made)
        switched(made)
        killed(made)
        forgotten(made)
    for mode in ("observe", "bypass"):
        untouched(mode)
    share()
    memory()
    filtered()
    roles()
    impatient()
    full_disk()


if __name__ == "__main__":
    main(test)
