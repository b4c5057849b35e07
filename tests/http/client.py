#!/usr/bin/env python3
"""The package `requests`, unmodified, against `fable serve --http`: rounds, many connections, refusals, a restart.

    client.py FABLE FOLDER     FABLE is the command, FOLDER gets a store
"""

import concurrent.futures
import json
import os
import secrets
import subprocess
import sys

import requests

CONTEXT = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
TOKEN = secrets.token_hex(16)
ROUNDS = 20
USERS = [f"user-{number} ü" for number in range(8)]


def check(holds, claim, seen=""):
    """Prints a claim that holds and ends the program at one that does not."""
    if not holds:
        sys.exit(f"this is not so: {claim}\n  seen: {seen!r}")
    print(f"  ok  {claim}", flush=True)


class Service:
    """`fable serve` on a free port, stopped by SIGTERM."""

    def __init__(self, fable, folder):
        command = [fable, "serve", "--catalog", "agent", "--store", f"{folder}/users.fable", "--http", "127.0.0.1:0"]
        environment = {**os.environ, "FABLE_TOKENS_ALL": TOKEN}
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        (self.url,) = json.loads(self.child.stdout.readline())["listening"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.code = self.child.wait(30)

    def client(self):
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        return lambda op, **body: session.post(f"{self.url}/v1/{op}", json=body, timeout=30)


def life(service, user):
    """Some rounds of a user over one kept connection; the actions and the number of observations."""
    call, actions, observations = service.client(), [], 0
    for number in range(ROUNDS):
        decision = call("decide", user=user, context=CONTEXT, forbid=[{"tool": "web_search"}])
        decision.raise_for_status()
        decision = decision.json()
        actions.append(decision["action"])
        reward = 1 if decision["action"]["style"] == "concise" else -0.5
        answer = call("feedback", decision=decision["decision"], reward=reward)
        answer.raise_for_status()
        observations = answer.json()["observations"]
    return actions, observations


def main(fable, folder):
    with Service(fable, folder) as service:
        document = requests.get(f"{service.url}/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        check(document.ok and "/v1/decide" in document.json()["paths"], "the OpenAPI document describes the service")
        check(requests.get(f"{service.url}/healthz", timeout=30).ok, "the service says that it is well, without a token")

        actions, observations = life(service, "ana")
        check(observations == ROUNDS, f"{ROUNDS} rewards are learned", observations)
        check(all(action["tool"] != "web_search" for action in actions), "a forbidden action is never chosen", actions)
        liked = sum(action["style"] == "concise" for action in actions[ROUNDS // 2 :])
        check(liked > ROUNDS // 4, "the user's style is chosen more and more", liked)

        with concurrent.futures.ThreadPoolExecutor(len(USERS)) as threads:
            lives = list(threads.map(lambda user: life(service, user), USERS))
        check(all(learned == ROUNDS for _, learned in lives), f"{len(USERS)} connections at a time lose nothing")

        call = service.client()
        decision = call("decide", user="ben", context=CONTEXT).json()["decision"]
        check(call("feedback", decision=decision, reward=0.5).ok, "a reward is taken")
        again = call("feedback", decision=decision, reward=0.5)
        check(again.status_code == 409, "a second reward for one decision is refused", again.text)
        wrong = call("decide", user="ben", context={**CONTEXT, "task": "codding"})
        check(wrong.status_code == 422 and "codding" in wrong.json()["error"]["message"], "an error names the wrong word", wrong.text)
        bare = requests.post(f"{service.url}/v1/stats", json={}, timeout=30)
        check(bare.status_code == 401, "a request without a token is refused", bare.status_code)
        plain = requests.post(f"{service.url}/v1/stats", data="x", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        check(plain.status_code in (400, 415), "a body that is not JSON is refused", plain.status_code)
        missing = requests.get(f"{service.url}/v1/nothing", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        check(missing.status_code == 404, "an unknown path is not found", missing.status_code)
    check(service.code == 0, "SIGTERM ends the service with exit code 0", service.code)

    with Service(fable, folder) as service:
        call = service.client()
        kept = call("posterior", user="ana").json()
        check((kept["rounds"], kept["observations"]) == (ROUNDS, ROUNDS), "a restart loses nothing", kept)
        check(call("forget", user="ana").ok, "a user is forgotten")
        gone = call("posterior", user="ana")
        check(gone.status_code == 404 or gone.json()["rounds"] == 0, "nothing of the user is left", gone.text)


if __name__ == "__main__":
    main(*sys.argv[1:])
