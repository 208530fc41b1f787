"""NumPy's functions of an array's neighbours and surroundings: np.pad, np.gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.axis_numbers import own_positions
from workbench.frontend.axis_table import AnyOrigin, Origin, SumOrigin
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, constant
from workbench.frontend.trace import Operand, Term, current_trace
from workbench.frontend.value import Value, operand, term_of, wrap
from workbench.frontend.windows import windows
from workbench.graph.types import BOOL

_Width = int | Value
_Widths = list[tuple[_Width, _Width]]


def pad(array: Any, pad_width: object, mode: str = "constant", constant_values: Any = 0) -> Any:  # noqa: ANN401  # an array value
    """np.pad; pad_width: known whole numbers, or lengths. Elements of the array are read at computed places.

    A constant is joined to the array, which may be empty then, and whose rows are read as they are.
    """
    term = term_of(array)
    positions = term.trace.positions
    assert isinstance(positions, FunctionPositions)
    whole = positions.with_own_axes(term)
    widths = _widths(pad_width, len(order_of(whole)))
    if mode not in (known := ("constant", *_CELLS)):
        raise TraceError(f"np.pad with mode={mode!r}", advice=f"Use one of {', '.join(sorted(known))}.")
    if isinstance(constant_values, tuple | list) or not _is_number(constant_values):
        raise TraceError("np.pad with several constant values", advice="Give one number, or pad one side at a time.")
    if mode == "constant":
        return _surrounded(positions, whole, widths, constant_values)
    table, lengths = positions.table, []
    for axis, (before, after) in zip(order_of(whole), widths, strict=True):
        assert axis is not None
        own = table.origin(axis)
        padded = SumOrigin((_origin(positions, before), own, _origin(positions, after)))
        lengths.append(table.length_of(axis) if _is_nothing(before) and _is_nothing(after) else table.length(padded))
    inner: Any = wrap(whole)

    def element(*place: Any) -> Any:  # noqa: ANN401  # an index along each axis
        triples = zip(place, widths, inner.shape, strict=True)
        return inner[tuple(_CELLS[mode](index - before, n) for index, (before, _), n in triples)]

    return wrap(positions.generate_along(lengths, element))


def _surrounded(positions: FunctionPositions, array: Term, widths: _Widths, value: object) -> Any:  # noqa: ANN401
    """The array with a number before and after its elements along each axis."""
    given = operand(value)
    made: Any = wrap(array)
    if isinstance(given, bool | int | float) and array.type == BOOL:
        given = bool(given)
    for place, sides in enumerate(widths):
        parts: list[Any] = [made]
        for number, width in enumerate(sides):
            if not _is_nothing(width):
                parts.insert(2 * number, _block(positions, term_of(made), place, width, given))
        made = np.concatenate(parts, place)
    return made


def _origin(positions: FunctionPositions, width: _Width) -> AnyOrigin:
    if isinstance(width, int):
        return Origin("", width)  # which gets no number of its own in the table
    return positions.table.origins[positions.length_of(width)]


def _is_nothing(width: _Width) -> bool:
    return isinstance(width, int) and width == 0


def _block(positions: FunctionPositions, beside: Term, place: int, width: _Width, value: Operand) -> Value:
    """An array of one number, as wide along one axis, and as long as another array along the others."""
    table = positions.table
    lengths = [table.length_of(axis) for axis in order_of(beside) if axis is not None]
    lengths[place] = table.length(_origin(positions, width))
    if isinstance(value, Term):
        made = cast_term(value, beside.type)
        return wrap(positions.generate_along(lengths, lambda *_: wrap(made)))
    axes = table.axes(lengths)
    for axis in axes:
        positions.widen(axis)
    return wrap(constant(positions.trace, value, beside.type, positions.space(axes)).in_order(axes))


def _is_number(value: object) -> bool:
    given = operand(value)
    return not isinstance(given, Term) or not given.is_local


def _cut(own: Any, n: Any) -> Any:  # noqa: ANN401  # traced
    return np.minimum(np.maximum(own, 0), n - 1)


def _wrapped(own: Any, n: Any) -> Any:  # noqa: ANN401  # traced
    return own % n


def _mirrored(own: Any, n: Any) -> Any:  # noqa: ANN401  # traced
    period = np.maximum(2 * (n - 1), 1)
    place = own % period
    return np.where(place < n, place, period - place)


def _reflected(own: Any, n: Any) -> Any:  # noqa: ANN401  # traced
    place = own % (2 * n)
    return np.where(place < n, place, 2 * n - 1 - place)


_CELLS: dict[str, Callable[[Any, Any], Any]] = {
    "edge": _cut,
    "wrap": _wrapped,
    "reflect": _mirrored,
    "symmetric": _reflected,
}
"""The element that stands at an index outside of n elements, by NumPy's name."""


