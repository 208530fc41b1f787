"""Lengths that are found to be one: how often the body is traced, and that nothing depends on it."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits


@pytest.mark.parametrize(("turns", "ends"), [(5, 2), (100, 1)])
def test_a_long_formula_is_not_traced_to_its_end_along_axes_that_are_one(turns, ends):
    """The first line says that lengths are equal, which holds from the first line on: the body is traced again."""
    ended = []

    def formula(x, y, z):
        total = x + y + z
        for k in range(turns):
            total = (x if k % 2 else y + z[:, ::-1]) * k + total
        ended.append(1)
        return total

    x, y, z = np.arange(36.0).reshape(3, 3, 4)
    assert_same_bits(wb.collective(formula)(x, y, z, backend="reference"), formula(x, y, z))
    assert len(ended) == ends + 1  # and once in NumPy


def test_lengths_that_are_found_late_are_found_by_later_attempts():
    """Pairs of arrays meet one after the other, each behind a formula that is long enough to end an attempt."""

    def formula(*pairs):
        found = []
        for x, y in zip(pairs[::2], pairs[1::2], strict=True):
            total = x + y
            for k in range(60):
                total = (x if k % 2 else y) * k + total
            found.append(total)
        return found

    arrays = np.random.default_rng(5).random((6, 4))

    @wb.collective
    def program(a, b, c, d, e, f):
        return formula(a, b, c, d, e, f)

    found = program(*arrays, backend="reference")
    for mine, exact in zip(found, formula(*arrays), strict=True):
        assert_same_bits(mine, exact)
