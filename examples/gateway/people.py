"""Simulated users of the catalog tau2: most of them like brief answers that remember the conversation."""

import http.client
import json
import random


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
    """Tells with stars or with a yes or no how good an answer was."""

    def __init__(self, number):
        self.name = ["ana", "ben", "cleo", "dan", "eve", "finn", "gus", "hana", "ivo", "jana", "kai", "lea"][number]
        self.stars = number % 2 == 0
        self.random = random.Random(number)
        own = random.Random(f"taste {number}")
        common = {"conversation": 0.3, "current_turn": -0.2, "concise": 0.5, "guided": -0.4, "verify": 0.1}
        self.taste = {value: worth + own.gauss(0, 0.1) for value, worth in common.items()}
        self.decisions = []

    def reaction(self, action):
        """From -1 to 1."""
        worth = sum(self.taste.get(value, 0) for value in action.values()) + self.random.gauss(0, 0.2)
        return max(-1.0, min(1.0, worth))

    def metric(self, action):
        worth = self.reaction(action)
        if self.stars:
            return {"metric_name": "rating", "value": round(3 + 2 * worth)}
        return {"metric_name": "resolved", "value": worth > 0}

    def round(self, client):
        decided = client.post("/v1/decide", user=self.name, context={})
        client.post("/feedback", inference_id=decided["decision"], **self.metric(decided["action"]))
        self.decisions.append(decided["decision"])
