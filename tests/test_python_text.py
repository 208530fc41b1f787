"""Texts are parsed in many threads at once, also where garbage collection lets another thread go on in the middle."""

import ast
import gc
import sys
import time
from pathlib import Path

import pytest

import workbench
from tests.kit.at_the_same_time import at_the_same_time
from workbench import python_text

TEXT = "def f(x):\n" + "".join(f"    y{k} = (x + {k}) * (x - {k}) ** 2 if x > {k} else [x, -x]\n" for k in range(60))


@pytest.fixture
def gaps():
    """Collections are frequent, and another thread goes on in each; so are changes of threads."""
    before, interval = gc.get_threshold(), sys.getswitchinterval()

    def gap(phase, info):
        time.sleep(1e-5)

    gc.callbacks.append(gap)
    gc.set_threshold(20)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*before)
    gc.callbacks.remove(gap)


def failures(parse):
    """What threads that parse at the same time raise."""
    found = []

    def work(_):
        for _ in range(20):
            try:
                assert isinstance(parse(TEXT), ast.Module)
            except SystemError as error:
                found.append(error)

    at_the_same_time(work, range(6))
    return found


@pytest.mark.usefixtures("gaps")
def test_threads_that_parse_at_the_same_time():
    assert not failures(python_text.parse)


def test_errors_of_others_are_waited_out(monkeypatch):
    """The kernel parses for completion in a thread of its own, which takes no lock of ours."""
    turns = []

    def parse(*given):
        turns.append(given)
        if len(turns) < 4:
            raise SystemError("AST constructor recursion depth mismatch (before=45, after=39)")
        return ast.Module([], [])

    monkeypatch.setattr(python_text.ast, "parse", parse)
    assert isinstance(python_text.parse("x"), ast.Module)
    assert len(turns) == 4


def test_syntax_errors_are_pythons_own():
    with pytest.raises(SyntaxError, match="invalid syntax"):
        python_text.parse("x = = 1")
    assert isinstance(python_text.parse("x + 1", mode="eval").body, ast.BinOp)


def test_nothing_else_parses():
    """Each text goes through the one place that takes turns."""
    room = Path(workbench.__file__).parent
    found = [
        path.relative_to(room).as_posix()
        for path in room.rglob("*.py")
        if "ast.parse(" in path.read_text(encoding="utf-8")
    ]
    assert found == ["python_text.py"]
