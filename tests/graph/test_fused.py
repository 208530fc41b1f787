"""a * b + c rounded once, against exact fractions."""

from fractions import Fraction
from itertools import product

import numpy as np

from tests.kit.bits import assert_same_bits
from workbench.graph.fused import fused_multiply_add


def rounded(a, b, c):
    """The nearest f64 of finite numbers, by Python's division of whole numbers, which rounds once."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if 0 in (a, b) else 0.0
    try:
        return exact.numerator / exact.denominator or (-0.0 if exact < 0 else 0.0)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def check(a, b, c):
    expected = [rounded(*terms) for terms in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert_same_bits(fused_multiply_add(a, b, c), np.array(expected))


def any_bits(rng, count):
    found = rng.integers(0, 2**64, count, np.uint64).view(np.float64)
    return np.where(np.isfinite(found), found, 1.5)


def test_operands_of_any_bits():
    rng = np.random.default_rng(1)
    check(*(any_bits(rng, 5000) for _ in range(3)))


def test_terms_of_like_size():
    rng = np.random.default_rng(2)
    a, b, c = rng.standard_normal((3, 5000))
    check(a, b, c * 2.0 ** rng.integers(-120, 120, 5000))
    check(a, b, -a * b)


def test_ties():
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 2**27, (2, 5000)).astype(float)
    check(a, b, rng.integers(-(2**53), 2**53, 5000) * 2.0 ** rng.integers(-60, 60, 5000))


def test_results_near_the_least_numbers():
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((2, 3000)) * 2.0 ** rng.integers(-545, -505, (2, 3000))
    check(a, b, np.zeros(3000))
    check(a, b, -a * b)
    check(a, b, rng.integers(-9, 9, 3000) * 5e-324)


def test_numbers_that_are_not_finite_and_signs_of_zeros():
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, 2.0**-1022, 1.7976931348623157e308, 1 - 2.0**-53]
    a, b, c = np.array(list(product(ends, repeat=3))).T
    with np.errstate(all="ignore"):
        plain = a * b + c
    found = fused_multiply_add(a, b, c)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    check(a[finite], b[finite], c[finite])
    infinite = np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c)
    assert_same_bits(found[infinite], c[infinite])
    others = ~(finite | infinite)
    assert_same_bits(found[others], plain[others])


def test_shapes_are_kept():
    assert fused_multiply_add(2.0, 3.0, 1.0).shape == ()
    assert fused_multiply_add(2.0, 3.0, 1.0) == 7.0
    assert fused_multiply_add(1e-200, 1e-200, -0.0).shape == ()
    assert fused_multiply_add(np.ones((2, 1)), np.ones(3), 0.0).shape == (2, 3)
