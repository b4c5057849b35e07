#!/usr/bin/env python3
"""Requests that no package makes: strange JSON, strange HTTP, and what the proxy has no business with. Not a byte of them changes."""

import json

from parts import Trouble, bench, check, main
from splice import Changed, compare
from wire import PATHS, Wire, exchange, request

CHAT = PATHS["chat"]
# Bodies that a decision is made for. Each is to arrive as it is, but for the instruction.
STRANGE = {
    "white space": b'\n{ "user" :\t"ana" ,\r\n "messages" : [ {"role":"user" , "content":"Hi [o1]"} ] , "model" : "small" }\n ',
    "escapes": rb'{"model":"small","user":"ana","messages":[{"role":"user","content":"\u0048i \/ \ud83e\udd80 \u2028 [o2]"}]}',
    "an escaped name": rb'{"model":"small","user":"ana","\u006dessages":[{"role":"user","content":"Hi [o3]"}]}',
    "numbers": b'{"seed":12345678901234567890,"temperature":-0.0,"top_p":1E-400,"user":"ana","messages":[{"role":"user","content":"[o4]"}]}',
    "brackets in texts": rb'{"user":"ana","messages":[{"role":"user","content":"]}] \" \\ {[ [o5]"}],"stop":["]","}","\\\""]}',
    "messages first": b'{"messages":[{"role":"user","content":"[o6]"}],"tools":[],"user":"ana","model":"small"}',
    "members of one's own": b'{"x":{"messages":[1]},"user":"ana","messages":[{"role":"user","content":"[o7]","y":{"messages":[]}}],"z":null}',
    "a nul and controls": rb'{"user":"ana","messages":[{"role":"user","content":"\u0000\u0001\t [o8]"}]}',
    "half a surrogate": rb'{"user":"ana","messages":[{"role":"user","content":"\ud800 [o8]"}]}',
    "parts": b'{"user":"ana","messages":[{"role":"user","content":[{"type":"text","text":"See [o9]"},'
    b'{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}',
    "deep": b'{"user":"ana","x":' + b"[" * 100 + b"]" * 100 + b',"messages":[{"role":"user","content":"[o0]"}]}',
}
# Bodies that nothing can be decided for: each arrives byte for byte, and the client is told why nothing was done.
HOPELESS = {
    "no user": b'{"model":"small","messages":[{"role":"user","content":"Hi"}]}',
    "an empty user": b'{"model":"small","user":"","messages":[{"role":"user","content":"Hi"}]}',
    "a user who is a number": b'{"model":"small","user":7,"messages":[{"role":"user","content":"Hi"}]}',
    "a user with a long name": json.dumps({"user": "u" * 300, "messages": [{"role": "user", "content": "Hi"}]}).encode(),
    "not JSON": b'{"user":"ana","messages":[{"role":"user","content":"Hi"}]',
    "nothing": b"",
    "a list": b'[{"user":"ana"}]',
    "a text": b'"ana"',
    "no messages": b'{"user":"ana"}',
    "messages that are none": b'{"user":"ana","messages":"Hi"}',
    "messages of another kind": b'{"user":"ana","messages":[1,null]}',
    "an empty list": b'{"user":"ana","messages":[]}',
    "a byte order mark": b'\xef\xbb\xbf{"user":"ana","messages":[{"role":"user","content":"Hi"}]}',
    "bytes that are not UTF-8": b'{"user":"ana","messages":[{"role":"user","content":"\xff\xfe"}]}',
    "something behind it": b'{"user":"ana","messages":[{"role":"user","content":"Hi"}]} {}',
    "messages twice": b'{"user":"ana","messages":[{"role":"user","content":"A"}],"messages":[{"role":"user","content":"B"}]}',
    "a comment": b'{"user":"ana", /* no */ "messages":[{"role":"user","content":"Hi"}]}',
}


def strange(test):
    for name, body in STRANGE.items():
        direct = exchange(test.upstream.port, "POST", CHAT, body, x_seed="odd")
        test.upstream.taken()
        answer = exchange(test.proxy.port, "POST", CHAT, body, x_seed="odd")
        records = test.upstream.taken()
        if answer is None or answer.status != direct.status or not answer.decision() or len(records) != 1:
            raise Trouble(f"{name}: {answer and (answer.status, answer.headers, answer.body)}")
        try:
            compare(CHAT, body, records[0].body)
        except Changed as changed:
            raise Trouble(f"{name}: {changed}") from None
        if answer.without_fable() != direct.body:
            raise Trouble(f"{name}: {direct.body} became {answer.body}")
    check(True, f"{len(STRANGE)} kinds of strange JSON keep every byte")


