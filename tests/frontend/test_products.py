"""Products of arrays with any number of axes: what NumPy computes, with equal bits on every backend."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits

DRAW = np.random.default_rng(14)
V, S, T = DRAW.normal(size=4), DRAW.normal(size=(4, 4)), DRAW.normal(size=(2, 3, 4))


def batches(v, s, t):
    back = np.swapaxes(t, 1, 2)
    return t @ back, np.matmul(t, s), t @ v, t[0] @ back, t[0, :, 0] @ t, t[:, None] @ back[None]


def diagonals(v, s, t):
    return (
        np.einsum("ii->i", s),
        np.einsum("ii", s),
        np.einsum("ii,i->i", s, v),
        np.einsum("iij->j", t[:, :2]),
        np.einsum("iji->ij", t[:, :, :2]),
        np.einsum("iiii->", (s[:, :, None, None] * s[None, None, :, :])),
    )


def with_dots(v, s, t):
    return (
        np.einsum("...i,i->...", t, v),
        np.einsum("...ij->...ji", t),
        np.einsum("i...->...", t),
        np.einsum("...ij,...jk", t, np.swapaxes(t, 1, 2)),
        np.einsum("...,...", v, v),
        np.einsum("i,->i", v, 2.0),
        np.einsum("...ii->...i", t[:, :2, :2]),
    )


@pytest.mark.parametrize("function", [batches, diagonals, with_dots])
def test_products_are_those_of_numpy(function):
    program, expected = wb.collective(function), function(V, S, T)
    found = program(V, S, T, backend="reference")
    for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
        assert mine.shape == np.shape(exact), place
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-14, err_msg=str(place))
    for backend, threads in (("openmp", 1), ("openmp", 3), ("cuda-sim", 0)):
        for mine, bits in zip(program(V, S, T, backend=backend, threads=threads), found, strict=True):
            assert_same_bits(mine, bits, backend)


@pytest.mark.parametrize("length", [0, 1, 1025])
def test_batches_of_any_length(length):
    a, b = DRAW.normal(size=(length, 2, 3)), DRAW.normal(size=(length, 3, 1))
    found = wb.collective(lambda a, b: a @ b)(a, b, backend="openmp", threads=2)
    np.testing.assert_allclose(found, a @ b, rtol=1e-13, atol=1e-14)
