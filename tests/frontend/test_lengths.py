"""Lengths in functions of arrays: computed ones, and axes of one element, which meet any length as in NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError, TraceError
from workbench.language import branch, generate, iterate, while_loop

LINE = np.random.default_rng(3).normal(size=10)
TABLE = np.random.default_rng(4).normal(size=(6, 8))


def valid(x, h):
    n, m = x.shape[0], h.shape[0]
    return np.sum(x[generate((n - m + 1, m), lambda i, j: i + j)] * h[None, ::-1], axis=1)


def causal(x, h):
    n, m = x.shape[0], h.shape[0]
    return np.sum(np.pad(x, (m - 1, 0))[generate((n, m), lambda i, j: i + j)] * h[None, ::-1], axis=1)


def pooled(a):
    n, m = a.shape
    return a.reshape(n // 2, 2, m // 2, 2).max(axis=(1, 3))


def wrapped(x):
    return np.pad(x, (x.shape[0] - 1, 0), mode="wrap")


def in_turns(x):
    def body(v, k):
        return v + generate(x.shape[0] - 1, lambda i: i), k + 1

    return while_loop(lambda v, k: k < 3, body, (x[1:], 0), at_most=9)[0]


COMPUTED = [
    (valid, (LINE, LINE[:3]), lambda x, h: np.convolve(x, h, "valid")),
    (valid, (LINE, LINE), lambda x, h: np.convolve(x, h, "valid")),
    (causal, (LINE, LINE[:4]), lambda x, h: np.convolve(x, h)[: len(x)]),
    (causal, (LINE, LINE[:1]), lambda x, h: h * x),
    (pooled, (TABLE,), pooled),
    (wrapped, (LINE,), lambda x: np.pad(x, (len(x) - 1, 0), mode="wrap")),
    (lambda x: np.bincount(x, minlength=x.shape[0] + 1), (np.array([2, 0, 2]),), lambda x: np.bincount(x, None, 4)),
    (lambda x: generate(2 * x.shape[0], lambda i: i // 2), (LINE,), lambda x: np.arange(20) // 2),
    (lambda a: generate(a.size, lambda i: i) + a.ravel(), (TABLE,), lambda a: np.arange(48) + a.ravel()),
    (lambda x: x[1:] + generate(x.shape[0] - 1, lambda i: x[i]), (LINE,), lambda x: x[1:] + x[:-1]),
    (lambda x: x[1:] + generate(x.shape[0] - 1, lambda i: x[i]), (LINE[:1],), lambda x: x[1:] + x[:-1]),
    (
        lambda x, y: generate(np.minimum(x.shape[0], y.shape[0]), lambda i: x[i] - y[i]),
        (LINE, LINE[3:]),
        lambda x, y: x[:7] - y,
    ),
    (in_turns, (LINE,), lambda x: x[1:] + 3 * np.arange(9)),
]


def valid_of(x):
    """A function that another one calls, where `len` is Python's."""
    return x[: len(x) - 1]


