#!/usr/bin/env python3
"""An upstream that is slow, lying, cut off or dead: what it does comes through as it is, and the next request is not harmed."""

import json
import socket
import sys
import time

from parts import Trouble, bench, check, main
from wire import PATHS, Wire, exchange, request

# Of an answer's head these may differ: how it is framed, and what Fable says.
FRAMING = {
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "date",
    "x-fable-decision",
    "x-fable-bypass",
    "content-encoding",
}


def kept(headers):
    return {name: value for name, value in headers.items() if name not in FRAMING}


def both(test, api, stream, fault, **more):
    """The same request directly and through the proxy: both answers, and how often the upstream was asked by the proxy."""
    headers = {"x_fault": fault, "x_seed": "fault", **more}
    body = request(api, stream=stream, user=f"{api} {fault}")
    direct = exchange(test.upstream.port, "POST", PATHS[api], body, **headers)
    test.upstream.taken()
    proxied = exchange(test.proxy.port, "POST", PATHS[api], body, **headers)
    return direct, proxied, test.upstream.taken()


def alike(test, fault, streams=(False, True), **more):
    """A fault that the client sees just as it would without the proxy."""
    for api in PATHS:
        for stream in streams:
            direct, proxied, records = both(test, api, stream, fault, **more)
            name = f"{fault}, {api}{', streamed' if stream else ''}"
            if proxied is None:
                raise Trouble(f"{name}: no answer at all")
            pair = [(one.status, one.ending, one.without_fable(), kept(one.headers)) for one in (direct, proxied)]
            if pair[0] != pair[1]:
                raise Trouble(f"{name}: not the same both ways: {pair}")
            if len(records) != 1:
                raise Trouble(f"{name}: the upstream was asked {len(records)} times")
    check(True, f"{fault.partition('=')[0]}: the same status, head, body and ending with the proxy as without it")


def healthy(test, after):
    """Requests on several connections are answered as always."""
    for number in range(6):
        answer = exchange(test.proxy.port, "POST", PATHS["chat"], request("chat", f"[h{number}] Explain"))
        if answer is None or answer.status != 200 or answer.ending != "whole" or f"[h{number}]" not in answer.body.decode():
            raise Trouble(f"after {after} a request is answered with {answer and (answer.status, answer.body)}")


def broken(test, fault, streams=(False, True)):
    """An answer that does not arrive whole must not look whole: it is cut off, or is an error of the proxy in JSON."""
    for api in PATHS:
        for stream in streams:
            direct, proxied, records = both(test, api, stream, fault)
            name = f"{fault}, {api}{', streamed' if stream else ''}"
            if proxied is None:
                raise Trouble(f"{name}: no answer at all")
            if proxied.status in (502, 504):
                error = proxied.json()["error"]
                so = proxied.ending == "whole" and bool(error["message"])
            else:
                so = proxied.status == direct.status and proxied.ending != "whole" and direct.body.startswith(proxied.body)
            if not so:
                raise Trouble(f"{name}: {proxied.status} {proxied.ending} {proxied.body!r}")
            if len(records) != 1:
                raise Trouble(f"{name}: the upstream was asked {len(records)} times")
    healthy(test, fault)
    check(True, f"{fault}: seen as broken, asked once, and the next requests are answered")


def cut_stream(test, fault):
    """What came before a stream broke arrives, and then it breaks."""
    for api in PATHS:
        direct, proxied, _ = both(test, api, True, fault)
        so = proxied and proxied.ending != "whole" and proxied.status == 200 and proxied.decision()
        if not so or not proxied.body or not direct.body.startswith(proxied.body):
            raise Trouble(f"{fault}, {api}: {direct.body!r} became {proxied and (proxied.ending, proxied.body)!r}")
        if fault == "cut" and proxied.body != direct.body:
            raise Trouble(f"{fault}, {api}: {direct.body!r} became {proxied.body!r}")
    healthy(test, fault)
    check(True, f"{fault}: a stream that breaks off arrives up to there, and does not look whole")


