"""Fused multiply-add in NumPy, which has none: a * b + c rounded once, to the bit as a processor's fma rounds.

That is fusedMultiplyAdd of IEEE 754, of f32 and of f64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_FAR_ABOVE = 120
"""From here on, in powers of two, the product is too small beside c to do more than break a tie."""
_FAR_BELOW = -220
"""Here c is too small beside a product of 106 bits to do more than that."""
_LEAST_NORMAL = -1021
"""Exponent of the least normal f64, 2^-1022, as frexp counts: with a fraction from 1/2 up to 1."""
_UNIT = -1074
"""Exponent of the least positive f64."""


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c of arrays of one type, f32 or f64, rounded once to the nearest number of it, ties to even."""
    single = all(np.asarray(x).dtype == np.float32 for x in (a, b, c))
    return _of_f32(a, b, c) if single else _of_f64(a, b, c)


def _of_f32(a: Array, b: Array, c: Array) -> Array:
    """By f64, which holds the product; a sum rounded to odd there is rounded to f32 as the exact sum is.

    f64 has more than two bits more than f32 (Boldo and Melquiond 2008, theorem 3), also where results are subnormal.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c)))
    with np.errstate(all="ignore"):
        rounded, error = two_sum(a * b, c)
        result = np.where(np.isfinite(rounded), _to_odd(rounded, error), rounded)
        return np.asarray(result, np.float32)


def _of_f64(a: Array, b: Array, c: Array) -> Array:
    """By a sum of three terms.

    Operands are scaled to fractions, so that nothing over- or underflows on the way. The product is an exact sum of two
    numbers (Dekker 1971); the three terms are added with a last but one rounding to odd, after which rounding to
    nearest is the rounding of the exact sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
    algorithms using rounding to odd", 2008, Fig. 5). Subnormal results would be rounded twice: integers make those.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c)))
    with np.errstate(all="ignore"):
        plain = np.where(np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c), c, a * b + c)
        ordinary = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
        (left, left_exponent), (right, right_exponent), (added, added_exponent) = map(np.frexp, (a, b, c))
        exponent = left_exponent + right_exponent
        above = np.where(c == 0, _FAR_BELOW, added_exponent - exponent)
        near = np.clip(above, _FAR_BELOW, _FAR_ABOVE)
        exponent = np.where(above > _FAR_ABOVE, added_exponent - _FAR_ABOVE, exponent)
        rounded = _three_terms(*_product(left, right), np.ldexp(added, near))
        result = np.where(rounded == 0, 0.0, np.ldexp(rounded, exponent))
        tiny = ordinary & (rounded != 0) & (np.frexp(rounded)[1] + exponent < _LEAST_NORMAL)
    result = np.where(ordinary, result, plain)
    if tiny.any():
        result[tiny] = [_by_integers(*terms) for terms in zip(a[tiny], b[tiny], c[tiny], strict=True)]
    return np.asarray(result)


def two_sum(a: Array | np.float64, b: Array | np.float64) -> tuple[Any, Any]:
    """Return s = a + b rounded, and the exact error of it (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a: Array) -> tuple[Array, Array]:
    """Return two halves of at most 26 bits each that add up to a (Veltkamp)."""
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return p = a * b rounded, and the exact error of it (Dekker)."""
    p = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def _three_terms(high: Array, low: Array, c: Array) -> Array:
    """Return high + low + c rounded once, where high + low is a product and high is low's sum rounded."""
    above, first = two_sum(c, low)
    result, second = two_sum(high, above)
    return np.asarray(result + _to_odd(*two_sum(first, second)))


def _to_odd(rounded: Array, error: Array) -> Array:
    """Return the neighbour with an odd last bit of rounded + error, or `rounded` if that is exact."""
    bits = np.asarray(rounded).view(np.int64)
    away = np.where((error > 0) == (rounded > 0), 1, -1)
    return np.asarray(np.where((error != 0) & (bits & 1 == 0), bits + away, bits).view(np.float64))


def _by_integers(a: float, b: float, c: float) -> float:
    """Return a * b + c for a result below the least normal number, from integers alone."""
    units = _in_units(a) * _in_units(b) + (_in_units(c) << -_UNIT)
    quotient, rest = divmod(abs(units), 1 << -_UNIT)
    half = 1 << (-_UNIT - 1)
    quotient += rest > half or (rest == half and quotient & 1)
    return math.copysign(math.ldexp(quotient, _UNIT), -1.0 if units < 0 else 1.0)


def _in_units(a: float) -> int:
    numerator, denominator = float(a).as_integer_ratio()
    return (numerator << -_UNIT) // denominator
