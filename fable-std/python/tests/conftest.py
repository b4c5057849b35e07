"""What the tests share: catalogs, a life to live, the `fable` command, a PostgreSQL of their own."""

import os
import itertools
import pathlib
import random
import subprocess
import sys

import pytest

import fable

TOP = pathlib.Path(__file__).resolve().parents[3]
NUMBERS = itertools.count()
CONTEXT = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}


@pytest.fixture(scope="session")
def agent():
    return fable.Catalog("agent")


@pytest.fixture
def ana(agent):
    return fable.User(fable.Policy(agent), "ana")


@pytest.fixture
def context():
    return dict(CONTEXT)


@pytest.fixture(scope="session")
def command():
    """The real command, as `tests/run` has built it."""
    found = os.environ.get("FABLE")
    if not found:
        pytest.fail("FABLE names the command to replay with: tests/run python sets it")

    def run(*arguments, data=None, code=0):
        done = subprocess.run([found, *map(str, arguments)], input=data, capture_output=True, text=True)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    return run


class Life:
    """Requests and reactions that depend on nothing but a seed: what is asked, and how it went."""

    def __init__(self, catalog, seed):
        self.catalog, self.dice = catalog, random.Random(seed)

    def context(self):
        task = self.dice.choice((None, *self.catalog.tasks)) if self.catalog.tasks else None
        signals = {name: self.dice.randint(0, 100) / 100 for name in self.catalog.signals}
        return {"task": task, **signals}

    def rules(self):
        if self.dice.random() < 0.7:
            return {}
        component = self.dice.choice(list(self.catalog.components))
        return {"forbid": [{component: self.dice.choice(self.catalog.components[component])}]}

    def reward(self):
        return self.dice.randint(-100, 100) / 100


@pytest.fixture
def life(agent):
    return lambda seed, catalog=agent: Life(catalog, seed)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A PostgreSQL of the tests' own."""
    if os.environ.get("FABLE_NO_POSTGRES") == "1":
        pytest.skip("FABLE_NO_POSTGRES is set")
    sys.path.insert(0, str(TOP / "examples" / "gateway"))
    import parts

    folder = pathlib.Path(tmp_path_factory.mktemp("database"))
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.geteuid() and place != pathlib.Path(place.anchor):
            place.chmod(place.stat().st_mode | 0o711)  # the server runs as another user where the tests run as root
        if place == pathlib.Path(os.environ.get("TMPDIR", "/tmp")):
            break
    server = parts.Postgres(folder)
    server.start()
    yield server
    server.close()


@pytest.fixture
def postgres(server):
    """The URL of a database that is this test's own."""
    name = f"test_{next(NUMBERS)}"
    server.do("createdb", "-h", server.folder, "-U", "postgres", name)
    return server.url.replace("/fleet?", f"/{name}?")
