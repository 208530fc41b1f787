"""a * b + c rounded once, of f64 and of f32, against exact fractions."""

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


def rounded_to_f32(a, b, c):
    """The nearest f32 of finite numbers, ties to even: whole numbers of the last place that the result has."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # exact in f64, with the sign of the zero
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - 23, -149)
    found = round(size / unit) * unit  # Python rounds a fraction to the nearest whole number, ties to even
    found = float(found) if found < 2**128 else np.inf
    return found if exact > 0 else -found


def check_f32(a, b, c):
    a, b, c = (np.asarray(x, np.float32) for x in (a, b, c))
    expected = [rounded_to_f32(*terms) for terms in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    found = fused_multiply_add(a, b, c)
    assert found.dtype == np.float32
    assert_same_bits(found, np.array(expected, np.float32))


def test_f32_of_any_bits():
    rng = np.random.default_rng(5)
    found = rng.integers(0, 2**32, (3, 20_000), np.uint32).view(np.float32)
    check_f32(*np.where(np.isfinite(found), found, np.float32(1.5)))


def test_f32_where_f64_would_round_twice():
    """Products of 25 bits that end in 1 lie in the middle of two f32; what is added is too small for f64 to see."""
    rng = np.random.default_rng(6)
    a, b = (np.float32(rng.integers(2**11, 2**12, 4000) * 2 + 1) for _ in range(2))
    c = np.float32(rng.choice((-1.0, 1.0), 4000) * 2.0 ** rng.integers(-70, -30, 4000))
    check_f32(a, b, c)
    twice = np.float32(np.float64(a) * b + c)
    assert (twice != fused_multiply_add(a, b, c)).sum() > 500


def test_f32_of_like_size_ties_and_results_near_the_least_numbers():
    rng = np.random.default_rng(7)
    a, b, c = rng.standard_normal((3, 5000)).astype(np.float32)
    check_f32(a, b, c * np.float32(2.0) ** rng.integers(-60, 60, 5000))
    check_f32(a, b, -a * b)
    check_f32(a, b * np.float32(2.0**-120), c * np.float32(2.0**-140))
    check_f32(a * np.float32(2.0**-74), b * np.float32(2.0**-74), rng.integers(-9, 9, 5000) * np.float32(2.0**-149))
    a, b, c = rng.uniform(-1, 1, (3, 5000)).astype(np.float32)
    check_f32(a * np.float32(2.0**65), b * np.float32(2.0**65), c * np.float32(2.0**127))


def test_f32_that_are_not_finite_and_signs_of_zeros():
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0**-149, 2.0**-126, 3.4028234663852886e38, 1 - 2.0**-24]
    a, b, c = np.array(list(product(ends, repeat=3)), np.float32).T
    found = fused_multiply_add(a, b, c)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    check_f32(a[finite], b[finite], c[finite])
    with np.errstate(all="ignore"):
        plain = a.astype(float) * b + c  # the product of two f32 does not overflow
    assert_same_bits(found[~finite], plain[~finite].astype(np.float32))