def hopeless(test):
    for name, body in HOPELESS.items():
        direct = exchange(test.upstream.port, "POST", CHAT, body, x_seed="odd")
        test.upstream.taken()
        answer = exchange(test.proxy.port, "POST", CHAT, body, x_seed="odd")
        records = test.upstream.taken()
        seen = answer and (answer.status, answer.headers, answer.body[:200])
        if len(records) != 1 or records[0].body != body:
            raise Trouble(f"{name}: it has not arrived as it is; the client has {seen}")
        if answer is None or (answer.status, answer.body) != (direct.status, direct.body):
            raise Trouble(f"{name}: {direct.status} {direct.body[:200]} became {seen}")
        if answer.decision() or not answer.bypass():
            raise Trouble(f"{name}: the head does not say why nothing was done: {seen}")
    check(
        True, f"{len(HOPELESS)} kinds of requests that nothing can be decided for arrive as they are, and x-fable-bypass says why"
    )
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "It begins with"}]
    body = json.dumps({"model": "small", "max_tokens": 9, "metadata": {"user_id": "ana"}, "messages": talk}).encode()
    answer = exchange(test.proxy.port, "POST", PATHS["messages"], body)
    (record,) = test.upstream.taken()
    check(record.body == body and answer.bypass(), f"nor is anything put after an answer that has begun: {answer.bypass()}")


def too_deep(test):
    """Brackets that a parser must not follow."""
    prefix = b'{"user":"ana","x":' + b"[" * 100_000 + b"]" * 100_000 + b',"messages":[{"role":"user","content":"Hi"}'
    test.upstream.taken()
    answer = exchange(test.proxy.port, "POST", CHAT, prefix + b"]}")
    (record,) = test.upstream.taken()
    check(
        answer.status == 400 and record.body.startswith(prefix), f"100,000 brackets arrive ({answer.bypass() or 'with a decision'})"
    )


def strange_http(test):
    body = request("chat", "Explain [o1]")
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    chunked = b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nx-trailer: 1\r\n\r\n"
    ways = {
        "a chunked request": ({"transfer_encoding": "chunked"}, chunked, CHAT),
        "a question mark": ({}, body, CHAT + "?api-version=2&x=%20%2F"),
        "a charset": ({"content_type": "application/json; charset=utf-8"}, body, CHAT),
        "a client that waits for 100": ({"expect": "100-continue"}, body, CHAT),
    }
    for name, (headers, sent, target) in ways.items():
        test.upstream.taken()
        answer = exchange(test.proxy.port, "POST", target, sent, **headers)
        (record,) = test.upstream.taken()
        so = answer and answer.status == 200 and answer.decision() and record.target == target
        if not so:
            raise Trouble(f"{name}: {answer and (answer.status, answer.headers, answer.body)}")
        compare(CHAT, body, record.body)
    check(True, f"{', '.join(ways)}: all the same")
    with Wire(test.proxy.port) as wire:  # two requests at once on one connection
        wire.send("POST", CHAT, request("chat", "Explain [o2]"))
        wire.send("POST", CHAT, request("chat", "Explain [o3]", "ben"))
        answers = [wire.receive().body.decode() for _ in range(2)]
    check("[o2]" in answers[0] and "[o3]" in answers[1], "requests that do not wait for answers get them in order")
    test.upstream.taken()
    answer = exchange(test.proxy.port, "POST", CHAT, body, x_fable_user="header", x_fable_conversation="one")
    (record,) = test.upstream.taken()
    left = [name for name, _ in record.headers if name.startswith("x-fable")]
    check(answer.decision() and not left, "what is for Fable does not go on", left)
    known = test.proxy.op("posterior", user="header")["rounds"]
    check(known == 1, "the header comes before the body's user")


def others(test):
    """What the proxy has no business with."""
    binary = bytes(range(256)) * 8
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        for path in ("/v1/files/f%2F1?a=b", "/v1/chat/completions/x", "/healthz2", "/v1/audio/speech"):
            direct = exchange(test.upstream.port, method, path, binary, content_type="application/octet-stream")
            test.upstream.taken()
            answer = exchange(test.proxy.port, method, path, binary, content_type="application/octet-stream")
            (record,) = test.upstream.taken()
            same = answer and (answer.status, answer.body) == (direct.status, direct.body) and record.body == binary
            if not same or record.target != path or answer.headers.get("x-echo") != "yes" or answer.decision():
                raise Trouble(f"{method} {path}: {answer and (answer.status, answer.headers)}")
    check(True, "everything else passes as it is, method, path and bytes, and the answers do, too")
    answer = exchange(test.proxy.port, "GET", CHAT)
    check(answer.status == 404 and answer.headers.get("x-echo"), "also other methods of the paths that are understood")


def prefixed():
    """An upstream whose address has a path."""
    with bench("--catalog", "agent") as first:
        with bench("--catalog", "agent", upstream=f"{first.upstream.url}/openai/deployments") as other:
            exchange(other.proxy.port, "POST", CHAT, request("chat"))
            exchange(other.proxy.port, "GET", "/v1/models?x=1")
        targets = [record.target for record in first.upstream.taken()]
    expected = ["/openai/deployments" + CHAT, "/openai/deployments/v1/models?x=1"]
    check(targets == expected, "a path of the upstream's address is put before", targets)


def test():
    with bench("--catalog", "agent") as made:
        strange(made)
        hopeless(made)
        too_deep(made)
        strange_http(made)
        others(made)
    prefixed()


if __name__ == "__main__":
    main(test)
