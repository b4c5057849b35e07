"""Batches over numpy: shapes and kinds, masks, all rows or none."""

import threading

import numpy
import pytest

import fable

ROWS = 6


@pytest.fixture
def users(agent):
    return fable.Users(fable.Policy(agent), [f"u{number}" for number in range(ROWS)])


def signals(rows=ROWS):
    return numpy.full((rows, 4), 0.5, numpy.float32)


def test_columns(users):
    batch = users.decide(None, signals())
    assert len(batch) == ROWS and len(users) == ROWS
    for column, kind in [
        ("who", "i"),
        ("actions", "i"),
        ("scores", "f"),
        ("sampled_scores", "f"),
        ("explored", "b"),
        ("feasible", "i"),
    ]:
        values = getattr(batch, column)
        assert isinstance(values, numpy.ndarray) and values.shape == (ROWS,) and values.dtype.kind == kind, column
    assert batch.who.tolist() == list(range(ROWS))
    assert batch.propensity is None and batch.propensities is None
    assert [decision.index for decision in batch] == batch.actions.tolist()
    assert batch[-1].id == batch[ROWS - 1].id
    with pytest.raises(IndexError):
        batch[ROWS]
    with pytest.raises(OverflowError):
        batch[2**70]
    asked = users.decide(None, signals(), propensities=10)
    assert asked.propensities.shape == (ROWS, 180)
    assert numpy.allclose(asked.propensities.sum(axis=1), 1)
    assert users.rounds.tolist() == [2] * ROWS and users.observations.tolist() == [0] * ROWS
    actions, scores = users.recommend(None, signals())
    assert actions.shape == scores.shape == (ROWS,)


def test_arrays_of_every_layout_say_the_same(agent):
    wanted = None
    rows = numpy.random.default_rng(1).random((ROWS, 4)).astype(numpy.float32)
    layouts = {
        "plain": rows,
        "double": rows.astype(float),
        "half of a wider one": numpy.repeat(rows, 2, axis=1)[:, ::2],
        "every second row": numpy.repeat(rows, 2, axis=0)[::2],
        "backwards twice": rows[::-1].copy()[::-1],
        "by column": numpy.asfortranarray(rows),
        "big endian": rows.astype(">f4"),
        "read only": rows.copy(),
        "a list": rows.tolist(),
        "not aligned": numpy.frombuffer(b"x" + rows.tobytes(), dtype=numpy.float32, offset=1).reshape(ROWS, 4),
    }
    layouts["read only"].flags.writeable = False
    for name, layout in layouts.items():
        users = fable.Users(fable.Policy(agent), [f"u{number}" for number in range(ROWS)])
        tasks = numpy.arange(ROWS, dtype=numpy.uint8 if name == "double" else numpy.int32)
        found = users.decide(tasks, layout).sampled_scores.tolist()
        wanted = wanted or found
        assert found == wanted, name


def test_masks_and_positions(users):
    chosen = users.decide(None, signals(2), who=[4, 1])
    assert [decision.id.split("-")[2] for decision in chosen] == ["1", "1"] and chosen.who.tolist() == [4, 1]
    masked = users.decide(None, signals(3), who=numpy.array([True, False] * 3))
    assert masked.who.tolist() == [0, 2, 4]
    twice = users.decide(None, signals(2), who=numpy.array([5, 5], numpy.uint64))
    assert [decision.id.rsplit("-")[-1] for decision in twice] == ["1", "2"]
    nobody = users.decide(None, signals(0), who=[])
    assert len(nobody) == 0 and users.feedback(nobody, []) == 0
    allowed = numpy.zeros(180, bool)
    allowed[[3, 7]] = True
    assert set(users.decide(None, signals(), feasible=allowed).actions) <= {3, 7}
    each = numpy.zeros((ROWS, 180), bool)
    each[numpy.arange(ROWS), numpy.arange(ROWS)] = True
    assert users.decide(None, signals(), feasible=each).actions.tolist() == list(range(ROWS))
    # Rewards that have not come yet are not looked at.
    rewards = numpy.array([0.5, numpy.nan, 0.25])
    assert users.feedback(masked, rewards, who=~numpy.isnan(rewards)) == 2
    assert users.observations.tolist() == [1, 0, 0, 0, 1, 0]
    assert users.feedback(masked, [9, -0.5, 9], who=[1], weights=[0, 2, 0]) == 1


