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


def turned(a):
    return a @ a.T


def of_letters(a):
    return np.einsum("ij,kj->ik", a, a)


def of_letters_and_two_sums(a):
    return np.einsum("ijk,ljk->il", a, a)


def of_batches(a):
    return np.einsum("nij,nkj->nik", a, a)


def both_ways(a):
    return a @ a.T, a.T @ a, (a @ a.T) @ (a @ a.T), (a @ a.T) @ a


def of_a_formula(a):
    away = a - a.mean(axis=1)[:, None]
    return away @ away.T, (away * 2) @ a.T


def beside_differences(a):
    return a @ a.T, ((a[:, None, :] - a[None, :, :]) ** 2).sum(-1), a[:, None, :] - a[None, :, :]


def of_equal_lengths(a):
    b = 2 * a + 1
    return (a + b) @ b.T, np.inner(a, b), b @ a.T


A = DRAW.normal(size=(5, 37))
WIDE = DRAW.normal(size=(3, 5, 7))


@pytest.mark.parametrize(
    ("function", "given", "axes"),
    [
        (turned, A, ["i", "j", "i2"]),
        (of_letters, A, ["i", "j", "i2"]),
        (of_letters_and_two_sums, WIDE, ["i", "j", "k", "i2"]),
        (of_batches, WIDE, ["i", "j", "k", "j2"]),
        (lambda a: a.T @ a, A, ["i", "j", "j2"]),
        (lambda a: a[:, None, :] - a[None, :, :], A, ["i", "i2", "j"]),
        (of_equal_lengths, A, ["i", "j", "i2"]),
    ],
)
def test_the_last_axis_that_a_product_keeps_is_the_last_of_the_program(function, given, axes):
    graph = wb.collective(function).machine(given).graph
    assert [axis.name for axis in graph.space.axes] == axes


@pytest.mark.parametrize(
    ("function", "given"),
    [
        *((each, A) for each in (turned, of_letters, both_ways, of_a_formula, beside_differences, of_equal_lengths)),
        *((each, WIDE) for each in (of_letters_and_two_sums, of_batches)),
        (turned, DRAW.normal(size=(18, 1030))),
        (turned, A.astype("f4")[::2, ::-1]),
        (turned, np.asfortranarray(A)),
        (turned, np.zeros((0, 3))),
        (turned, np.arange(12).reshape(4, 3)),
    ],
)
def test_an_array_times_itself_has_the_bits_of_the_reference(function, given):
    program, expected = wb.collective(function), function(given)
    found = program(given, backend="reference")
    for mine, exact in zip(
        *((each if isinstance(each, tuple) else (each,)) for each in (found, expected)), strict=True
    ):
        assert mine.shape == exact.shape
        precision = 1e-5 if given.dtype == np.float32 else 1e-12  # sums in another order
        np.testing.assert_allclose(mine, exact, rtol=precision, atol=precision)
    for backend, threads in (("openmp", 1), ("openmp", 3), ("cuda-sim", 0)):
        made = program(given, backend=backend, threads=threads)
        pairs = zip(made, found, strict=True) if isinstance(found, tuple) else [(made, found)]
        for mine, bits in pairs:
            assert_same_bits(mine, bits, backend)


def test_an_array_times_itself_has_the_bits_of_one_times_another():
    a = DRAW.normal(size=(33, 1500))
    found = wb.collective(turned)(a, backend="openmp", threads=2)
    assert_same_bits(found, wb.collective(lambda a, b: a @ b)(a, a.T.copy(), backend="openmp", threads=2))


def test_an_array_times_itself_is_read_side_by_side():
    """The one that is read along its rows is turned at the call; lanes of the loop are neighbours in memory."""
    text = wb.collective(turned).machine(A).source("openmp").text
    assert "a * a_i2_j[i])" in text
    assert "strides[1]" not in text
