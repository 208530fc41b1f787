"""NumPy's functions of sorted arrays: np.sort, np.argsort, np.unique, np.median and np.quantile, along one axis.

Elements are sorted by their bits, some a pass (`ranks`); those of a number with a fraction are found by exact
arithmetic. NaN comes last, and equal elements keep their order, as in NumPy's stable sort.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.arrays import generate
from workbench.frontend.compression import compress
from workbench.frontend.promotion import cast_term
from workbench.frontend.sorting import sorted_by
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, term_of, wrap
from workbench.graph.types import BOOL, DD, F64, I64

_KINDS = (None, "stable", "quicksort", "mergesort", "heapsort")  # all of which may be stable


def _line(name: str, a: Any, axis: object, kind: object = None, stable: object = None) -> Any:  # noqa: ANN401  # an array value, as below
    """The array, which has one axis that is sorted."""
    text = current_trace(f"np.{name}").text_here(f"np.{name}")
    if axis is None and a.ndim > 1:
        return a.ravel()
    if a.ndim != 1 or axis not in (None, -1, 0):
        raise TraceError(f"{text}: a value of {a.ndim} axes is sorted along one of them", advice="Give one axis: x[0].")
    if kind not in _KINDS or stable not in (None, True, False):
        raise TraceError(f"{text}: kind={kind!r} is unknown", advice="Leave it out; equal elements keep their order.")
    return a


def _ordered(a: Any) -> Any:  # noqa: ANN401
    """The number of the element at each place of the sorted array."""
    type_ = term_of(a).type
    if type_ == BOOL:
        return _by_bits(wrap(cast_term(term_of(a), I64)), 1)
    if type_.is_integer:
        bits = type_.bits
        return _by_bits(a if type_.kind == "uint" else a ^ -(2 ** (bits - 1)), bits)
    if type_ == DD:
        text = current_trace("np.sort").text_here("np.sort")
        raise TraceError(f"{text}: dd numbers are not sorted", advice='Sort them as f64: x.astype("f64").')
    keys = _keys_of_floats(wrap(cast_term(term_of(a), F64)))
    if type_ == F64:
        return _by_bits(keys ^ -(2**63), 64)
    return _by_bits((keys >> 29) + 2**34, 36)  # the last 29 bits of a narrower number are 0


def _by_bits(keys: Any, bits: int) -> Any:  # noqa: ANN401
    term = term_of(keys)
    return wrap(sorted_by(term.trace, term, bits)[1])


def _keys_of_floats(x: Any) -> Any:  # noqa: ANN401
    """Whole numbers in the order of floats: their bits as IEEE 754 has them, of negative ones the complement.

    Products with powers of two are exact here: a number is brought to 1 up to 2 by halves of what its exponent may be.
    """
    size = np.abs(x)
    is_tiny, is_finite = size < 2.0**-1022, size < np.inf
    scaled = np.where(is_tiny | ~is_finite, 1.0, size)
    exponent = np.where(is_tiny, 0, 0)
    for step in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        is_large, is_small = scaled >= 2.0**step, scaled < 2.0 ** (1 - step)
        exponent = np.where(is_large, exponent + step, np.where(is_small, exponent - step, exponent))
        scaled = np.where(is_large, scaled * 2.0**-step, np.where(is_small, scaled * 2.0**step, scaled))
    normal = ((exponent + 1022) << 52) + (scaled * 2.0**52).astype("i64")
    tiny = (np.where(is_tiny, size, 0.0) * 2.0**537 * 2.0**537).astype("i64")
    key = np.where(is_tiny, tiny, np.where(is_finite, normal, 2047 << 52))
    return np.where(x < 0, ~key, np.where(x == x, key, 2**63 - 1))


def _sorted(a: Any, axis: int | None = -1, kind: object = None, *, stable: object = None) -> Any:  # noqa: ANN401
    line = _line("sort", a, axis, kind, stable)
    return line[_ordered(line)]


def _argsorted(a: Any, axis: int | None = -1, kind: object = None, *, stable: object = None) -> Any:  # noqa: ANN401
    return _ordered(_line("argsort", a, axis, kind, stable))


def _unique(ar: Any) -> Any:  # noqa: ANN401
    """The different elements in ascending order; how many there are becomes known during the call."""
    line = ar.ravel() if ar.ndim > 1 else _line("unique", ar, -1)
    found = line[_ordered(line)]
    number: Any = generate(found.shape, lambda i: i)
    before = found[np.maximum(number - 1, 0)]
    is_new = (found != before) & ((found == found) | (before == before))  # of NaN the first one
    return compress(found, (number == 0) | is_new)


def _in_order(a: Any) -> Any:  # noqa: ANN401
    """All elements in ascending order, as floats."""
    line = a.ravel() if a.ndim > 1 else a
    if not term_of(line).type.is_float:
        line = wrap(cast_term(term_of(line), F64))
    return line[_ordered(line)]


def _median(a: Any, axis: object = None) -> Any:  # noqa: ANN401
    """The middle element, or the mean of the two in the middle."""
    _need_all("median", axis)
    found = _in_order(a)
    n = found.shape[0]
    low, high = found[(n - 1) // 2], found[n // 2]
    middle = np.where(n % 2 == 1, high, (low + high) / 2)
    return np.where(found[n - 1] == found[n - 1], middle, found[n - 1])  # NaN where there is one


def _need_all(name: str, axis: object) -> None:
    if axis is not None:
        raise TraceError(
            f"{current_trace(f'np.{name}').text_here(f'np.{name}')} along axis {axis!r}",
            advice="Leave axis out, which takes all elements.",
        )


def _quantile(a: Any, q: Any, axis: object = None) -> Any:  # noqa: ANN401
    """On the line between the two nearest elements, as NumPy's method "linear"."""
    _need_all("quantile", axis)
    if not isinstance(q, Value) and (isinstance(q, bool) or not isinstance(q, int | float) or not 0 <= q <= 1):
        raise TraceError(
            f"{current_trace('np.quantile').text_here('np.quantile')}: q={q!r} is no share",
            advice="Give a number from 0 to 1, or for np.percentile to 100, or an array of them.",
        )
    found = _in_order(a)
    last = found.shape[0] - 1
    place = q * wrap(cast_term(term_of(last), term_of(found).type))
    below: Any = np.floor(place)
    k = wrap(cast_term(term_of(below), I64))
    low, high, part = found[k], found[np.minimum(k + 1, last)], place - below
    between = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part))  # NumPy's way
    return np.where(found[last] == found[last], between, found[last])  # NaN where there is one


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sort": _sorted,
    "argsort": _argsorted,
    "unique": _unique,
    "quantile": _quantile,
    "percentile": lambda a, q, axis=None: _quantile(a, q / 100, axis),
    "median": _median,
}
