#!/usr/bin/env python3
"""The package `litellm[proxy]`, unmodified: its proxy with Fable as a callback, before a server on this machine that records what it is sent."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from parts import check, done

KEY = "sk-of-this-test"
MARK = "For this answer: "
LAYER = """
import fable
from fable.litellm import FableHandler
from litellm.proxy.proxy_server import app

def context(said):
    if "break" in said[-1][1]:
        raise RuntimeError("broken")
    return handler.assistant._read(said)  # as it is without a function of one's own

def rules(user, said):
    return {"forbid": [{"style": "concise"}]} if user == "ben" else {}

policy = fable.Policy(fable.Catalog("agent"), seed=3)
handler = FableHandler(policy, context=context, rules=rules)
handler.serve_feedback(app)
"""
TOOLS = [{"type": "function", "function": {"name": "look_up", "description": "Größe ✓", "parameters": {"type": "object", "properties": {}}}}]


class Upstream(BaseHTTPRequestHandler):
    """An assistant's service: it answers, calls a tool where it is asked to, and keeps every body."""

    protocol_version = "HTTP/1.1"
    bodies = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.bodies.append(body)
        messages = body["messages"]
        wants = any("use the tool" in str(message["content"]) for message in messages) and not any(m["role"] == "tool" for m in messages)
        call = {"id": "call_1", "type": "function", "index": 0, "function": {"name": "look_up", "arguments": "{}"}}
        said = {"role": "assistant", "content": None, "tool_calls": [call]} if wants else {"role": "assistant", "content": "It is 42."}
        ends = "tool_calls" if wants else "stop"
        frame = {"id": "chat-1", "created": 1, "model": "small"}
        if body.get("stream"):
            pieces = [{**frame, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said, "finish_reason": None}]}]
            pieces.append({**frame, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": ends}]})
            sent = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
            kind = "text/event-stream"
        else:
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choices = [{"index": 0, "message": said, "finish_reason": ends}]
            sent, kind = json.dumps({**frame, "object": "chat.completion", "choices": choices, "usage": usage}), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(sent.encode())))
        self.end_headers()
        self.wfile.write(sent.encode())


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Proxy:
    """The real proxy, as a person starts it."""

    def __init__(self, folder, upstream):
        Path(folder, "layer.py").write_text(LAYER, encoding="utf-8")
        models = [{"model_name": "small", "litellm_params": {"model": "openai/small", "api_base": f"{upstream}/v1", "api_key": "sk-upstream"}}]
        config = {
            "model_list": models,
            "litellm_settings": {"callbacks": "layer.handler", "num_retries": 0},
            "general_settings": {"master_key": KEY},
        }
        Path(folder, "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        self.port, self.log = free_port(), Path(folder, "log")
        environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "PYTHONPATH": str(folder), "NO_PROXY": "*"}
        program = Path(sys.executable).parent / "litellm"
        command = [program, "--config", Path(folder, "config.yaml"), "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/liveliness", timeout=5).read()
                return
            except OSError:
                time.sleep(0.5)
        sys.exit(f"the proxy did not start:\n{self.log.read_text()[-4000:]}")

    def post(self, path, body, headers=()):
        """The status, the headers and the body of an answer."""
        sent = {"content-type": "application/json", "authorization": f"Bearer {KEY}", **dict(headers)}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), sent)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()

    def chat(self, messages, user="ana", headers=(), **more):
        """Asks, and gives back the decision and what the upstream was sent."""
        body = {"model": "small", "messages": messages, **({"user": user} if user else {}), **more}
        before = len(Upstream.bodies)
        status, answer_headers, answer = self.post("/v1/chat/completions", body, headers)
        check(status == 200, "there is an answer", answer)
        check(len(Upstream.bodies) == before + 1, "the upstream was asked once")
        return answer_headers.get("x-fable-decision"), Upstream.bodies[-1], answer


def said(role, content):
    return {"role": role, "content": content}


def told(proxy, talk, sent, **more):
    """The instruction, which is the only thing that the upstream would not have been sent without Fable: the same request without a user shows that."""
    _, bare, _ = proxy.chat(talk, user=None, **more)
    without = {name: value for name, value in sent.items() if name != "user"}
    check({**without, "messages": sent["messages"][:-1]} == bare, "everything before the instruction is as it was", (sent, bare))
    check(sent["messages"][-1]["role"] == "system" and sent["messages"][-1]["content"].startswith(MARK), "it is last", sent["messages"][-1])
    return sent["messages"][-1]["content"]


