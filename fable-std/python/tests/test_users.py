"""Users in memory, catalogs and policies: what they say, and that bytes bring them back."""

import copy
import pickle

import pytest

import fable

LAMP = {
    "name": "lamp",
    "tasks": ["reading", "dinner"],
    "signals": ["daylight"],
    "components": [
        {
            "name": "light",
            "null": "off",
            "values": [{"name": "off"}, {"name": "warm", "cost": 0.02, "instruction": "Use warm light."}, {"name": "cold"}],
        },
        {"name": "speech", "values": [{"name": "silent"}, {"name": "spoken", "cost": 0.05}]},
    ],
    "dictionary": {"blocks": [{"of": "light"}, {"of": "speech", "per_task": True}, {"of": ["light", "speech"]}]},
    "rules": [{"name": "calm_dinner", "when": {"task": "dinner"}, "forbid": {"light": "cold", "speech": "spoken"}}],
    "settings": {"nu": 0.4, "half_life": 50},
}


def test_a_catalog_from_python_is_the_one_from_its_text(tmp_path):
    lamp = fable.Catalog.from_dict(LAMP)
    path = tmp_path / "lamp.toml"
    path.write_text(lamp.to_toml())
    for other in (fable.Catalog(path), fable.Catalog(str(path)), fable.Catalog.from_toml(lamp.to_toml())):
        assert other.fingerprint == lamp.fingerprint
        assert fable.Policy(other).settings == fable.Policy(lamp).settings
    assert (lamp.name, lamp.size, len(lamp), lamp.tasks, lamp.signals) == ("lamp", 6, 6, ("reading", "dinner"), ("daylight",))
    assert lamp.components == {"light": ("off", "warm", "cold"), "speech": ("silent", "spoken")}
    assert fable.Policy(lamp).settings["nu"] == 0.4
    assert fable.Policy(lamp, optimism=1.0, half_life="none").settings.get("half_life") is None
    for index in range(lamp.size):
        assert lamp.index(lamp.action(index)) == index == lamp.index(index)
    assert lamp.instruction({"light": "warm", "speech": "silent"}) == "Use warm light."


def test_rules_of_the_catalog_hold():
    user = fable.User(fable.Policy(fable.Catalog.from_dict(LAMP)), "ana")
    dinner = {"task": "dinner", "daylight": 0.5}
    assert user.decide(dinner).feasible == 5
    with pytest.raises(fable.Infeasible, match="calm_dinner"):
        user.decide(dinner, require=[{"light": "cold"}, {"speech": "spoken"}])


def test_every_setting_is_a_keyword(agent):
    settings = {
        "noise_variance": 0.3,
        "base_precision": 8.0,
        "cost_weight": 0.5,
        "delta": 0.1,
        "scale": "fixed",
        "half_life": 9,
        "on_change": "halve",
        "alpha": 0.1,
        "prior_radius": 2.0,
        "noise_proxy": 1.0,
        "probe": 0.25,
        "min_evidence": 3,
        "deadline": "rounds=5",
        "expiry": "impute=-0.5",
        "retained": ["memory", "tool"],
        "seed": 2**64 - 1,
        "site": 3,
        "context_adapter": "mine",
        "feedback_adapter": "also mine",
    }
    policy = fable.Policy(agent, **settings)
    assert policy.settings == settings
    assert fable.Policy(agent, precision_per_feature=2, optimism=1, nu=None).settings["optimism"] == 1.0
    assert fable.Policy.paper(agent).settings["base_precision"] == 16.0
    assert fable.Policy.paper(agent, nu=5, prior_radius=2.0).settings["nu"] == 5.0


