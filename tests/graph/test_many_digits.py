"""Operators on decimal numbers: every row of the table, far beyond the digits of any float."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from workbench.graph import OPERATORS
from workbench.graph.arithmetic import apply, constant
from workbench.graph.many_digits import digits_type
from workbench.graph.types import BOOL, DD, F32, F64, I8, I64

MANY = digits_type(80)
TINY = Fraction(1, 10**77)


def many(*values):
    return apply("cast", (np.array(values, np.float64),), MANY)


def value(operator, *operands):
    return apply(operator, [many(x) for x in operands], MANY)[0]


def random_operands(operator, rng):
    """Where the function is defined, of small and of moderate size."""
    size = rng.choice([1e-9, 0.4, 0.9, 7.0, 300.0], 40)
    x = rng.uniform(-1, 1, (operator.arity, 40)) * size
    inside = {"arcsin": 0.9, "arccos": 0.9, "arctanh": 0.9, "log1p": 0.9}
    if operator.name in inside:
        x = np.clip(x, -inside[operator.name], inside[operator.name])
    if operator.name in ("sqrt", "rsqrt", "log", "log2", "log10", "power"):
        x = np.abs(x) + 1e-12
    if operator.name == "power":
        x[1] = np.clip(x[1], -20, 20)
    return x + 1 + np.abs(x) if operator.name == "arccosh" else x


FLOAT = [row for row in OPERATORS.values() if row.kinds in ("float", "number") and row.rule in ("same", "bool")]


@pytest.mark.parametrize("operator", FLOAT, ids=lambda row: row.name)
def test_every_operator_agrees_with_numpy_as_far_as_f64_goes(operator):
    x = random_operands(operator, np.random.default_rng(7))
    result = BOOL if operator.rule == "bool" else MANY
    found = apply(operator.name, [many(*row) for row in x], result)
    with np.errstate(all="ignore"):
        expected = operator.meaning(*x)
    assert found.astype(float) == pytest.approx(np.asarray(expected, float), rel=1e-13, abs=1e-18)


SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 2.5]


@pytest.mark.parametrize("operator", FLOAT, ids=lambda row: row.name)
def test_infinities_and_nan_are_those_of_numpy(operator):
    grid = np.array(np.meshgrid(*[SPECIAL] * operator.arity)).reshape(operator.arity, -1)
    result = BOOL if operator.rule == "bool" else MANY
    found = apply(operator.name, [many(*row) for row in grid], result).astype(float)
    with np.errstate(all="ignore"):
        expected = np.asarray(operator.meaning(*grid), float)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    finite = np.isfinite(expected)
    assert found[finite] == pytest.approx(expected[finite], rel=1e-13, abs=1e-18)
    assert np.array_equal(found[np.isinf(expected)], expected[np.isinf(expected)])


def exact(operator, *operands):
    return Fraction(value(operator, *operands))


def test_known_constants():
    pi = "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986"
    e = "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475946"
    ln2 = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471561"
    assert abs(4 * exact("arctan", 1.0) - Fraction(pi)) < TINY
    assert abs(exact("exp", 1.0) - Fraction(e)) < TINY
    assert abs(exact("log", 2.0) - Fraction(ln2)) < TINY


def test_signs_keep_all_digits():
    assert abs(exact("exp", 0.1) - exact("exp", -0.1) - 2 * exact("sinh", 0.1)) < TINY


X = (1e-30, 0.3, 1.7, 40.0, 1e15)


@pytest.mark.parametrize("x", X)
def test_identities_hold_to_the_last_digits(x):
    sin, cos = exact("sin", x), exact("cos", x)
    assert abs(sin * sin + cos * cos - 1) < TINY
    assert abs(exact("tan", x) * cos - sin) < TINY
    small = x if x < 50 else 1 / x
    ones = many(small)
    for function, inverse in (("sinh", "arcsinh"), ("expm1", "log1p"), ("tan", "arctan"), ("tanh", "arctanh")):
        if function in ("tan", "tanh") and small > 1.5:
            continue
        there = apply(function, [ones], MANY)
        back = apply(inverse, [there], MANY)[0]
        assert abs(Fraction(back) / Fraction(ones[0]) - 1) < 10 * TINY, function
    cosh = exact("cosh", small)
    assert abs(cosh**2 - exact("sinh", small) ** 2 - 1) < 10 * TINY * cosh**2
    assert abs(exact("cbrt", x) ** 3 / Fraction(x) - 1) < TINY
    assert abs(exact("arcsin", 0.3) + exact("arccos", 0.3) - 2 * exact("arctan", 1.0)) < TINY
    assert exact("arctan2", x, x) == exact("arctan", 1.0)


def test_sums_and_products_are_rounded_at_the_last_digit_only():
    assert abs(exact("divide", 1.0, 3.0) - Fraction(1, 3)) < Fraction(1, 10**80)
    assert abs(exact("subtract", 1e20, -1e-20) - Fraction(1e20) - Fraction(1e-20)) < Fraction(1, 10**59)


def test_casts_lose_nothing_on_the_way_up_and_saturate_on_the_way_down():
    pairs = np.array([(1.0, 2.0**-80), (-0.0, 0.0)], DD.numpy)
    up = apply("cast", (pairs,), MANY)
    assert abs(Fraction(up[0]) - 1 - Fraction(1, 2**80)) < Fraction(1, 10**78)
    assert apply("cast", (np.array([3, -7], np.int64),), MANY).tolist() == [3, -7]
    assert apply("cast", (np.array([True, False]),), MANY).tolist() == [1, 0]
    assert apply("cast", (many(300.0, -1e30, np.nan, -2.9),), I8).tolist() == [127, -128, 0, -2]
    assert apply("cast", (many(0.1),), F64).tolist() == [0.1]
    assert apply("cast", (many(0.1),), F32).tolist() == [np.float32(0.1)]
    assert apply("cast", (many(0.0, 0.5),), BOOL).tolist() == [False, True]
    assert apply("cast", (constant(0.1, MANY),), I64) == 0


def test_large_numbers_stay_finite():
    assert value("multiply", 1e300, 1e300) > Decimal("1e599")
    assert value("exp", 1e5).is_finite()
    assert value("exp", 1e300).is_infinite()
