#!/usr/bin/env python3
"""Shows: Fable and its peers on the Open Bandit Dataset's sample that OBP's wheel brings along: a replay, and policies learned from one log and judged by another.

    obp_study.py OUTPUT.json [--rows 10000] [--replay-rows 10000] [--only-fable]

*Replay*, as OBP's ``run_bandit_simulation`` does it: each policy chooses three items in every row of the uniformly random log of the campaign "men", and
learns from a row where its item at the row's position is what was shown. The policies take turns in each row, so that time is compared in the same run.

*Learned from a log*: each learner reads a whole log of one policy and is then judged by OBP's estimators on the log of the other one: 3 campaigns,
both ways. Nothing is learned from the log that judges.

torch is not installed: ``stub`` has something that can be imported in its place, and nothing that is used here needs more.
"""

import argparse
import json
import logging
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "stub"))
logging.disable(logging.INFO)
warnings.simplefilter("ignore", FutureWarning)  # OBP 0.4.1 calls pandas as it was then

import numpy as np
import pandas as pd
from obp.dataset import OpenBanditDataset
from obp.ope import DoublyRobust, InverseProbabilityWeighting, RegressionModel, SelfNormalizedInverseProbabilityWeighting
from obp.policy import LinTS, LinUCB
from sklearn.linear_model import LogisticRegression

from fable.obp import FablePolicy
from goals import FABLE, FLAT, LINTS, LINUCB, PAPER, RANDOM, VW
from vw import VowpalPolicy

SEED = 101
CAMPAIGNS = ("men", "women", "all")
PER_ROW = ("action", "position", "reward", "pscore", "context")
BOOTSTRAP = 1000


class RandomPolicy:
    """Shows anything."""

    def __init__(self, n_actions, len_list, random_state):
        self.n_actions, self.len_list, self._random = n_actions, len_list, np.random.RandomState(random_state)

    def select_action(self, _context):
        return self._random.choice(self.n_actions, size=self.len_list, replace=False)

    def update_params(self, action, reward, context):
        """Nothing is learned."""


def logs_of(campaign, rows):
    """The first rows of the logs of both policies. Contexts have a column for each value that occurs in either: OBP makes them for each log on its own,
    and then the columns of two logs are not the same ones."""
    read = [OpenBanditDataset(behavior_policy=policy, campaign=campaign) for policy in ("random", "bts")]
    users = [dataset.data.loc[:, dataset.data.columns.str.contains("user_feature")] for dataset in read]
    columns = pd.get_dummies(pd.concat(users), drop_first=True).to_numpy(dtype=float)
    made = []
    for dataset, contexts in zip(read, (columns[: len(users[0])], columns[len(users[0]) :])):
        whole = {**dataset.obtain_batch_bandit_feedback(), "context": contexts}
        cut = {name: value[:rows] if name in PER_ROW else value for name, value in whole.items()}
        made.append({**cut, "n_rounds": len(cut["action"])})
    return made


def policies(dim, n_actions, len_list, only_fable):
    def fable(**options):
        return FablePolicy(dim, n_actions, len_list, random_state=SEED, user="ana", options=options)

    made = {FABLE: fable(), FLAT: fable(flat=True), PAPER: fable(paper=True), RANDOM: RandomPolicy(n_actions, len_list, SEED)}
    if not only_fable:
        made[VW] = VowpalPolicy(n_actions, len_list, SEED)
        made[LINUCB] = LinUCB(dim, n_actions, len_list, random_state=SEED, epsilon=1.0)
        made[LINTS] = LinTS(dim, n_actions, len_list, random_state=SEED)
    return made


def replay(log, playing):
    """Rows in which each policy's choice was shown, as (row, reward), and the time that a row took it."""
    matched = {name: [] for name in playing}
    spent = dict.fromkeys(playing, 0.0)
    for row in range(log["n_rounds"]):
        action, reward, position = int(log["action"][row]), float(log["reward"][row]), int(log["position"][row])
        context = log["context"][row : row + 1]
        for name, policy in playing.items():
            begun = time.perf_counter()
            chosen = policy.select_action(context)
            if chosen[position] == action:
                policy.update_params(action=action, reward=reward, context=context)
                matched[name].append((row, reward))
            spent[name] += time.perf_counter() - begun
    return matched, {name: seconds / log["n_rounds"] for name, seconds in spent.items()}


