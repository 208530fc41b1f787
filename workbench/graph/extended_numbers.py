"""Numbers of type dd outside of a program: decimal texts, fractions, and NumPy arrays with the fields hi and lo."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Self

import numpy as np

from workbench.errors import FieldError
from workbench.graph.extended import from_scalar, sequences
from workbench.graph.fused import two_sum
from workbench.graph.operators import Array
from workbench.graph.sequences import apply
from workbench.graph.types import DD, storage_type

DD_DTYPE = DD.numpy
"""One number as NumPy stores it: hi + lo, where hi is the f64 nearest to the sum."""
DIGITS = 33
"""Decimal digits that tell any two numbers of 106 bits apart."""

_ALWAYS_KEPT = 31  # digits of a decimal number that are the same after it was rounded to 106 bits
_LARGEST = Decimal(sys.float_info.max)
_ALL = Context(prec=2400)  # more digits than any f64 or sum of two has
_ADVICE = 'Write a decimal number such as "0.1" or "-6.02e23".'


class DoubleDouble(float):
    """One number of type dd: to Python the f64 hi, beside which it keeps `lo` and which it prints with."""

    __slots__ = ("lo",)
    lo: float

    def __new__(cls, hi: float, lo: float = 0.0) -> Self:
        """Of parts that are normal: hi is the f64 nearest to hi + lo."""
        made = super().__new__(cls, hi)
        made.lo = float(lo)
        return made

    def __reduce__(self) -> tuple[type[DoubleDouble], tuple[float, float]]:
        return DoubleDouble, (float(self), self.lo)

    def __repr__(self) -> str:
        return to_text(float(self), self.lo)


def parse(text: str) -> tuple[float, float]:
    """Return (hi, lo) of the number that a decimal text names, to the nearest hi and then lo.

    "inf", "-inf" and "nan" are numbers too. FieldError for any other text, and for numbers that are too large.
    """
    try:
        number = Decimal(text.strip().replace("_", ""))
    except InvalidOperation:
        raise FieldError(f"{text!r} is no number", advice=_ADVICE) from None
    if not number.is_finite():
        return float(number), 0.0
    if number == 0 or number.adjusted() < -400:
        return math.copysign(0.0, number), 0.0
    if number.adjusted() > 400:
        raise _too_large(text)
    return nearest(Fraction(number), text)


def nearest(value: Fraction, text: str = "") -> tuple[float, float]:
    """Return (hi, lo): the f64 nearest to the fraction, and that nearest to the rest. `text`: its name in errors."""
    try:
        hi = value.numerator / value.denominator  # of whole numbers: rounded once
    except OverflowError:
        raise _too_large(text or str(value)) from None
    rest = value - Fraction(hi)
    s, e = two_sum(np.float64(hi), np.float64(rest.numerator / rest.denominator))
    return float(s), float(e)


def to_text(hi: float, lo: float, digits: int = 0) -> str:
    """Return the number in decimal, rounded to so many digits; with 0 as few as `parse` needs to read this very pair.

    33 digits tell any two numbers of 106 bits apart. A pair can have more bits, because its lo may be far below its hi
    or 0: dd("0.1") is read from "0.1", the f64 nearest to 0.1 only from all of its 55 digits.
    """
    if not math.isfinite(hi):
        return str(hi)
    exact = _ALL.add(Decimal(hi), Decimal(lo))
    if not exact:
        return str(hi)
    if digits:
        return _written(Context(prec=digits).plus(exact))
    bits = 53 + math.frexp(hi)[1] - math.frexp(lo)[1] if lo else 53
    enough = math.ceil(bits * math.log10(2)) + 1
    for wanted in (_ALWAYS_KEPT, DIGITS, enough, enough + 1):
        rounded = Context(prec=wanted).plus(exact)
        if abs(rounded) <= _LARGEST and parse(str(rounded)) == (hi, lo):
            return _written(rounded)
    return _written(exact)


def _written(number: Decimal) -> str:
    """As Python writes floats: 0.25, 12.0, 1.5e+40."""
    exponent = number.adjusted()
    if -5 < exponent < DIGITS:
        text = f"{number:f}"
        return text.rstrip("0") + ("0" if text.rstrip("0").endswith(".") else "") if "." in text else f"{text}.0"
    sign, digits, _ = number.as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{'-' if sign else ''}{text[0]}{fraction}e{exponent:+03d}"


def as_pairs(values: object) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return an array of DD_DTYPE, C-ordered and normalised, of the shape of `values`; numbers are exact or nearest.

    values: an array of DD_DTYPE; a number or array of bools, integers, f32, f64 or long double; decimal texts, Python
    integers, Fractions, Decimals or numbers of mpmath (anything with `man_exp`), single or in sequences of them.
    FieldError names what is none of these.
    """
    given = values if isinstance(values, np.ndarray) else _as_array(values)
    if given.dtype.names is not None:
        if set(given.dtype.names) != {"hi", "lo"}:
            raise FieldError(f"an array with fields {given.dtype.names}", advice="Give it the fields hi and lo.")
        return join(given["hi"], given["lo"])
    if given.dtype.kind in "OU":
        pairs = [_pair(v) for v in given.ravel().tolist()]
        hi, lo = (np.array([p[k] for p in pairs]).reshape(given.shape) for k in (0, 1))
        return join(hi, lo)
    if given.dtype.kind == "f" and given.dtype.itemsize > 8:
        with np.errstate(all="ignore"):
            high = given.astype(np.float64)
            return join(high, np.where(np.isfinite(high), given - high, 0).astype(np.float64))
    try:
        type_ = storage_type(given.dtype)
    except KeyError:
        raise FieldError(f"numbers of type {given.dtype}", advice="Give real numbers or decimal texts.") from None
    return join(*apply(from_scalar(type_), (given,)))


