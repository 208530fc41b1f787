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
from workbench.frontend.axis_numbers import own_positions
from workbench.frontend.compression import compress
from workbench.frontend.numpy_products import as_array
from workbench.frontend.promotion import cast_term
from workbench.frontend.scatters import scatter
from workbench.frontend.sorting import sorted_by
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, term_of, wrap
from workbench.graph.types import BOOL, DD, F64, I64

_BITS_OF_LINES = 33
"""Of the numbers of lines, in passes of 11: more elements than that many lines have lie in no memory."""
_KINDS = (None, "stable", "quicksort", "mergesort", "heapsort")  # all of which may be stable


def _lines(name: str, a: Any, axis: int | None, kind: object = None, stable: object = None) -> tuple[Any, int]:  # noqa: ANN401  # an array value, as below
    """The array with the axis that is sorted as its last one, and where that one was; one axis alone for None."""
    text = current_trace(f"np.{name}").text_here(f"np.{name}")
    if kind not in _KINDS or stable not in (None, True, False):
        raise TraceError(f"{text}: kind={kind!r} is unknown", advice="Leave it out; equal elements keep their order.")
    if axis is None:
        return (a.ravel() if a.ndim != 1 else a), 0
    (place,) = own_positions(term_of(a), axis, name)
    return np.moveaxis(a, place, -1), place


def _in_lines(a: Any) -> Any:  # noqa: ANN401
    """The place among all elements, the last axis fastest, of what comes at each place of each sorted line.

    All elements are sorted together, and then by the lines in which they are; equal ones keep their order.
    """
    flat, length = a.reshape(-1), a.shape[-1]
    order = _ordered(flat)
    return order[_by_bits(order // np.maximum(length, 1), _BITS_OF_LINES)].reshape(a.shape)


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
    lines, place = _lines("sort", a, axis, kind, stable)
    if lines.ndim == 1:
        return lines[_ordered(lines)]
    return np.moveaxis(_in_order(lines), -1, place)


def _argsorted(a: Any, axis: int | None = -1, kind: object = None, *, stable: object = None) -> Any:  # noqa: ANN401
    lines, place = _lines("argsort", a, axis, kind, stable)
    if lines.ndim == 1:
        return _ordered(lines)
    length = lines.shape[-1]
    return np.moveaxis(_in_lines(lines) % np.maximum(length, 1), -1, place)


def _sorted_by_several(keys: Any, axis: int = -1) -> Any:  # noqa: ANN401
    """np.lexsort: the order by the last key, of equal ones by the one before it, and so on."""
    rows = list(keys) if isinstance(keys, tuple | list) else None
    if not rows or axis not in (-1, 0) or any(as_array(each).ndim != 1 for each in rows):
        raise TraceError(
            f"{current_trace('np.lexsort').text_here('np.lexsort')}: the keys are no tuple of arrays of one axis",
            advice="Write np.lexsort((minor, major)).",
        )
    order = _ordered(as_array(rows[0]))
    for each in rows[1:]:
        order = order[_ordered(as_array(each)[order])]
    return order


def _unique(
    ar: Any,  # noqa: ANN401
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:  # noqa: ANN401
    """The different elements in ascending order; how many there are becomes known during the call.

    And as asked the first place of each, for each element which one it is, and how often each is there.
    """
    line, _ = _lines("unique", ar, None)
    order = _ordered(line)
    found = line[order]
    number: Any = generate(found.shape, lambda i: i)
    before = found[np.maximum(number - 1, 0)]
    is_new = (number == 0) | ((found != before) & ((found == found) | (before == before)))  # of NaN the first one
    made = [compress(found, is_new)]
    if return_index:
        made.append(compress(order, is_new))
    if return_inverse:
        of_each: Any = scatter(None, generate(found.shape, lambda _: 0), order, np.cumsum(is_new) - 1)
        made.append(of_each.reshape(ar.shape))
    if return_counts:
        begins: Any = compress(number, is_new)
        after = np.concatenate((begins[1:], generate(1, lambda _: found.shape[0])))
        made.append(after - begins)
    return made[0] if len(made) == 1 else tuple(made)


def _in_order(lines: Any) -> Any:  # noqa: ANN401
    """The elements of each line in ascending order."""
    if lines.ndim == 1:
        return lines[_ordered(lines)]
    return lines.reshape(-1)[_in_lines(lines)]


def _of_floats(name: str, a: Any, axis: int | None) -> Any:  # noqa: ANN401
    """The elements of each line in ascending order, as floats."""
    lines, _ = _lines(name, a, axis)
    if not term_of(lines).type.is_float:
        lines = wrap(cast_term(term_of(lines), F64))
    return _in_order(lines)


def _median(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    """The middle element, or the mean of the two in the middle."""
    found = _of_floats("median", a, axis)
    n = found.shape[-1]
    low, high, last = found[..., (n - 1) // 2], found[..., n // 2], found[..., n - 1]
    middle = np.where(n % 2 == 1, high, (low + high) / 2)
    return _without_axis(np.where(last == last, middle, last), a, axis, keepdims)  # NaN where there is one


def _without_axis(found: Any, a: Any, axis: int | None, keepdims: bool) -> Any:  # noqa: ANN401
    """A result without the axis, or with one of one element in its place."""
    if not keepdims:
        return found
    if axis is None:
        raise TraceError("keepdims= without axis=", advice="Give an axis.")
    return np.expand_dims(found, axis % a.ndim)


def _quantile(a: Any, q: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    """On the line between the two nearest elements, NumPy's method "linear"; of several shares along a first axis."""
    if not isinstance(q, Value):
        shares = np.asarray(q)
        if shares.dtype.kind not in "iuf" or not ((shares >= 0) & (shares <= 1)).all():
            raise TraceError(
                f"{current_trace('np.quantile').text_here('np.quantile')}: q={q!r} is no share",
                advice="Give a number from 0 to 1, or for np.percentile to 100, or an array of them.",
            )
        if shares.ndim == 1 and axis is not None:
            return np.stack([_quantile(a, float(each), axis, keepdims=keepdims) for each in shares])
        q = q if shares.ndim == 0 else as_array(q)
    found = _of_floats("quantile", a, axis)
    n = found.shape[-1]
    place = q * wrap(cast_term(term_of(n - 1), term_of(found).type))
    below: Any = np.floor(place)
    k = wrap(cast_term(term_of(below), I64))
    low, high, part, last = found[..., k], found[..., np.minimum(k + 1, n - 1)], place - below, found[..., n - 1]
    between = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part))  # NumPy's way
    return _without_axis(np.where(last == last, between, last), a, axis, keepdims)  # NaN where there is one


def _percentile(a: Any, q: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    share = q / 100 if isinstance(q, Value | int | float | np.ndarray) else np.asarray(q) / 100
    return _quantile(a, share, axis, keepdims=keepdims)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sort": _sorted,
    "argsort": _argsorted,
    "lexsort": _sorted_by_several,
    "unique": _unique,
    "quantile": _quantile,
    "percentile": _percentile,
    "median": _median,
}