@pytest.mark.parametrize("scalar", ["f32", "f64"])
def test_snapshots_pickles_and_copies(agent, life, scalar):
    user, dice = fable.User(fable.Policy(agent, scalar=scalar, nu=0.3, seed=3), "ana"), life(1)
    for _ in range(20):
        user.feedback(user.decide(dice.context()), dice.reward())
    same = [
        fable.User.restore(user.policy, "ana", user.snapshot()),
        pickle.loads(pickle.dumps(user)),
        copy.deepcopy(user),
    ]
    context = dice.context()
    wanted = user.decide(context)
    for other in same:
        assert other.policy.settings == user.policy.settings
        assert (other.rounds, other.observations) == (20, 20)
        found = other.decide(context)
        assert (found.id, found.index, found.sampled_score) == (wanted.id, wanted.index, wanted.sampled_score)
        assert other.snapshot() == user.snapshot()


def test_pickled_policies_are_the_same(agent):
    lamp = fable.Catalog.from_dict(LAMP)
    for policy in (
        fable.Policy(lamp, half_life="none", seed=2**64 - 1),
        fable.Policy(agent, retained=["memory"]),
        fable.Policy.paper(lamp),
    ):
        again = pickle.loads(pickle.dumps(policy))
        assert (again.settings, again.fingerprint, again.scalar) == (policy.settings, policy.fingerprint, policy.scalar)


def test_what_is_asked_is_answered(ana, context):
    decision = ana.decide(context)
    assert decision.action == ana.policy.catalog.action(decision.index)
    assert ana.waiting() == [decision.id]
    why = ana.explain(decision, against={"memory": "no_memory", "tool": "no_tool", "style": "direct"})
    assert why["chosen"] == decision.action and why["other"]["style"] == "direct"
    assert ana.recommend(context).index == ana.recommend(context).index
    ana.feedback(decision.id, -1.0)  # it would not be chosen again
    assert ana.waiting() == []
    with pytest.raises(fable.Stale):
        ana.explain(decision)
    contrast = ana.contrast("concise_over_detailed", forbid=[{"style": "detailed"}])
    assert contrast["identifiable"] is False
    own = ana.contrast(context=context, prefer=0, over=1, total=True)
    assert own["lower"] < own["mean"] < own["upper"]
    assert set(ana.posterior()["mean"]) == set(ana.policy.catalog.coordinates)
    assert ana.profile() == {"profile": [], "text": ""}
    assert ana.promote() == 0
    assert set(ana.probes()) == set(ana.policy.catalog.contrasts)
    ana.forget()
    assert (ana.rounds, ana.observations) == (0, 0)
    assert ana.decide(context).id == "e6f79c19051ffb05-1-1"


def test_coins_make_a_preference_certain(agent, context):
    user = fable.User(fable.Policy(agent, probe=0.5), "ana")
    seen = set()
    for _ in range(400):
        decision = user.decide(context)
        assert 0 < decision.propensity <= 1
        seen.update(probe["contrast"] for probe in decision.probes)
        user.feedback(decision, 0.8 if decision.action["style"] == "concise" else -0.8)
    assert "concise_over_detailed" in seen
    assert user.probes()["concise_over_detailed"]["certified"] == 1
    profile = user.profile()
    assert any(promoted["contrast"] == "concise_over_detailed" and promoted["by"] == "coins" for promoted in profile["profile"])
    assert profile["text"]


def test_onboarding_changes_what_is_recommended(agent, context):
    user = fable.User(fable.Policy(agent), "ana")
    statement = {"prefer": {"style": "concise"}, "over": {"style": "step_by_step"}, "response": 1.0, "precision": 100.0}
    assert user.onboard(statement, {"direction": {"style=concise": 1.0}, "response": 1.0, "precision": 100.0}) == 2
    assert user.recommend(context).action["style"] == "concise"


def test_a_notebook_shows_bars(ana, context):
    import base64

    ana.feedback(ana.decide(context), 1.0)
    html = ana._repr_html_()
    assert html.startswith("<img")
    picture = base64.b64decode(html.split("base64,")[1].split('"')[0]).decode()
    assert picture == ana.svg()
    assert picture.count('<rect class="for"') > 3  # a bar for each weight that has moved
    assert "What Fable believes about ana" in picture
    assert ana.inspect()["state"]["rewards"] == 1
