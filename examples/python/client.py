#!/usr/bin/env python3
"""Shows: how a Python program uses Fable, through `fable serve` and the standard library alone.

    examples/python/client.py target/release/fable [STORE]

A simulated user of the catalog `agent` likes concise answers to questions about code. Without STORE everything ends with
the program.
"""

import json
import subprocess
import sys


class Fable:
    """A running `fable serve`."""

    def __init__(self, command, *arguments):
        self.process = subprocess.Popen(
            [command, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask_all(self, requests):
        """Sends requests together, which is fast, and returns their answers. Some hundreds at a time fit into the pipe."""
        for request in requests:
            self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return [json.loads(self.process.stdout.readline()) for _ in requests]

    def ask(self, op, **keys):
        """Sends one request and returns its answer."""
        (answer,) = self.ask_all([{"op": op, **keys}])
        if "error" in answer:
            raise ValueError("{code}: {message}".format(**answer["error"]))
        return answer


def main(command, store=None):
    context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.3, "tool_need": 0.4}
    with Fable(command, "--catalog", "agent", "--seed", "1", *(["--store", store] if store else [])) as fable:
        fable.ask("onboard", user="ana", statements=[{"prefer": {"style": "concise"}, "response": 0.5, "precision": 4}])
        liked = 0
        for _ in range(200):
            # Where the network is down, nothing that needs it can be chosen.
            decision = fable.ask("decide", user="ana", context=context, forbid=[{"tool": "web_search"}])
            # Here decision["instruction"] goes to the assistant, and the user reacts to what comes of it.
            assert decision["action"]["tool"] != "web_search"
            concise = decision["action"]["style"] == "concise"
            fable.ask("feedback", decision=decision["decision"], reward=0.8 if concise else -0.4)
            liked += concise
        print(f"{liked} of 200 answers were concise")
        print("the last instruction:", decision["instruction"])

        other = dict(decision["action"], style="detailed")
        contrast = fable.ask("contrast", user="ana", context=context, prefer=dict(other, style="concise"), over=other)
        print("concise over detailed: {mean:.2f}, from {lower:.2f} to {upper:.2f}".format(**contrast))

        answers = fable.ask_all([{"op": "decide", "user": f"user {n}", "context": context, "id": n} for n in range(100)])
        assert [answer["id"] for answer in answers] == list(range(100))
        print("users:", fable.ask("stats")["users"])
        try:
            fable.ask("decide", user="ana", context={"task": "golf"})
        except ValueError as error:
            print("refused:", error)
        # Nothing but concise was worth trying, so what detailed would be like is known from the statement and the prior alone.
        assert liked > 190 and contrast["mean"] > 0.4


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
