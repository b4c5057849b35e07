"""Bad input: an exception with a code each, nothing changed, and never a panic or a crash."""

import enum
import random
import threading

import pytest

import fable

CODES = set(fable.errors.BY_CODE)


class Odd:
    """Raises its own exception, whatever it is asked for."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)

    def __float__(self):
        raise ZeroDivisionError("float")

    def __index__(self):
        raise ZeroDivisionError("index")


class Long(list):
    """Says that it is longer than memory."""

    def __len__(self):
        return 2**62


class Endless:
    """A sequence without an end, with which numpy would never come to one either."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return 0.5


class Text(str, enum.Enum):
    CODING = "coding"


def inside_itself():
    table = {"name": "loop"}
    table["components"] = [table, table]
    return table


HUGE = 10**400
CONTEXTS = [
    (None, "bad_request"),
    (3, "bad_request"),
    ("coding", "bad_request"),
    ([], "bad_request"),
    (Odd(), "bad_request"),
    ({}, "bad_context"),
    ({"risk": 0.5}, "bad_context"),
    ({1: 2}, "bad_request"),
]
CHANGES = [
    ({"risk": float("nan")}, "out_of_range"),
    ({"risk": float("inf")}, "out_of_range"),
    ({"risk": -0.1}, "out_of_range"),
    ({"risk": 1.0000001}, "out_of_range"),
    ({"risk": HUGE}, "out_of_range"),
    ({"risk": "0.5"}, "bad_request"),
    ({"risk": None}, "bad_request"),
    ({"risk": [0.5]}, "bad_request"),
    ({"risk": 1j}, "bad_request"),
    ({"riks": 0.5}, "unknown_name"),
    ({"task": "codign"}, "unknown_name"),
    ({"task": 3}, "bad_request"),
    ({"task": b"coding"}, "bad_request"),
    ({"task": "\ud800"}, "bad_request"),
    ({"\ud800": 0.5}, "bad_request"),
    ({None: 0.5}, "bad_request"),
    ({"task": ["coding"]}, "bad_request"),
]
ARGUMENTS = [
    ({"forbid": {"tool": "web_search"}}, "bad_request"),
    ({"forbid": "tool"}, "bad_request"),
    ({"forbid": 3}, "bad_request"),
    ({"forbid": [3]}, "bad_request"),
    ({"forbid": [{"tool": 3}]}, "bad_request"),
    ({"forbid": [{"tool": [3]}]}, "bad_request"),
    ({"forbid": [{"tol": "web_search"}]}, "unknown_name"),
    ({"forbid": [{"tool": "web"}]}, "unknown_name"),
    ({"forbid": [{}]}, "bad_pattern"),
    ({"require": [{"tool": []}]}, "bad_pattern"),
    ({"require": [{"tool": ["web_search"] * 2}]}, "bad_pattern"),
    ({"require": [{"tool": ["web_search"] * 20_000}]}, "out_of_range"),
    ({"only": []}, "infeasible"),
    ({"require": [{"tool": "web_search"}, {"tool": "no_tool"}]}, "infeasible"),
    ({"defaults": [0.0]}, "out_of_range"),
    ({"defaults": [0.0] * 181}, "out_of_range"),
    ({"defaults": range(10**12)}, "out_of_range"),
    ({"defaults": ["x"] * 180}, "bad_request"),
    ({"defaults": [float("nan")] * 180}, "out_of_range"),
    ({"defaults": [101] * 180}, "out_of_range"),
    ({"defaults": 3}, "bad_request"),
    ({"defaults": "x" * 180}, "bad_request"),
    ({"defaults": {}}, "bad_request"),
    ({"propensities": -1}, "out_of_range"),
    ({"propensities": 10_001}, "out_of_range"),
    ({"propensities": 0.5}, "bad_request"),
    ({"propensities": HUGE}, "out_of_range"),
    ({"at": -1}, "out_of_range"),
    ({"at": 2**32}, "out_of_range"),
    ({"at": HUGE}, "out_of_range"),
    ({"at": 0.5}, "bad_request"),
    ({"at": "now"}, "bad_request"),
]


