"""Priors: fitted from a store, from exports and from observations; kept in files that the command reads, too."""

import json

import pytest

import fable


def crowd(store, life, count):
    """Users who all like the same."""
    for number in range(count):
        user, dice = store.user(f"u{number}"), life(number)
        for _ in range(30):
            decision = user.decide(dice.context())
            liked = 0.6 if decision.action["style"] == "concise" else -0.3
            user.feedback(decision, liked + dice.reward() / 10)


def test_a_prior_from_a_store_helps_those_who_come(life, tmp_path, command):
    tau2, context = fable.Catalog("tau2"), {}  # a small one: the command is a debug build
    policy = fable.Policy(tau2, seed=1)
    place = tmp_path / "users.fable"
    with fable.Store(place, policy) as store:
        crowd(store, lambda seed: life(seed, tau2), 8)
        prior, found = fable.prior.fit_telling(store)
        exported = [store.export(name) for name in store.users()]
        again = fable.prior.fit(exported, policy)
        assert again == prior and hash(again) == hash(prior)
    assert found["users"] == 8 and found["observations"] == 240 and found["share_of_mean"] > 0
    # The same bytes as the command's.
    command("prior", "fit", tmp_path / "command.prior", "--store", place, "--catalog", "tau2")
    assert fable.Prior.load(tmp_path / "command.prior") == prior
    prior.save(tmp_path / "own.prior")
    assert (tmp_path / "own.prior").read_bytes() == prior.to_bytes() == fable.Prior.from_bytes(prior.to_bytes()).to_bytes()

    newcomers = fable.Policy(tau2, seed=1, prior=prior)
    ben = fable.User(newcomers, "ben")
    assert ben.recommend(context).action["style"] == "concise"
    ben.feedback(ben.decide(context), 0.5)
    with fable.Store(place, newcomers) as store:
        stored = store.user("ben")
        stored.feedback(stored.decide(context), 0.5)
        assert stored.snapshot() == ben.snapshot()
        assert store.user("u0").rounds == 30  # who was there goes on with the prior of before
        assert store.user("u0").svg()
        assert store.stats()["prior"] == newcomers.fingerprint
    replayed = json.loads(command("replay", "ben", "--store", place, "--json", "--catalog", "tau2"))
    assert (replayed["decisions"], replayed["different"]) == (1, 0)


def test_a_prior_from_observations():
    tau2, context = fable.Catalog("tau2"), {}
    policy = fable.Policy(tau2, scalar="f64")
    likes = [[(context, action, 0.5 if action % 3 == 1 else -0.2, 1.0) for action in range(18)] for _ in range(9)]
    prior = fable.prior.fit(likes, policy)
    assert prior.scalar == "f64"
    assert fable.User(fable.Policy(tau2, scalar="f64", prior=prior), "ana").recommend(context).action["style"] == "concise"


def test_priors_that_cannot_be(agent, tmp_path):
    tau2, context = fable.Catalog("tau2"), {}
    policy = fable.Policy(tau2)
    few = [[(context, 0, 0.5)]] * 4
    with pytest.raises(fable.Unfit, match="at least 5 users"):
        fable.prior.fit(few, policy)
    for users, code in [
        (None, "bad_request"),
        ([3] * 5, "bad_request"),
        ([[(context, 0)]] * 5, "out_of_range"),
        ([[(context, 0, 2)]] * 5, "out_of_range"),
        ([[(context, 999, 0)]] * 5, "out_of_range"),
        ([[(context, 0, 0, 0)]] * 5, "out_of_range"),
        ([b"FABX"] * 5, "storage"),
    ]:
        with pytest.raises(fable.FableError) as raised:
            fable.prior.fit(users, policy)
        assert raised.value.code == code, raised.value
    with pytest.raises(fable.BadRequest):
        fable.prior.fit(few)
    with pytest.raises(fable.OutOfRange):
        fable.prior.fit([[(context, 0, 0.5)]] * 5, policy, shrinkage=-1)
    with pytest.raises(fable.Storage):
        fable.Prior.load(tmp_path / "nothing")
    for bad in (b"", b"x" * 100):
        with pytest.raises(fable.Damaged):
            fable.Prior.from_bytes(bad)
    user = fable.User(policy, "ana")
    user.decide(context)
    with pytest.raises(fable.Foreign):  # of somebody who has done something
        fable.Policy(tau2, prior=fable.Prior.from_bytes(user.snapshot()))
    fitted = fable.prior.fit([[(context, action, 0.5) for action in range(9)]] * 6, policy)
    for other in (
        lambda: fable.Policy(tau2, scalar="f64", prior=fitted),
        lambda: fable.Policy(tau2, noise_variance=1, prior=fitted),
        lambda: fable.Policy(agent, prior=fitted),
    ):
        with pytest.raises(fable.Foreign):
            other()
