"""A stand-in for the service of an assistant: chat completions whose answers do what the last instruction says."""

import http.server
import json
import threading

ANSWERS = {
    "Answer briefly.": "Use a loop.",
    "Answer directly.": "Use a loop and collect what you need in a list. Return the list in the end.",
    "Answer step by step.": " ".join(f"Step {n}: write the line, run it, and look at what comes out." for n in range(1, 5)),
    "Answer in detail.": " ".join(["There are several ways, and each has advantages that depend on what you have."] * 6),
    "Answer with a question that clarifies the request.": "Which version of the language do you have?",
    "Say what you are about to do and wait for confirmation.": "I am about to write a loop. Shall I?",
}


class Assistant(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body together

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        told = request["messages"][-1]["content"]
        text = next((answer for instruction, answer in ANSWERS.items() if instruction in told), ANSWERS["Answer in detail."])
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": request["model"], "choices": [choice]}
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Upstream(http.server.ThreadingHTTPServer):
    """Listens on a free port of this machine, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Assistant)
        self.requests = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()