def _as_array(values: object) -> Array:
    """Python's own numbers keep all their digits: NumPy would round large integers and texts would stay texts."""
    if isinstance(values, int | float | np.generic) and not isinstance(values, DoubleDouble):
        return np.asarray(values) if not isinstance(values, int) or -(2**63) <= values < 2**63 else _object(values)
    if isinstance(values, str) or not isinstance(values, Sequence):
        return _object(values)
    return np.array(values, dtype=object)


def _object(value: object) -> Array:
    held = np.empty((), object)
    held[()] = value
    return held


def join(hi: Array, lo: Array) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return hi + lo as pairs; parts that overlap are normalised, an infinite or NaN hi has lo = 0.0."""
    hi, lo = np.broadcast_arrays(np.asarray(hi, np.float64), np.asarray(lo, np.float64))
    result = np.empty(hi.shape, DD_DTYPE)
    result["hi"], result["lo"] = hi, lo
    with np.errstate(all="ignore"):
        overlaps = np.asarray(hi != hi + lo)  # the others keep their bits, signs of zeros too
    if overlaps.any():  # the sequence is two hundred times as slow as a copy
        zeros = np.zeros(np.count_nonzero(overlaps))
        found = apply(sequences()["add"], (hi[overlaps], zeros, lo[overlaps], zeros))
        result["hi"][overlaps], result["lo"][overlaps] = found
    result["lo"][~np.isfinite(result["hi"])] = 0.0
    return result


def as_fraction(hi: float, lo: float) -> Fraction:
    """Return the exact value of a finite pair."""
    return Fraction(hi) + Fraction(lo)


def as_texts(pairs: np.ndarray[Any, np.dtype[np.void]]) -> Array:
    """Return the decimal texts of an array of DD_DTYPE, of the same shape; `as_pairs` reads them back."""
    listed = [to_text(hi, lo) for hi, lo in pairs.ravel().tolist()]
    return np.array(listed, dtype=object).reshape(pairs.shape)


def _pair(value: object) -> tuple[float, float]:
    match value:
        case str():
            return parse(value)
        case DoubleDouble():
            return float(value), value.lo
        case bool() | int() | Fraction():
            return nearest(Fraction(value))
        case float():
            return value, 0.0
        case Decimal():
            return parse(str(value))
        case np.generic():
            pair = as_pairs(np.asarray(value))
            return float(pair["hi"]), float(pair["lo"])
        case _:
            return _of_mpmath(value)


def _of_mpmath(value: object) -> tuple[float, float]:
    parts = getattr(value, "man_exp", None)
    if parts is None:
        raise FieldError(f"{value!r} is no number", advice=_ADVICE)
    mantissa, exponent = int(parts[0]), int(parts[1])
    if mantissa == 0 and exponent:  # mpmath's infinities and NaN
        return float(value), 0.0  # type: ignore[arg-type]  # whatever has man_exp is a number
    return nearest(Fraction(mantissa) * Fraction(2) ** exponent)


def _too_large(text: str) -> FieldError:
    return FieldError(f"{text} is larger than any number of type dd", advice="Write a number below 1.797e308.")