@pytest.fixture(params=["memory", "store"])
def user(request, agent, tmp_path):
    """Somebody with a past, in memory or in a store."""
    policy = fable.Policy(agent)
    if request.param == "memory":
        yield fable.User(policy, "ana")
    else:
        with fable.Store(tmp_path / "users.fable", policy) as store:
            yield store.user("ana")


def refused(user, code, call):
    before = user.snapshot()
    with pytest.raises(fable.FableError) as raised:
        call()
    assert raised.value.code == code, repr(raised.value)
    assert type(raised.value) is fable.errors.BY_CODE[code]
    assert str(raised.value)
    assert user.snapshot() == before


def test_contexts_and_arguments(user, context):
    user.feedback(user.decide(context), 0.5)
    for wrong, code in CONTEXTS:
        refused(user, code, lambda: user.decide(wrong))
        refused(user, code, lambda: user.recommend(wrong))
        refused(user, code, lambda: user.observe(wrong, 0, 0.5))
    for change, code in CHANGES:
        refused(user, code, lambda: user.decide({**context, **change}))
    for arguments, code in ARGUMENTS:
        refused(user, code, lambda: user.decide(context, **arguments))
    assert user.decide({**context, "task": Text.CODING}).id  # a string is a string


def test_rewards(user, context):
    decision, other = user.decide(context), "0000000000000001-0-1"
    for reward, code in [
        (1.5, "out_of_range"),
        (float("nan"), "out_of_range"),
        (HUGE, "out_of_range"),
        (None, "bad_request"),
        ("good", "bad_request"),
        ([0.5], "bad_request"),
    ]:
        refused(user, code, lambda: user.feedback(decision, reward))
        refused(user, code, lambda: user.observe(context, 0, reward))
    for weight, code in [
        (0, "out_of_range"),
        (-1, "out_of_range"),
        (1e9, "out_of_range"),
        (1e300, "out_of_range"),
        (float("nan"), "out_of_range"),
        ("x", "bad_request"),
    ]:
        refused(user, code, lambda: user.feedback(decision, 0.5, weight=weight))
    for what, code in [
        (other, "unknown_decision"),
        ("", "unknown_decision"),
        ("x" * 100_000, "unknown_decision"),
        ("\ud800", "unknown_decision"),
        (None, "bad_request"),
        (3, "bad_request"),
        (b"x", "bad_request"),
        (user, "bad_request"),
    ]:
        refused(user, code, lambda: user.feedback(what, 0.5))
        refused(user, code, lambda: user.explain(what))
    user.feedback(decision, 0.5)
    refused(user, "duplicate_feedback", lambda: user.feedback(decision, 0.5))
    refused(user, "unknown_decision", lambda: user.feedback(decision.id[:-1] + "7", 0.5))


def test_actions_and_questions(user, context, agent):
    action = {"memory": "no_memory", "tool": "no_tool", "style": "direct"}
    for wrong, code in [
        ({}, "incomplete_action"),
        ({"memory": "no_memory"}, "incomplete_action"),
        ({**action, "mood": "good"}, "unknown_name"),
        ({**action, "tool": "golf"}, "unknown_name"),
        ({**action, "tool": 3}, "bad_request"),
        (180, "out_of_range"),
        (-1, "out_of_range"),
        (HUGE, "out_of_range"),
        (0.5, "bad_request"),
        (None, "bad_request"),
        ("direct", "bad_request"),
    ]:
        refused(user, code, lambda: user.observe(context, wrong, 0.5))
        refused(user, code, lambda: agent.index(wrong))
        if wrong is not None:
            refused(user, code, lambda: user.contrast(context=context, prefer=wrong, over=action))
    refused(user, "bad_contrast", lambda: user.contrast(context=context, prefer=0, over=0))
    refused(user, "bad_contrast", lambda: user.contrast(context=context, prefer=0, over=179))
    refused(user, "unknown_name", lambda: user.contrast("golf"))
    refused(user, "bad_request", lambda: user.contrast())
    refused(user, "bad_request", lambda: user.contrast("concise_over_detailed", total=True))
    refused(user, "bad_request", lambda: user.contrast(3))
    refused(user, "out_of_range", lambda: user.waiting(at=-1))
    refused(user, "out_of_range", lambda: user.promote(at=2**40))


