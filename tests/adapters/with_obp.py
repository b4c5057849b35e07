#!/usr/bin/env python3
"""The package `obp` 0.4.1, unmodified: its simulator with Fable as a policy, and its estimators on a log of Fable's.

obp imports torch, which is not installed: examples/outside/stub has something that can be imported in its place and does nothing. Nothing that is
tested here uses it.
"""

import json
import logging
import sys
import tempfile
import warnings
from pathlib import Path

outside = Path(__file__).parents[2] / "examples/outside"
sys.path[:0] = [str(outside / "stub"), str(outside)]
logging.disable(logging.INFO)
warnings.simplefilter("ignore", FutureWarning)  # of pandas, about obp

import numpy as np
from obp.dataset import OpenBanditDataset
from obp.ope import InverseProbabilityWeighting, OffPolicyEvaluation, SelfNormalizedInverseProbabilityWeighting
from obp.policy import LinUCB
from obp.simulator import run_bandit_simulation
from obp.utils import check_bandit_feedback_inputs

import fable
from fable.obp import FablePolicy, bandit_feedback, line
from parts import check, done, raises


def simulation():
    """obp's own simulator, on a problem in which one arm is best where a feature is high."""
    random = np.random.RandomState(3)
    rows, arms = 1500, 4
    context, action = random.uniform(-1, 1, (rows, 3)), random.randint(arms, size=rows)
    better = np.where(context[:, 0] > 0, action == 1, action == 2)
    feedback = {
        "n_rounds": rows,
        "n_actions": arms,
        "context": context,
        "action": action,
        "position": np.zeros(rows, dtype=int),
        "reward": (random.uniform(size=rows) < np.where(better, 0.9, 0.1)).astype(float),
        "pscore": np.full(rows, 1 / arms),
    }
    policy = FablePolicy(dim=3, n_actions=arms, user="ana", random_state=5)
    chosen = run_bandit_simulation(bandit_feedback=feedback, policy=policy)
    check(chosen.shape == (rows, arms, 1), "an action for every row", chosen.shape)
    check(policy.n_trial == policy.bandit.user.observations > 200, "what matched was learned, once", policy.n_trial)
    value = InverseProbabilityWeighting().estimate_policy_value(action_dist=chosen, **{k: feedback[k] for k in ("reward", "action", "position", "pscore")})
    check(value > 0.6, "it has found out when which arm is best (by chance 0.3, always right 0.9)", value)
    check([policy.best(np.array([[side, 0.0, 0.0]])) for side in (0.9, -0.9)] == [1, 2], "what is known without exploring")
    before = chosen[:200].tolist()
    policy.initialize()
    check(policy.n_trial == 0 and not hasattr(policy.bandit, "user"), "initialize forgets")
    cut = {name: value[:200] if isinstance(value, np.ndarray) else value for name, value in feedback.items()}
    check(run_bandit_simulation({**cut, "n_rounds": 200}, policy).tolist() == before, "and then everything is as it was the first time")


def bundled():
    """The data that obp's wheel brings along, with lists of three."""
    whole = OpenBanditDataset(behavior_policy="random", campaign="men").obtain_batch_bandit_feedback()
    feedback = {k: v[:60] if k in ("action", "position", "reward", "pscore", "context") else v for k, v in whole.items()}
    feedback["n_rounds"] = 60
    policy = FablePolicy(dim=feedback["context"].shape[1], n_actions=whole["n_actions"], len_list=3, options={"paper": True})
    chosen = run_bandit_simulation(feedback, policy)
    check((chosen.sum(axis=1) == 1).all() and (chosen.sum(axis=2) <= 1).all(), "three different items in every row")
    policy.update_params(action=3, reward=1.0, context=feedback["context"][:1])
    check(policy.bandit.user.observations == policy.n_trial, "a reward of what was not in the last list is an observation")


def study():
    """The study's replay, in which policies take turns, is obp's own simulator."""
    import obp_study

    rows = obp_study.logs_of("men", 400)[0]
    given = (rows["context"].shape[1], rows["n_actions"], 3)

    def made():
        return {"Fable": FablePolicy(*given, options={"paper": True}), "LinUCB": LinUCB(*given, epsilon=1.0)}

    matched, _ = obp_study.replay(rows, made())
    for name, policy in made().items():
        chosen = run_bandit_simulation(rows, policy)
        agree = chosen[np.arange(400), rows["action"], rows["position"]] == 1
        check(agree.any() and [row for row, _ in matched[name]] == np.flatnonzero(agree).tolist(), f"{name}: the same rows match", matched[name])


