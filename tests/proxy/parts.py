"""What the tests of the proxy share: an upstream and a proxy at free ports, claims, and calls that are made both ways."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from splice import Changed, compare, same

HERE = pathlib.Path(__file__).resolve().parent
KEY = "sk-this-key-stays-out-of-everything-4711"
MARK = re.compile(rb"\[[a-z]\d+\]")  # in the text of a call
# What the proxy may change of a request's head.
OWN_HEADERS = {"host", "content-length", "connection", "accept-encoding", "x-fable-user", "x-fable-conversation"}


class Trouble(Exception):
    """A claim does not hold, or something does not start."""


def check(so, claim, seen=""):
    """A claim, printed when it holds."""
    if not so:
        raise Trouble(f"this is not so: {claim}" + (f"\n  seen: {seen!r}" if seen != "" else ""))
    print(f"  ok  {claim}", flush=True)


class Record:
    """One request as it arrived, and what was answered."""

    def __init__(self, taken):
        self.connection, self.whole = taken["connection"], taken["whole"]
        head, self.body, self.sent = (base64.b64decode(taken[name]) for name in ("head", "body", "sent"))
        line, *fields = head.decode("latin-1").split("\r\n")[:-2]
        self.method, self.target, _ = line.split(" ")
        self.path = self.target.partition("?")[0]
        self.headers = [(name.lower(), value.strip()) for name, _, value in (field.partition(":") for field in fields)]

    def header(self, name):
        return dict(self.headers).get(name)

    def json(self):
        return json.loads(self.body)


class Child:
    """A process that tells in its first line where it listens."""

    def __init__(self, command, **options):
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, **options)
        self.first = self.child.stdout.readline()
        if not self.first:
            self.child.kill()
            raise Trouble(f"{' '.join(map(str, command))} has ended with {self.child.wait()}")

    def close(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        return self.child.returncode


class Upstream(Child):
    """`upstream.py` in a process of its own."""

    def __init__(self):
        super().__init__([sys.executable, HERE / "upstream.py"], stdin=subprocess.PIPE)
        self.port = json.loads(self.first)["listening"]
        self.url = f"http://127.0.0.1:{self.port}"

    def taken(self):
        """The requests since the last call."""
        return [Record(taken) for taken in json.loads(ask(self.port, "GET", "/control/taken").body)]

    def idle(self, patience=60):
        """Returns when all connections have ended but the one that asks about it."""
        until = time.monotonic() + patience
        while ask(self.port, "GET", "/control/open").json() > 1:
            if time.monotonic() > until:
                raise Trouble("the upstream's connections do not end")
            time.sleep(0.001)


class Proxy(Child):
    """`fable proxy` with a store of its own in `folder`; what it prints is kept there, too."""

    def __init__(self, upstream, folder, *options, largest_file=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.command = [os.environ["FABLE"], "proxy", "--upstream", upstream, "--listen", "127.0.0.1:0"]
        self.command += ["--store", self.folder / "users.fable", *options]
        self.limit = None
        if largest_file:  # a disk that is full when a file has so many bytes

            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

            self.limit = limit
        self.start()

    def start(self):
        """Starts it, for the first time or again with the same store."""
        with open(self.folder / "stderr", "a") as stderr:
            super().__init__(self.command, stdin=subprocess.DEVNULL, stderr=stderr, preexec_fn=self.limit)
        (self.url,) = json.loads(self.first)["listening"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self):
        """As kill -9 does."""
        self.child.kill()
        self.child.wait()

    def op(self, name, **body):
        """An op of the service, which the proxy serves, too."""
        answer = ask(self.port, "POST", f"/fable/v1/{name}", json.dumps(body), {"content-type": "application/json"})
        if answer.status != 200:
            raise Trouble(f"{name} was answered with {answer.status}: {answer.body!r}")
        return json.loads(answer.body)

    def finish(self):
        """Ends it, and looks for the client's key, and for what was said, in everything that it leaves."""
        code = self.close()
        (self.folder / "stdout").write_bytes(self.first + self.child.stdout.read())
        check(code == 0, "the proxy ends when it is told to, with exit code 0", code)
        left = [path for path in self.folder.rglob("*") if path.is_file()]
        secret = KEY.encode()
        forms = [secret, base64.b64encode(secret)[:-4], secret.hex().encode(), secret.split(b"-", 1)[1]]
        forms += [b"Explain [", b"use tool", b"This is the answer"]
        found = [path.name for path in left if any(form in path.read_bytes() for form in forms)]
        check(
            len(left) >= 3 and not found,
            f"neither the key nor a word is in {len(left)} files: store, keys, stdout, stderr...",
            found,
        )


