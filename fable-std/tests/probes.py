"""Recomputes what coins have shown from nothing but the lines of `fable serve`.

    probes.py FABLE SCALAR

Three users of the catalog `tau2` react late, too late, or not at all. For every declared contrast the wealths K+ and K-, the number of
coins and their average are computed here from the answers to `decide` and the rewards that were accepted, and compared
with what `contrast` says, again and again. The standard library is all that is used.
"""

import json
import random
import subprocess
import sys

STAKES = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8]
ALPHA = 0.05
NAMES = [
    "conversation_over_current_turn",
    "verify_over_standard",
    "ask_over_standard",
    "concise_over_direct",
    "guided_over_direct",
    "concise_over_guided",
]


class Trial:
    """The coins of one contrast of one user."""

    def __init__(self):
        self.products = {sign: [1.0] * len(STAKES) for sign in (1, -1)}
        self.total, self.coins, self.certified = 0.0, 0, 0

    def settle(self, preferred, expected, reward):
        z = (1 if preferred else -1) * (reward - expected)
        bound = 1 + abs(expected)
        for sign, products in self.products.items():
            for place, stake in enumerate(STAKES):
                products[place] *= 1 + sign * stake * z / bound
        self.total += z
        self.coins += 1
        for sign in (1, -1):
            if self.certified == 0 and self.wealth(sign) >= NEEDED:
                self.certified = sign

    def wealth(self, sign):
        return sum(self.products[sign]) / len(STAKES)


NEEDED = 2 * len(NAMES) / (ALPHA / 2)


def main(command, scalar):
    close = 1e-9 if scalar == "f64" else 2e-3
    arguments = ["--catalog", "tau2", "--probe", "0.5", "--seed", "3", "--scalar", scalar, "--deadline", "rounds=12"]
    process = subprocess.Popen([command, "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(op, **keys):
        process.stdin.write(json.dumps({"op": op, **keys}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def near(one, other):
        return abs(one - other) <= close * max(1.0, abs(one), abs(other))

    def check(user, trials):
        for name in NAMES:
            trial, said = trials[name], ask("contrast", user=user, name=name)
            assert said["trials"] == trial.coins, (user, name, said, trial.coins)
            assert near(said["e_value"], max(trial.wealth(1), trial.wealth(-1))), (user, name, said)
            assert near(said["needed"], NEEDED), said
            mean = 2 * trial.total / trial.coins if trial.coins else 0.0
            assert near(said["average"]["mean"], mean), (user, name, said, mean)
            assert said["average"]["lower"] <= said["average"]["mean"] <= said["average"]["upper"]
            assert said["certified"] == trial.certified, (user, name, said)

    # What users like: the reward of a value, added up. Ben does not care.
    tastes = {
        "ana": {"concise": 0.35, "guided": -0.25, "verify": 0.1},
        "ben": {},
        "cleo": {"conversation": -0.3, "ask_if_missing": 0.3, "guided": 0.2},
    }
    chance = random.Random(7)
    trials = {user: {name: Trial() for name in NAMES} for user in tastes}
    waiting, late, missing, refused, probed, played_other, checks = [], 0, 0, 0, 0, 0, 0
    last = {}
    for round in range(700):
        for user, taste in tastes.items():
            asked = {"propensities": 5} if round % 50 == 0 else {}
            answer = ask("decide", user=user, context={}, **asked)
            probes = answer.get("probes", [])
            assert probes != [] or "probes" not in answer
            chances = 0.75 ** len(probes)  # with what was not tossed for it is at most 1
            assert 0 < answer["propensity"] <= 1 and (probes or answer["propensity"] >= 0.75**3), (answer, chances)
            if asked:
                assert near(sum(answer["propensities"]), 1.0)
                assert max(answer["propensities"]) <= 1 and answer["propensity"] in answer["propensities"]
                assert 1 <= sum(share > 0 for share in answer["propensities"]) <= 8
            if probes:
                probed += 1
                why = ask("explain", decision=answer["decision"])
                assert sorted(why["probed"]) == sorted(probe["contrast"] for probe in probes), (why, probes)
                different = [key for key in why["intended"] if why["intended"][key] != why["chosen"][key]]
                played_other += bool(different)
                assert len(different) <= len(probes)
            mean = sum(taste.get(value, 0.0) for value in answer["action"].values())
            reward = max(-1.0, min(1.0, mean + chance.uniform(-0.5, 0.5)))
            if chance.random() < 0.1:
                missing += 1
            else:
                delay = chance.choice([0, 0, 0, 0, 1, 3, 8, 20])
                late += delay > 0
                waiting.append((round + delay, user, answer["decision"], reward, probes))
        due = [entry for entry in waiting if entry[0] <= round]
        waiting = [entry for entry in waiting if entry[0] > round]
        for _, user, decision, reward, probes in due:
            answer = ask("feedback", decision=decision, reward=reward)
            if "error" in answer:
                assert answer["error"]["code"] == "expired", answer
                refused += 1
                continue
            for probe in probes:
                trials[user][probe["contrast"]].settle(probe["preferred"], probe["expected"], reward)
                last[user, probe["contrast"]] = decision
        if round % 35 == 34:
            for user in tastes:
                check(user, trials[user])
                checks += 1
    assert late > 300 and missing > 100 and refused > 50 and probed > 300 and played_other > 100, (
        late,
        missing,
        refused,
        probed,
        played_other,
    )

    # What became certain is true, it is in the profile, and the profile says by which rule.
    certain = {(user, name): trial.certified for user in tastes for name, trial in trials[user].items() if trial.certified}
    assert certain and not any(user == "ben" for user, _ in certain), certain
    for user in tastes:
        profile = {entry["contrast"]: entry for entry in ask("profile", user=user)["profile"]}
        for name in NAMES:
            if trials[user][name].certified:
                entry = profile[name]
                assert entry["by"] == "coins" and entry["verdict"] == entry["certified"] == certain[user, name], entry
                assert entry["trials"] == trials[user][name].coins and entry["standing"] == "holds", entry

    # A reward that is taken back starts its contrasts again, with half of alpha.
    (user, name) = sorted(certain)[0]
    before = ask("contrast", user=user, name=name)
    assert "error" not in ask("unlearn", decision=last[user, name])
    after = ask("contrast", user=user, name=name)
    assert (after["trials"], after["e_value"], after["certified"]) == (0, 1, 0), after
    assert near(after["needed"], 2 * before["needed"]), after

    # A name is instead of actions, and one that is not there is told with those that are.
    error = ask("contrast", user="ana", name="concise")["error"]
    assert error["code"] == "unknown_name" and "concise_over_direct" in error["message"], error
    error = ask("contrast", user="ana", name=NAMES[0], context={})["error"]
    assert error["code"] == "bad_request", error
    process.stdin.close()
    assert process.wait() == 0
    print(f"{probed} probed rounds, {checks} checks, certain: {sorted(certain)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