WRONG = {
    "signals that are missing": (lambda users: users.decide(), "out_of_range"),
    "signals of one dimension": (lambda users: users.decide(None, numpy.zeros(4)), "out_of_range"),
    "signals of three dimensions": (lambda users: users.decide(None, numpy.zeros((ROWS, 4, 1))), "out_of_range"),
    "too few signals": (lambda users: users.decide(None, numpy.zeros((ROWS, 3))), "out_of_range"),
    "too few rows": (lambda users: users.decide(None, signals(ROWS - 1)), "out_of_range"),
    "a scalar": (lambda users: users.decide(None, 0.5), "out_of_range"),
    "NaN": (lambda users: users.decide(None, numpy.where(numpy.eye(ROWS, 4), numpy.nan, 0.5)), "out_of_range"),
    "a number that is too large": (lambda users: users.decide(None, numpy.full((ROWS, 4), 1e300)), "out_of_range"),
    "texts": (lambda users: users.decide(None, numpy.full((ROWS, 4), "x")), "bad_request"),
    "objects": (lambda users: users.decide(None, numpy.full((ROWS, 4), None)), "bad_request"),
    "complex numbers": (lambda users: users.decide(None, numpy.zeros((ROWS, 4), complex)), "bad_request"),
    "times": (lambda users: users.decide(None, numpy.zeros((ROWS, 4), "datetime64[s]")), "bad_request"),
    "rows of different lengths": (lambda users: users.decide(None, [[0.5], [0.5, 0.5]]), "out_of_range"),
    "tasks that are not there": (lambda users: users.decide([10] * ROWS, signals()), "unknown_name"),
    "tasks below -1": (lambda users: users.decide([-2] * ROWS, signals()), "unknown_name"),
    "a huge task": (lambda users: users.decide(numpy.full(ROWS, 2**64 - 1, numpy.uint64), signals()), "unknown_name"),
    "a task beyond all arrays": (lambda users: users.decide([2**70] * ROWS, signals()), "bad_request"),
    "tasks with a point": (lambda users: users.decide([0.5] * ROWS, signals()), "bad_request"),
    "too many tasks": (lambda users: users.decide([0] * (ROWS + 1), signals()), "out_of_range"),
    "users that are not there": (lambda users: users.decide(None, signals(1), who=[ROWS]), "out_of_range"),
    "users before the first": (lambda users: users.decide(None, signals(1), who=[-1]), "out_of_range"),
    "a mask that is too short": (lambda users: users.decide(None, signals(1), who=[True]), "out_of_range"),
    "users with a point": (lambda users: users.decide(None, signals(1), who=[0.0]), "bad_request"),
    "users in two dimensions": (lambda users: users.decide(None, signals(1), who=[[0]]), "out_of_range"),
    "nothing feasible in one row": (
        lambda users: users.decide(None, signals(), feasible=numpy.arange(ROWS * 180).reshape(ROWS, 180) < 900),
        "infeasible",
    ),
    "nothing feasible": (lambda users: users.decide(None, signals(), feasible=numpy.zeros(180, bool)), "infeasible"),
    "too few actions": (lambda users: users.decide(None, signals(), feasible=numpy.ones(179, bool)), "out_of_range"),
    "numbers for truth": (lambda users: users.decide(None, signals(), feasible=numpy.ones(180)), "bad_request"),
    "too many draws": (lambda users: users.decide(None, signals(), propensities=10_001), "out_of_range"),
    "draws before the first": (lambda users: users.decide(None, signals(), propensities=-1), "out_of_range"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_changes_nobody(users, name):
    before = users.snapshots()
    call, code = WRONG[name]
    with pytest.raises(fable.FableError) as raised:
        call(users)
    assert raised.value.code == code, raised.value
    assert users.snapshots() == before


REWARDS = {
    "NaN": ([numpy.nan] + [0.5] * (ROWS - 1), "out_of_range"),
    "too much in the last row": ([0.5] * (ROWS - 1) + [1.5], "out_of_range"),
    "too few": ([0.5], "out_of_range"),
    "two dimensions": (numpy.zeros((ROWS, 1)), "out_of_range"),
    "texts": (["good"] * ROWS, "bad_request"),
    "nothing": (None, "bad_request"),
}


@pytest.mark.parametrize("name", REWARDS)
def test_wrong_rewards_are_not_learned(users, name):
    batch = users.decide(None, signals())
    before = users.snapshots()
    rewards, code = REWARDS[name]
    with pytest.raises(fable.FableError) as raised:
        users.feedback(batch, rewards)
    assert raised.value.code == code, raised.value
    assert users.snapshots() == before


def test_one_wrong_row_is_told_and_the_others_are_not_learned(users):
    batch = users.decide(None, signals())
    users.feedback(batch, [0.5] * ROWS, who=[3])
    before = users.snapshots()
    with pytest.raises(fable.DuplicateFeedback, match="row 3"):
        users.feedback(batch, [0.5] * ROWS)
    with pytest.raises(fable.DuplicateFeedback, match="row 0"):
        users.feedback(batch, [0.5] * ROWS, who=[0, 0])
    with pytest.raises(fable.OutOfRange, match="row 5"):
        users.feedback(batch, [0.5] * ROWS, who=[4, 5], weights=[1, 1, 1, 1, 1, 0])
    others = fable.Users(users.policy, ["v0"])
    with pytest.raises(fable.UnknownDecision):
        others.feedback(batch, [0.5] * ROWS, who=[0])
    with pytest.raises(fable.UnknownDecision):
        others.feedback(batch, [0.5] * ROWS)
    with pytest.raises(fable.BadRequest):
        users.feedback([0.5] * ROWS, [0.5] * ROWS)
    assert users.snapshots() == before


def test_users_that_cannot_be(agent):
    policy = fable.Policy(agent)
    for names, code in [
        (["a", "a"], "out_of_range"),
        ([""], "out_of_range"),
        ([None], "bad_request"),
        ("ana", "bad_request"),
        (7, "bad_request"),
        (["\ud800"], "bad_request"),
    ]:
        with pytest.raises(fable.FableError) as raised:
            fable.Users(policy, names)
        assert raised.value.code == code
    users = fable.Users(policy, ["a", "b"])
    again = fable.Users.restore(policy, ["a", "b"], users.snapshots())
    assert again.snapshots() == users.snapshots()
    for names, snapshots, code in [
        (["b", "a"], users.snapshots(), "foreign"),
        (["a"], users.snapshots(), "out_of_range"),
        (["a"], [b""], "damaged"),
        (["a"], ["x"], "bad_request"),
    ]:
        with pytest.raises(fable.FableError) as raised:
            fable.Users.restore(policy, names, snapshots)
        assert raised.value.code == code


def test_two_threads_on_one_batch(agent):
    """One of them is told; what was done is whole."""
    users = fable.Users(fable.Policy(agent), [f"u{number}" for number in range(300)])
    many, told, done = signals(300), [], []
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(10):
            try:
                users.decide(None, many)
                done.append(1)
            except fable.Busy as error:
                told.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) + len(told) == 40 and set(told) <= {"busy"}
    assert users.rounds.tolist() == [len(done)] * 300
    assert told, "300 decisions take milliseconds, so that others come in between"
