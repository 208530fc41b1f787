"""NumPy's functions of arrays that are made of others: np.roll, np.diff, np.argmin, np.var and their kin.

Each means for a traced array what it means in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.arrays import generate
from workbench.frontend.axis_numbers import own_positions
from workbench.frontend.axis_table import Origin
from workbench.frontend.numpy_windows import gradient, index_along, pad
from workbench.frontend.offsets import whole_or_none
from workbench.frontend.operations import parse_type, where
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, constant, number_type
from workbench.frontend.records import packed, unpacked
from workbench.frontend.scatters import scatter
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import Value, operand, term_of, wrap
from workbench.frontend.windows import windows
from workbench.graph import GLOBAL
from workbench.graph.first_extremes import Extreme, first_extreme
from workbench.graph.types import BOOL, F64, I64


def _place(a: Value, axis: object, name: str) -> int:
    """The number of one axis, counted from the first. Raises TraceError for several."""
    found = own_positions(term_of(a), axis, name)
    if len(found) != 1:
        raise TraceError(f"np.{name} over the axes {axis!r}", advice="Name one axis.")
    return found[0]


def _along(rank: int, place: int, part: object) -> tuple[object, ...]:
    """A subscript with `part` for one axis and all of the others."""
    return tuple(part if number == place else slice(None) for number in range(rank))


def _rank(a: object) -> int:
    """How many axes it has. Raises TraceError for an array of NumPy, which no program holds."""
    given = operand(a)
    return len(order_of(given)) if isinstance(given, Term) else 0


def _roll(a: Any, shift: object, axis: object = None) -> Value:  # noqa: ANN401  # an array value
    if axis is None and _rank(a) != 1:
        return _roll(a.ravel(), shift, 0).reshape(a.shape)  # type: ignore[operator, no-any-return]  # an array value
    shifts = shift if isinstance(shift, tuple | list) else (shift,)
    axes = axis if isinstance(axis, tuple | list) else (0 if axis is None else axis,)
    if any(isinstance(each, bool) or not isinstance(each, int) for each in shifts) or len(shifts) != len(axes):
        raise TraceError(
            f"{current_trace('np.roll').text_here('np.roll')}: a shift of {shift!r} along {axis!r}",
            advice="Give a whole number known while the function is traced, one for each axis: np.roll(x, 1, axis=0)."
            " For a computed one write x[(i - shift) % n] with the indices i.",
        )
    offsets = [0] * _rank(a)
    for each, along in zip(shifts, axes, strict=True):
        offsets[_place(a, along, "roll")] -= each
    return windows(lambda w: w[tuple(offsets)], a, "periodic")


def _flip(a: Value, axis: object = None) -> Value:
    places = range(_rank(a)) if axis is None else own_positions(term_of(a), axis, "flip")
    return a[tuple(slice(None, None, -1) if number in places else slice(None) for number in range(_rank(a)))]


def _diff(a: Value, n: int = 1, axis: int = -1) -> Value:
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise TraceError(f"np.diff of order {n!r}", advice="Give a whole number from 0 on.")
    place, rank = _place(a, axis, "diff"), _rank(a)
    for _ in range(n):
        after, before = a[_along(rank, place, slice(1, None))], a[_along(rank, place, slice(None, -1))]
        a = after != before if term_of(a).type == BOOL else after - before
    return a


def _stack(arrays: Sequence[Value], axis: int = 0) -> Any:  # noqa: ANN401  # an array value
    layers = [each if isinstance(each, Value) else _as_number(each) for each in arrays]
    return np.concatenate([np.expand_dims(each, axis) for each in layers], axis)


def _as_number(value: object) -> Any:  # noqa: ANN401  # an array value
    """A Python number as one number of the program; anything else as it is."""
    given = operand(value) if isinstance(value, bool | int | float | np.generic) else value
    if not isinstance(given, bool | int | float):
        return value
    trace = current_trace("np.stack")
    return wrap(constant(trace, given, number_type(trace, given), GLOBAL))


def _moved(a: Any, source: int, destination: int) -> Value:  # noqa: ANN401  # an array value
    start, end = _place(a, source, "moveaxis"), _place(a, destination, "moveaxis")
    order = [number for number in range(_rank(a)) if number != start]
    order.insert(end, start)
    return a.transpose(*order)  # type: ignore[no-any-return]  # an array value


def _swapped(a: Any, axis1: int, axis2: int) -> Value:  # noqa: ANN401  # an array value
    order = list(range(_rank(a)))
    first, second = _place(a, axis1, "swapaxes"), _place(a, axis2, "swapaxes")
    order[first], order[second] = second, first
    return a.transpose(*order)  # type: ignore[no-any-return]  # an array value


def _taken(a: Any, indices: object, axis: int | None = None) -> Value:  # noqa: ANN401  # an array value
    if axis is None:
        return a.ravel()[indices]  # type: ignore[no-any-return]  # an array value
    return a[_along(_rank(a), _place(a, axis, "take"), indices)]  # type: ignore[no-any-return]  # an array value


def _filled(a: object, fill_value: object, dtype: object = None) -> Value:
    """The same number in each place of an array; no array of them is stored."""
    term = operand(a)
    if not isinstance(term, Term):
        return wrap(operand(fill_value))
    type_ = term.type if dtype is None else parse_type(dtype)
    given = operand(fill_value)
    if not isinstance(given, Term):
        value = bool(given) if type_ == BOOL else given
        return wrap(constant(term.trace, value, type_, term.space).in_order(term.order))
    everywhere = constant(term.trace, True, BOOL, term.space).in_order(term.order)
    return wrap(where(everywhere, cast_term(given, type_), cast_term(given, type_)))


def _place_in_row(name: Extreme, term: Term, *, keepdims: bool) -> Term:
    """The same along the last axis: one fold of the elements with their places, so that they are read once."""
    positions, last = term.trace.positions, len(order_of(term)) - 1
    assert isinstance(positions, FunctionPositions)
    records = packed(term.trace, [term, term_of(index_along(term, last))]).in_order(order_of(term))
    found = positions.fold_axes(first_extreme(name, term.type), records, last, in_any_order=True)
    place = unpacked(found, 2)[1]
    return place.in_order((*order_of(place), None)) if keepdims else place


def _extreme(name: Extreme) -> Callable[..., Value]:
    """The first place of the smallest or largest element; of the first NaN if there is one."""

    def function(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Value:  # noqa: ANN401  # an array value
        if axis is None and _rank(a) != 1:
            if keepdims:
                raise TraceError(f"np.arg{name}: keepdims= without axis=", advice="Give an axis.")
            return function(a.ravel(), 0)
        place = _place(a, 0 if axis is None else axis, f"arg{name}")
        term = term_of(a)
        if term.type == BOOL:
            return function(wrap(cast_term(term, I64)), axis, keepdims=keepdims)
        if place == _rank(a) - 1 and order_of(term)[place] is not None and not term.type.is_record:
            return wrap(_place_in_row(name, term, keepdims=keepdims))
        is_best = a == getattr(a, name)(place, keepdims=True)
        if term.type.is_float:
            is_best = is_best | (a != a)  # NaN
        index, length = index_along(term, place), a.shape[place]
        found: Any = np.where(is_best, index, length)
        return found.min(place, keepdims=keepdims)  # type: ignore[no-any-return]  # an array value

    return function


def _variance(a: Any, axis: object = None, *, ddof: float = 0, keepdims: bool = False) -> Value:  # noqa: ANN401
    term = term_of(a)
    given: Any = a if term.type.is_float else wrap(cast_term(term, F64))
    away = given - given.mean(axis, keepdims=True)
    squares = (away * away).sum(axis, keepdims=keepdims)
    places = range(_rank(a)) if axis is None else own_positions(term, axis, "var")
    count: Any = 1
    for place in places:
        count = count * a.shape[place]
    return squares / (count - ddof)  # type: ignore[no-any-return]  # an array value


def _deviation(a: Value, axis: object = None, *, ddof: float = 0, keepdims: bool = False) -> Any:  # noqa: ANN401
    variance: Any = _variance(a, axis, ddof=ddof, keepdims=keepdims)
    return np.sqrt(variance)


def _nonzero_count(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    holds = a if term_of(a).type == BOOL else a != 0
    return holds.sum(axis, keepdims=keepdims)


def _spread_of_values(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    return a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims)


def _norm(a: Any, ord: object = None, axis: object = None, keepdims: bool = False) -> Any:  # noqa: ANN401
    if ord is not None and not (ord == 2 and (axis is not None or _rank(a) == 1)):
        raise TraceError(
            f"np.linalg.norm of order {ord!r}", advice="Leave ord out for the root of the sum of squares, or write it."
        )
    return np.sqrt((a * a).sum(axis, keepdims=keepdims))


def _lines(arrays: Sequence[Any]) -> list[Any]:
    """Arrays with an axis more where they have one alone: as rows of np.vstack."""
    return [each[None] if _rank(each) == 1 else each for each in arrays]


def _side_by_side(arrays: Sequence[Any]) -> Any:  # noqa: ANN401  # an array value
    return np.concatenate(arrays, 0 if _rank(arrays[0]) == 1 else 1)


def _columns(arrays: Sequence[Any]) -> Any:  # noqa: ANN401  # an array value
    return np.concatenate([each[:, None] if _rank(each) == 1 else each for each in arrays], 1)


def _appended(arr: Any, values: Any, axis: int | None = None) -> Any:  # noqa: ANN401  # an array value
    if axis is not None:
        return np.concatenate((arr, values), axis)
    parts: list[Any] = [
        each if isinstance(each, Value) and _rank(each) else _one_element(each) for each in (arr, values)
    ]
    return np.concatenate([each.ravel() for each in parts])


def _one_element(value: object) -> Value:
    """An array of this number alone."""
    return generate(1, lambda _: value)


def _squeezed(a: Any, axis: int | None = None) -> Value:  # noqa: ANN401  # an array value
    if axis is None:
        raise TraceError(
            f"{current_trace('np.squeeze').text_here('np.squeeze')}: which axes have one element is known at the call",
            advice="Name one: np.squeeze(x, axis=1).",
        )
    place, term = _place(a, axis, "squeeze"), term_of(a)
    order = order_of(term)
    own, rank = order[place], len(order)
    if own is None:
        return wrap(term.in_order((*order[:place], *order[place + 1 :])))
    positions = term.trace.positions
    assert isinstance(positions, FunctionPositions)
    one = positions.table.length(Origin("", 1))
    if positions.table.length_of(own) != one:
        positions.join(positions.table.length_of(own), one, "np.squeeze")
    return a[_along(rank, place, 0)]  # type: ignore[no-any-return]  # an array value


def _selected(condlist: Sequence[Any], choicelist: Sequence[Any], default: object = 0) -> Any:  # noqa: ANN401
    if not condlist or len(condlist) != len(choicelist):
        raise TraceError(
            f"np.select of {len(condlist)} conditions and {len(choicelist)} choices", advice="Give as many of both."
        )
    found: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = np.where(condition, choice, found)
    return found


def _clipped(
    a: Any,  # noqa: ANN401  # an array value, as below
    a_min: Any = None,  # noqa: ANN401
    a_max: Any = None,  # noqa: ANN401
    *,
    min: Any = None,  # noqa: ANN401
    max: Any = None,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    for low in (a_min, min):
        a = a if low is None else np.maximum(a, low)
    for high in (a_max, max):
        a = a if high is None else np.minimum(a, high)
    return a


def _rounded(a: Any, decimals: int = 0) -> Any:  # noqa: ANN401  # an array value
    """np.round; to decimals by a product and a quotient with a power of ten, as NumPy does it."""
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise TraceError(f"np.round to {decimals!r} decimals", advice="Give a whole number known while tracing.")
    if not term_of(a).type.is_float:
        if decimals < 0:
            raise TraceError("np.round of whole numbers to tens", advice="Write 10 * ((x + 5) // 10), or another rule.")
        return a
    scale = 10.0 ** abs(decimals)
    if decimals == 0:
        return np.rint(a)
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


def _averaged(a: Any, axis: object = None, weights: Any = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401
    if weights is None:
        return a.mean(axis, keepdims=keepdims)
    if _rank(weights) == 1 != _rank(a) and axis is not None:
        place = _place(a, axis, "average")
        weights = weights[tuple(slice(None) if number == place else None for number in range(_rank(a)))]
    return (a * weights).sum(axis, keepdims=keepdims) / weights.sum(axis, keepdims=keepdims)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:  # noqa: ANN401
    place, rank = _place(y, axis, "trapezoid"), _rank(y)
    widths = dx if x is None else _diff(x)
    if x is not None and _rank(x) != rank:
        widths = widths[tuple(slice(None) if number == place else None for number in range(rank))]
    return (widths * (y[_along(rank, place, slice(1, None))] + y[_along(rank, place, slice(None, -1))]) / 2).sum(place)


def _triangle(is_upper: bool) -> Callable[..., Any]:
    def function(m: Any, k: int = 0) -> Any:  # noqa: ANN401  # an array value
        if _rank(m) < 2:
            name = f"np.tri{'u' if is_upper else 'l'}"
            raise TraceError(f"{name} of a value of {_rank(m)} axes", advice=f"Give two, as x[None]: {name}(x[None]).")
        rows, columns = index_along(term_of(m), _rank(m) - 2), index_along(term_of(m), _rank(m) - 1)
        is_kept: Any = columns - rows >= k if is_upper else columns - rows <= k
        return np.where(is_kept, m, _filled(m, 0))

    return function


def _sum_without_nan(a: Any, axis: object = None, *, keepdims: bool = False) -> Any:  # noqa: ANN401  # an array value
    given: Any = np.where(np.isnan(a), 0.0, a) if term_of(a).type.is_float else a
    return given.sum(axis, keepdims=keepdims)


def _counted(x: Any, weights: Any = None, minlength: object = 0) -> Any:  # noqa: ANN401  # an array value
    text = current_trace("np.bincount").text_here("np.bincount")
    if isinstance(minlength, tuple | list):
        raise TraceError(f"{text}: minlength= is several numbers", advice="Give one length: minlength=x.shape[0].")
    if whole_or_none(minlength) == 0:
        raise TraceError(
            f"{text}: how long the result is depends on the elements",
            advice="Give its length: np.bincount(x, minlength=256), or minlength=y.shape[0]. A larger element is an "
            "error at the call then.",
        )
    zero = 0 if weights is None else 0.0
    return scatter("add", generate(minlength, lambda _: zero), x, 1 if weights is None else weights)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "roll": _roll,
    "flip": _flip,
    "diff": _diff,
    "stack": _stack,
    "moveaxis": _moved,
    "swapaxes": _swapped,
    "take": _taken,
    "zeros_like": lambda a, dtype=None: _filled(a, 0, dtype),
    "ones_like": lambda a, dtype=None: _filled(a, 1, dtype),
    "full_like": _filled,
    "copy": lambda a: a,
    "argmin": _extreme("min"),
    "argmax": _extreme("max"),
    "var": _variance,
    "std": _deviation,
    "ptp": _spread_of_values,
    "count_nonzero": _nonzero_count,
    "norm": _norm,
    "ndim": lambda a: a.ndim,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "append": _appended,
    "bincount": _counted,
    "gradient": gradient,
    "pad": pad,
    "hstack": _side_by_side,
    "vstack": lambda tup: np.concatenate(_lines(tup), 0),
    "column_stack": _columns,
    "squeeze": _squeezed,
    "select": _selected,
    "clip": _clipped,
    "round": _rounded,
    "average": _averaged,
    "vdot": lambda a, b: (a * b).sum(),
    "trapezoid": _trapezoid,
    "tril": _triangle(False),
    "triu": _triangle(True),
    "nansum": _sum_without_nan,
}
