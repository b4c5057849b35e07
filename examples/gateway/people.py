"""Simulated users of the catalog tau2: most of them like brief answers that remember the conversation."""

import http.client
import json
import random

NAMES = ["ana", "ben", "cleo", "dan", "eve", "finn", "gus", "hana", "ivo", "jana", "kai", "lea"]


class Client:
    """A connection to the service, directly or through the balancer."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def post(self, path, **body):
        self.connection.request("POST", path, json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        again = answer.getheader("x-second-attempt") is not None
        body = json.loads(answer.read())
        # The process that was asked first may have learned the reward, and ended before it could say so.
        if again and body.get("error", {}).get("code") == "duplicate_feedback":
            return body
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}: {body}")
        return body


class Person:
    """Tells with stars, or with a yes or a no, how good an answer was."""

    def __init__(self, number):
        self.name = NAMES[number]
        self.stars = number % 2 == 0
        own = random.Random(number)
        common = {"conversation": 0.3, "current_turn": -0.2, "concise": 0.5, "guided": -0.4, "verify": 0.1}
        self.taste = {value: worth + own.gauss(0, 0.1) for value, worth in common.items()}
        self.decisions = []  # that were answered and rewarded

    def reaction(self, action, chance):
        """From -1 to 1."""
        worth = sum(self.taste.get(value, 0) for value in action.values()) + chance.gauss(0, 0.2)
        return max(-1.0, min(1.0, worth))

    def round(self, client, chance):
        """Asks for an action, and sends a metric of how it went."""
        decided = client.post("/v1/decide", user=self.name, context={})
        worth = self.reaction(decided["action"], chance)
        metric = ("rating", round(3 + 2 * worth)) if self.stars else ("resolved", worth > 0)
        client.post("/feedback", inference_id=decided["decision"], metric_name=metric[0], value=metric[1])
        self.decisions.append(decided["decision"])