@wb.collective
def later_half(x):
    """A function of arrays, which another one calls."""
    return x[len(x) // 2 :]


def cut(x):
    n = x.shape[0]
    half, sums, tops = n // 2, np.cumsum(x), np.maximum(x, 0.5)
    return (
        x[:half],
        x[half:] - x[half:][:1],
        x[n // 3 : -(n // 4)],
        x[n - 3 :],
        x[: n - 3],
        x[3 - n :],
        x[n:],
        x[half::-1],
        x[: n - 1 : -1],
        x[5:n:-1],
        x[n % 3 :: 2],
        tops[1:][: half - 1],
        sums[n - 3 :],
        sums[half::-2],
        sums[n + 2 :: -1],
        sums[half - n :],
        (sums * x)[:half][:1],
        x[: len(x) - 1] + sums[1 : len(x)],
        np.pad(x[:half], 1)[:n],
        np.append(x, x[:2])[: n + 1],
        x[half:] if isinstance(x, np.ndarray) else later_half(x),
    )


def butterflies(a):
    """Sums and differences of halves of rows, as the first step of a fast transform."""
    half = a.shape[1] // 2
    left, right = a[:, :half], a[:, half : 2 * half]
    return np.concatenate((left + right, left - right), axis=1), left.sum(axis=0), right[::-1].T


def widened(x):
    def turn(v, w, k):
        return v * x[None, :3], w + w[:, :1] + x[:1, None], k + 1

    return while_loop(lambda v, w, k: k < 2, turn, (x.reshape(-1, 1), x[:3].reshape(3, 1), 0), at_most=9)[:2]


def in_each(a):
    grown = iterate(lambda v: v * 2, while_=lambda v: v < a, start=a[:, :1] * 0 + 1, at_most=3)
    return (
        grown,
        branch(a.sum() > -99, lambda v: v + a, None, a[:1]),
        branch(a.sum() < -99, lambda v: 2 * v, None, a[:1]),
    )


ONES_OF_LOOPS = [
    (widened, LINE, lambda x: (x[:, None] * x[:3] ** 2, 4 * x[:3, None] + 3 * x[0])),
    (in_each, TABLE, lambda a: (in_turn(a), a[:1] + a, a[:1])),
]


def in_turn(a):
    v = np.ones_like(a)
    for _ in range(3):
        v = np.where(v < a, 2 * v, v)
    return v


ONES = [
    (lambda x: x.reshape(-1, 1) * x.reshape(1, -1), LINE),
    (lambda x: (x.reshape(-1, 1) * x.reshape(1, -1)).sum(axis=0), LINE),
    (lambda a: a / np.sqrt((a * a).sum(1)).reshape(a.shape[0], 1), TABLE),
    (lambda a: a.reshape(2, 3, 1, 8) * a.reshape(1, 6, 8, 1)[:, :3, :, :], TABLE),
    (lambda a: a[:, :1] * a - a[-1:] + a[:, 2:3], TABLE),
    (lambda a: np.exp(a[:, :1]) * np.exp(a[:1]), TABLE),
    (lambda a: np.cumsum(a, axis=0)[-1:] - a, TABLE),
    (lambda a: np.where(a[:, :1] > 0, a, a[:1]), TABLE),
    (lambda x: (x[:1] + x[-1:]) * x, LINE),
    (lambda x: (x[:1] * x[:1], x - x[:1]), LINE),
]


def alike(program, given):
    """What the reference computes, and the same bits on the other backends."""
    function = wb.collective(program)
    expected = function(*given, backend="reference")
    for how in ({"backend": "openmp", "threads": 3}, {"backend": "cuda-sim"}):
        found = function(*given, **how)
        for mine, bits in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True):
            assert_same_bits(mine, bits)
    return expected


@pytest.mark.parametrize(("function", "given", "exact"), COMPUTED)
def test_lengths_are_computed_of_lengths(function, given, exact):
    np.testing.assert_allclose(alike(function, given), exact(*given), rtol=1e-12)  # sums in another order


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 10])
def test_slices_end_at_computed_lengths(n):
    for place, (mine, exact) in enumerate(zip(alike(cut, (LINE[:n],)), cut(LINE[:n]), strict=True)):
        assert mine.shape == exact.shape, place
        np.testing.assert_allclose(mine, exact, rtol=1e-13, err_msg=str(place))  # sums in another order
    for mine, exact in zip(alike(butterflies, (TABLE[:, :n],)), butterflies(TABLE[:, :n]), strict=True):
        assert mine.shape == exact.shape
        np.testing.assert_allclose(mine, exact, rtol=1e-13)  # as above


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_a_slice_of_one_element_is_empty_where_the_array_is(backend):
    program = wb.collective(lambda a: (a - a[:1], a[:, -1:] * a, (a[:1] + a).sum(axis=0), a[:1]), backend=backend)
    for shape in ((0, 3), (3, 0), (0, 0), (1, 1)):
        a = np.ones(shape)
        for mine, exact in zip(program(a), (a - a[:1], a[:, -1:] * a, (a[:1] + a).sum(axis=0), a[:1]), strict=True):
            np.testing.assert_array_equal(mine, exact, strict=True)  # the sum of no elements is -0.0
    with pytest.raises(ShapeError, match="has 0 elements, none at 0"):  # which a running sum would be read at
        wb.collective(lambda x: np.cumsum(x) - np.cumsum(x)[:1])(LINE[:0], backend=backend)


