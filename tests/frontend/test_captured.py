"""Names that a program took from outside: a change since is told, at every call, and nothing else is."""

import numpy as np
import pytest

import workbench as wb
from workbench.frontend.captured import CapturedNameWarning
from workbench.frontend.cell import trace_cell

RATE = 2.0
SHADOWED = 5
X = np.ones(3)


def times_rate(x):
    return (lambda y: y * RATE)(x)


def closed_over(factor):
    """A function of arrays whose closure has a name that the module has too, and what changes it there."""
    SHADOWED = factor  # the name that the module has

    @wb.collective(backend="reference")
    def scaled(x):
        return x * SHADOWED

    def change(value):
        nonlocal SHADOWED
        SHADOWED = value

    return scaled, change


def test_a_call_of_known_shapes_tells_of_a_changed_number(monkeypatch):
    @wb.collective(backend="reference")
    def scaled(x):
        return x * RATE

    assert scaled(X)[0] == 2
    monkeypatch.setitem(globals(), "RATE", 3.0)
    with pytest.warns(CapturedNameWarning, match=r"RATE was 2\.0 when scaled was traced and is 3\.0 now") as found:
        assert scaled(X)[0] == 2
    assert "let the function have RATE as an argument" in str(found[0].message)
    assert found[0].filename == __file__


def test_what_a_helper_reads_is_told_too(monkeypatch):
    @wb.collective(backend="reference")
    def scaled(x):
        return times_rate(x)

    assert scaled(X)[0] == 2
    monkeypatch.setitem(globals(), "RATE", 3.0)
    with pytest.warns(CapturedNameWarning, match=r"RATE was 2\.0"):
        scaled(X)


def test_a_helper_in_a_cell_is_looked_through():
    namespace = {"__name__": "notebook", "rate": 2.0, "other": 1, "shape": (3,)}
    exec("def twice(u):\n    return u.astype('f64') * rate if u else twice(u) * other", namespace)
    captured = trace_cell('u = field("u")\nv = twice\nu.next = 2 * u', namespace=namespace).captured
    assert [(c.name, c.line) for c in captured] == [("twice", 2), ("rate", 2), ("other", 2)]


def test_a_list_that_changes_in_place_is_told():
    factors = [1.0, 2.0]

    @wb.collective(backend="reference")
    def scaled(x):
        return x * factors[1]

    assert scaled(X)[0] == 2
    factors[1] = 7.0
    with pytest.warns(CapturedNameWarning, match=r"factors was \[1\.0, 2\.0\] when scaled .* is \[1\.0, 7\.0\] now"):
        scaled(X)


@pytest.mark.filterwarnings("error")
def test_a_log_that_the_function_keeps_is_no_change():
    log = []

    @wb.collective(backend="reference")
    def scaled(x):
        log.append(x)
        return x * 2

    scaled(X)
    scaled(X.astype("f4"))
    assert scaled(X)[0] == 2
    assert len(log) == 2


@pytest.mark.filterwarnings("error")
def test_the_closure_comes_before_the_module():
    scaled, change = closed_over(3.0)
    assert scaled(X)[0] == scaled(X)[1] == 3
    change(4.0)
    with pytest.warns(CapturedNameWarning, match=r"SHADOWED was 3\.0 when scaled was traced and is 4\.0 now"):
        assert scaled(X)[0] == 3
