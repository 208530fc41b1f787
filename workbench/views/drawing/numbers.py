"""Numbers: round ones for axes, short ones for people; the page's half is labextension/src/field/numbers.ts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

_MOST_DIGITS = 17  # tell any two f64 apart
_LEAST_SHARE = 1e-13  # of the numbers themselves: ends nearer than that have no round numbers between them
_LEAST_SPAN = 1e-300
_LONGEST_TEXT = 9  # beside an axis


def ticks(first: float, last: float, most: int, nearest: float = 0.0) -> list[float]:
    """About `most` round numbers or fewer between both ends, 1, 2 or 5 times a power of ten apart, or `nearest`.

    Where only one is between them, they are the next finer ones, if these are not too many.
    """
    low, high = min(first, last), max(first, last)
    if not high > low:
        return [low] if math.isfinite(low) else []
    if not _LEAST_SPAN + _LEAST_SHARE * max(abs(low), abs(high)) <= high - low < math.inf:
        return [low, high] if math.isfinite(low) and math.isfinite(high) else []
    rough = (high - low) / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    factor = next((each for each in (1, 2, 5, 10) if each * power >= rough * (1 - 1e-9)), 10)
    found = _multiples(low, high, max(nearest, factor * power))
    finer = (
        [] if len(found) > 1 else _multiples(low, high, max(nearest, (0.4 if factor == 5 else 0.5) * factor * power))
    )
    return finer if len(found) < len(finer) <= most else found


def _multiples(low: float, high: float, step: float) -> list[float]:
    start, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.15g}") for k in range(start, end + 1)]


def short(value: float, digits: int = 4) -> str:
    """So many significant digits, an exponent (and one digit less) where the number would be long."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else "\u2212∞")
    if value == 0:
        return "0"
    if _is_long(value, digits):
        mantissa, _, exponent = f"{value:.{digits - 2}e}".partition("e")
        number = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{number}e{int(exponent)}".replace("-", "\u2212")
    return f"{float(f'{value:.{digits}g}'):.{min(digits + 2, _MOST_DIGITS)}g}".replace("-", "\u2212")


def apart(values: Sequence[float]) -> list[str]:
    """Short texts of numbers in order, with as many digits as it takes to see how far they are apart."""
    gaps = [abs(b - a) for a, b in pairwise(values) if b != a and math.isfinite(b - a)]
    allowed = min(gaps, default=math.inf) / 20
    digits = 4
    while digits < _MOST_DIGITS and any(abs(_rounded(value, digits) - value) > allowed for value in values):
        digits += 1
    return [short(value, digits) for value in values]


def beside(values: Sequence[float]) -> list[str]:
    """The same for an axis, where a text has little room: long ones are told as distances from the shortest."""
    texts = apart(values)
    if max(map(len, texts), default=0) <= _LONGEST_TEXT:
        return texts
    base = min(range(len(texts)), key=lambda k: len(texts[k]))
    if len(texts[base]) > _LONGEST_TEXT:
        rounded = [short(values[base], digits) for digits in (6, 5, 4)]
        texts[base] = "≈" + next((text for text in rounded if len(text) < _LONGEST_TEXT), rounded[-1])
    far = [short(value - values[base]) for value in values]
    return [texts[k] if k == base else f"+{far[k]}" if values[k] > values[base] else far[k] for k in range(len(texts))]


def shares(values: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.float64]:
    """Where values lie between two limits, 0 to 1, also for limits as far apart as numbers go; else in the middle."""
    if not high > low:
        return values - low + 0.5
    scale = 1.0 if math.isfinite(high - low) else 0.5
    found: npt.NDArray[np.float64] = (values * scale - low * scale) / (high * scale - low * scale)
    return found


def _is_long(value: float, digits: int) -> bool:
    return abs(value) >= 10.0 ** (digits + 1) or abs(value) < 1e-3


def _rounded(value: float, digits: int) -> float:
    """The number that `short` writes."""
    return float(f"{value:.{digits - 2}e}" if _is_long(value, digits) else f"{value:.{digits}g}")