def test_statements(user):
    good = {"prefer": {"style": "concise"}, "response": 1.0, "precision": 4.0}
    for change, code in [
        ({"response": 2.0}, "out_of_range"),
        ({"response": float("nan")}, "out_of_range"),
        ({"precision": -1}, "out_of_range"),
        ({"precision": None}, "bad_request"),
        ({"prefer": {"style": "rude"}}, "unknown_name"),
        ({"prefer": {"mood": "good"}}, "unknown_name"),
        ({"prefer": 3}, "bad_request"),
        ({"prefer": {}}, "no_coordinate"),
        ({"when": {"task": "golf"}}, "unknown_name"),
        ({"when": {}}, "bad_request"),
        ({"when": {"task": "coding", "signal": "risk"}}, "bad_request"),
        ({"direction": {"style=concise": 1}}, "bad_request"),
        ({"sure": True}, "bad_request"),
        ({"prefer": None, "direction": {}}, "bad_direction"),
        ({"prefer": None, "direction": {"golf": 1}}, "unknown_name"),
        ({"prefer": None, "direction": {"style=concise": float("nan")}}, "out_of_range"),
        ({"prefer": None}, "bad_request"),
    ]:
        refused(user, code, lambda: user.onboard(good, {**good, **change}))
    refused(user, "bad_request", lambda: user.onboard(3))
    refused(user, "bad_request", lambda: user.onboard([good]))


def test_exceptions_of_ones_own_come_through(user, context):
    with pytest.raises(ZeroDivisionError):
        user.decide({**context, "risk": Odd()})
    with pytest.raises(ZeroDivisionError):
        user.feedback(user.decide(context), Odd())
    for wrong in (Endless(), Long([0.0] * 180)):
        with pytest.raises(fable.FableError):
            user.decide(context, defaults=wrong)


@pytest.mark.parametrize(
    "wrong, code",
    [
        (None, "bad_request"),
        (3, "bad_request"),
        ("golf", "unknown_name"),
        ("nowhere.toml", "storage"),
        ("", "unknown_name"),
        ("/", "storage"),
        ("\0.toml", "storage"),
        ("\ud800.toml", "bad_request"),
    ],
)
def test_catalogs_that_are_not_there(wrong, code):
    with pytest.raises(fable.FableError) as raised:
        fable.Catalog(wrong)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "tables, code",
    [
        (None, "bad_request"),
        ({}, "bad_catalog"),
        ({"name": 3}, "bad_catalog"),
        ({3: "name"}, "bad_request"),
        ({"name": None}, "bad_request"),
        ({"name": 10**30}, "out_of_range"),
        ({"name": {1, 2}}, "bad_request"),
        (inside_itself(), "out_of_range"),
        ({"name": ["x"] * 200_000}, "out_of_range"),
        ({"name": "\ud800"}, "bad_request"),
    ],
)
def test_tables_that_are_not_a_catalog(tables, code):
    with pytest.raises(fable.FableError) as raised:
        fable.Catalog.from_dict(tables)
    assert raised.value.code == code


def test_a_mistake_in_a_catalog_has_its_place():
    with pytest.raises(fable.BadCatalog, match="catalog:2:1: there is no key 'task'; did you mean 'tasks'"):
        fable.Catalog.from_toml('name = "lamp"\ntask = ["reading"]\n')
    with pytest.raises(fable.OutOfRange):
        fable.Catalog.from_toml("#" * (1 << 21))


