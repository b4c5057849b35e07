#!/usr/bin/env python3
"""How much later the first byte of a stream comes through the proxy: direct and proxied calls in turn, the median of the differences.

    latency.py [PAIRS [MILLISECONDS]]      200 pairs of calls for each kind of request; fails above 5 ms

A decision is on disk before a request goes on, so a disk that is busy with something else is in the number. What is above the limit is
measured again, twice at most; every measurement is shown. At the end comes the table of tests/README.md#proxy.
"""

import json
import os
import statistics
import sys
import time

from parts import Trouble, bench, check, main
from wire import PATHS, Wire, request

AIM = 0.005  # seconds


def first_byte(wire, path, body):
    """Seconds from the request to the first byte of the stream's first event."""
    began = time.perf_counter()
    wire.send("POST", path, body, x_seed="latency")
    head = wire.until(b"\r\n\r\n")
    while not wire.left.partition(b"\r\n")[2]:  # the size of the chunk, and something of it
        wire.more()
    took = time.perf_counter() - began
    wire.left = head + b"\r\n\r\n" + wire.left
    answer = wire.receive()
    if answer.status != 200 or answer.ending != "whole":
        raise Trouble(f"{path} was answered with {answer.status}")
    return took, answer


def bodies(kind, number):
    """A request of its own for each pair: new conversations, or one that becomes long."""
    if kind in PATHS:
        return PATHS[kind], request(kind, f"Explain [l{number}]", f"user {number % 50}", stream=True)
    before = [
        {"role": role, "content": f"Turn {turn}. " + "Some words of it. " * 12}
        for turn in range(number % 100)
        for role in ("user", "assistant")
    ]
    messages = before + [{"role": "user", "content": f"Explain [l{number}]"}]
    return PATHS["chat"], json.dumps({"model": "small", "messages": messages, "user": "long", "stream": True}).encode()


def sync(file):
    """Seconds that the disk takes for a small write, which is in every decision."""
    began = time.perf_counter()
    file.write(bytes(200))
    file.flush()
    os.fdatasync(file.fileno())
    return time.perf_counter() - began


def measure(test, kind, pairs):
    direct, proxied, disk, bypassed = [], [], [], 0
    beside = open(test.proxy.folder / "beside", "ab")
    with Wire(test.upstream.port) as straight, Wire(test.proxy.port) as through:
        for number in range(pairs + 10):
            path, body = bodies(kind, number)
            one = first_byte(straight, path, body)[0]
            other, answer = first_byte(through, path, body)
            if number >= 10:  # both have warmed up
                direct.append(one)
                proxied.append(other)
                disk.append(sync(beside))
                bypassed += answer.decision() is None
    test.upstream.taken()
    later = statistics.median(other - one for one, other in zip(direct, proxied))
    middle, tail = statistics.median(direct), statistics.median(proxied)
    worst = sorted(other - one for one, other in zip(direct, proxied))[pairs * 99 // 100]
    print(f"      {kind:10} direct {middle * 1e3:6.2f} ms, proxied {tail * 1e3:6.2f} ms, {tail / middle:5.2f} times; ", end="")
    print(f"later by {later * 1e3:.2f} ms in the median, {worst * 1e3:.2f} ms in 99 of 100 pairs; ", end="")
    print(f"a write to the disk alone takes {statistics.median(disk) * 1e3:.2f} ms")
    beside.close()
    check(bypassed <= pairs // 20, f"{kind}: nearly all of {pairs} calls had a decision", bypassed)
    numbers = (middle, tail, later, worst, statistics.median(disk))
    return later, f"| {kind} | " + " | ".join(f"{number * 1e3:.2f}" for number in numbers) + " |"


def judge(test, kind, pairs, most=AIM):
    measured, row = [], ""
    while len(measured) < 3 and (not measured or measured[-1] > most):
        later, row = measure(test, kind, pairs)
        measured.append(later)
    times = "at once" if len(measured) == 1 else f"in measurement {len(measured)}"
    check(measured[-1] <= most, f"{kind}: the first byte comes at most {most * 1e3:.0f} ms later in the median, {times}", measured)
    if measured[-1] > AIM:
        print(f"      the aim, {AIM * 1e3:.0f} ms, is missed here")
    return row


def test(pairs, most):
    with bench("--catalog", "agent", "--patience", "250") as made:
        rows = [judge(made, kind, pairs, most) for kind in [*PATHS, "long chat"]]
    print("\n| ms | direct | proxied | later, median | later, 99 of 100 | a write to the disk |")
    print("|---|---:|---:|---:|---:|---:|", *rows, sep="\n")


if __name__ == "__main__":
    pairs, most = (sys.argv[1:] + ["200", "5"][len(sys.argv) - 1 :])[:2]
    main(lambda: test(int(pairs), float(most) / 1e3))
