#!/usr/bin/env python3
"""Whether these tests can fail: something between the proxy and the upstream does what the proxy must not do, and is found out."""

import json
import re
import socketserver
import threading
import time

import faults
import latency
from parts import Trouble, bench, check, main
from wire import PATHS, Wire, exchange, request

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("look_up", "add")]


def changed(body, change):
    """A body as it would be written if it were read, changed and written in the same manner."""
    request = json.loads(body)
    change(request)
    return json.dumps(request, ensure_ascii=False).encode()


def first(request):
    request["messages"].insert(0, request["messages"].pop())


REQUESTS = {
    "JSON that is written anew": lambda head, body: (head, json.dumps(json.loads(body)).encode()),
    "tools in another order": lambda head, body: (head, changed(body, lambda request: request["tools"].reverse())),
    "two instructions": lambda head, body: (
        head,
        changed(body, lambda request: request["messages"].append(request["messages"][-1])),
    ),
    "an instruction before the rest": lambda head, body: (head, changed(body, first)),
    "no instruction": lambda head, body: (head, changed(body, lambda request: request["messages"].pop())),
    "one more member": lambda head, body: (head, body[:-1] + b', "seed": 1}'),
    "another key": lambda head, body: (head.replace(b"sk-this", b"sk-that"), body),
    "a header that is gone": lambda head, body: (re.sub(rb"x-mine: 1\r\n", b"", head), body),
    "one more header": lambda head, body: (head[:-2] + b"x-forwarded-for: 127.0.0.1\r\n\r\n", body),
}
ANSWERS = {
    "another status": lambda answer: answer.replace(b"200 OK", b"201 OK", 1),
    "an event that is gone": lambda answer: answer.replace(b"data: [DONE]", b": " + b"x" * 10, 1),
    "a letter that is another": lambda answer: answer.replace(b"sentences", b"sentinels"),
}


def mended(answer):
    """A stream that broke off, with an end."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return b"%s\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (head, len(body), body)


class Relay(socketserver.ThreadingTCPServer):
    """Between the proxy and the upstream at `port`: changes requests and whole answers, and waits."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, on_request=None, on_answer=None, seconds=0.0):
        self.port, self.on_request, self.on_answer, self.seconds = port, on_request, on_answer, seconds
        super().__init__(("127.0.0.1", 0), Pair)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Pair(socketserver.StreamRequestHandler):
    """One request, and the end of the connection."""

    def handle(self):
        head = b"".join(iter(self.rfile.readline, b"\r\n")) + b"\r\n"
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        if not length:
            return
        body = self.rfile.read(int(length[1]))
        if self.server.on_request:
            head, body = self.server.on_request(head, body)
        head = re.sub(rb"(?i)(content-length|connection):.*\r\n", b"", head)[:-2]
        head += b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        with Wire(self.server.port) as wire:
            wire.socket.sendall(head + body)
            time.sleep(self.server.seconds)
            while wire.more():
                pass
        answer = self.server.on_answer(wire.left) if self.server.on_answer else wire.left
        self.wfile.write(re.sub(rb"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", answer, count=1))


def call(url, seed):
    """What a client has of a stream."""
    port = int(url.rsplit(":", 1)[1])
    body = request("chat", "Explain [x1] é", stream=True, tools=TOOLS)
    answer = exchange(port, "POST", PATHS["chat"], body, x_seed=seed, x_mine="1")
    return answer.status, answer.ending, answer.body


def found(test, name):
    """A claim of a test does not hold any more."""
    try:
        test()
    except Trouble as trouble:
        return check(True, f"found out: {name} ({str(trouble)[:90].splitlines()[0]}...)")
    raise Trouble(f"nobody has noticed: {name}")


def test():
    with bench("--catalog", "agent", between=Relay) as made:
        made.both("nothing is tampered with", call)
        found(lambda: faults.pace(made), "a stream that arrives as a whole")
    for name, change in REQUESTS.items():
        with bench("--catalog", "agent", between=lambda port: Relay(port, on_request=change)) as made:
            found(lambda: made.both("a call", call), name)
    for name, change in ANSWERS.items():
        with bench("--catalog", "agent", between=lambda port: Relay(port, on_answer=change)) as made:
            found(lambda: made.both("a call", call), name)
    with bench("--catalog", "agent", between=lambda port: Relay(port, on_answer=mended)) as made:
        found(lambda: faults.cut_stream(made, "cut"), "a stream that broke off and looks whole")
    with bench("--catalog", "agent", between=lambda port: Relay(port, seconds=0.01)) as made:
        found(lambda: latency.judge(made, "chat", 20), "ten milliseconds")


if __name__ == "__main__":
    main(test)