def instructions(proxy):
    talk = [said("system", "Sei höflich."), said("user", [{"type": "text", "text": "Explain ✓"}])]
    decision, sent, _ = proxy.chat(talk, temperature=0.5, tools=TOOLS)
    told(proxy, talk, sent, temperature=0.5, tools=TOOLS)
    check(bool(decision), "the answer's header has the decision", decision)
    check(sent["tools"] == TOOLS and sent["temperature"] == 0.5, "tools and the rest are untouched", sent)
    # A loop of tools is one turn; then comes the next one.
    talk = [said("user", "Please use the tool")]
    decision, sent, answer = proxy.chat(talk, tools=TOOLS)
    first, call = told(proxy, talk, sent, tools=TOOLS), json.loads(answer)["choices"][0]["message"]
    talk = [*talk, {"role": "assistant", "content": None, "tool_calls": call["tool_calls"]}, {"role": "tool", "tool_call_id": "call_1", "content": "42"}]
    again, sent, _ = proxy.chat(talk, tools=TOOLS)
    check(again == decision and told(proxy, talk, sent, tools=TOOLS) == first, "the loop of tools has one decision", (decision, again))
    talk = [*talk, said("assistant", "It is 42."), said("user", "And now?")]
    third, sent, _ = proxy.chat(talk)
    told(proxy, talk, sent)
    check(third != decision, "the next turn has its own", third)
    # Streamed.
    talk = [said("user", "Stream it, and use the tool")]
    decision, sent, answer = proxy.chat(talk, stream=True, tools=TOOLS)
    told(proxy, talk, sent, stream=True, tools=TOOLS)
    check(b"look_up" in answer and answer.rstrip().endswith(b"[DONE]"), "a stream arrives", answer)
    check(proxy.chat(talk, stream=True, tools=TOOLS)[0] == decision, "it called a tool, so the same request is the same turn")
    talk = [said("user", "Stream it")]
    decision, _, _ = proxy.chat(talk, stream=True)
    check(bool(decision) and proxy.chat(talk, stream=True)[0] != decision, "it was answered, so the same request is a new turn")


def feedback(proxy):
    def send(**body):
        status, _, answer = proxy.post("/fable/feedback", body)
        return status, answer.decode()

    decision, _, _ = proxy.chat([said("user", "What is it?")], user="carl")
    check(send(inference_id=decision, value=0.5)[0] == 200, "a reward is taken")
    status, answer = send(inference_id=decision, value=0.5)
    check(status == 400 and "duplicate_feedback" in answer, "a second one is not", (status, answer))
    for body in ({"inference_id": "nothing", "value": 1}, {"value": 1}, {"inference_id": decision, "value": "good"}):
        check(send(**body)[0] == 400, f"{body} is refused")
    fresh, _, _ = proxy.chat([said("user", "What else?")], user="carl")
    check(send(inference_id=fresh, value=7)[0] == 400, "a reward out of range is refused")
    check(send(inference_id=fresh, value=-1)[0] == 200, "and changes nothing: the right one is still taken")
    status, _, _ = proxy.post("/fable/feedback", {"inference_id": decision, "value": 1}, {"authorization": "Bearer sk-wrong"})
    check(status in (400, 401, 403), "a wrong key is refused", status)
    # In words: after thanks the decision has its reward.
    talk = [said("user", "What is it?")]
    decision, _, _ = proxy.chat(talk, user="dora")
    proxy.chat([*talk, said("assistant", "It is 42."), said("user", "Thanks, that is perfect! And what is the other one?")], user="dora")
    check("duplicate_feedback" in send(inference_id=decision, value=1)[1], "thanks are a reward")


def learns(proxy):
    """A user who likes concise answers gets them; one whom a rule forbids them does not."""
    for user, wanted in (("ana", True), ("ben", False)):
        got = []
        for number in range(40):
            decision, sent, _ = proxy.chat([said("user", f"Question {number}")], user=user)
            text = sent["messages"][-1]["content"].lower()
            got.append("concise" in text or "brief" in text or "short" in text)
            proxy.post("/fable/feedback", {"inference_id": decision, "value": 0.9 if got[-1] else -0.3})
        check(sum(got[-10:]) >= 8 if wanted else not any(got), f"{user}: {'learned' if wanted else 'never, by a hard rule'}", got)


def steps_aside(proxy):
    """Without a user, and whatever is wrong with Fable, the request goes on as it came."""
    for what, words, asked in (
        ("no user", "Hello", {"user": None}),
        ("a context that fails", "Please break", {}),
        ("a context that is not one", "Hello", {"headers": {"x-fable-context": '{"task": "golf"}'}}),
        ("a context that is not JSON", "Hello", {"headers": {"x-fable-context": "{"}}),
        ("a name that is too long", "Hello", {"user": "a" * 10_000}),
    ):
        talk = [said("user", words)]
        decision, sent, _ = proxy.chat(talk, **asked)
        check(decision is None and sent["messages"] == talk, f"{what}: as it came", sent)
    talk = [said("user", "By header")]
    decision, sent, _ = proxy.chat(talk, user=None, headers={"x-fable-user": "emma"})
    told(proxy, talk, sent)
    check(bool(decision), "a header can name the user")
    stated = {"task": "writing", "risk": 0, "ambiguity": 0, "memory_need": 0, "tool_need": 0}
    decision, _, _ = proxy.chat([said("user", "Please break")], headers={"x-fable-context": json.dumps(stated)})
    check(bool(decision), "a header can state the context")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(folder, f"http://127.0.0.1:{server.server_port}")
        try:
            for test in (instructions, feedback, learns, steps_aside):
                test(proxy)
        except BaseException:
            print(proxy.log.read_text()[-3000:], file=sys.stderr)
            raise
        finally:
            proxy.process.terminate()
            proxy.process.wait(30)
    done()
