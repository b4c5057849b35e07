#!/usr/bin/env python3
"""The package `coba`, unmodified: its experiments with Fable among the learners, contexts and actions of every kind, and bad ones."""

import doctest
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/outside"))

import coba
from coba.context import CobaContext, NullLogger
from coba.environments import LinearSyntheticSimulation
from coba.learners import RandomLearner
from coba.safety import SafeLearner

import fable
import fable.bandit
from fable.coba import FableLearner
from parts import check, done, raises

CobaContext.logger = NullLogger()  # progress goes nowhere


def means(learners, **environment):
    """The mean reward of each learner in Coba's own experiment."""
    given = {"n_actions": 5, "n_context_features": 4, "n_action_features": 0, "seed": 7, **environment}
    made = coba.Experiment(coba.Environments(LinearSyntheticSimulation(300, **given)), learners).run(quiet=True)
    rows = made.interactions.to_dicts()
    families = {row["learner_id"]: row["family"] for row in made.learners.to_dicts()}
    got = {}
    for row in rows:
        got.setdefault(families[row["learner_id"]], []).append(row["reward"])
    check(all(len(rewards) == 300 for rewards in got.values()), "every interaction was played", {k: len(v) for k, v in got.items()})
    return {name: sum(rewards) / len(rewards) for name, rewards in got.items()}


def experiments():
    for features in (0, 4):
        got = means([FableLearner("ana", seed=1), RandomLearner()], n_action_features=features)
        check(got["Fable"] > got["Random"] + 0.05, f"Fable beats chance with {features} action features", got)
    check(means([FableLearner("ana")]) == means([FableLearner("ana")]), "the same experiment has the same rewards")
    fresh = pickle.loads(pickle.dumps(FableLearner("ana", optimism=2.0)))
    check(fresh.params == {"family": "Fable", "user": "ana", "optimism": 2.0}, "a learner that has not begun can be pickled", fresh.params)


def study():
    """The study's loop, in which learners take turns, gets what Coba's own experiment gets."""
    import coba_study

    played = coba_study.play(("kernel, arms", 3, 80, True))
    learners = coba_study.learners(3, True)
    made = coba.Experiment(coba.Environments(coba_study.environment("kernel, arms", 80, 3)), [learners[coba_study.FABLE]]).run(quiet=True)
    theirs = sum(row["reward"] for row in made.interactions.to_dicts())
    ours = sum(played["got"][coba_study.FABLE])
    check(abs(ours - theirs) < 80 * 1e-5, "the same rewards, which Coba writes with five digits", (ours, theirs))


def off_policy():
    """Rewards of what something else chose are observations."""
    learner = FableLearner("ana", actions=["left", "right"])
    for _ in range(20):
        learner.learn([0.5], "right", 1.0, 0.5)
        learner.learn([0.5], "left", 0.0, 0.5)
    check(learner.bandit.user.observations == 40, "observations are counted", learner.bandit.user.observations)
    check(SafeLearner(learner).predict([0.5], ["left", "right"])[0] == "right", "what was observed is learned")


def kinds():
    """Contexts and actions as Coba has them."""
    for context in (None, 3, "red", [0.2, "red"], {"a": 1, "b": "x"}, [0.1] * 40, (1, 0, 0)):
        learner = SafeLearner(FableLearner("ana"))
        for actions in (["a", "b", "c"], ["b", "a"], ["c"]):
            action, probability, more = learner.predict(context, actions)
            check(action in actions, "what was offered is chosen", (context, actions, action))
            check(probability == 1.0, "without chance the probability is 1", probability)
            learner.learn(context, action, 0.5, probability, **more)
    for actions in ([0, 1, 2], [(1, 0), (0, 1)], [[0.2, 0.9], [0.8, 0.1]], [{"x": 1}, {"x": 2}]):
        learner = SafeLearner(FableLearner("ana"))
        action, probability, more = learner.predict([0.1], actions)
        check(action in actions, "an action is returned as it was given", action)
        learner.learn([0.1], action, 1, probability, **more)
    learner = FableLearner("ana", nu=0.5, propensities=200)
    _, probability, _ = learner.predict([0.1], ["a", "b", "c", "d"])
    check(0 < probability < 1, "a draw has a probability that is estimated", probability)


def rules():
    """A hard rule is settled before anything is explored, whatever was learned."""
    learner = FableLearner("ana", allowed=lambda context, action: action != "b" or context[0] > 0.5)
    for round_ in range(60):
        context = [round_ % 2 * 0.9]
        action, probability, more = learner.predict(context, ["a", "b"])
        check(action == "a" or context[0] > 0.5, "nothing forbidden is chosen", (round_, action))
        learner.learn(context, action, 1.0 if action == "b" else 0.0, probability, **more)
    check(learner.predict([0.9], ["a", "b"])[0] == "b", "where it is allowed it was learned")
    never = FableLearner("ana", allowed=lambda context, action: False)
    raises(fable.Infeasible, lambda: never.predict([0.1], ["a", "b"]), "nothing is allowed")


def mistakes():
    raises(ValueError, lambda: FableLearner("ana", rewards=(1, 0)), "a range the wrong way round")
    raises(ValueError, lambda: FableLearner("ana", kind="trees"), "an unknown kind")
    learner = FableLearner("ana")
    action, probability, more = learner.predict([0.1, 0.2], ["a", "b"])
    before = learner.bandit.user.snapshot()
    raises(ValueError, lambda: learner.predict([0.1], ["a", "b"]), "a shorter context", "2 features at first")
    raises(ValueError, lambda: learner.predict([0.1, float("nan")], ["a", "b"]), "a context with NaN", "not a finite number")
    raises(ValueError, lambda: learner.predict([0.1, 0.2], ["a", "z"]), "an action that is new", "was not there at the beginning")
    raises(ValueError, lambda: learner.predict([0.1, 0.2], []) or FableLearner("b").predict([0.1], []), "no action")
    raises(ValueError, lambda: learner.learn([0.1, 0.2], action, float("nan"), probability, **more), "a reward that is NaN", "not a number")
    raises(fable.FableError, lambda: learner.learn([0.1, 0.2], action, 1.0, 1.0, decision="nonsense"), "a decision of nobody")
    check(learner.bandit.user.snapshot() == before, "after all of that the user is what it was, bit for bit")
    learner.learn([0.1, 0.2], action, 7.0, probability, **more)
    check(learner.bandit.clipped == 1, "a reward out of range is clipped and counted", learner.bandit.clipped)
    raises(fable.DuplicateFeedback, lambda: learner.learn([0.1, 0.2], action, 1.0, probability, **more), "a second reward")
    cells = FableLearner("ana")
    cells.predict([0.1], [[0.2, 0.4], [0.3, 0.1]])
    raises(ValueError, lambda: cells.predict([0.1], [[0.2, 0.4, 0.5]]), "an action with more features", "2 features at first")
    raises(ValueError, lambda: cells.predict([0.1], [[0.2, float("inf")]]), "an action with an infinite feature", "finite")
    many = FableLearner("ana")
    raises(ValueError, lambda: many.predict([0.1], [str(number) for number in range(300)]), "too many arms", "256")


if __name__ == "__main__":
    found = doctest.testmod(fable.bandit)
    check(found.attempted > 15 and found.failed == 0, "the examples of fable.bandit run", found)
    experiments()
    study()
    off_policy()
    kinds()
    rules()
    mistakes()
    done()