@pytest.mark.parametrize(("function", "given"), ONES)
def test_an_axis_of_one_element_meets_any_length(function, given):
    found, exact = alike(function, (given,)), function(given)
    for mine, bits in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, exact)), strict=True):
        np.testing.assert_allclose(mine, bits, rtol=1e-13)  # sums in another order, exp


@pytest.mark.parametrize(("function", "given", "exact"), ONES_OF_LOOPS)
def test_a_loop_that_begins_with_an_axis_of_one_element_may_go_on_with_more(function, given, exact):
    for mine, bits in zip(alike(function, (given,)), exact(given), strict=True):
        assert mine.shape == bits.shape
        np.testing.assert_allclose(mine, bits, rtol=1e-13)  # products in another order


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.reshape(-1, 2, a.shape[1]).sum(axis=1),
        lambda a: a.reshape(a.shape[0] // 2, 2, a.shape[1]).max(axis=1),
        lambda a: a.reshape(a.shape[0] // 2, 2, a.shape[1] // 4, 4).sum(axis=(1, 3)),
        lambda a: a.reshape(-1, 3, a.shape[1]) * 2,
        lambda a: a.reshape(3, a.shape[1], -1) + 1,
    ],
)
def test_a_reshaped_argument_is_read_where_it_lies(function):
    """Its new axes come before the one behind them, though that is older; else a call transposes the array."""
    program = wb.collective(function)
    np.testing.assert_allclose(program(TABLE, backend="reference"), function(TABLE), rtol=1e-13)
    (prepared,) = program._prepared.values()
    assert [each.positions for each in prepared._inputs] == [None]


def test_the_axes_of_the_result_have_the_lengths_of_numpy():
    given = LINE[:1]
    assert wb.collective(lambda x: x.reshape(-1, 1) + x.reshape(1, -1))(given, backend="reference").shape == (1, 1)
    assert wb.collective(lambda x: x[:1] + x[-1:])(LINE, backend="reference").shape == (1,)


@pytest.mark.parametrize(
    ("function", "given", "error", "words"),
    [
        (lambda x: generate(x.shape[0] - 3, lambda i: x[i]), (LINE[:2],), ShapeError, ["line", "x.shape[0] - 3 is -1"]),
        (
            lambda x: x[2:] + generate(x.shape[0] - 1, lambda i: x[i]),
            (LINE,),
            ShapeError,
            ["an array of length x.shape[0] - 1 has 9 elements", "sliced by [2:], has 8"],
        ),
        (
            lambda x, h: x + generate(2 * (x.shape[0] - h.shape[0]), lambda i: i),
            (LINE, LINE[:1]),
            ShapeError,
            ["an array of length 2 * (x.shape[0] - h.shape[0]) has 18 elements"],
        ),
        (lambda x, n: generate(n, lambda i: i) + x, (LINE, 10), TraceError, ["given at the call", "f(x, (5,))"]),
        (lambda x, y: y - x[:1], (LINE[:0], LINE), ShapeError, ["x along axis 0 has 0 elements, none at 0", "y - x"]),
        (lambda x: x[: len(x) // 2] - x[len(x) // 2 :], (LINE[:5],), ShapeError, ["by [x.shape[0] // 2:], has 3"]),
        (lambda x: valid_of(x), (LINE,), TraceError, ["len(x): the length of an array is known only", "x.shape[0]"]),
        (lambda a, b: a + b, (TABLE, TABLE[:, :1]), ShapeError, ["b along axis 1 has 1 element, a", "write b[:, :1]"]),
        (lambda a, b: a + b, (TABLE[:1], TABLE), ShapeError, ["write a[:1], which has one element"]),
    ],
)
def test_lengths_that_do_not_fit_are_named(function, given, error, words):
    with pytest.raises(error) as caught:
        wb.collective(function)(*given, backend="reference")
    for each in words:
        assert each in str(caught.value)


def test_the_advice_for_an_array_of_one_column_works():
    function = wb.collective(lambda a, b: a + b[:, :1])
    assert_same_bits(function(TABLE, TABLE[:, :1], backend="openmp"), TABLE + TABLE[:, :1])
