"""Loops that count their turns: which are taken for such, and that a device makes the same turns unasked."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.counted_loops import CountedLoop, counted_loops
from workbench.errors import RunError
from workbench.graph import LoadSize
from workbench.language import while_loop

X = np.linspace(-1.0, 1.0, 12)


def by_number(x):
    return while_loop(lambda _, k: k < 7, lambda x, k: (0.5 * x + k, k + 1), (x, 0), at_most=50)


def by_length(x):
    n = x.shape[0]
    return while_loop(lambda _, k: k < n, lambda x, k: (0.5 * x + k, 1 + k), (x, 3), at_most=50)


def by_param(x, n, c):
    return while_loop(
        lambda _, k: (c * c != 2.0) & (n > k) & (c > 0), lambda x, k: (c * x + k, k + 1), (x, 0), at_most=50
    )


def with_a_sum(x):
    """What only the last turn must have computed."""
    return while_loop(lambda x, k, s: k < 6, lambda x, k, s: (0.5 * x, k + 1, np.sum(x)), (x, 0, 0.0), at_most=50)


def by_twos(x):
    return while_loop(lambda _, k: k < 7, lambda x, k: (0.5 * x + k, k + 2), (x, 0), at_most=50)


def by_floats(x):
    return while_loop(lambda _, k: k < 7.0, lambda x, k: (0.5 * x + k, k + 1.0), (x, 0.0), at_most=50)


def moving_bound(x):
    return while_loop(
        lambda _, k, n: k < n, lambda x, k, n: (0.5 * x, k + 1, n - 1), (x, 0, 9), at_most=50
    )  # fmt: skip


def with_more(x):
    return while_loop(
        lambda x, k: (k < 40) & (np.max(x) > 0.01), lambda x, k: (0.5 * x, k + 1), (x, 0), at_most=50
    )  # fmt: skip


def last_number(x):
    """The condition is of the number before, not of the next one."""
    return while_loop(
        lambda x, k, old: old < 5, lambda x, k, old: (0.5 * x + old, k + 1, k), (x, 0, 0), at_most=50
    )  # fmt: skip


def inside(x):
    def turn(x, k):
        return while_loop(lambda _, j: j < 3, lambda x, j: (0.5 * x + k, j + 1), (x, 0), at_most=9)[0], k + 1

    return while_loop(lambda _, k: k < 4, turn, (x, 0), at_most=9)


COUNTED = ((by_number, (X,)), (by_length, (X,)), (by_param, (X, 5, 0.75)), (with_a_sum, (X,)))
OTHERS = ((by_twos, (X,)), (by_floats, (X,)), (moving_bound, (X,)), (with_more, (X,)), (last_number, (X,)))


def loops_of(function, given):
    return counted_loops(wb.collective(function).machine(*given).graph)


@pytest.mark.parametrize(("function", "given"), COUNTED)
def test_loops_that_count(function, given):
    ((turn, counted),) = loops_of(function, given).items()
    assert turn == "main_turn_1"
    expected = {by_length: LoadSize(0), by_param: "n", with_a_sum: 6}.get(function, 7)
    assert (counted.bound, counted.counter.split("_")[0]) == (expected, "k")


@pytest.mark.parametrize(("function", "given"), OTHERS)
def test_loops_that_do_not(function, given):
    assert loops_of(function, given) == {}


def test_of_loops_in_a_loop_the_inner_one_counts():
    (turn,) = loops_of(inside, (X,))
    assert turn != "main_turn_1"


def test_turns_that_are_left():
    values = {"k": 3, "n": 10}
    assert CountedLoop("k", 8).turns_left(values.__getitem__, ()) == 5
    assert CountedLoop("k", "n").turns_left(values.__getitem__, ()) == 7
    assert CountedLoop("k", LoadSize(1)).turns_left(values.__getitem__, (2, 4)) == 1
    assert CountedLoop("k", 3).turns_left(values.__getitem__, ()) == 1  # a loop that goes on makes a turn


@pytest.mark.simulator
@pytest.mark.parametrize(("function", "given"), [*COUNTED, *OTHERS, (inside, (X,))])
def test_a_device_makes_the_same_turns(function, given):
    found = wb.collective(function)(*given, backend="cuda-sim")
    for one, other in zip(found, wb.collective(function)(*given, backend="reference"), strict=True):
        assert_same_bits(np.asarray(one), np.asarray(other))


@pytest.mark.simulator
@pytest.mark.parametrize(("n", "c"), [(0, 0.5), (1, 0.5), (2, 0.5), (9, -0.5), (-(2**62), 0.5)])
def test_few_turns_and_none(n, c):
    found, turns = wb.collective(by_param)(X, n, c, backend="cuda-sim")
    expected, others = by_turns(n, c)
    assert (int(turns), others) == (others, int(turns))
    assert_same_bits(found, expected)


def by_turns(n, c):
    """The same in NumPy."""
    x, k = X, 0
    while k < n and c > 0:
        x, k = c * x + k, k + 1
    return x, k


@pytest.mark.simulator
def test_too_many_turns_are_an_error():
    with pytest.raises(RunError, match="50"):
        wb.collective(by_param)(X, 51, 0.5, backend="cuda-sim")
    assert int(wb.collective(by_param)(X, 50, 0.5, backend="cuda-sim")[1]) == 50
