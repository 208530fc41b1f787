"""Values of fewer axes beside others in functions of arrays, as NumPy broadcasts them, and what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError, TraceError
from workbench.language import generate, while_loop, zip_with

DRAW = np.random.default_rng(17)
A, B, C = DRAW.normal(size=(6, 7)), DRAW.normal(size=(5, 6, 7)), DRAW.normal(size=(7, 5))
X, ROW = DRAW.normal(size=6), DRAW.normal(size=7)
K = np.array([3, 0, 5])


def centred(a, row):
    return a - a.mean(axis=0), (a - a.mean(axis=0)) / a.std(axis=0), a * row + 1, row / a, a > row, a[:, :1] + row


def deep(b, a, row):
    return b - a, b * row, a + b.mean(axis=0), np.where(b > row, a, 0.0), np.maximum(row, b), (b * row).sum(axis=-1)


def chosen(a, x, row, k):
    return (
        np.where(x[:, None] > 0, row, a),
        np.clip(a, row - 1, row + 1),
        a[k[:, None], k],
        a[k] * row,
        np.sqrt(((a[:, None] - a[:3]) ** 2).sum(-1)),
        np.average(a, axis=1, weights=row),
    )


def placed(a, c):
    return a @ c - (a @ c).mean(axis=0), np.hypot(a, a[0]), a % (abs(a[-1]) + 1)


CASES = [(centred, (A, ROW)), (deep, (B, A, ROW)), (chosen, (A, X, ROW, K)), (placed, (A, C))]


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
@pytest.mark.parametrize(("function", "given"), CASES)
def test_values_of_fewer_axes_are_the_same_along_the_first_ones(function, given, backend):
    program = wb.collective(function)
    exact, found = program(*given, backend="reference"), program(*given, backend=backend)
    for number, (mine, bits, numpys) in enumerate(zip(found, exact, function(*given), strict=True)):
        assert_same_bits(mine, bits, f"result {number}")
        np.testing.assert_allclose(mine, numpys, rtol=1e-12, atol=1e-12)
        assert mine.shape == numpys.shape


def test_equal_lengths_meet_at_the_last_axis_and_others_are_an_error_of_the_call():
    square = DRAW.normal(size=(4, 4))
    program = wb.collective(lambda a: a - a.mean(axis=1))
    assert_same_bits(program(square, backend="reference"), square - program_mean(square))
    with pytest.raises(ShapeError, match=r"a along axis \d has [67] elements, a along axis \d has [67]"):
        program(A, backend="reference")


def program_mean(a):
    return wb.collective(lambda a: a.mean(axis=1))(a, backend="reference")


@pytest.mark.parametrize(
    "function",
    [
        lambda a, row: zip_with(lambda x, y: x + y, a, row),
        lambda a, row: generate(a.shape, lambda i, j: row),
        lambda a, row: (
            while_loop(lambda v, n: n < 3, lambda v, n: (v * row, n + 1), (a[0, 0] * row, 0), at_most=5)[0]
            + while_loop(lambda v, n: n < 3, lambda v, n: (v + a, n + 1), (row, 0), at_most=5)[0]
        ),
    ],
)
def test_arrays_of_their_own_axes_need_equal_ranks(function):
    with pytest.raises(TraceError, match=r"1 axis cannot be combined with one of 2(.*\n)*.*x\[None, :\]"):
        wb.collective(function)(A, ROW, backend="reference")
