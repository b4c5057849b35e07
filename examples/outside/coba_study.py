#!/usr/bin/env python3
"""Shows: Fable and its peers in Coba's synthetic environments, the same rounds for all, reward and time in one run.

    coba_study.py OUTPUT.json [--rounds 500] [--seeds 10] [--processes 2] [--only-fable]

Every learner is called through Coba's own ``SafeLearner``, as its experiments do, and one after another in each round, so that a busy moment of the
machine is everybody's. Environments have Coba's defaults: 10 actions, 10 features of a context, and 10 features of an action or none.
"""

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor

from coba.environments import (
    KernelSyntheticSimulation,
    LinearSyntheticSimulation,
    MLPSyntheticSimulation,
    NeighborsSyntheticSimulation,
)
from coba.learners import LinTSLearner, LinUCBLearner, RandomLearner, VowpalEpsilonLearner
from coba.primitives import Learner
from coba.safety import SafeLearner

from fable.bandit import Cells, Signals, is_featured
from fable.coba import FableLearner
from goals import FABLE, FLAT, LINTS, LINUCB, PAPER, RANDOM, VW

FAMILIES = {
    "linear": LinearSyntheticSimulation,
    "neighbors": NeighborsSyntheticSimulation,
    "kernel": KernelSyntheticSimulation,
    "mlp": MLPSyntheticSimulation,
}
ENVIRONMENTS = [f"{family}, {kind}" for kind in ("arms", "action features") for family in FAMILIES]
FIRST_SEED = 101

#: Not peers: they are here to find out why.
SEES_THE_SAME, EXACT, LOOSE = "LinUCB on Fable's features", "Fable, noise variance 0.01", "Fable, base precision 4"


class Translated(Learner):
    """A peer that is given what Fable is given: scaled signals, and bins instead of an action's numbers."""

    def __init__(self, learner):
        self._learner, self._signals, self._cells = learner, None, None

    @property
    def params(self):
        return {"family": "Translated"}

    def predict(self, context, actions):
        if self._signals is None:
            self._signals = Signals(context)
            self._cells = Cells(len(actions[0])) if is_featured(actions[0]) else None
        seen = list(self._signals.of(context).values())
        shown = list(actions) if self._cells is None else [self._bins(place) for place in self._cells.places(actions)]
        chosen, probability = self._learner.predict(seen, shown)
        return actions[shown.index(chosen)], probability, {"seen": seen, "chosen": chosen}

    def _bins(self, place):
        bits = []
        for _ in range(self._cells.used):
            place, value = divmod(place, self._cells.bins)
            bits += [float(value == other) for other in range(self._cells.bins)]
        return tuple(bits)

    def learn(self, context, action, reward, probability, seen, chosen):
        self._learner.learn(seen, chosen, reward, probability)


def learners(seed, only_fable):
    made = {
        FABLE: FableLearner(f"user {seed}", seed=seed),
        FLAT: FableLearner(f"user {seed}", seed=seed, flat=True),
        PAPER: FableLearner(f"user {seed}", seed=seed, paper=True),
        RANDOM: RandomLearner(seed=seed),
    }
    if not only_fable:
        made[VW] = VowpalEpsilonLearner(seed=seed)
        made[LINUCB] = LinUCBLearner(seed=seed)
        made[LINTS] = LinTSLearner(seed=seed)
        made[EXACT] = FableLearner(f"user {seed}", seed=seed, noise_variance=0.01)
        made[LOOSE] = FableLearner(f"user {seed}", seed=seed, base_precision=4.0)
        made[SEES_THE_SAME] = Translated(LinUCBLearner(seed=seed))
    return made


def environment(name, rounds, seed):
    family, kind = name.split(", ")
    return FAMILIES[family](rounds, n_action_features=0 if kind == "arms" else 10, seed=seed)


def play(job):
    """One environment with one seed: what each learner got in every quarter, its time, and what the translation clipped."""
    name, seed, rounds, only_fable = job
    playing = {learner: SafeLearner(made) for learner, made in learners(seed, only_fable).items()}
    got = {learner: [0.0] * 4 for learner in (*playing, "best")}
    spent = dict.fromkeys(playing, 0.0)
    for number, row in enumerate(environment(name, rounds, seed).read()):
        context, actions, rewards = row["context"], row["actions"], row["rewards"]
        quarter = 4 * number // rounds
        got["best"][quarter] += max(rewards)
        for learner, safe in playing.items():
            begun = time.perf_counter()
            action, probability, more = safe.predict(context, actions)
            chosen = time.perf_counter()
            reward = rewards[actions.index(action)]
            resumed = time.perf_counter()
            safe.learn(context, action, reward, probability, **more)
            spent[learner] += chosen - begun + time.perf_counter() - resumed
            got[learner][quarter] += reward
    bandit = playing[FABLE].learner.bandit
    clipped = {"rewards": bandit.clipped, "signals": bandit.signals.clipped, "dimension": bandit.catalog.dimension}
    return {"environment": name, "seed": seed, "rounds": rounds, "got": got, "spent": spent, "clipped": clipped}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only-fable", action="store_true", help="without the peers")
    asked = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + asked.seeds)
    jobs = [(name, seed, asked.rounds, asked.only_fable) for seed in seeds for name in ENVIRONMENTS]
    begun = time.monotonic()
    with ProcessPoolExecutor(asked.processes) as pool:
        runs = list(pool.map(play, jobs))
    with open(asked.output, "w", encoding="utf-8") as file:
        json.dump({"seconds": time.monotonic() - begun, "load": os.getloadavg()[1], "runs": runs}, file)


if __name__ == "__main__":
    main()
