"""NumPy's functions and methods that are short formulas of others, in functions of arrays: what NumPy computes."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError

DRAW = np.random.default_rng(23)
A = np.where(DRAW.random((6, 5)) < 0.2, np.nan, DRAW.normal(size=(6, 5)))
A[2] = np.nan
B = np.array([0.5, 0.5, np.nan, np.inf, np.inf, 1.0, -np.inf, -0.0])
C = np.array([0.5 + 1e-7, 0.6, np.nan, np.inf, 1.0, np.inf, np.inf, 0.0])
M = DRAW.normal(size=(4, 6))
K = DRAW.integers(-5, 6, (4, 3))


def without_nan(a):
    return (
        np.nanmax(a, axis=0),
        np.nanmin(a, axis=1),
        np.nanmean(a, axis=0),
        np.nanmean(a),
        np.nanprod(a, axis=1),
        np.nanmax(a, axis=1, keepdims=True),
        np.nanmean(a, axis=1),
    )


def of_whole_numbers(k):
    return np.nanmax(k), np.nanmean(k, axis=0), np.nanprod(k), np.isinf(k), np.degrees(k), np.trace(k), np.diag(k[0])


def compared(b, c):
    close = np.isclose(b, c), np.isclose(b, c, atol=0.2), np.isclose(b, c, equal_nan=True)
    return (
        *close,
        np.allclose(b, c),
        np.allclose(b[:1], c[:1]),
        np.fmax(b, c),
        np.fmin(b, c),
        np.isinf(b),
        np.signbit(b),
    )


def turned(m):
    return (
        *(np.rot90(m, k) for k in (-1, 0, 1, 2, 3)),
        np.fliplr(m),
        np.flipud(m),
        np.diagonal(m),
        np.diagonal(m, 1),
        np.diag(m, -2),
        np.diag(m[0]),
        np.trace(m),
        m.trace(2),
        m.diagonal(),
    )


def of_elements(m):
    return np.fix(3 * m), np.sinc(m), np.sinc(0 * m), np.radians(m), np.deg2rad(m), np.rad2deg(m), np.around(m, 2)


def methods(m):
    return (
        m.clip(-0.5, 0.5),
        m.clip(min=0),
        m.round(1),
        m.take([2, 0], axis=1),
        m.swapaxes(0, 1),
        m.flatten(),
        m[:1].squeeze(0),
        m[0].cumprod(),
    )


CASES = [
    (without_nan, (A,)),
    (of_whole_numbers, (K,)),
    (compared, (B, C)),
    (turned, (M,)),
    (of_elements, (M,)),
    (methods, (M,)),
]


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
@pytest.mark.parametrize(("function", "given"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.filterwarnings("ignore:.*NaN slice.*:RuntimeWarning", "ignore:Mean of empty slice:RuntimeWarning")
def test_they_are_numpys(function, given, backend):
    program = wb.collective(function)
    exact, found = program(*given, backend="reference"), program(*given, backend=backend)
    for number, (mine, bits, numpys) in enumerate(zip(found, exact, function(*given), strict=True)):
        if function is not of_elements or number not in (1, 2):  # sin has a bound
            assert_same_bits(mine, bits, f"result {number}")
        assert mine.dtype == np.asarray(numpys).dtype, f"result {number}"
        np.testing.assert_allclose(mine, numpys, rtol=1e-13, atol=1e-16, err_msg=f"result {number}")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda m: np.diagonal(m[0]), "diagonal 0 of a value of 1 axes"),
        (lambda m: np.trace(m, m.shape[0]), "whole number known while"),
        (lambda m: np.rot90(m[0]), "np.rot90 of a value of 1 axes"),
    ],
)
def test_what_they_cannot_take_is_refused(function, words):
    with pytest.raises(TraceError, match=words):
        wb.collective(function)(M, backend="reference")
