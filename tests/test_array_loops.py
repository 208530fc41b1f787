"""Loops over whole arrays in functions of arrays: what they compute, on every backend, and what is refused."""

import _thread
import threading

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, ShapeError, StencilError, TraceError
from workbench.graph import Fold
from workbench.language import add, fold, iterate, scan, scatter, while_loop, windows

BACKENDS = [("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0)]


def smoothed(x, tolerance):
    def turn(u, n):
        return windows(lambda w: 0.25 * (w[-1] + 2 * w[0] + w[+1]), u, boundary="periodic"), n + 1

    return while_loop(lambda u, n: np.max(u) - np.min(u) > tolerance, turn, (x, 0), at_most=1000)


def power_iteration(A):
    def turn(v, now, before, n):
        w = A @ v
        norm = np.sqrt(np.sum(w * w))
        return w / norm, norm, now, n + 1

    def differs(v, now, before, n):
        return abs(now - before) > 1e-12 * now

    return while_loop(differs, turn, (A.sum(axis=1), 1.0, 0.0, 0), at_most=500)


def shortest_paths(D):
    """A row and a column of what is carried meet along both of its axes."""

    def turn(d, k):
        return np.minimum(d, d[:, k][:, None] + d[k, :][None, :]), k + 1

    return while_loop(lambda d, k: k < D.shape[0], turn, (D, 0), at_most=10**9)[0]


def turned_about(A, x):
    """What is carried is read backwards and along its other axis, and a number becomes a matrix."""
    y, n = while_loop(lambda y, n: n < 3, lambda y, n: (0.5 * y + A[:, ::-1] + A.T, n + 1), (0.0, 0), at_most=3)
    z, _ = while_loop(lambda z, n: n < 4, lambda z, n: (z.T + z[::-1] * x[:, None], n + 1), (y, 0), at_most=4)
    return y, z, z.T[1:] @ x, n


def collectives(x, places):
    """Scans, scatters, gathers and loops of each element inside of a turn, and two loops in a row."""

    def turn(u, n):
        heaped = scatter(add, 0.0 * u, places, scan(add, u, exclusive=True))
        halved = iterate(lambda v: 0.5 * v, while_=lambda v: v > 1.0, start=heaped, at_most=60)
        return halved[places] + 0.01 * u, n + 1

    u, turns = while_loop(lambda u, n: (n < 5) & np.any(u > 0.001), turn, (x, 0), at_most=5)
    largest, _ = while_loop(lambda m, k: k < turns, lambda m, k: (m + fold(add, u * m), k + 1), (1.0, 0), at_most=9)
    return u, turns, largest


def no_turn(x):
    return while_loop(lambda u: np.sum(u) > 1e9, lambda u: u[::-1] - 1.0, x + 1.0, at_most=1)


def from_elements(A, n, where):
    """Elements and rows at known places are carried, added and compared: numbers, as they are in NumPy."""

    def turn(s, row, u, k, going):
        return s + A[1, 1], row + A[2] + A[3, 0], 0.5 * u + A[3, 1], k + n[0], where[2] | (k < n[2])

    start = A[0, 0], A[1] + A[0, 1], A[:, 2], n[1], where[1]
    return while_loop(lambda s, row, u, k, going: going & (s < 9 * A[2, 2]), turn, start, at_most=99)


def polynomials(A, x):
    """Accelerate's sfoldl: each row is folded from the left by a function that no order but this one serves."""

    def turn(k, value):
        return k + 1, value * x + A[:, k]

    return while_loop(lambda k, value: k < A.shape[1], turn, (0, 0.0 * x), at_most=10**9)[1]


rng = np.random.default_rng(20150901)
X, A = rng.random(37), rng.random((9, 9))
ELEMENTS = A, np.array([3, -8, 40], np.int32), np.array([False, True, False])
EXAMPLES = [
    (smoothed, (X, 0.05)),
    (smoothed, (X[:1], 0.05)),
    (smoothed, (X[:0], 0.05)),
    (power_iteration, (A,)),
    (shortest_paths, (np.where(A < 0.3, A, 9.0),)),
    (shortest_paths, (A[:0, :0],)),
    (turned_about, (A, X[:9])),
    (collectives, (X, rng.permutation(37))),
    (no_turn, (X,)),
    (polynomials, (A, X[:9])),
    (polynomials, (A[:, :0], X[:9])),
    (from_elements, ELEMENTS),
]


@pytest.mark.parametrize(("body", "given"), EXAMPLES, ids=[body.__name__ for body, _ in EXAMPLES])
def test_backends_agree_to_the_last_bit(body, given):
    function = wb.collective(body)
    expected = function(*given, backend="reference")
    for backend, threads in BACKENDS:
        found = function(*given, backend=backend, threads=threads)
        for one, other in zip(
            *(each if isinstance(each, tuple) else (each,) for each in (expected, found)), strict=True
        ):
            assert_same_bits(other, one, backend)


def test_it_computes_what_numpy_computes():
    u, n = wb.collective(smoothed)(X, 0.05)
    expected, turns = X, 0
    while expected.max() - expected.min() > 0.05:
        expected, turns = 0.25 * (np.roll(expected, 1) + 2 * expected + np.roll(expected, -1)), turns + 1
    assert_same_bits(u, expected)
    assert n == turns > 10
    _, largest, _, _ = wb.collective(power_iteration)(A)
    assert abs(largest - np.abs(np.linalg.eigvals(A)).max()) < 1e-11  # the condition's tolerance and a few more turns
    d = D = np.where(A < 0.3, A, 9.0)
    for k in range(9):
        d = np.minimum(d, d[:, k][:, None] + d[k, :][None, :])
    assert_same_bits(wb.collective(shortest_paths)(D), d)
    y, z, product, n = wb.collective(turned_about)(A, X[:9])
    expected = np.zeros((9, 9))
    for _ in range(3):
        expected = 0.5 * expected + A[:, ::-1] + A.T
    assert_same_bits(y, expected)
    for _ in range(4):
        expected = expected.T + expected[::-1] * X[:9, None]
    assert_same_bits(z, expected)
    assert n == 3
    np.testing.assert_allclose(product, expected.T[1:] @ X[:9], rtol=1e-14)  # another order of nine products
    assert_same_bits(wb.collective(no_turn)(X), X + 1.0)
    _, n, where = ELEMENTS
    s, row, u, k, going = A[0, 0], A[1] + A[0, 1], A[:, 2], n[1], where[1]
    while going & (s < 9 * A[2, 2]):
        s, row, u, k, going = (
            *(s + A[1, 1], row + A[2] + A[3, 0], 0.5 * u + A[3, 1], k + n[0]),
            where[2] | (k < n[2]),
        )
    for mine, exact in zip(wb.collective(from_elements)(*ELEMENTS), (s, row, u, k, going), strict=True):
        assert_same_bits(mine, exact)


def test_rows_are_folded_from_the_left():
    expected = np.zeros(9)
    for k in range(9):
        expected = expected * X[:9] + A[:, k]
    assert_same_bits(wb.collective(polynomials)(A, X[:9]), expected)


def turn_of(body, *given):
    """The kernel of a turn, and the arrays that its loop keeps from before it."""
    graph = wb.collective(body).machine(*given).graph
    turn = graph.kernel("main_turn_1")
    return turn, [graph.static(name).space.rank for name, _ in turn.loads() if name.startswith("while_main")]


def of_before(x, A):
    """What is dear and made before the loop is computed once: a formula, a product, the sums of a wider formula."""
    dear, product, sums = np.exp(x) / (1 + x), A @ A.T, (A * A).sum(axis=1)
    cheap, outer = 2 * x, np.exp(sums[:, None] - x[None, :])

    def turn(v, n):
        return v * dear + product @ v - cheap + (outer * v[None, :]).sum(axis=1), n + 1

    return while_loop(lambda v, n: n < 4, turn, (x, 0), at_most=9)[0]


def test_what_is_dear_and_made_before_a_loop_is_computed_once():
    x = X[:9]
    turn, ranks = turn_of(of_before, x, A)
    assert sorted(ranks) == [1, 1, 2]  # the formula, the sums, the product; not the wider formula, which has no array
    assert sum(isinstance(node.instruction, Fold) for node in turn.nodes) == 2
    expected = wb.collective(of_before)(x, A, backend="reference")
    v, n = x, 0
    while n < 4:
        outer = np.exp((A * A).sum(axis=1)[:, None] - x[None, :])
        v, n = v * (np.exp(x) / (1 + x)) + (A @ A.T) @ v - 2 * x + (outer * v[None, :]).sum(axis=1), n + 1
    np.testing.assert_allclose(expected, v, rtol=1e-12)
    assert_same_bits(wb.collective(of_before)(x, A, backend="openmp", threads=2), expected)


def test_arrays_of_the_caller_stay_and_calls_follow_one_another():
    function, x = wb.collective(smoothed), X.copy()
    first = function(x, 0.05)[0]
    assert_same_bits(x, X)
    again = function(first, 0.01)
    assert_same_bits(function(X, 0.05)[0], first)  # in the memory of the call between
    assert_same_bits(function(first, 0.01, backend="reference")[0], again[0])


def test_a_record_may_be_carried_by_its_parts():
    @wb.collective
    def argmax_of_powers(x):
        best, where, _ = while_loop(
            lambda best, place, k: k < 3,
            lambda best, place, k: (np.maximum(best, np.max(x**k)), np.where(np.max(x**k) > best, k, place), k + 1),
            (0.0, 0, 1),
            at_most=3,
        )
        return best, where

    best, where = argmax_of_powers(np.array([0.5, 3.0, 2.0]))
    assert (best, where) == (9.0, 2)


def test_a_call_that_turns_for_long_is_ended_by_ctrl_c():
    endless = wb.collective(lambda x: while_loop(lambda u: np.any(u > -1), lambda u: 0.5 * u, x, at_most=10**12))
    for backend in ("openmp", "cuda-sim"):
        timer = threading.Timer(1.0, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            endless(np.ones(3), backend=backend)
        timer.join()


def test_a_loop_that_goes_on_too_long_names_its_line():
    def lowered(x, most):
        return while_loop(lambda u: np.max(u) > 1, lambda u: u - 1, x, at_most=5) * most

    function, first = wb.collective(lowered), lowered.__code__.co_firstlineno
    for backend in ("reference", "openmp", "cuda-sim"):
        assert function(np.array([5.5, 2.0]), 1.0, backend=backend).tolist() == [0.5, -3.0]
        with pytest.raises(RunError, match="within 5 iterations") as caught:
            function(np.array([7.5, 2.0]), 1.0, backend=backend)
        assert caught.value.line == first + 1
        assert "at_most_ok=True" in caught.value.advice


def test_an_index_outside_in_a_turn_names_the_array_and_the_element():
    function = wb.collective(
        lambda x, p: while_loop(lambda u, n: n < 3, lambda u, n: (u[p + n], n + 1), (x, 0), at_most=3)[0]
    )
    for backend in ("reference", "openmp", "cuda-sim"):
        assert function(np.arange(5.0), np.zeros(5, int), backend=backend).tolist() == [0.0] * 5
        with pytest.raises(RunError, match="u is read at index 5, for element 4, but has 5 elements along axis 0"):
            function(np.arange(5.0), np.arange(5), backend=backend)


MISTAKES = [
    (lambda x: while_loop(lambda u: u > 1, lambda u: u, x, at_most=3), TraceError, r"np\.any\(condition\)"),
    (
        lambda x: while_loop(lambda u: np.any(u > 1), lambda u: u[:, None], x, at_most=3),
        TraceError,
        "1 axis cannot be combined with one",
    ),
    (lambda x: while_loop(lambda u: np.any(u > 1), lambda u: u[1:], x, at_most=3), ShapeError, "elements"),
    (
        lambda x: while_loop(lambda u: np.any(u > 1), lambda u: u > 1, x, at_most=3),
        TraceError,
        "the body of while_loop",
    ),
    (lambda x: iterate(lambda u: u[::-1], start=x, at_most=3), TraceError, "Use while_loop"),
    (lambda x: np.where(x > 0, x, 0) if x.sum() > 0 else x, TraceError, r"np\.where\(x\.sum\(\) > 0, a, b\)"),
]


@pytest.mark.parametrize(("body", "error", "words"), MISTAKES, ids=[words for _, _, words in MISTAKES])
def test_mistakes_say_what_to_write(body, error, words):
    with pytest.raises(StencilError, match=words) as caught:
        wb.collective(body)(np.array([2.0, 3.0, 5.0]))
    assert isinstance(caught.value, error)
    assert caught.value.advice


def test_while_of_a_traced_condition_names_the_loop():
    @wb.collective
    def halved(x):
        while x.sum() > 1:
            x = x / 2
        return x

    with pytest.raises(TraceError, match="'while' needs one true or false") as caught:
        halved(np.ones(3))
    assert "while_loop(condition, body, start, at_most=n)" in caught.value.advice