def closing(test, fault, wait):
    """200 requests, one by one, before an upstream that closes connections which seem to be kept. Those that were lost.

    With `wait` each one is made when the connection of the one before is closed, otherwise at once.
    """
    test.upstream.taken()
    lost = []
    with Wire(test.proxy.port) as wire:
        for number in range(200):
            wire.send("POST", PATHS["chat"], request("chat", f"[s{number}] Explain"), x_fault=fault, x_call=str(number))
            answer = wire.receive()
            if answer.status == 502:
                lost.append(number)
            elif answer.status != 200 or f"[s{number}]" not in answer.body.decode():
                raise Trouble(f"request {number} was answered with {answer.status}: {answer.body}")
            if wait:
                test.upstream.idle()
    arrived = [int(record.header("x-call")) for record in test.upstream.taken()]
    if sorted(arrived) != [number for number in range(200) if number not in lost]:
        raise Trouble(f"lost {lost}, arrived {arrived}")
    return lost


def stale():
    """The upstream closes connections that seem to be kept.

    A connection that is closed is not used. One that is closed at the very moment when a request is sent loses it, more often the busier the
    machine is. Whether the upstream has read it cannot be known, so it is not sent again. From then on each request has a connection of its
    own, for a minute.
    """
    with bench("--catalog", "agent") as test:
        lost = closing(test, "close", wait=True)
        check(not lost, "close: of 200 requests after the end of a connection none is lost, and none is sent twice", lost)
    for fault in ("close", "close=0.002"):  # the second one: requests meet the end on every machine
        with bench("--catalog", "agent") as test:
            began = time.monotonic()
            lost = closing(test, fault, wait=False)
            most = 1 + int(time.monotonic() - began) // 60
            check(len(lost) <= most, f"{fault}: of 200 requests {len(lost)} met the end of a connection; none was sent twice", lost)


def dead(test):
    """Nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused
        with bench("--catalog", "agent", upstream=f"http://127.0.0.1:{taken.getsockname()[1]}") as other:
            for api in PATHS:
                for stream in (False, True):
                    answer = exchange(other.proxy.port, "POST", PATHS[api], request(api, stream=stream))
                    so = answer and answer.status in (502, 504) and answer.ending == "whole"
                    if not so or "message" not in answer.json()["error"]:
                        raise Trouble(f"{api}: {answer and (answer.status, answer.body)}")
            check(True, "dead: 502 with an error in JSON")
            answer = exchange(other.proxy.port, "GET", "/v1/models")
            check(answer and answer.status in (502, 504), "dead: also for what is only passed on", answer and answer.status)
            check(other.proxy.op("stats")["requests"] >= 0, "dead: the ops of the service are there")


def late(test):
    """An upstream that takes longer than it may."""
    with bench("--catalog", "agent", "--upstream-timeout", "1") as other:
        for api in PATHS:
            for stream in (False, True):
                answer = exchange(other.proxy.port, "POST", PATHS[api], request(api, stream=stream), x_fault="slow=1.6")
                if not answer or answer.status != 504 or "message" not in answer.json()["error"]:
                    raise Trouble(f"{api}: {answer and (answer.status, answer.body)}")
        check(True, "slow: 504 with an error in JSON when it takes longer than --upstream-timeout")
        answer = exchange(
            other.proxy.port, "POST", PATHS["chat"], request("chat", stream=True), x_fault="slow-chunks=0.15", x_seed="s"
        )
        check(answer.ending == "whole" and b"[DONE]" in answer.body, "slow: a stream that has begun may take as long as it likes")


def unreachable(test):
    """Something listens and takes no connection."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        with bench("--catalog", "agent", upstream=f"http://127.0.0.1:{full.getsockname()[1]}") as other:
            answer = exchange(other.proxy.port, "POST", PATHS["chat"], request("chat"), 60)
            so = answer and answer.status in (502, 504) and "message" in answer.json()["error"]
            check(so, f"unreachable: {answer and answer.status} with an error in JSON", answer and answer.body)


