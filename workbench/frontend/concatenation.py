"""Concatenation: arrays one after another along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from workbench.errors import TraceError
from workbench.frontend.axis_table import Origin, SumOrigin
from workbench.frontend.formulas import contains
from workbench.frontend.hints import add_hint
from workbench.frontend.operations import apply, where
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, join, spread
from workbench.frontend.renaming import Target
from workbench.frontend.subscripts import is_expensive
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Axis, Hint

_MOST_CHOSEN = 16
"""More arrays are joined: a choice looks at all of them for each element."""


def concatenate(arrays: Sequence[object], axis: object = 0) -> Value:
    """The elements of several arrays one after another along an axis, as NumPy has them; in functions of arrays.

    All arrays have the same number of axes, and equal lengths along the others. The type is that in which they meet.
    A Join writes each array to its place. Few arrays with one element along the last axis, which None made, are chosen
    by its number instead (np.stack), because they lie there element by element.
    """
    trace = current_trace("concatenate")
    positions, text = trace.positions, trace.text_here("concatenate")
    if not isinstance(positions, FunctionPositions):
        raise TraceError(
            f"{text}: axes of a cell go by name", advice="Write it in a function of arrays: @wb.collective."
        )
    if not isinstance(arrays, tuple | list) or not arrays:
        raise TraceError(f"{text} takes a tuple of arrays", advice="Write np.concatenate((x, y)).")
    terms = [each for each in map(operand, arrays) if isinstance(each, Term)]
    ranks = [len(order_of(term)) for term in terms]
    if len(terms) < len(arrays) or not min(ranks) or min(ranks) != max(ranks):
        raise TraceError(
            f"{text}: arrays of {' and '.join(map(str, ranks + [0] * (len(arrays) - len(terms))))} axes",
            advice="Give arrays with as many axes; x[None] has one more.",
        )
    if isinstance(axis, bool) or not isinstance(axis, int) or not -ranks[0] <= axis < ranks[0]:
        raise TraceError(f"{text}: axis {axis!r} of {ranks[0]}", advice=f"Give a number from 0 to {ranks[0] - 1}.")
    place = axis % ranks[0]
    type_ = reduce(join, [term.type for term in terms])
    parts = [cast_term(term, type_) for term in terms]
    if len(parts) == 1:
        return wrap(parts[0])
    is_last = place == ranks[0] - 1
    if is_last and len(parts) <= _MOST_CHOSEN and _are_layers([order_of(term) for term in parts], place):
        return wrap(_chosen(trace, positions, parts, place))
    return wrap(_joined(trace, positions, parts, place))


def _are_layers(orders: Sequence[Sequence[Axis | None]], place: int) -> bool:
    """Whether arrays of these axes have one element along the place, and the same axes made by None beside it."""
    shapes = {tuple(axis is None for axis in order) for order in orders}
    return len(shapes) == 1 and next(iter(shapes))[place]


def _chosen(trace: Trace, positions: FunctionPositions, terms: Sequence[Term], place: int) -> Term:
    """Each element from the array that its number along a new axis names; what is dear is not made for each number."""
    taken = [axis for term in terms for axis in (*order_of(term), *term.space.axes)]
    new = positions.free(positions.table.axis(positions.table.length(Origin("", len(terms)))), taken)
    rank, space = len(order_of(terms[0])), positions.space([new])
    number = trace.emit(lambda pool: pool.index(0, space)).in_order(
        tuple(new if k == place else None for k in range(rank))
    )
    for term in terms:
        if term.is_local and contains(term, is_expensive):
            add_hint(trace, term, Hint("manifest"))
    found: Operand = terms[-1]
    for k, term in reversed(tuple(enumerate(terms[:-1]))):
        found = where(apply("equal", number, k), term, found)
    assert isinstance(found, Term)
    return found


def _joined(trace: Trace, positions: FunctionPositions, terms: Sequence[Term], place: int) -> Term:
    """The arrays one after another along a position: a Join, of which those with one element there lack the axis."""
    table = positions.table
    parts = [_part(positions, term, place) for term in terms]
    first = order_of(parts[0])
    others = first[:place] + first[place + 1 :]
    for part in parts[1:]:
        for number, (a, b) in enumerate(zip(first, order_of(part), strict=True)):
            if number != place and a is not None and b is not None and not table.same_length(a, b):
                positions.join(table.length_of(a), table.length_of(b), trace.text_here())
    one = Origin("", 1)
    lengths = tuple(one if (axis := order_of(part)[place]) is None else table.origin(axis) for part in parts)
    length = table.length(SumOrigin(lengths))
    behind = first[place + 1] if place + 1 < len(first) else None
    if behind is not None:  # so that the result's elements lie as those of NumPy do, and rows are copied
        for each in (length, *(table.length_of(axis) for part in parts if (axis := order_of(part)[place]) is not None)):
            table.put_before(each, table.length_of(behind))
    new = positions.free(table.axis(length), [*first, *(axis for part in parts for axis in order_of(part))])
    moved = [_along(positions, part, others, place) for part in parts]
    space = positions.space((new, *others))
    made = trace.emit(lambda pool: pool.join(space.axes.index(new), [part.index for part in moved], space))
    return made.in_order((*first[:place], new, *first[place + 1 :]))


def _part(positions: FunctionPositions, term: Term, place: int) -> Term:
    """The array along axes of its own at all positions; without one where it is one element, if it has others."""
    order = order_of(term)
    if order[place] is not None or len(order) == 1:
        return positions.with_own_axes(term)
    left = positions.with_own_axes(term.in_order((*order[:place], *order[place + 1 :])))
    own = order_of(left)
    return left.in_order((*own[:place], None, *own[place:]))


def _along(positions: FunctionPositions, part: Term, others: Sequence[Axis | None], place: int) -> Term:
    """The part along these axes at the other positions, and along one that is none of them at the place."""
    order = order_of(part)
    own, rest = order[place], order[:place] + order[place + 1 :]
    along = {a: Target(b) for a, b in zip(rest, others, strict=True) if a is not None and b is not None and a != b}
    if own is not None and own in others:
        along[own] = Target(positions.free(own, [*others, *order]))
    moved = positions.rename(part, along)
    end = order_of(moved)[place]
    return spread(moved, positions.space([*others, *([] if end is None else [end])]))
