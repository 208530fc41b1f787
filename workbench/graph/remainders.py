"""The meaning of `//` and `%` of floats (semantics §2): Python's and NumPy's, from the exact remainder of C."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def floor_divide(a: Array, b: Array) -> Array:
    """The whole number of times that b is in a; a / b where b is 0."""
    rest, turned = _truncated(a, b)
    quotient = (a - rest) / b
    quotient = np.where(turned, quotient - 1, quotient)
    below = np.floor(quotient)
    whole = np.where(quotient - below > 0.5, below + 1, below)  # it is one but for its rounding
    whole = np.where(quotient == 0, np.copysign(np.zeros_like(b), a / b), whole)
    return np.asarray(np.where(b == 0, a / b, whole), a.dtype)


def remainder(a: Array, b: Array) -> Array:
    """What is left of a, with the sign of b."""
    rest, turned = _truncated(a, b)
    found = np.where(turned, rest + b, rest)
    return np.asarray(np.where(rest == 0, np.copysign(np.zeros_like(b), b), found), a.dtype)


def _truncated(a: Array, b: Array) -> tuple[Array, Array]:
    """C's remainder, which is exact and has the sign of a; whether that is not the sign of b."""
    rest = np.fmod(a, b)
    return rest, (rest != 0) & ((b < 0) != (rest < 0))