def _widths(given: object, rank: int) -> _Widths:
    """Elements before and after along each axis, of one number, a pair, or a pair for each axis."""
    rows = given if isinstance(given, tuple | list) else (given,)
    if all(isinstance(row, tuple | list) for row in rows):
        pairs = [tuple(row) * (2 if len(row) == 1 else 1) for row in rows]
    else:
        pairs = [tuple(rows) * (2 if len(rows) == 1 else 1)]
    pairs = pairs * (rank if len(pairs) == 1 else 1)
    text, axes = current_trace("np.pad").text_here("np.pad"), f"{rank} ax{'i' if rank == 1 else 'e'}s"
    if len(pairs) != rank or any(len(pair) != 2 or not all(map(_is_width, pair)) for pair in pairs):
        raise TraceError(
            f"{text}: widths {given!r} for {axes}",
            advice="Give whole numbers that are known while the function is traced, or lengths such as x.shape[0] - 1: "
            "1, (1, 2) or ((1, 1), (2, 2)).",
        )
    return [(before, after) for before, after in pairs]


def _is_width(value: object) -> bool:
    if isinstance(value, Value):
        return not term_of(value).is_local
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def gradient(f: Any, *spacing: Any, axis: object = None) -> Any:  # noqa: ANN401  # an array value
    """np.gradient: central differences, one-sided ones at the ends; a list where there are several axes."""
    term = term_of(f)
    rank = len(order_of(term))
    places: Sequence[int] = range(rank) if axis is None else own_positions(term, axis, "gradient")
    steps = spacing * (len(places) if len(spacing) == 1 else 1) or (1.0,) * len(places)
    if len(steps) != len(places) or not all(map(_is_number, steps)):
        raise TraceError(
            f"np.gradient with {len(spacing)} spacings for {len(places)} axes",
            advice="Give one number, or one for each axis; for unequal distances write the formula.",
        )
    found = [_derivative(f, place, rank, step) for place, step in zip(places, steps, strict=True)]
    return found[0] if len(found) == 1 else found


def _derivative(f: Any, place: int, rank: int, step: Any) -> Any:  # noqa: ANN401  # an array value
    def at(distance: int) -> tuple[int, ...]:
        return tuple(distance if number == place else 0 for number in range(rank))

    def moved(distance: int) -> Any:  # noqa: ANN401  # an array value
        return windows(lambda w: w[at(distance)], f, "outflow")

    index, last = index_along(term_of(f), place), f.shape[place] - 1
    ahead, behind = moved(1), moved(-1)
    inside = (ahead - behind) / (2.0 * step)
    return np.where(index == 0, (ahead - f) / step, np.where(index == last, (f - behind) / step, inside))


def index_along(term: Term, place: int) -> Any:  # noqa: ANN401  # an array value
    """The number of each element along one axis, which is the same along the others."""
    axis = order_of(term)[place]
    if axis is None:
        return wrap(operand(0))
    number = term.space.axes.index(axis)
    return wrap(term.trace.emit(lambda pool: pool.index(number, term.space)).in_order(term.order))
