"""Random numbers of type dd and what a result is judged by: exact whole numbers, in units of the least f64."""

from math import isqrt

import numpy as np

from workbench.graph.arithmetic import apply
from workbench.graph.fused import two_sum
from workbench.graph.types import DD

UNIT = 1074
"""Units are 2^-1074."""
RELATIVE = 104
"""The relative error is at most 2^-104 ..."""
LEAST, LARGEST = 1 << (UNIT - 960), 1 << (UNIT + 1020)
"""... of results from 2^-960 to 2^1020, in units."""
BELOW = 4
"""Below, the error is at most 2^-1072, four units, where that is more: 106 bits of 2^-961 end at 2^-1067."""


def combine(operator):
    """The operator as a function of two arrays of type dd."""
    return lambda a, b: apply(operator, (a, b), DD)


def normal(hi, lo):
    """The pairs hi + lo whose hi is the nearest f64; pairs that overflow lose their lo."""
    with np.errstate(all="ignore"):
        s, e = two_sum(hi, lo)
    inside = np.isfinite(s) & np.isfinite(e)
    return np.where(inside, s, hi), np.where(inside, e, 0.0)


def numbers(rng, exponents):
    """Pairs with these exponents of hi: random, near powers of two, short; lo of any size, often as large as can be."""
    n = len(exponents)
    fraction = rng.uniform(1, 2, n)
    near = 1 + rng.integers(-3, 4, n) * 2.0**-52
    short = rng.integers(8, 16, n) / 8
    hi = np.choose(rng.integers(0, 4, n), [fraction, fraction, near, short]) * rng.choice([-1, 1], n)
    half = 2.0**-53 * rng.choice([1, 1 - 2**-53, 0.5, 0.0], n)
    lo = np.where(rng.random(n) < 0.7, rng.uniform(-(2.0**-53), 2.0**-53, n), half * rng.choice([-1, 1], n))
    lo *= 2.0 ** -np.where(rng.random(n) < 0.3, rng.integers(0, 80, n), 0)
    with np.errstate(all="ignore"):
        return normal(np.ldexp(hi, exponents), np.ldexp(lo, exponents))


def pairs(rng, operator, count):
    """(a, b): operands of all magnitudes, most of them with a result that is neither 0 nor infinite."""
    first = rng.integers(-1074, 1024, count)
    any_other = rng.integers(-1074, 1024, count)
    result = rng.integers(-1080, 1024, count)
    fitting = {
        "add": first + rng.integers(-115, 116, count),
        "subtract": first + rng.integers(-115, 116, count),
        "multiply": result - first,
        "divide": first - result,
    }.get(operator, any_other)
    second = np.where(rng.random(count) < 0.1, any_other, np.clip(fitting, -1074, 1023))
    a, b = numbers(rng, first), numbers(rng, second)
    if operator in ("add", "subtract"):  # one in five cancels in part
        sign = -1 if operator == "add" else 1
        error = 2.0 ** -rng.integers(1, 110, count).astype(float)
        with np.errstate(all="ignore"):
            nearly = normal(sign * a[0], sign * a[1] + a[0] * error)
        cancels = rng.random(count) < 0.2
        b = tuple(np.where(cancels, n, x) for n, x in zip(nearly, b, strict=True))
    if operator == "sqrt":
        negative = np.signbit(a[0])
        a = tuple(np.where(negative, -x, x) for x in a)
    return a, b


def in_units(pair):
    """Each number as a whole number of units."""
    return [_units(h) + _units(low) for h, low in zip(pair[0].tolist(), pair[1].tolist(), strict=True)]


def _units(x):
    numerator, denominator = x.as_integer_ratio()
    return (numerator << UNIT) // denominator


def exact_quotient(operator, a, b):
    """The exact result in units as numerator and positive denominator; for a root that of its square in units."""
    match operator:
        case "add":
            return a + b, 1
        case "subtract":
            return a - b, 1
        case "multiply":
            return a * b, 1 << UNIT
        case "divide":
            return (a << UNIT, b) if b > 0 else (-a << UNIT, -b)
        case "sqrt":
            return a << UNIT, 1
    raise KeyError(operator)


def judge(operator, a, b, found):
    """The largest error in units of 2^-106 between 2^-960 and 2^1020, how many are there, and how many are below.

    Fails where a result is farther from the exact one than it may be. The operands are finite, the exact results too.
    """
    worst, inside, below = 0.0, 0, 0
    finite = np.isfinite(found[0])
    operands = zip(
        *(in_units(tuple(x[finite] for x in pair)) for pair in (a, b, found)), np.flatnonzero(finite), strict=True
    )
    for left, right, result, at in operands:
        numerator, denominator = exact_quotient(operator, left, right)
        size = isqrt(numerator) if operator == "sqrt" else abs(numerator) // denominator
        if operator == "sqrt":  # |r^2 - x| / x is twice the relative error but for its square
            error, scale = abs(result * result - numerator), 2 * numerator
        else:
            error, scale = abs(result * denominator - numerator), abs(numerator)
        if LEAST <= size <= LARGEST:
            inside += 1
            fraction = (error << 110) // scale / 16
            worst = max(worst, fraction)
            assert error << RELATIVE <= scale, (operator, at, fraction)
        elif size < LEAST:
            below += 1
            assert operator != "sqrt" or left == 0
            assert error <= max(BELOW * denominator, scale >> RELATIVE), (operator, at)
    return worst, inside, below
