"""Calls whose arrays have the form of an earlier call are not read again; all others are, and are refused alike."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import FieldError, RunError, ShapeError
from workbench.run import known_calls
from workbench.run.values import ParamWarning

CELL = """
x, y = array("x", "n"), array("y", "n")
a = param("a", 2.0, above=0, warn_above=100)
output("sum", a * x + y)
output("most", fold(maximum, x))
"""
PAIRS = 'p, = targets("x")\nq, m = sources("x m")\nt, = totals("t")\nt += where(p < q, m, 0.25)'
VECTORS = 'p, = targets("x", dim=2)\nq, = sources("x", dim=2)\nr, = totals("r", dim=2)\nr += q - p'
X, Y = np.linspace(-1, 1, 5), np.arange(5.0)


def machine():
    return wb.trace(CELL, name="line")


@pytest.fixture
def read(monkeypatch):
    """Of each call that is read from the beginning, the names that it was given."""
    seen, original = [], known_calls.read_call

    def noted(graph, given):
        seen.append(tuple(given.values))
        return original(graph, given)

    monkeypatch.setattr(known_calls, "read_call", noted)
    return seen


def right(found, x, y, a=2.0):
    assert_same_bits(found["sum"], a * x + y)
    assert_same_bits(found["most"], np.asarray(x.max()))


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_a_call_of_known_types_and_shapes_is_not_read_again(read, backend):
    line = machine()
    right(line(x=X, y=Y, backend=backend), X, Y)
    right(line(x=X, y=Y, a=3.0, backend=backend), X, Y, 3.0)
    for a in (0.5, 7.0):
        right(line(x=X[::-1].copy(), y=X, backend=backend), X[::-1], X)
        right(line(x=Y, y=Y, a=a, backend=backend), Y, Y, a)
    assert read == [("x", "y"), ("x", "y", "a")]


def test_what_has_another_type_shape_or_stride_is_read(read):
    line, whole = machine(), Y.astype(np.int64)
    many = np.arange(10.0)
    cases = [(X, Y), (X, whole), (many, many), (many[::2], Y), (many[1::2], Y), (X.astype("f4"), Y), (Y, X)]
    for x, y in cases:
        right(line(x=x, y=y, backend="openmp"), x.astype("f8"), y)
    assert len(read) == 5  # the second slice with steps has the form of the first, the last call that of the first
    right(line(x=X, y=whole, backend="openmp"), X, whole)
    assert len(read) == 6  # a conversion looks at each number


def test_arrays_of_another_type_of_equal_size_are_converted():
    line, whole = machine(), np.arange(5)
    for x, y in ((X, Y), (X, whole), (whole, Y)):
        right(line(x=x, y=y, backend="reference"), x.astype("f8"), y)


def test_lists_of_other_lengths_are_other_calls():
    line = machine()
    for x in ([1.0, 2.0], [1.0, 2.0, 3.0], [4.0]):
        right(line(x=x, y=x, backend="reference"), np.array(x), np.array(x))


def test_numbers_in_place_of_arrays_are_read_at_each_call(read):
    line = machine()
    for y in (1.0, 2.0):
        right(line(x=X, y=y, backend="openmp"), X, np.full(5, y))
    assert len(read) == 2


def test_whole_vectors_are_read_at_each_call(read):
    machine = wb.trace(VECTORS, name="vectors")
    for scale in (1.0, 2.0):
        here = np.arange(8.0).reshape(2, 4) * scale
        found = machine(x=here, backend="openmp")["r"]
        np.testing.assert_array_equal(found, (here[:, None, :] - here[:, :, None]).sum(axis=2))
    assert len(read) == 2


def test_pairs_of_one_set_are_known_and_two_sets_are_read(read):
    pairs, m = wb.trace(PAIRS, name="pairs"), np.ones(5)
    expected = np.where(X[:, None] < X[None, :], 1.0, 0.25).sum(axis=1)
    for _ in range(3):
        assert pairs(x=X, m=m, backend="openmp")["t"].tolist() == expected.tolist()
    assert len(read) == 1
    for n in (3, 4):
        found = pairs(targets={"x": X[:n]}, sources={"x": X, "m": m}, backend="openmp")["t"]
        assert found.tolist() == expected[:n].tolist()
    assert len(read) == 3


def test_results_are_fresh_and_arguments_stay():
    line, x, y = machine(), X.copy(), Y.copy()
    first = line(x=x, y=y, backend="openmp")
    kept = {name: values.copy() for name, values in first.items()}
    second = line(x=x, y=y, backend="openmp")
    for name, values in second.items():
        assert not np.shares_memory(values, first[name])
        values[...] = np.nan
        assert_same_bits(first[name], kept[name])
    assert_same_bits(x, X)
    assert_same_bits(y, Y)
    third = line(x=first["sum"], y=first["sum"], backend="openmp")  # a result that is given back
    right(third, kept["sum"], kept["sum"])
    assert_same_bits(first["sum"], kept["sum"])


BAD = [
    ({"x": X}, FieldError, "line needs y"),
    ({"x": X, "y": Y[:4]}, ShapeError, "y has 4 elements along n, x has 5"),
    ({"x": X, "y": Y, "z": X}, FieldError, "line has no 'z'"),
    ({"x": X, "y": Y, "a": -1.0}, FieldError, "a is -1.0, but must be above 0"),
    ({"x": X, "y": Y, "a": "two"}, FieldError, "a was given text"),
    ({"x": X, "y": Y, "a": X}, FieldError, "a is a param: one number"),
    ({"x": X, "y": np.array(["a"] * 5)}, FieldError, "y was given text"),
    ({"x": X[:, None], "y": Y}, ShapeError, "x was given 2 axes"),
    ({"x": X, "y": Y, "threads": True}, RunError, "threads=True is no number of threads"),
    ({"x": X, "y": Y, "threads": -1}, RunError, "threads=-1 is no number of threads"),
]


@pytest.mark.parametrize(("given", "error", "what"), BAD)
def test_after_a_good_call_bad_input_is_refused_as_before_one(given, error, what):
    with pytest.raises(error, match=what) as at_first:
        machine()(backend="reference", **given)
    line = machine()
    for good in ({"threads": 1}, {"a": 2.0}, {"threads": 1, "a": 2.0}):
        line(x=X, y=Y, backend="reference", **good)
    with pytest.raises(error, match=what) as later:
        line(backend="reference", **given)
    assert str(later.value) == str(at_first.value)
    right(line(x=X, y=Y, backend="reference"), X, Y)


def test_an_unwise_param_is_warned_of_at_each_call():
    line = machine()
    for _ in range(2):
        with pytest.warns(ParamWarning, match="a=1000.0 is above 100"):
            line(x=X, y=Y, a=1000.0, backend="reference")


def test_other_choices_are_other_calls(read):
    line = machine()
    narrow = line.with_precision(sum="f32")
    for _ in range(2):
        right(line(x=X, y=Y, backend="reference"), X, Y)
        assert narrow(x=X, y=Y, backend="reference")["sum"].dtype == np.float32
    assert len(read) == 2
