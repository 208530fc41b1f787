"""Folds of long rows by their lanes: bits of the reference for NaN, zeros of both signs and every length of a row."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_programs import program_of
from tests.kit.bits import assert_same_bits
from workbench.language import fold, generate

LENGTHS = [1, 15, 63, 64, 65, 79, 80, 127, 1023, 1025, 2050]
"""Of rows: below and above the length from which on they are folded by themselves."""


def extremes(a):
    return np.max(a, axis=-1), np.min(a, axis=-1), np.argmax(a, axis=-1), np.argmin(a, axis=1)


def conditions(a):
    row = generate(a.shape[:1], lambda i: 0.1 * i)
    return (a > row[:, None]).any(axis=1), (a > row[:, None]).all(axis=1), (a < -9).any(axis=1)


def of_several_axes(a):
    blocks = a[:, None, :] * generate((3,), lambda i: i - 1.0)[None, :, None]
    return np.max(blocks, axis=(1, 2)), np.min(blocks, axis=2), fold("maximum", blocks, axis=(2, 1))


def same_bits(function, *arrays):
    program = program_of(function)
    expected = program(*arrays, backend="reference")
    for threads in (1, 3):
        for mine, exact in zip(program(*arrays, backend="openmp", threads=threads), expected, strict=True):
            assert_same_bits(mine, exact, f"{threads} threads")
    return expected


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
def test_extremes_of_rows_are_those_of_the_reference_and_of_numpy(length, dtype):
    draw = np.random.default_rng(length)
    a = draw.integers(0, 200, (18, length)).astype(dtype)
    greatest, least, where, where_least = same_bits(extremes, a)
    assert greatest.tolist() == a.max(axis=1).tolist()
    assert least.tolist() == a.min(axis=1).tolist()
    assert where.tolist() == a.argmax(axis=1).tolist()
    assert where_least.tolist() == a.argmin(axis=1).tolist()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_last_of_zeros_of_both_signs_is_the_result_wherever_it_lies(length, dtype, sign):
    """Numbers on the other side of 0 around them; 0 and -0 at random, in some rows of one sign alone, in some rare."""
    draw = np.random.default_rng(length)
    a = -sign * draw.uniform(1, 2, (40, length))
    share = draw.choice([0.0, 0.02, 0.5, 1.0], (40, 1))
    zeros = np.where(draw.random(a.shape) < draw.choice([0.0, 0.5, 1.0], (40, 1)), 0.0, -0.0)
    a = np.where(draw.random(a.shape) < share, zeros, a).astype(dtype)
    same_bits(extremes, a)
    same_bits(of_several_axes, a[:5])


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_one_nan_anywhere_in_a_row_is_the_result(length, dtype):
    draw = np.random.default_rng(length)
    a = draw.normal(size=(min(2 * length, 60) + 1, length)).astype(dtype)
    a[::3] = np.where(a[::3] > 0, np.inf, -np.inf)
    for row in range(1, len(a)):
        a[row, draw.integers(length) if length > 30 else row % length] = np.nan
    greatest, *_ = same_bits(extremes, a)
    assert np.isnan(greatest).tolist() == [False] + [True] * (len(a) - 1)


@pytest.mark.parametrize("length", [*LENGTHS, 16, 1024])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_one_nan_anywhere_is_the_extreme_of_all_elements(length, dtype):
    program = wb.collective(lambda a: (np.max(a), np.min(a), np.max(a + 1), np.argmax(a)))
    draw = np.random.default_rng(length)
    a = draw.normal(size=length).astype(dtype)
    for place in {0, length // 3, length // 2, length - 2, length - 1} & set(range(length)):
        b = a.copy()
        b[place] = np.nan
        for threads in (1, 2):
            greatest, least, other, where = program(b, backend="openmp", threads=threads)
            assert np.isnan([greatest, least, other]).all()
            assert where == place


@pytest.mark.parametrize("length", [3, 64, 200])
def test_conditions_of_rows(length):
    a = np.random.default_rng(length).normal(size=(20, length))
    some, every, none = same_bits(conditions, a)
    row = 0.1 * np.arange(20)[:, None]
    assert some.tolist() == (a > row).any(axis=1).tolist()
    assert every.tolist() == (a > row).all(axis=1).tolist()
    assert not none.any()


@pytest.mark.parametrize(
    ("function", "shape", "is_along"),
    [
        (lambda a: np.max(a, axis=1), (2, 3), True),
        (lambda a: np.min(a * a, axis=(0, 2)), (2, 3, 4), True),
        (lambda a: np.max(a, axis=0), (2, 3), False),  # cells that are kept lie side by side
        (lambda a: np.sum(a, axis=1), (2, 3), False),  # whose order is canonical
    ],
)
def test_which_folds_take_a_row_by_itself(function, shape, is_along):
    machine = wb.collective(function).machine(np.ones(shape))
    assert ("RowLanes" in machine.source("openmp").text) is is_along