def pace(test):
    """Chunks arrive when they are sent, not when all have come."""
    for api in PATHS:
        with Wire(test.proxy.port) as wire:
            began = time.monotonic()
            wire.send("POST", PATHS[api], request(api, stream=True), x_fault="slow-chunks=0.04", x_seed="pace")
            wire.until(b"\r\n\r\n")
            wire.until(b"data: ")
            first = time.monotonic() - began
            times = [first]
            last = b"[DONE]" if api == "chat" else b"response.completed" if api == "responses" else b"message_stop"
            while last not in wire.left:
                if not wire.more():
                    raise Trouble(f"{api}: the stream has no end")
                times.append(time.monotonic() - began)
        gaps = sorted(later - sooner for sooner, later in zip(times, times[1:]))
        so = first < 0.3 * times[-1] and len(times) >= 8 and gaps[len(gaps) // 2] > 0.02
        if not so:
            raise Trouble(f"{api}: first after {first:.3f} s, {len(times)} pieces until {times[-1]:.3f} s")
    check(True, "slow-chunks: every chunk arrives when it is sent")


def abandoned(test):
    """A client that goes away in the middle of a stream: the upstream is told so."""
    test.upstream.taken()
    for api in PATHS:
        with Wire(test.proxy.port) as wire:
            wire.send("POST", PATHS[api], request(api, stream=True), x_fault="slow-chunks=0.1", x_seed="left")
            wire.until(b"data: ")
    time.sleep(2.5)
    records = test.upstream.taken()
    check(len(records) == 3 and not any(record.whole for record in records), "a client that leaves ends the stream upstream, too")


def huge(test, size):
    """A large answer and a large request pass, and the proxy does not keep them."""
    body = request("chat", user="huge")
    answer = exchange(test.proxy.port, "POST", PATHS["chat"], body, 60, x_fault=f"huge={size}")
    check(
        answer and answer.ending == "whole" and answer.json()["filler"] == "x" * size,
        f"huge: an answer of {size >> 20} MiB comes through",
        answer and (answer.status, len(answer.body), answer.ending),
    )
    test.upstream.taken()
    before = {"role": "user", "content": "y" * size}
    long = json.dumps({"model": "small", "user": "huge", "messages": [before, {"role": "user", "content": "[h1] Hi"}]}).encode()
    answer = exchange(test.proxy.port, "POST", PATHS["chat"], long, 60)
    (record,) = test.upstream.taken()
    intact = record.body.startswith(long[: long.rindex(b"]")])
    check(
        answer.status == 200 and intact,
        f"huge: a request of {size >> 20} MiB goes through ({answer.bypass() or 'with a decision'})",
    )


def early(test):
    """An answer that comes before the request was read: it arrives, or an error does, and nothing hangs."""
    body = request("chat", "Explain [e1] " + "y" * (2 << 20))
    seen = [exchange(test.proxy.port, "POST", PATHS["chat"], body, x_fault="early") for _ in range(5)]
    check(all(one and one.status in (400, 502) for one in seen), f"early: {[one and one.status for one in seen]}")
    healthy(test, "early")


def memory(test):
    """Memory of the proxy at its most, in MiB."""
    with open(f"/proc/{test.proxy.child.pid}/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))


def test(full):
    with bench("--catalog", "agent") as made:
        for fault in ("none", "limit", "html", "not-json", "crlf", "bytes", "hints", "until-close"):
            alike(made, fault)
        alike(made, "gzip", accept_encoding="gzip")
        alike(made, "short", streams=(False,))
        healthy(made, "short")
        alike(made, "slow=0.6" if not full else "slow=3")
        broken(made, "long", streams=(False,))
        broken(made, "empty")
        broken(made, "garbage")
        for fault in ("cut", "reset", "unchunked"):
            cut_stream(made, fault)
        pace(made)
        abandoned(made)
        huge(made, 4 << 20)
        early(made)
        if full:
            alike(made, "slow-chunks=0.5", streams=(True,))
            for _ in range(8):
                huge(made, 48 << 20)
        check(made.proxy.child.poll() is None and memory(made) < 128, f"the proxy is there; it has had {memory(made)} MiB at most")
    stale()
    dead(made)
    late(made)
    if full:
        unreachable(made)


if __name__ == "__main__":
    main(lambda: test("--full" in sys.argv))
