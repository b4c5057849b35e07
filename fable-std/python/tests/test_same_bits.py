"""The same bits as everything else: the real command replays what Python did, and decides the same."""

import json

import pytest

import fable


def live(user, life, rounds):
    """A life with everything in it that changes somebody; what was decided."""
    decided = []
    user.onboard({"prefer": {"style": "concise"}, "over": {"style": "detailed"}, "response": 1.0, "precision": 4.0})
    waiting = []
    for round in range(rounds):
        decision = user.decide(life.context(), at=round, **life.rules())
        decided.append(
            (
                decision.id,
                decision.index,
                decision.score,
                decision.sampled_score,
                decision.explored,
                decision.feasible,
                decision.probes,
            )
        )
        waiting.append(decision)
        if len(waiting) > 3:  # rewards come late
            user.feedback(waiting.pop(0), life.reward(), at=round)
        if round % 10 == 9:
            user.observe(life.context(), life.dice.randrange(180), life.reward(), at=round)
    return decided


SETTINGS = [
    pytest.param({}, id="optimistic"),
    pytest.param({"nu": 0.3, "seed": 7}, id="draws"),
    pytest.param({"probe": 0.5, "seed": 2**64 - 1}, id="coins"),
    pytest.param({"half_life": 40, "deadline": "rounds=2", "expiry": "impute=-0.2"}, id="fading"),
]


def flags(settings):
    flags = []
    for name, value in settings.items():
        flags += ["--" + name.replace("_", "-"), str(value)]
    return flags


@pytest.mark.parametrize("scalar", ["f32", "f64"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_memory_store_serve_and_replay_agree(agent, life, tmp_path, command, settings, scalar):
    if "deadline" in settings:  # late rewards would be refused
        settings = {**settings, "deadline": "rounds=8"}
    policy = fable.Policy(agent, scalar=scalar, **settings)
    place = tmp_path / "users.fable"
    ana = fable.User(policy, "ana")
    in_memory = live(ana, life(3), 120)
    with fable.Store(place, policy, history="all") as store:
        stored = live(store.user("ana"), life(3), 120)
        assert stored == in_memory
        assert store.user("ana").snapshot() == ana.snapshot()
        assert store.user("ana").posterior() == ana.posterior()
        assert store.user("ana").profile() == ana.profile()
        assert store.user("ana").probes() == ana.probes()
        assert store.user("ana").waiting(at=120) == ana.waiting(at=120)
        for name in agent.contrasts:
            assert store.user("ana").contrast(name) == ana.contrast(name)
        (tmp_path / "ana.user").write_bytes(store.export("ana"))

    # The real command plays the journal again, from the store and from the export, and finds every decision the same.
    own = flags(settings)
    for source in (["ana", "--store", place], [tmp_path / "ana.user"]):
        replayed = json.loads(command("replay", *source, "--json", *own))
        assert (replayed["decisions"], replayed["different"]) == (120, 0)
        assert replayed["observations"] == ana.observations
    # It can fail: with other settings others would have been made.
    wrong = flags({**settings, "nu": 0.9} if "nu" in settings else {**settings, "optimism": 0.1})
    assert json.loads(command("replay", tmp_path / "ana.user", "--json", *wrong, code=1))["different"] > 0


@pytest.mark.parametrize("settings", SETTINGS[:3])
def test_serve_decides_the_same(agent, life, command, settings):
    ana, life_of_ana, lines = fable.User(fable.Policy(agent, scalar="f64", **settings), "ana"), life(5), []
    expected = []
    for round in range(60):
        context, rules, reward = life_of_ana.context(), life_of_ana.rules(), life_of_ana.reward()
        decision = ana.decide(context, propensities=20 if round % 7 == 0 else None, **rules)
        observations = ana.feedback(decision, reward)
        asked = {"op": "decide", "user": "ana", "context": context, **rules}
        if round % 7 == 0:
            asked["propensities"] = 20
        lines += [json.dumps(asked), json.dumps({"op": "feedback", "decision": decision.id, "reward": reward})]
        expected.append((decision, observations))
    said = [
        json.loads(line)
        for line in command("serve", "--scalar", "f64", *flags(settings), data="\n".join(lines) + "\n").splitlines()
    ]
    for (decision, observations), decided, learned in zip(expected, said[::2], said[1::2]):
        assert decided["decision"] == decision.id
        assert decided["action"] == decision.action
        assert decided["instruction"] == decision.instruction
        assert (decided["score"], decided["sampled_score"]) == (decision.score, decision.sampled_score)
        assert (decided["explored"], decided["feasible"]) == (decision.explored, decision.feasible)
        assert decided.get("propensity") == decision.propensity
        assert decided.get("propensities") == decision.propensities
        assert decided.get("probes", []) == decision.probes
        assert learned["observations"] == observations


def test_a_batch_does_what_single_users_do(agent, life):
    numpy = pytest.importorskip("numpy")
    policy = fable.Policy(agent, nu=0.3, seed=4)
    names = [f"user {number}" for number in range(7)]
    users, singles, dice = fable.Users(policy, names), [fable.User(policy, name) for name in names], life(8)
    for _ in range(15):
        contexts = [dice.context() for _ in names]
        tasks = numpy.array([-1 if context["task"] is None else agent.tasks.index(context["task"]) for context in contexts])
        signals = numpy.array([[context[name] for name in agent.signals] for context in contexts])
        rewards = numpy.array([dice.reward() for _ in names])
        batch = users.decide(tasks, signals, propensities=5)
        users.feedback(batch, rewards)
        for row, (single, context) in enumerate(zip(singles, contexts)):
            decision = single.decide(context, propensities=5)
            single.feedback(decision, rewards[row])
            assert (batch[row].id, batch.actions[row], batch.scores[row]) == (decision.id, decision.index, decision.score)
            assert batch.propensities[row].tolist() == decision.propensities == batch[row].propensities
            assert batch.propensity[row] == decision.propensities[decision.index]
    assert users.snapshots() == [single.snapshot() for single in singles]
