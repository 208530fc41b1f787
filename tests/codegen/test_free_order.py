"""Reductions of whole numbers and conditions in any order have the bits of the reference and of NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_programs import same_bits
from tests.kit.bits import assert_same_bits
from workbench.language import compute

LENGTHS = [1, 15, 63, 64, 65, 1023, 1024, 1025, 8191, 8192, 8193, 20_011]
TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "i8"]


def of_numbers(x):
    return x.sum(), x.prod(), x.min(), x.max(), np.count_nonzero(x)


def of_conditions(m, n):
    return m.sum(), np.count_nonzero(m & ~n), m.any(), (m ^ n).all(), m.mean()


_ALONE = (
    lambda x: x.sum(),
    lambda x: x.max(),
    lambda x: (x > 3).sum(),
    lambda x: (x > 3).any(),
    lambda x: (x < 100).all(),
)


def one_by_one(x, backend, threads):
    """Each in a loop of its own: of several, one that may not take any order decides for all."""
    return tuple(wb.collective(each)(x, backend=backend, threads=threads) for each in _ALONE)


def numbers(dtype, length):
    """At random, and all of them the smallest or the largest there are, whose sums need the widest lanes."""
    ends, draw = np.iinfo(dtype), np.random.default_rng(length)
    yield draw.integers(ends.min, ends.max, length, dtype, endpoint=True)
    yield np.full(length, ends.max, dtype)
    yield np.full(length, ends.min, dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_of_every_type_and_length(dtype):
    program = wb.collective(of_numbers)
    for x in (x for length in LENGTHS for x in numbers(dtype, length)):
        total, _, least, greatest, some = same_bits(program, x)
        assert total == x.sum(dtype="i8")
        assert (least, greatest, some) == (x.min(), x.max(), np.count_nonzero(x))


def test_conditions_of_every_length():
    program = wb.collective(of_conditions)
    for length in LENGTHS:
        draw = np.random.default_rng(length)
        for m in (draw.random(length) < 0.5, np.ones(length, bool), np.zeros(length, bool)):
            n = draw.random(length) < 0.3
            found = same_bits(program, m, n)
            assert [each.item() for each in found] == [each.item() for each in of_conditions(m, n)]


@pytest.mark.parametrize("shape", [(30_000,), (7, 1100), (40, 40), (3, 5, 9000)])
def test_rows_of_arrays_are_shared_out_among_threads(shape):
    x = np.random.default_rng(5).integers(-50, 50, shape).astype("i2")
    expected = one_by_one(x, "reference", 0)
    assert [each.item() for each in expected] == [x.sum(), x.max(), (x > 3).sum(), (x > 3).any(), (x < 100).all()]
    for threads in (1, 2, 3):
        for mine, exact in zip(one_by_one(x, "openmp", threads), expected, strict=True):
            assert_same_bits(mine, exact, f"{threads} threads")


@pytest.mark.parametrize("shape", [(20_000,), (50, 400)])
def test_a_cell_that_decides_is_found_wherever_it_lies(shape):
    program = wb.collective(lambda x: ((x > 0).any(), (x > 0).all(), (x < 0).any()))
    alone = [wb.collective(each) for each in (lambda x: (x > 0).any(), lambda x: (x <= 0).all())]
    for place in (0, 63, 64, 399, 400, 8191, 8192, 8193, 19_999):
        x = np.zeros(20_000)
        x[place] = 1
        for threads in (1, 3):
            some, every, none = program(x.reshape(shape), backend="openmp", threads=threads)
            assert (some, every, none) == (True, False, False)
            found, not_all = (each(x.reshape(shape), backend="openmp", threads=threads) for each in alone)
            assert (found, not_all) == (True, False)
            assert not alone[0](-x.reshape(shape), backend="openmp", threads=threads)
            assert alone[1](-x.reshape(shape), backend="openmp", threads=threads)


def test_what_is_stored_or_gathered_beside_them_or_needs_an_order():
    draw = np.random.default_rng(6)
    x, k = draw.integers(-90, 90, 5000).astype("i1"), draw.integers(0, 5000, 3000)

    def beside(x, k):
        y, taken = x * 2 + 1, x[k]
        of_slices = x[::3].sum(), x[::-1].min()
        return y, y.sum(), (taken > 3).sum(), taken.max(), (0.5 * x).sum(), np.count_nonzero(x), *of_slices

    found = same_bits(beside, x, k)
    assert found[1] == (2 * x + np.int8(1)).sum(dtype="i8")
    assert found[2] == (x[k] > 3).sum()


def test_a_sum_of_what_is_stored_reads_it_in_its_own_type():
    def of_wide(x):
        wide = compute(x.astype("i8"))
        return wide[::-1], wide.sum(), (wide * wide).sum()

    same_bits(of_wide, np.random.default_rng(8).integers(-128, 128, 3000).astype("i1"))


def test_devices_have_these_bits():
    x = np.random.default_rng(9).integers(-128, 128, 1500).astype("i1")
    same_bits(of_numbers, x, backends=(("cuda-sim", 0),))
    same_bits(of_conditions, x > 0, x > 50, backends=(("cuda-sim", 0),))


@pytest.mark.parametrize(
    ("function", "is_free"),
    [
        (lambda x: x.sum(), True),
        (lambda x: (x > 1).sum(), True),
        (lambda x: (0.5 * x).sum(), False),
        (lambda x: np.argmax(x), False),
    ],
)
def test_which_reductions_take_any_order(function, is_free):
    machine = wb.collective(function).machine(np.ones(3, "i4"))
    assert ("FreeLanes<" in machine.source("openmp").text) is is_free