def teach(name, policy, log):
    """Reads a whole log; gives the policy's best action for contexts."""
    for action, reward, context, score in zip(log["action"], log["reward"], log["context"], log["pscore"]):
        given = {"action": int(action), "reward": float(reward), "context": context.reshape(1, -1)}
        if name == VW:
            policy.observe(**given, probability=float(score))
        elif name != RANDOM:
            policy.update_params(**given)
    if name in (LINUCB, LINTS):
        weights = np.stack([inverse @ policy.b[:, action] for action, inverse in enumerate(policy.A_inv)], axis=1)
        return lambda contexts: (contexts @ weights).argmax(axis=1)
    if name == RANDOM:
        return lambda contexts: np.arange(len(contexts)) % policy.n_actions
    known = {}

    def best(contexts):
        keys = [context.tobytes() for context in contexts]
        for key, context in zip(keys, contexts):
            if key not in known:
                known[key] = policy.best(context.reshape(1, -1))
        return np.array([known[key] for key in keys])

    return best


def expected_rewards(log):
    """OBP's own model of rewards for the doubly robust estimator, cross-fitted in three folds."""
    model = RegressionModel(
        n_actions=log["n_actions"],
        len_list=3,
        action_context=log["action_context"],
        base_model=LogisticRegression(C=1.0, max_iter=1000, random_state=SEED),
    )
    given = {name: log[name] for name in ("context", "action", "reward", "position", "pscore")}
    return model.fit_predict(**given, n_folds=3, random_state=SEED)


def judge(log, actions, expected):
    """OBP's estimates of the value of showing these actions, with its bootstrap intervals."""
    chosen = np.zeros((log["n_rounds"], log["n_actions"], 3))
    chosen[np.arange(log["n_rounds"]), actions, :] = 1.0
    given = {name: log[name] for name in ("reward", "action", "position", "pscore")}
    asked = {"alpha": 0.05, "n_bootstrap_samples": BOOTSTRAP, "random_state": SEED}
    made = {}
    for short, estimator, more in (
        ("ips", InverseProbabilityWeighting(), {}),
        ("snips", SelfNormalizedInverseProbabilityWeighting(), {}),
        ("dr", DoublyRobust(), {"estimated_rewards_by_reg_model": expected}),
    ):
        value = estimator.estimate_policy_value(action_dist=chosen, **given, **more)
        interval = estimator.estimate_interval(action_dist=chosen, **given, **more, **asked)
        made[short] = [float(value), float(interval["95.0% CI (lower)"]), float(interval["95.0% CI (upper)"])]
    made["matched"] = int((actions == log["action"]).sum())
    return made


def learned_from_logs(rows, only_fable):
    pairs = []
    for campaign in CAMPAIGNS:
        logs = logs_of(campaign, rows)
        expected = [None if only_fable else expected_rewards(log) for log in logs]
        for taught, judging in ((0, 1), (1, 0)):
            log, other = logs[taught], logs[judging]
            pair = {"campaign": campaign, "taught": ("random", "bts")[taught], "logged": float(other["reward"].mean()), "learners": {}}
            for name, policy in policies(log["context"].shape[1], log["n_actions"], 3, only_fable).items():
                begun = time.perf_counter()
                actions = teach(name, policy, log)(other["context"])
                took = time.perf_counter() - begun
                seen = {"actions": actions.tolist()} if only_fable else judge(other, actions, expected[judging])
                pair["learners"][name] = {**seen, "seconds": took}
            pairs.append(pair)
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--replay-rows", type=int, default=10_000)
    parser.add_argument("--only-fable", action="store_true", help="without the peers and the estimators")
    asked = parser.parse_args()
    begun = time.monotonic()
    log = logs_of("men", asked.replay_rows)[0]
    matched, spent = replay(log, policies(log["context"].shape[1], log["n_actions"], 3, asked.only_fable))
    played = {name: {"matched": rows, "seconds": spent[name]} for name, rows in matched.items()}
    print(f"replay after {time.monotonic() - begun:.0f} s", file=sys.stderr)
    pairs = learned_from_logs(asked.rows, asked.only_fable)
    made = {"seconds": time.monotonic() - begun, "rows": log["n_rounds"], "replay": played, "pairs": pairs}
    Path(asked.output).write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