class Answer:
    def __init__(self, answer, body):
        self.status, self.body = answer.status, body
        self.headers = {name.lower(): value for name, value in answer.getheaders()}

    def json(self):
        return json.loads(self.body)


def ask(port, method, path, body=None, headers=None, timeout=30):
    """One request over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return Answer(answer, answer.read())
    finally:
        connection.close()


def by_mark(records):
    """Records in the order of the marks in them: calls that are made at the same time arrive in any order."""
    return sorted(records, key=lambda record: MARK.findall(record.body)[:1])


class Bench:
    """An upstream, a proxy before it, and calls that are made directly and through the proxy."""

    def __init__(self, upstream, proxy):
        self.upstream, self.proxy = upstream, proxy
        self.calls = 0

    def both(self, name, call):
        """Makes a call both ways. `call(url, seed)` returns what a client made of the answer, always in the same way.

        Returns what came through the proxy, the instructions, and the choices of tools.
        """
        self.calls += 1
        seed = f"call {self.calls}"
        self.upstream.taken()
        direct = call(self.upstream.url, seed)
        before = by_mark(self.upstream.taken())
        proxied = call(self.proxy.url, seed)
        after = by_mark(self.upstream.taken())
        try:
            same([record.target for record in before], [record.target for record in after], "the list of requests")
            told = [self.spliced(one, other) for one, other in zip(before, after)]
            same(direct, proxied, "what the client made of the answers")
        except Changed as changed:
            raise Trouble(f"{name}: {changed}") from None
        if not told:
            raise Trouble(f"{name}: nothing was recorded")
        check(True, f"{name}: {len(told)} requests with their bytes, tools and answers intact")
        return proxied, [text for text, _ in told], [choice for _, choice in told]

    def spliced(self, before, after):
        mine, other = ([field for field in record.headers if field[0] not in OWN_HEADERS] for record in (before, after))
        same(sorted(mine), sorted(other), "the head of the request")
        if KEY not in (after.header("authorization") or after.header("x-api-key") or ""):
            raise Changed("the key has not arrived")
        return compare(before.path, before.body, after.body)


@contextlib.contextmanager
def bench(*options, upstream=None, between=None, largest_file=None):
    """Everything that a test needs, and the end of it.

    The proxy is before an upstream, or before the address `upstream`, or before what `between(port)` puts between them.
    """
    with tempfile.TemporaryDirectory(prefix="fable-proxy-") as folder, contextlib.ExitStack() as stack:
        recorder = Upstream()
        stack.callback(recorder.close)
        if between:
            relay = between(recorder.port)
            stack.callback(relay.close)
            upstream = relay.url
        if "--patience" not in options:  # a busy machine is not what is tested
            options += ("--patience", "20000")
        proxy = Proxy(upstream or recorder.url, folder, *options, largest_file=largest_file)
        stack.callback(proxy.close)
        yield Bench(recorder, proxy)
        proxy.finish()


def main(test):
    """Runs a test; what is not as claimed ends it with exit code 1."""
    try:
        test()
    except (Trouble, Changed) as trouble:
        sys.exit(f"{sys.argv[0]}: {trouble}")
