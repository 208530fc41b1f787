"""NumPy's functions of arrays that are made of others: what NumPy computes, equal bits on every backend, bad input."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError

DRAWN = np.random.default_rng(11)
MATRIX = DRAWN.normal(size=(6, 5))
WHOLE = DRAWN.integers(-3, 4, size=(6, 5))
WITH_NAN = np.where(DRAWN.random((6, 5)) < 0.2, np.nan, MATRIX)
VECTOR = DRAWN.normal(size=33)


def moved(x):
    return np.roll(x, 2, axis=0), np.roll(x, -7, axis=1), np.roll(x, 3), np.roll(x, (1, -1), axis=(0, 1)), np.flip(x)


def rearranged(x):
    return (
        np.flip(x, 1),
        np.stack((x, x + 1)),
        np.stack((x, x + 1), axis=-1),
        np.moveaxis(x, 0, 1),
        np.swapaxes(x, 0, -1),
        np.take(x[:, 0], np.argmax(x, axis=1)),
        np.take(x, np.argmin(x, axis=0), axis=0),
    )


def differences(x):
    return np.diff(x), np.diff(x, axis=0), np.diff(x, 2, axis=0), np.diff(x > 0, axis=1)


def filled(x):
    zeros, first = np.zeros_like(x), np.full_like(x, x[0, 0])
    return zeros, np.ones_like(x) + x, np.full_like(x, 2), first, np.zeros_like(x, "int32")


def places(x):
    return (
        np.argmin(x),
        np.argmax(x),
        np.argmin(x, axis=0),
        np.argmax(x, axis=1),
        x.argmin(1, keepdims=True),
        x.argmax(0),
        np.argmax(x > 0, axis=1),
    )


def spreads(x):
    return (
        np.var(x),
        np.std(x, axis=0),
        x.var(1, ddof=1),
        x.std(0, keepdims=True),
        np.ptp(x, axis=0),
        np.linalg.norm(x),
        np.linalg.norm(x, axis=1),
    )


def counts(x):
    return np.count_nonzero(x), np.count_nonzero(x > 0, axis=0), x.sum(axis=0, keepdims=True), x.mean(1, keepdims=True)


def life(cells):
    around = sum(np.roll(cells, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return np.where((around == 3) | ((cells == 1) & (around == 2)), 1, 0)


def nearest(points, centres):
    away = points[:, None, :] - centres[None, :, :]
    return np.argmin(np.sum(away * away, axis=-1), axis=1)


def moving_mean(x, widths):
    (width,) = widths
    running = x.cumsum()
    return (running[width:] - running[:-width]) / width


PROGRAMS = [
    (moved, MATRIX),
    (moved, WHOLE),
    (rearranged, MATRIX),
    (differences, MATRIX),
    (differences, WHOLE),
    (filled, MATRIX),
    (filled, WHOLE),
    (places, MATRIX),
    (places, WHOLE),
    (places, WITH_NAN),
    (spreads, MATRIX),
    (counts, WHOLE),
    (life, DRAWN.integers(0, 2, size=(9, 8))),
    (nearest, DRAWN.normal(size=(20, 3)), DRAWN.normal(size=(4, 3))),
    (moving_mean, VECTOR, (5,)),
]


def several(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize(("function", "given"), [(row[0], row[1:]) for row in PROGRAMS])
def test_numpy_functions_mean_what_they_mean_in_numpy(function, given):
    program = wb.collective(function)
    found, expected = several(program(*given, backend="reference")), several(function(*given))
    compiled = several(program(*given, backend="openmp", threads=2))
    for place, (mine, exact, other) in enumerate(zip(found, expected, compiled, strict=True)):
        assert mine.shape == np.shape(exact), place
        assert np.dtype(mine.dtype).kind == np.asarray(exact).dtype.kind, place
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-14, err_msg=f"result {place}")
        assert_same_bits(other, mine, f"result {place}")


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: np.sort(x), "np.sort has no meaning", "radix_sort"),
        (lambda x: np.bincount(x), "np.bincount has no meaning", "scatter"),
        (lambda x: np.kron(x, x), "np.kron has no meaning", "argmin, "),
        (lambda x: np.sum(x, dtype="f4"), "unexpected keyword argument 'dtype'", "axis, keepdims"),
        (lambda x: np.roll(x, x[0]), "np.roll", "known while the function is traced"),
        (lambda x: np.roll(x, (1, 2), 0), "a shift of (1, 2) along 0", "whole number"),
        (lambda x: np.diff(x, -1), "np.diff of order -1", "from 0 on"),
        (lambda x: np.argmin(x, 1), "axis 1 of a value with 1 axis", "from -1 to 0"),
        (lambda x: np.linalg.norm(x, 1), "np.linalg.norm of order 1", "Leave ord out"),
        (lambda x: x.flip(), "no .flip", "np.flip(x)"),
        (lambda x: x[: x.shape[0]], "bounds of a slice are whole numbers", "in a tuple"),
        (lambda x: x + np.arange(3), "ndarray of shape (3,)", "as an argument"),
    ],
)
def test_what_has_no_meaning_names_what_to_write(function, words, advice):
    with pytest.raises(TraceError) as caught:
        wb.collective(function)(VECTOR)
    assert words in str(caught.value)
    assert advice in str(caught.value)
