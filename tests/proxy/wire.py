"""A client over plain sockets, which sees what libraries hide: how a body ended, and every byte of it."""

import gzip
import json
import socket

from parts import KEY

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


class Received:
    """An answer as it came: `ending` is "whole", "cut" or "reset"."""

    def __init__(self, status, headers, body, ending, early):
        self.status, self.headers, self.ending, self.early = status, headers, ending, early
        self.body = gzip.decompress(body) if headers.get("content-encoding") == "gzip" and ending == "whole" else body

    def json(self):
        return json.loads(self.body)

    def decision(self):
        return self.headers.get("x-fable-decision")

    def bypass(self):
        return self.headers.get("x-fable-bypass")

    def without_fable(self):
        """The body without the member that Fable adds, which has to be the last one or the first one."""
        if not self.decision() or not self.headers.get("content-type", "").startswith("application/json"):
            return self.body
        try:
            member = json.loads(self.body).get("fable")
        except ValueError:
            return self.body
        text = self.body.decode()
        at = text.rfind('"fable":')
        end = json.JSONDecoder().raw_decode(text, at + len('"fable":'))[1] if member else at
        left, right = text[:at].rstrip(), text[end:]
        return (left[:-1] + right if left.endswith(",") else left + right.lstrip(", ")).encode() if member else self.body


class Wire:
    """One connection."""

    def __init__(self, port, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, method, path, body=b"", **headers):
        fields = {"host": "127.0.0.1", "authorization": f"Bearer {KEY}", "content-type": "application/json"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        if "transfer-encoding" not in fields:
            fields["content-length"] = str(len(body))
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.socket.sendall(head.encode() + b"\r\n" + body)

    def more(self):
        """Whether something has come."""
        some = self.socket.recv(1 << 16)
        self.left += some
        return bool(some)

    def until(self, mark):
        while mark not in self.left:
            if not self.more():
                raise EOFError
        found, _, self.left = self.left.partition(mark)
        return found

    def receive(self):
        early = []
        while True:
            line, *fields = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            status = int(line.split(" ")[1])
            headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
            if status >= 200:
                break
            early.append(status)
        body, ending = bytearray(), "whole"
        try:
            if headers.get("transfer-encoding") == "chunked":
                while size := int(self.until(b"\r\n"), 16):
                    self.take(size, body)
                    self.take(2, bytearray())
                self.until(b"\r\n")
            elif "content-length" in headers:
                self.take(int(headers["content-length"]), body)
            else:
                while self.more():
                    pass
                body += self.left
        except (EOFError, ValueError):  # the size of a chunk that is none
            ending = "cut"
        except ConnectionError:
            ending = "reset"
        return Received(status, headers, bytes(body), ending, early)

    def take(self, count, into):
        """Moves bytes of a body, as many as come of `count`."""
        while count:
            if not self.left and not self.more():
                raise EOFError
            part, self.left = self.left[:count], self.left[count:]
            into += part
            count -= len(part)


def exchange(port, method, path, body=b"", timeout=20, **headers):
    """One request over a connection of its own; None if there was no answer, or none that is HTTP."""
    with Wire(port, timeout) as wire:
        wire.send(method, path, body, **headers)
        try:
            return wire.receive()
        except (EOFError, ConnectionError, ValueError):
            return None


def request(api, text="Explain [w1] é", user="ana", stream=False, **more):
    """A small request of an API, as bytes."""
    body = {"model": "small"}
    body |= {"input": text} if api == "responses" else {"messages": [{"role": "user", "content": text}]}
    if api == "messages":
        body |= {"max_tokens": 100}
    if user:
        body |= {"metadata": {"user_id": user}} if api == "messages" else {"user": user}
    return json.dumps(body | ({"stream": True} if stream else {}) | more, ensure_ascii=False).encode()
