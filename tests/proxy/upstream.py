#!/usr/bin/env python3
"""A service of models on this machine that records every byte: what the proxy is tested against.

    tests/proxy/upstream.py      prints {"listening": PORT} and serves until its standard input ends

It speaks HTTP/1.1 over plain sockets, so that it can also do what no library does. Requests choose with headers:

    x-seed: TEXT    ids are made from TEXT and the question, and neither the instruction nor the choice of tools is obeyed:
                    the same answer with and without the proxy
    x-fault: KIND   one of FAULTS below, with a number after "=" where one is named

`GET /control/taken` hands out what was recorded, and begins anew; `GET /control/open` says how many connections have not ended.
"""

import asyncio
import base64
import contextlib
import gzip
import json
import socket
import struct
import sys

from answers import APIS, Refused, answer

FAULTS = {
    "slow": "SECONDS pass before the head of the answer",
    "slow-chunks": "SECONDS pass before each chunk but the first one",
    "long": "content-length is greater than what comes before the end of the connection",
    "short": "content-length is less than what comes, and the connection stays open",
    "cut": "the connection ends in the middle of the stream",
    "reset": "the connection is reset in the middle of the stream",
    "unchunked": "a chunk has a size that is not a number",
    "html": "500 with a page",
    "limit": "429 with retry-after",
    "not-json": "200 with something that is not JSON",
    "huge": "an answer of N bytes",
    "close": "the connection ends right after the answer, or SECONDS later, which the answer does not say",
    "empty": "the connection ends without an answer",
    "garbage": "what comes is not HTTP",
    "early": "an answer before the body was read, and the end of the connection",
    "gzip": "a compressed answer",
    "hints": "103 before the answer",
    "bytes": "a stream of one byte in each write, a tenth of it in chunks of their own",
    "crlf": "the lines of the stream end with CR LF, and there are comments between events",
    "until-close": "a body without a length that ends with the connection",
}
LIMIT = 1 << 20  # of what is recorded of one answer
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}
MODELS = {"object": "list", "data": [{"id": "small", "object": "model", "created": 1_700_000_000, "owned_by": "here"}]}
JSON = "application/json"


class Ended(Exception):
    """The connection is not to be used any more."""


