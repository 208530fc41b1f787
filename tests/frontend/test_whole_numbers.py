"""Rotations, counts of bits and division toward zero: every integer type, every backend, against Python's integers."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError
from workbench.graph.types import TYPES
from workbench.language import popcount, quotient, rest, rotate_left, rotate_right

WHOLE = [type_ for type_ in TYPES if type_.is_integer]


@wb.collective
def all_of_them(operands):
    return [
        (rotate_left(a, b), rotate_right(a, b), rotate_left(a, 3), popcount(a), quotient(a, b), rest(a, b))
        for a, b in operands
    ]


def by_hand(a, b, type_):
    """The same of Python's integers."""
    bits = type_.bits
    mask = 2**bits - 1

    def wrapped(value):
        value &= mask
        return value - 2**bits if type_.kind == "int" and value >> (bits - 1) else value

    def left(count):
        return wrapped((a & mask) << count % bits | (a & mask) >> -count % bits)

    whole = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return left(b), left(-b), left(3), bin(a & mask).count("1"), wrapped(whole), 0 if b == 0 else a - whole * b


def pairs_of(type_):
    """Every two of some numbers that are special somewhere."""
    info = np.iinfo(type_.numpy)
    edges = [x for x in (0, 1, 2, 3, 7, 8, 13, 31, 100, -1, -2, -7, -8, info.min, info.max) if x >= info.min]
    a, b = np.meshgrid(np.array(edges, type_.numpy), np.array(edges, type_.numpy))
    return a.ravel(), b.ravel()


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_they_are_those_of_pythons_integers(backend):
    given = tuple(map(pairs_of, WHOLE))
    for type_, (a, b), results in zip(WHOLE, given, all_of_them(given, backend=backend), strict=True):
        expected = zip(*(by_hand(int(x), int(y), type_) for x, y in zip(a, b, strict=True)), strict=True)
        for place, (found, wanted) in enumerate(zip(results, expected, strict=True)):
            assert found.dtype == type_.numpy
            assert found.tolist() == list(wanted), f"{place} of {type_}"


def test_what_is_no_whole_number_is_said():
    for function in (
        lambda x: rotate_left(x, 1.5),
        lambda x: rotate_left(x, x > 0),
        lambda x: quotient(x, 2.0),
        lambda x: popcount(x > 1),
        lambda x: rest(x.astype("f64"), 3) + quotient(3, 4),
    ):
        with pytest.raises(TraceError, match="whole number"):
            wb.collective(function)(np.arange(3))
