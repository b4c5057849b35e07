"""A small load balancer: every request goes to the next process, whoever the user is, and to the other one if that is away."""

import http.client
import http.server
import threading
import time


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that come at the same time


class Balancer:
    """Listens on a free port of this machine. `places` are the ports of the processes, by name."""

    def __init__(self, places):
        self.places = dict(places)
        self.healthy = {name: True for name in places}
        self.answered = {name: 0 for name in places}  # by each process since it started
        self.retried = 0
        self.turn = 0
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), self.handler())
        self.port = self.server.server_address[1]
        self.ended = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        threading.Thread(target=self.look, daemon=True).start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def replace(self, name, port):
        """The process of this name was started again, somewhere else."""
        with self.lock:
            self.places[name] = port
            self.answered[name] = 0

    def look(self):
        """Asks every process for its health, several times a second."""
        while not self.ended.wait(0.1):
            for name, port in list(self.places.items()):
                try:
                    self.healthy[name] = ask(port, "GET", "/healthz", timeout=1)[0] == 200
                except OSError:
                    self.healthy[name] = False

    def wait_for(self, name, healthy):
        """Waits until the health of a process is known to be so."""
        started = time.monotonic()
        while self.healthy[name] != healthy and time.monotonic() < started + 10:
            time.sleep(0.02)
        return self.healthy[name] == healthy

    def order(self):
        """The processes in the order in which a request tries them: in turn, and the healthy ones first."""
        with self.lock:
            self.turn += 1
            names = list(self.places)
            names = names[self.turn % len(names) :] + names[: self.turn % len(names)]
        return sorted(names, key=lambda name: not self.healthy[name])

    def forward(self, method, path, body, headers):
        """Status and body of the answer, and whether it took a second attempt."""
        for attempt, name in enumerate(self.order()[:2]):
            try:
                status, answer = ask(self.places[name], method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.healthy[name] = False
                continue
            with self.lock:
                self.answered[name] += 1
                self.retried += attempt
            return status, answer, attempt > 0
        return 503, b'{"error":{"code":"away","message":"no process is there"}}', True

    def handler(balancer):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body together

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name: self.headers[name] for name in ("authorization", "content-type") if name in self.headers}
                status, answer, again = balancer.forward("POST", self.path, body, headers)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                if again:
                    self.send_header("x-second-attempt", "yes")
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        return Handler


def ask(port, method, path, body=None, headers=None, timeout=30):
    """One request to this machine: the status and the body of its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
