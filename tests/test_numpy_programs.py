"""Programs as users of NumPy type them: what NumPy computes, and equal bits on every backend and number of threads."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits

DRAWN = np.random.default_rng(5)
MATRIX = DRAWN.normal(size=(7, 6))
WHOLE = DRAWN.integers(-3, 4, size=(7, 6))
HOLES = np.where(MATRIX > 1, np.nan, 30 * MATRIX)
VECTOR = DRAWN.normal(size=17)
POINTS = DRAWN.normal(size=(9, 3))


def counted_conditions(x):
    """A condition is 1 and 0 beside numbers."""
    is_large = x > 1
    return (
        x * is_large,
        is_large * 2,
        is_large + 0,
        1 - is_large,
        is_large * 0.5,
        is_large / 2,
        (x > 0) * x.sum(),
        (x.sum() > 0) * x,
        np.where(x > 0, is_large, 1.0),
        (x > 0) == 1,
        np.maximum(is_large, x),
        sum((x > limit) for limit in (-1, 0, 1)),
    )


def rounded(x):
    return (
        np.round(x, 1),
        np.round(x, -1),
        np.round(x),
        np.round(x.sum(), 3),
        np.cumsum(x),
        x.cumsum(),
    )


def signals(x):
    n = len(x)
    half, kernel = n // 2, x[:3]
    wide = np.pad(x, (len(kernel) // 2, len(kernel) // 2))
    sums = np.cumsum(np.pad(x, (1, 0)))
    return (
        sum(kernel[2 - k] * wide[k : k + n] for k in range(3)),
        (sums[4:] - sums[: n - 3]) / 4,
        np.stack([x[k : n - 2 + k] for k in range(3)], axis=1).max(axis=1),
        np.concatenate((x[::2][:half] + x[1::2][:half], x[::2][:half] - x[1::2][:half])),
        (x[2:] - 2 * x[1:-1] + x[:-2]) / 0.1**2,
        x[half:][::-1] - x[n - half - 1 :],
        np.minimum.accumulate(x[::-1])[::-1],
    )


def tables(a):
    row, column = a.sum(axis=0, keepdims=True), a.sum(axis=1, keepdims=True)
    n = a.shape[1]
    return (
        a - column * row / a.sum(),
        (a - a.min(axis=0)[None]) / np.ptp(a, axis=0)[None],
        a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1],
        a[:, n // 2 :] * a[:, : n // 2],
        (a[:, ::-1].T)[: n // 3],
        np.einsum("ij,kj->ik", a, a),
        a.ravel()[a.size // 2 :].reshape(-1, 3)[::-1],
    )


def points(p):
    away = p[:, None, :] - p[None, :, :]
    squares = (away**2).sum(-1)
    return squares, np.sqrt(squares), (squares < 1).sum(axis=1), squares * (squares < 1), np.argmin(squares, axis=1)


PROGRAMS = [
    (counted_conditions, MATRIX),
    (counted_conditions, WHOLE),
    (rounded, HOLES),
    (signals, VECTOR),
    (tables, MATRIX),
    (points, POINTS),
]


@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_a_program_means_what_it_means_in_numpy(function, given):
    program = wb.collective(function)
    found, expected = program(given, backend="reference"), function(given)
    for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
        assert mine.shape == np.shape(exact), place
        assert np.dtype(mine.dtype) == np.asarray(exact).dtype, place
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-12, err_msg=str(place))  # sums in another order
    for threads in (1, 2, 3):
        compiled = program(given, backend="openmp", threads=threads)
        for place, (bits, mine) in enumerate(zip(compiled, found, strict=True)):
            assert_same_bits(bits, mine, f"{place} on {threads} threads")


@pytest.mark.proof
@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_a_program_has_equal_bits_on_a_device(function, given):
    program = wb.collective(function)
    found, expected = program(given, backend="cuda-sim"), program(given, backend="reference")
    for place, (bits, mine) in enumerate(zip(found, expected, strict=True)):
        assert_same_bits(bits, mine, str(place))