class Connection:
    """One client. `upstream` holds what all of them share."""

    def __init__(self, upstream, reader, writer, number):
        self.upstream, self.reader, self.writer, self.number = upstream, reader, writer, number
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def serve(self):
        try:
            while await self.request():
                pass
        except (Ended, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.writer.close()

    async def request(self):
        head = await self.reader.readuntil(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, target, _ = line.split(" ")
        headers = {}
        for field in lines:
            name, _, value = field.partition(":")
            headers.setdefault(name.strip().lower(), value.strip())
        self.fault, _, self.amount = headers.get("x-fault", "").partition("=")
        path = target.partition("?")[0]
        self.record = None
        if path == "/control/taken":
            return await self.send(200, JSON, self.upstream.hand_out())
        if path == "/control/open":
            return await self.send(200, JSON, str(self.upstream.open).encode())
        self.record = {"connection": self.number, "head": head, "body": b"", "sent": bytearray(), "whole": False}
        self.upstream.taken.append(self.record)
        if self.fault == "early":
            await self.send(400, JSON, b'{"error":{"message":"too early"}}', "connection: close\r\n")
            raise Ended
        body = self.record["body"] = await self.body(headers)
        if self.fault == "slow":
            await asyncio.sleep(float(self.amount))
        await self.reply(method, path, headers, body)
        self.record["whole"] = True
        if self.fault == "close":
            if self.amount:
                await asyncio.sleep(float(self.amount))
            raise Ended
        return headers.get("connection", "").lower() != "close"

    async def body(self, headers):
        if headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        body = bytearray()
        while size := int((await self.reader.readline()).split(b";")[0], 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readuntil(b"\r\n")
        return bytes(body)

    async def reply(self, method, path, headers, body):
        if await self.failed():
            return
        if path == "/v1/models" and method == "GET":
            return await self.send(200, JSON, json.dumps(MODELS).encode())
        if path == "/v1/embeddings":
            made = {"object": "embedding", "index": 0, "embedding": [0.25, -0.5, 1.0]}
            return await self.send(200, JSON, json.dumps({"object": "list", "data": [made], "model": "small"}).encode())
        if path not in APIS or method != "POST":
            echo = {"method": method, "path": path, "body": base64.b64encode(body).decode()}
            return await self.send(404, JSON, json.dumps(echo).encode(), "x-echo: yes\r\n")
        self.upstream.count += 1
        seed = headers.get("x-seed", f"unique {self.upstream.count}")
        try:
            made = answer(path, body, seed, "x-seed" not in headers, self.upstream.memory)
        except Refused as refused:
            return await self.send(refused.status, JSON, json.dumps(APIS[path].error(refused.status, str(refused))).encode())
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            return await self.send(400, JSON, json.dumps(APIS[path].error(400, f"malformed: {error!r}")).encode())
        if isinstance(made, dict):
            return await self.send(200, JSON, json.dumps(made, ensure_ascii=False).encode(), "x-request-id: req_1\r\n")
        await self.stream(made)

    async def failed(self):
        """Whether a fault has been the answer."""
        if self.fault == "html":
            await self.send(500, "text/html", b"<html><body><h1>500</h1> It is us, not you.</body></html>")
        elif self.fault == "limit":
            told = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
            await self.send(429, JSON, json.dumps(told).encode(), "retry-after: 0\r\nx-ratelimit-remaining-requests: 0\r\n")
        elif self.fault == "not-json":
            await self.send(200, JSON, b'{"id": "chatcmpl-1", "choices": [ oh')
        elif self.fault == "huge":
            await self.send(200, JSON, b'{"id":"huge","choices":[],"filler":"' + b"x" * int(self.amount) + b'"}')
        elif self.fault == "empty":
            raise Ended
        elif self.fault == "garbage":
            await self.write(b"\x16\x03\x01 this is not HTTP\r\n\r\n")
            raise Ended
        else:
            return False
        return True

    async def send(self, status, kind, body, more=""):
        length = len(body)
        if self.fault == "gzip":
            body = gzip.compress(body, mtime=0)
            length, more = len(body), more + "content-encoding: gzip\r\n"
        length += {"long": 100, "short": -10}.get(self.fault, 0)
        early = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" if self.fault == "hints" else b""
        size = "connection: close\r\n" if self.fault == "until-close" else f"content-length: {length}\r\n"
        head = f"HTTP/1.1 {status} {REASONS.get(status, '')}\r\ncontent-type: {kind}\r\n{size}{more}\r\n"
        await self.write(early + head.encode() + body)
        if self.fault in ("long", "until-close"):
            raise Ended
        return True

    async def stream(self, events):
        early = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" if self.fault == "hints" else ""
        framing = "connection: close" if self.fault == "until-close" else "transfer-encoding: chunked"
        fields = f"content-type: text/event-stream; charset=utf-8\r\n{framing}\r\nx-request-id: req_1\r\n"
        events = [event.encode() for event in events]
        if self.fault == "crlf":
            events = [b": a comment\r\n\r\n" + event.replace(b"\n", b"\r\n") for event in events]
        if self.fault == "gzip":
            events, fields = [gzip.compress(b"".join(events), mtime=0)], fields + "content-encoding: gzip\r\n"
        await self.write(f"{early}HTTP/1.1 200 OK\r\n{fields}\r\n".encode())
        for number, event in enumerate(events):
            if self.fault == "slow-chunks" and number:
                await asyncio.sleep(float(self.amount))
            if number == len(events) // 2 and self.fault in ("cut", "reset", "unchunked"):
                await self.break_off(event)
            await self.event(event)
        if self.fault == "until-close":
            raise Ended
        await self.write(b"0\r\n\r\n")

    async def event(self, event):
        if self.fault == "until-close":
            return await self.write(event)
        parts = [event]
        if self.fault == "bytes":  # also in the middle of a character
            tenth = len(event) // 10
            parts = [event[n : n + 1] for n in range(tenth)] + [event[tenth:]]
        for part in filter(None, parts):
            framed = b"%x\r\n%s\r\n" % (len(part), part)
            for piece in [framed[n : n + 1] for n in range(len(framed))] if self.fault == "bytes" and len(part) < 9 else [framed]:
                await self.write(piece)

    async def break_off(self, event):
        if self.fault == "unchunked":
            await self.write(b"what\r\n")
        await self.write(b"%x\r\n%s" % (len(event) + 50, event[: len(event) // 2]))
        if self.fault == "reset":  # what was written is to arrive first
            await asyncio.sleep(0.05)
            linger = struct.pack("ii", 1, 0)
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.writer.transport.abort()
        raise Ended

    async def write(self, some):
        if self.record and len(self.record["sent"]) < LIMIT:
            self.record["sent"] += some
        self.writer.write(some)
        await self.writer.drain()


class Upstream:
    """What is recorded, and what has to be remembered between requests."""

    def __init__(self):
        self.taken, self.memory, self.count, self.connections, self.open = [], {}, 0, 0, 0

    def hand_out(self):
        taken, self.taken = self.taken, []

        def plain(value):
            return base64.b64encode(value).decode() if isinstance(value, (bytes, bytearray)) else value

        return json.dumps([{name: plain(value) for name, value in record.items()} for record in taken]).encode()

    async def accept(self, reader, writer):
        self.connections += 1
        self.open += 1
        await Connection(self, reader, writer, self.connections).serve()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        self.open -= 1


async def main():
    server = await asyncio.start_server(Upstream().accept, "127.0.0.1", 0, limit=1 << 24, backlog=1024)
    print(json.dumps({"listening": server.sockets[0].getsockname()[1]}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
