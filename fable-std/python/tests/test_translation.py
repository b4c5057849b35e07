"""Bandit problems as catalogs, without the packages that have them: `tests/adapters/run` has those."""

import doctest
import random
import subprocess
import sys

import pytest

import fable
import fable.assistant
import fable.bandit
import fable.text
from fable.bandit import MAX_ACTIONS, Bandit, Cells, Signals


@pytest.mark.parametrize("module", [fable.bandit, fable.assistant, fable.text])
def test_examples_run(module):
    found = doctest.testmod(module)
    assert found.attempted > 5 and found.failed == 0


def test_importing_fable_imports_no_adapter():
    names = "bandit", "coba", "obp", "assistant", "litellm", "langchain", "text"
    code = f"import fable, sys; print([name for name in {names!r} if 'fable.' + name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_bandit_decides_as_a_user_of_the_same_catalog():
    dice = random.Random(1)
    bandit = Bandit("ana", seed=5, nu=0.5)
    rows = [([dice.random(), dice.random()], dice.random()) for _ in range(60)]
    bandit.begin(rows[0][0], "abc")
    twin = fable.User(fable.Policy(bandit.catalog, seed=5, nu=0.5), "ana")
    for (first, second), reward in rows:
        choice = bandit.decide([first, second], "abc")
        decision = twin.decide({"s0": first, "s1": second})
        assert (choice.decision, choice.position) == (decision.id, decision.index)
        bandit.learn(choice, reward)
        twin.feedback(decision, 2 * reward - 1)
    assert bandit.user.snapshot() == twin.snapshot()


def test_signals_are_from_0_to_1_whatever_comes():
    dice = random.Random(2)
    for width in (1, 5, 16, 17, 40):
        signals = Signals([0.0] * width)
        assert len(signals.names) == min(width, 16) and signals.hashed == (width > 16)
        for round_ in range(300):
            made = signals.of([dice.gauss(0, 10 ** (round_ % 4)) for _ in range(width)])
            assert tuple(made) == signals.names and all(0 <= value <= 1 for value in made.values())
        before = signals.clipped  # after 200 contexts ranges stand, and what lies outside is counted
        made = signals.of([1e9] * width)
        assert all(value == 1.0 or signals.hashed for value in made.values()) and signals.clipped > before


def test_ranges_that_are_given_stand_from_the_first_context_on():
    signals = Signals([0.0, 0.0], ranges=[(-1, 1), (0, 10)])
    assert signals.of([5, 5]) == {"s0": 1.0, "s1": 0.5} and signals.clipped == 1
    assert signals.of([0, 10]) == {"s0": 0.5, "s1": 1.0}
    for bad in ([(0, 1)], [(0, 1), (1, 1)], [(0, 1), (float("nan"), 1)]):
        with pytest.raises(ValueError):
            Signals([0.0, 0.0], ranges=bad)


def test_a_dictionary_has_the_same_signals_in_any_order_and_process():
    signals = Signals({"age": 1.0})
    assert signals.of({"age": 1.0, "city": "Oslo"}) == signals.of({"city": "Oslo", "age": 1.0})
    code = "from fable.bandit import Signals; print(Signals({}).of({'age': 0.5, 'city': 'Oslo'}))"
    seen = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in "12"
    }
    assert len(seen) == 1


@pytest.mark.parametrize("length", [1, 3, 5, 6, 8, 12])
def test_cells_fit_into_a_catalog(length):
    dice = random.Random(length)
    cells = Cells(length)
    size = cells.bins**cells.used
    assert size <= MAX_ACTIONS and cells.used == min(length, 8)
    places = [place for _ in range(50) for place in cells.places([[dice.random() for _ in range(length)] for _ in range(10)])]
    assert 0 <= min(places) and max(places) < size
    for place in {0, size - 1}:  # every component and bin is used
        assert place in places or size > 200


def test_what_is_not_offered_is_not_chosen():
    dice, bandit = random.Random(3), Bandit("ana", actions="abcdef", nu=2.0)
    for _ in range(200):
        offered = dice.sample("abcdef", dice.randint(1, 6))
        choice = bandit.decide([dice.random()], offered)
        assert offered[choice.position] == choice.action
        bandit.learn(choice, dice.random())


def test_an_assistant_steps_aside_and_says_why(caplog):
    assistant = fable.assistant.Assistant(fable.Policy(fable.Catalog("agent")), context={"risk": 2.0})
    assert assistant.turn("ana", [("user", "Hello")]) is None
    assert assistant.turn("ana", [("system", "Be kind.")]) is None
    assert assistant.bypassed == 2 and "BadContext" in caplog.text and "said nothing" in caplog.text
    assert assistant.user("ana").rounds == 0


def test_words_that_are_none_are_refused():
    agent = fable.Catalog("agent")
    for call in (
        lambda: fable.text.context(agent, 7),
        lambda: fable.text.context(agent, "Hello", history=[("only one",)]),
        lambda: fable.text.context(agent, "Hello", history=["no pair"]),
        lambda: fable.text.context(agent, "Hello", background=7),
        lambda: fable.text.reaction(None),
    ):
        with pytest.raises(fable.BadRequest):
            call()
    lamp = fable.Catalog.from_dict(
        {"name": "lamp", "signals": ["daylight"], "components": [{"name": "light", "values": [{"name": "on"}, {"name": "off"}]}], "dictionary": {"blocks": [{"of": "light"}]}}
    )
    with pytest.raises(fable.BadContext, match="daylight"):
        fable.text.context(lamp, "Hello")
