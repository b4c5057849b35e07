"""Doc strings: their examples run, the stubs say the same, and the exceptions are those of the protocol."""

import ast
import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import fable
import fable._fable

PACKAGE = pathlib.Path(fable.__file__).parent
TOP = pathlib.Path(__file__).resolve().parents[3]


def documented():
    """Everything with a doc string, by its name."""
    for module in (fable, fable.errors, fable.prior):
        yield module.__name__, inspect.getdoc(module)
    for name, function in vars(fable.prior).items():
        if inspect.isfunction(function):
            yield f"fable.prior.{name}", inspect.getdoc(function)
    for name, kind in vars(fable._fable).items():
        if inspect.isclass(kind):
            yield f"fable.{name}", kind.__doc__
            for member, value in vars(kind).items():
                if not member.startswith("__"):
                    yield f"fable.{name}.{member}", value.__doc__


def test_examples_run():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name, doc in documented():
        runner.run(parser.get_doctest(doc or "", {}, name, None, 0))
    assert runner.failures == 0
    assert runner.tries > 40


def test_the_page_of_the_package_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (TOP / "fable-std" / "python" / "README.md").read_text(), re.S)
    blocks += re.findall(r"```python\n(.*?)```", (TOP / "README.md").read_text(), re.S)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


def test_stubs_say_the_same():
    tree = ast.parse((PACKAGE / "_fable.pyi").read_text())
    compared = 0
    for kind in tree.body:
        if not isinstance(kind, ast.ClassDef) or not hasattr(fable._fable, kind.name):
            continue
        found = getattr(fable._fable, kind.name)
        assert inspect.cleandoc(found.__doc__) == ast.get_docstring(kind), kind.name
        for member in kind.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                doc = ast.get_docstring(member)
                told = vars(found)[member.name]
                told = told.__func__ if isinstance(told, classmethod) else told
                assert inspect.cleandoc(told.__doc__ or "") == (doc or ""), f"{kind.name}.{member.name}"
                compared += 1
    assert compared > 80


def test_every_code_of_the_protocol_has_its_class():
    text = (TOP / "fable-std" / "src" / "serve" / "protocol.md").read_text()
    codes = set(re.findall(r"^\| `([a-z_]+)` \|", text[text.index("| code | meaning |") :], re.M))
    assert len(codes) > 20
    of_lines = {"bad_json", "too_long", "unknown_op"}  # there are no lines here
    assert codes - of_lines <= set(fable.errors.BY_CODE)
    assert set(fable.errors.BY_CODE) - codes == {"bad_catalog", "busy", "closed", "foreign", "unfit"}
    for code, kind in fable.errors.BY_CODE.items():
        assert kind.code == code and issubclass(kind, fable.FableError) and kind.__doc__
        assert getattr(fable, kind.__name__) is kind and kind.__name__ in fable.__all__


def test_numpy_is_imported_when_it_is_used():
    code = """
import sys, fable
ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
ana.feedback(ana.decide({}), 0.5)
heavy = {"numpy", "typing", "asyncio", "inspect"} & set(sys.modules)
assert not heavy, heavy
import numpy
assert len(fable.Users(ana.policy, ["a"]).decide().actions) == 1
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