def log():
    """A log of Fable's is obp's bandit_feedback, and its estimators find the value of a policy whose value is known."""
    catalog = fable.Catalog("tau2")
    policy = fable.Policy(catalog, nu=3.0, seed=4)
    user = fable.User(policy, "ana")
    liked = [float("concise" in catalog.action(index).values()) for index in range(catalog.size)]
    draws, lines = 500, []
    for _ in range(600):
        decision = user.decide({}, propensities=draws)
        reward = 0.8 * liked[decision.index] - 0.2
        lines.append(line({}, decision, reward, user="ana", draws=draws))
        user.feedback(decision, reward)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
        read, given = bandit_feedback(catalog, file), bandit_feedback(catalog, lines)
    check(all(np.array_equal(read[name], given[name]) for name in given), "a file and its lines are the same")
    check((read["n_rounds"], read["n_actions"]) == (600, catalog.size), "all lines and all actions are there")
    check((read["action_context"].sum(axis=1) == len(catalog.components)).all(), "an action has one value of each component")
    check((read["pscore"] > 0).all() and (read["pscore"] <= 1).all(), "probabilities are in (0, 1]")
    target = np.zeros((600, catalog.size, 1))
    target[:, :, 0] = np.array(liked) / sum(liked)  # any concise action, with equal chances: worth 0.6
    inputs = {name: read[name] for name in ("reward", "action", "pscore")}
    for estimator in (InverseProbabilityWeighting(), SelfNormalizedInverseProbabilityWeighting()):
        found = estimator.estimate_interval(action_dist=target, position=np.zeros(600, dtype=int), **inputs, random_state=1)
        low, high = found["95.0% CI (lower)"] - 1e-9, found["95.0% CI (upper)"] + 1e-9
        check(low <= 0.6 <= high and high - low < 0.5, f"{estimator.estimator_name} finds the value 0.6", found)
    agent = fable.Catalog("agent")
    context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.3, "tool_need": 0.4}
    one = fable.User(fable.Policy(agent, nu=0.3), "ana").decide(context, propensities=50)
    made = bandit_feedback(agent, [line(context, one, 1.0)])
    check(made["context"].shape == (1, len(agent.tasks) + 4) and made["context"].sum() == 2.0, "a task is a column", made["context"])
    check(made["pscore"][0] == one.propensities[one.index], "exact propensities stay as they are")
    check_bandit_feedback_inputs(**{name: made[name] for name in ("context", "action", "reward", "position", "pscore", "action_context")})
    meta = OffPolicyEvaluation({**read, "position": np.zeros(600, dtype=int)}, [InverseProbabilityWeighting()])
    check("ipw" in meta.estimate_policy_values(action_dist=target), "obp's OffPolicyEvaluation takes the dictionary as it is")


def mistakes():
    raises(ValueError, lambda: FablePolicy(dim=2, n_actions=3, batch_size=10), "batches", "batch_size must be 1")
    raises(ValueError, lambda: FablePolicy(dim=2, n_actions=1), "one action")
    policy = FablePolicy(dim=2, n_actions=3)
    policy.select_action(np.array([[0.1, 0.2]]))
    before = policy.bandit.user.snapshot()
    raises(ValueError, lambda: policy.select_action(np.array([0.1, 0.2])), "a vector", "context shape")
    raises(ValueError, lambda: policy.select_action(np.array([[0.1, np.nan]])), "NaN", "finite")
    raises(ValueError, lambda: policy.update_params(9, 1.0, np.array([[0.1, 0.2]])), "an action that is not there")
    raises(ValueError, lambda: policy.update_params(0, np.nan, np.array([[0.3, 0.2]])), "a reward that is NaN")
    check(policy.bandit.user.snapshot() == before, "after all of that the user is what it was, bit for bit")
    catalog = fable.Catalog("tau2")
    sure = fable.User(fable.Policy(catalog), "ana").decide({})
    raises(ValueError, lambda: line({}, sure, 0.5), "a decision without propensities", "propensities=K")
    action, even = catalog.action(0), [1 / catalog.size] * catalog.size
    good = {"context": {}, "action": action, "reward": 0.5, "propensities": even}
    check(bandit_feedback(catalog, [good])["n_rounds"] == 1, "a good line")
    for what, bad in {
        "a reward that is too large": {**good, "reward": 2},
        "a propensity of 0 for what was done": {**good, "propensities": [0.0] + even[1:]},
        "too few propensities": {**good, "propensities": even[1:]},
        "a foreign action": {**good, "action": {"style": "loud"}},
        "no reward": {name: value for name, value in good.items() if name != "reward"},
    }.items():
        raises(ValueError, lambda bad=bad: bandit_feedback(catalog, [good, bad]), what, "line 2")
    raises(ValueError, lambda: bandit_feedback(catalog, []), "an empty log")


if __name__ == "__main__":
    simulation()
    bundled()
    study()
    log()
    mistakes()
    done()