@pytest.mark.parametrize(
    "settings, code",
    [
        ({"nu": 0}, "out_of_range"),
        ({"nu": float("nan")}, "out_of_range"),
        ({"nu": HUGE}, "out_of_range"),
        ({"nu": "0.3"}, "bad_request"),
        ({"nuu": 1}, "bad_request"),
        ({"nu": 1, "delta": 0.1}, "bad_request"),
        ({"seed": -1}, "out_of_range"),
        ({"seed": 2**64}, "out_of_range"),
        ({"seed": 0.5}, "bad_request"),
        ({"half_life": 0}, "out_of_range"),
        ({"half_life": 70_000}, "out_of_range"),
        ({"deadline": "soon"}, "out_of_range"),
        ({"deadline": 3}, "bad_request"),
        ({"retained": ["golf"]}, "unknown_name"),
        ({"retained": []}, "out_of_range"),
        ({"retained": "memory"}, "bad_request"),
        ({"scalar": "f16"}, "out_of_range"),
        ({"scalar": 32}, "bad_request"),
        ({"prior": b""}, "bad_request"),
        ({"min_evidence": -1}, "out_of_range"),
        ({"base_precision": 1, "precision_per_feature": 1}, "bad_request"),
        ({"scale": "wide"}, "out_of_range"),
    ],
)
def test_settings(agent, settings, code):
    with pytest.raises(fable.FableError) as raised:
        fable.Policy(agent, **settings)
    assert raised.value.code == code, raised.value


def test_classes_that_are_not_what_is_needed(agent, context):
    policy = fable.Policy(agent)
    for call in (
        lambda: fable.Policy("agent"),
        lambda: fable.User(agent, "ana"),
        lambda: fable.User(policy, 3),
        lambda: fable.User(policy, b"ana"),
        lambda: fable.Users(None, ["ana"]),
        lambda: fable.User.restore(policy, "ana", "bytes"),
        lambda: fable.User.restore(policy, "ana", bytearray(b"x")),
    ):
        with pytest.raises(fable.BadRequest):
            call()
    for name in ("", "x" * 257):
        with pytest.raises(fable.OutOfRange):
            fable.User(policy, name)
    for call in (
        lambda: fable.Decision(),
        lambda: fable.StoreUser(),
        lambda: fable.Batch(),
        lambda: fable.User(),
        lambda: fable.User(policy, "ana", 1),
    ):
        with pytest.raises(TypeError):
            call()


def test_snapshots_that_are_damaged_or_of_others(agent, life):
    policy, dice = fable.Policy(agent), random.Random(2)
    user = fable.User(policy, "ana")
    for _ in range(5):
        user.feedback(user.decide(life(3).context()), 0.5)
    good = user.snapshot()
    for _ in range(300):
        place = dice.randrange(len(good))
        bad = good[:place] + bytes([good[place] ^ (1 << dice.randrange(8))]) + good[place + 1 :]
        with pytest.raises((fable.Damaged, fable.Foreign)):
            fable.User.restore(policy, "ana", bad)
    for length in (0, 1, 7, 31, 32, 33, 100, len(good) - 1):
        with pytest.raises(fable.Damaged):
            fable.User.restore(policy, "ana", good[:length])
    with pytest.raises(fable.Damaged):
        fable.User.restore(policy, "ana", good + b"x")
    for other in (fable.Policy(agent, noise_variance=1), fable.Policy(agent, scalar="f64"), fable.Policy(fable.Catalog("tau2"))):
        with pytest.raises(fable.Foreign):
            fable.User.restore(other, "ana", good)
    with pytest.raises(fable.Foreign):
        fable.User.restore(policy, "ben", good)
    assert fable.User.restore(policy, "ana", good).snapshot() == good


def test_two_threads_on_one_user(agent, context):
    """Nothing is lost or half done: whoever comes in between is told."""
    user, told, done = fable.User(fable.Policy(agent, scalar="f64"), "ana"), [], []
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(100):
            try:
                user.decide(context, propensities=50)
                done.append(1)
            except fable.Busy as error:
                told.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) + len(told) == 400 and set(told) <= {"busy"}
    assert user.rounds == len(done)
    assert fable.User.restore(user.policy, "ana", user.snapshot()).rounds == len(done)


