"""Branches: one of two functions of whole arrays runs, on every backend; the other one does not."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, TraceError
from workbench.language import branch, scan, while_loop

BACKENDS = [("reference", 0), ("openmp", 1), ("openmp", 3), ("cuda-sim", 0)]


def normalised(x, A, limit):
    """Both functions read neighbours, reduce and scan; a matrix, an array and a number are carried."""
    return branch(
        np.max(x) > limit,
        lambda u, B, n: (u[::-1] / np.sum(u), B.T + u[:, None], n + 1),
        lambda u, B, n: (scan(np.add, u), B @ B, n - A[0, 1]),
        (x + 1.0, A, 4.0),
    )


def in_numpy(x, A, limit):
    u = x + 1.0
    if np.max(x) > limit:
        return u[::-1] / np.sum(u), A.T + u[:, None], 5.0
    return np.cumsum(u), A @ A, 4.0 - A[0, 1]


X, A = np.arange(9.0), np.arange(81.0).reshape(9, 9)


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
def test_one_function_of_two_is_computed(backend, threads):
    program = wb.collective(normalised)
    for limit in (7.5, 8.0, np.nan):
        found = program(X, A, limit, backend=backend, threads=threads)
        for mine, exact in zip(found, in_numpy(X, A, limit), strict=True):
            assert_same_bits(mine, exact)
    assert len(program._traced) == 1


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_the_other_function_does_not_run(backend):
    """It would read an element that is not there."""
    program = wb.collective(lambda x, places: branch(x[0] > 0, lambda u: u[places] + np.sum(u[places]), None, x))
    outside = np.array([0, 7, 1])
    assert program(-X[1:4], outside, backend=backend).tolist() == [-1, -2, -3]
    with pytest.raises(RunError, match="u is read at index 7"):
        program(X[1:4], outside, backend=backend)


def test_branches_follow_one_another_and_loops():
    def steps(x, k):
        u, n = branch(k > 2, lambda u, n: (2 * u, n + 1), lambda u, n: (u - 1, n), (x, 0))
        u, n = while_loop(lambda u, n: np.sum(u) < 100, lambda u, n: (u + x, n + 10), (u, n), at_most=99)
        return branch(np.any(u > 30), lambda u, n: (u / 2, n + 100), lambda u, n: (u * u, n), (u, n))

    for k in (2, 3):
        u, n = (2 * X, 1) if k > 2 else (X - 1, 0)
        while u.sum() < 100:
            u, n = u + X, n + 10
        u, n = (u / 2, n + 100) if np.any(u > 30) else (u * u, n)
        found = wb.collective(steps)(X, k, backend="openmp")
        assert_same_bits(found[0], u)
        assert found[1] == n


def test_a_condition_that_is_known_leaves_the_other_function_out():
    program = wb.collective(lambda x, doubled: branch(doubled, lambda u: 2 * u, lambda u: u[::-1], x))
    assert program(X, True).tolist() == (2 * X).tolist()
    assert program(X, False).tolist() == X[::-1].tolist()
    assert len(program.machine(X, True).graph.loops) == 1


MISTAKES = [
    (lambda x: branch(x > 1, lambda u: u, None, x), r"a value in each cell, .*\n.*\n.*\n.*np\.any\(condition\)"),
    (lambda x: branch(np.sum(x), lambda u: u, None, x), r"the condition is f64(.*\n)*.*Compare"),
    (lambda x: branch(np.sum(x) > 1, 2, None, x), "then is 2"),
    (lambda x: branch(np.sum(x) > 1, lambda u: u, 3, x), "otherwise is 3"),
    (lambda x: branch(np.sum(x) > 1, lambda: (), None, ()), "carries no value"),
    (lambda x: branch(np.sum(x) > 1, lambda u: (u, u), None, x), "the body of branch gives 2 values of 1"),
    (lambda x: branch(np.sum(x) > 1, lambda u: u > 1, None, x), "the body of branch"),
]


@pytest.mark.parametrize(("body", "words"), MISTAKES)
def test_mistakes_say_what_to_write(body, words):
    with pytest.raises(TraceError, match=words):
        wb.collective(body)(X)


def test_an_if_of_a_traced_condition_names_branch():
    def body(x):
        if np.sum(x) > 1:
            return x
        return 2 * x

    with pytest.raises(TraceError, match=r"branch\(np\.sum\(x\) > 1, then, otherwise, start\)"):
        wb.collective(body)(X)
