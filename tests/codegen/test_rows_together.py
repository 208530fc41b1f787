"""Folds that take several rows of kept cells together, as these read the same cells: equal bits at every border."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_programs import same_bits
from workbench.language import fold, generate, maximum
from workbench.planning.choices import Choices, FoldChoices, PlanChoices


def product(a, b):
    return a @ b


def shortest(a, b):
    """Two values of one loop, by operators with and without a name."""
    through = a[:, None, :] + b.T[None, :, :]
    return np.min(through, axis=-1), fold(lambda x, y: x * y - x, through, identity=0)


def of_blocks(a, b):
    """Two axes before the rows that are side by side, and two axes that are folded."""
    blocks = a[:2, None, :, None] * a[None, :, :, None] + b[None, None, :, :]
    return fold(maximum, blocks, axis=2), (blocks + 1).sum(axis=(0, 2))


def weighted(a, b):
    """A value of the row of kept cells, one of the row that is folded, and one of both."""
    own, inner = generate(a.shape, lambda i, j: np.sqrt(1.0 * i) / (1 + j)), generate(b.shape[:1], lambda j: 2.0 + j)
    return (own[:, :, None] * a[:, :, None] + b[None] * inner[None, :, None]).sum(axis=1)


def given(rows, inner, columns, dtype):
    draw = np.random.default_rng(rows * inner + columns)
    a, b = (draw.integers(-9, 9, shape) for shape in ((rows, inner), (inner, columns)))
    return a.astype(dtype) + np.asarray(0.1).astype(dtype), b.astype(dtype)


PANELS = [(16, 5, 12), (17, 33, 25), (40, 1030, 31), (150, 2100, 13), (17, 16384, 13), (17, 16385, 13)]
"""Of so many rows that what they read together is put side by side, but for the last one."""
NUMBERS = count(1)
SHAPES = [(1, 3, 5), (3, 1, 31), (4, 5, 32), (5, 1025, 33), (9, 40, 130), (23, 7, 200)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_a_product_has_the_bits_of_the_reference(shape, dtype):
    same_bits(product, *given(*shape, dtype))


@pytest.mark.parametrize("shape", PANELS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_product_of_many_rows_has_the_bits_of_the_reference(shape, dtype):
    same_bits(product, *given(*shape, dtype))


def test_what_many_rows_read_is_put_side_by_side():
    new = float(next(NUMBERS))  # a program of its own at each call, which a seeded fault of the text needs
    program = wb.collective(lambda a, b, c: ((a[:, :, None] * (b[None] - new) + c[None]).sum(axis=1), a @ b))
    a, b = given(50, 30, 53, "f8")
    same_bits(program, a, b, b[::-1].copy())


@pytest.mark.parametrize("function", [shortest, of_blocks, weighted])
@pytest.mark.parametrize("shape", SHAPES[2:5])
def test_other_folds_have_the_bits_of_the_reference(function, shape):
    same_bits(function, *given(*shape, "f8"))


def text_of(function, *arrays, choices=None):
    machine = wb.collective(function).machine(*arrays)
    return (machine if choices is None else machine.with_choices(choices)).source("openmp").text


def test_rows_are_taken_together_where_they_read_the_same():
    a, b = given(5, 6, 7, "f8")
    assert "constexpr int few = lanes_together<double>;" in text_of(product, a, b)
    assert "constexpr int few = lanes_together<float>;" in text_of(product, a.astype("f4"), b.astype("f4"))
    assert text_of(product, a, b).count("const double* const b = ") == 2  # once for four rows, once for one
    assert "few" in text_of(weighted, a, b)


def test_panels_are_of_arrays_whose_rows_are_folded_cells():
    a, b = given(5, 6, 7, "f8")
    assert "Panel<double, few> panel_0(" in text_of(product, a, b)
    assert "Panel<double, few> panel_0(" in text_of(weighted, a, b)
    assert "Panel" not in text_of(lambda a, b: np.einsum("ilj,ljk->ik", a, b), np.ones((4, 2, 3)), np.ones((2, 3, 5)))
    assert "Panel" not in text_of(lambda a, b: (a[:, :, None] * b[0, None, None, :]).sum(axis=1), a, b)


def test_rows_are_taken_one_by_one_where_that_is_as_good():
    a, b = given(5, 6, 7, "f8")
    chosen = Choices(plan=replace(PlanChoices(), folds=FoldChoices(lanes=16)))
    for function, arrays, choices in [
        (lambda a: (a[:, :, None] * a[:, None, :]).sum(axis=1), (a,), None),  # each row has its own
        (lambda a, x: a @ x, (a, b[:, 0]), None),  # one axis is kept
        (lambda a, b, k: (a[:, :, None] * b[k][None]).sum(axis=1), (a, b, np.arange(6)), None),  # places are checked
        (product, (a, b), chosen),
    ]:
        assert "few" not in text_of(function, *arrays, choices=choices)
