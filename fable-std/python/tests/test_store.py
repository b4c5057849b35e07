"""Stores in files and in PostgreSQL: durable, shared with the command, and closed when they are closed."""

import json
import os
import threading

import pytest

import fable


@pytest.fixture(params=["file", "postgres"])
def place(request, tmp_path):
    if request.param == "file":
        return str(tmp_path / "users.fable")
    return request.getfixturevalue("postgres")


def test_a_life_in_a_store(place, agent, context, tmp_path, request):
    policy = fable.Policy(agent, seed=2)
    with fable.Store(place, policy, memory=True) as store:
        ana = store.user("ana")
        decision = ana.decide(context, forbid=[{"tool": "web_search"}])
        assert ana.feedback(decision, 0.5) == 1
        assert ana.observe(context, decision.action, 0.25) == 2
        assert (ana.rounds, ana.observations) == (1, 2)
        assert ana.unlearn(decision) == 1
        assert ana.onboard({"prefer": {"style": "concise"}, "response": 1.0, "precision": 4.0}) == 1
        rules = ana.forbid("tool=web_search", words="never search the web")
        assert rules["rules"][0]["values"] == ["tool=web_search"]
        assert ana.decide(context).feasible == 150
        with pytest.raises(fable.Infeasible, match="tool=web_search"):
            ana.decide(context, only=[{"tool": "web_search"}])
        assert ana.allow(["tool=web_search"])["rules"] == []
        assert ana.require(["style=concise", "style=direct"], when="task=coding")["rules"]
        assert set(ana.decide(context).action.values()) & {"concise", "direct"}
        assert ana.remember("hello", "good day", at=5) == {"remembered": True, "exchanges": 1}
        assert ana.recall("recent_memory")["exchanges"] == [{"request": "hello", "answer": "good day", "at": 5}]
        assert len(ana.memories()["exchanges"]) == 1
        assert ana.unremember() == 1
        assert "ana" in store and "ben" not in store and len(store) == 1
        assert store.users() == ["ana"]
        assert store.stats()["users"] == 1
        assert ana.svg().count("<rect") > 3
        assert ana._repr_html_().startswith("<img")
        assert store.user("ben").svg()  # somebody new is at the prior
        ben = fable.User(policy, "ben").decide(context)
        with pytest.raises(fable.UnknownDecision):
            ana.feedback(store.user("ben").decide(context), 0.5)  # it is ben's
        assert ben.index == store.user("ben").recommend(context).index or ben.explored in (True, False)
        ana.switch(layer=False)
        with pytest.raises(fable.Off):
            ana.decide(context)
        kept = ana.snapshot()
    with fable.Store(place, policy) as store:
        assert store.user("ana").snapshot() == kept
        if "users.fable" in place:
            copied = store.backup(tmp_path / "copy.fable")
            assert (copied["state"], copied["users"]) == ("done", 2)
        assert store.forget("ana") is True
        assert store.forget("ana") is False
        assert store.export("ana") is None
        assert store.user("ben").forget() is True
        assert store.users() == []


def test_a_restored_user_goes_on_like_the_store(place, agent, life):
    policy, dice = fable.Policy(agent, nu=0.3, seed=9), life(4)
    with fable.Store(place, policy) as store:
        user = store.user("carl")
        for _ in range(10):
            user.feedback(user.decide(dice.context()), dice.reward())
        again, context = fable.User.restore(policy, "carl", user.snapshot()), dice.context()
        assert again.decide(context).sampled_score == user.decide(context).sampled_score
        store.forget("carl")


def test_the_command_sees_what_python_did(place, agent, life, command):
    policy, dice = fable.Policy(agent, seed=5), life(6)
    with fable.Store(place, policy) as store:
        dora = store.user("dora")
        for _ in range(25):
            dora.feedback(dora.decide(dice.context(), **dice.rules()), dice.reward())
    replayed = json.loads(command("replay", "dora", "--store", place, "--json"))
    assert (replayed["decisions"], replayed["different"]) == (25, 0)
    line = json.dumps({"op": "posterior", "user": "dora"})
    served = json.loads(command("serve", "--store", place, "--scalar", "f32", "--seed", "5", data=line + "\n"))
    with fable.Store(place, policy) as store:
        assert store.user("dora").posterior() == served
        store.forget("dora")


def test_a_closed_store(tmp_path, agent, context):
    store = fable.Store(tmp_path / "users.fable", fable.Policy(agent))
    ana = store.user("ana")
    decision = ana.decide(context)
    kept = ana.snapshot()
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store)
    calls = [
        lambda: ana.decide(context),
        lambda: ana.feedback(decision, 0.5),
        lambda: ana.snapshot(),
        lambda: ana.profile(),
        lambda: ana.rounds,
        lambda: ana._repr_html_(),
        lambda: store.user("ana"),
        store.users,
        store.stats,
        lambda: len(store),
        lambda: "ana" in store,
        lambda: store.export("ana"),
        lambda: store.__enter__(),
        lambda: fable.prior.fit(store),
        lambda: store.backup(tmp_path / "copy"),
        lambda: ana.forbid("tool=web_search"),
    ]
    for call in calls:
        with pytest.raises(fable.Closed) as raised:
            call()
        assert raised.value.code == "closed"
    with fable.Store(tmp_path / "users.fable", fable.Policy(agent)) as store:
        assert store.user("ana").snapshot() == kept


def test_stores_that_cannot_be_opened(tmp_path, agent, context):
    place = tmp_path / "users.fable"
    with fable.Store(place, fable.Policy(agent)) as store:
        store.user("ana").decide(context)
        with pytest.raises(fable.Storage):
            fable.Store(place, fable.Policy(agent))  # a file belongs to one process at a time
    for policy in (
        fable.Policy(fable.Catalog("tau2")),
        fable.Policy(agent, noise_variance=0.5),
        fable.Policy(agent, scalar="f64"),
    ):
        with pytest.raises(fable.Foreign):
            fable.Store(place, policy)
    (tmp_path / "not a store").write_text("something else entirely, long enough to be looked at")
    with pytest.raises(fable.Storage):
        fable.Store(tmp_path / "not a store", fable.Policy(agent))
    with pytest.raises(fable.Storage):
        fable.Store(tmp_path / "no" / "such" / "folder", fable.Policy(agent))
    with pytest.raises(fable.Storage):
        fable.Store("postgres://nobody@127.0.0.1:1/nowhere?connect_timeout=1", fable.Policy(agent))
    with fable.Store(place, fable.Policy(agent)) as store:
        assert store.user("ana").rounds == 1


def test_threads_share_a_store(place, agent, context):
    with fable.Store(place, fable.Policy(agent)) as store:
        learned = []

        def work(name):
            user = store.user(name)
            for _ in range(20):
                learned.append(user.feedback(user.decide(context), 0.5))

        threads = [threading.Thread(target=work, args=(name,)) for name in ("tom", "tom", "uta", "vic")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(learned) == 80
        assert [store.user(name).observations for name in ("tom", "uta", "vic")] == [40, 20, 20]
        for name in ("tom", "uta", "vic"):
            store.forget(name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_is_told(tmp_path, agent, context):
    store = fable.Store(tmp_path / "users.fable", fable.Policy(agent))
    store.user("ana").decide(context)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            store.user("ana").decide(context)
        except fable.Closed as error:
            said = error.code
        os.write(writer, said.encode())
        del store
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"closed"
    assert store.user("ana").decide(context).id.endswith("-2")
    store.close()