def garbage(dice, depth=0):
    """Anything at all."""
    kinds = [
        lambda: None,
        lambda: True,
        lambda: dice.choice([0, 1, -1, 2**31, 2**32, 2**63, 2**64, HUGE, -HUGE]),
        lambda: dice.choice([0.0, -0.0, 0.5, 1.0, 1e-320, 1e308, float("nan"), float("inf"), -float("inf")]),
        lambda: dice.choice(
            [
                "",
                "ana",
                "coding",
                "task",
                "risk",
                "tool",
                "web_search",
                "style=concise",
                "\ud800",
                "\0",
                "x" * 300,
                "e6f79c19051ffb05-0-1",
                "f32",
                "all",
            ]
        ),
        lambda: dice.choice([b"", b"FABS", bytes(range(256))]),
        lambda: dice.choice([Odd(), Long(), object(), int, len, ...]),
    ]
    if depth < 3:
        kinds += [
            lambda: [garbage(dice, depth + 1) for _ in range(dice.randrange(4))],
            lambda: tuple(garbage(dice, depth + 1) for _ in range(dice.randrange(4))),
            lambda: {
                dice.choice(
                    [
                        "task",
                        "risk",
                        "ambiguity",
                        "memory_need",
                        "tool_need",
                        "tool",
                        "style",
                        "memory",
                        "prefer",
                        "name",
                        3,
                        None,
                    ]
                ): garbage(dice, depth + 1)
                for _ in range(dice.randrange(6))
            },
        ]
    return dice.choice(kinds)()


def test_garbage_everywhere(agent, context, tmp_path):
    """Ten thousand calls of everything with anything: an exception each, or a proper answer; never a panic, which is not an Exception."""
    dice, policy = random.Random(1), fable.Policy(agent)
    store = fable.Store(tmp_path / "users.fable", policy, durable=False)
    objects = [
        fable.User(policy, "ana"),
        store.user("ana"),
        fable.Users(policy, ["a", "b"]),
        agent,
        policy,
        store,
        fable.Catalog,
        fable.Policy,
        fable.User,
        fable.Users,
        fable.Prior,
    ]
    decision = objects[0].decide(context)
    keywords = [
        "forbid",
        "require",
        "only",
        "defaults",
        "propensities",
        "at",
        "weight",
        "when",
        "words",
        "against",
        "context",
        "prefer",
        "over",
        "who",
        "feasible",
        "scalar",
        "prior",
        "seed",
        "nu",
        "retained",
        "deadline",
    ]
    left_out = {
        "close",
        "backup",
        "save",
        "__class__",
        "__init_subclass__",
        "__subclasshook__",
        "mro",
    }  # what writes files, or is Python's own
    raised = 0
    for count in range(10_000):
        target = dice.choice(objects)
        names = [
            name
            for name in dir(target)
            if name not in left_out and (not name.startswith("__") or name in ("__contains__", "__getitem__", "__len__"))
        ]
        name = dice.choice([*names, "__call__"])
        call = target if name == "__call__" else getattr(target, name, None)
        if not callable(call):
            continue
        arguments = [dice.choice([garbage(dice), context, decision, policy, agent]) for _ in range(dice.randrange(4))]
        named = {dice.choice(keywords): garbage(dice) for _ in range(dice.randrange(3))}
        try:
            call(*arguments, **named)
        except fable.FableError as error:
            assert error.code in CODES
            assert error.code != "internal", (name, arguments, named, error)
            raised += 1
        except (TypeError, ValueError, OverflowError, ZeroDivisionError, OSError, RecursionError, AttributeError, IndexError):
            raised += 1
    assert raised > 4_000
    store.close()
    assert fable.User.restore(policy, "ana", objects[0].snapshot())
