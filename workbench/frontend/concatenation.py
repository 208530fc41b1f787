"""Concatenation: arrays one after another along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from workbench.errors import TraceError
from workbench.frontend.axis_table import Origin, SumOrigin
from workbench.frontend.operations import apply, where
from workbench.frontend.positions import FunctionPositions, contains, order_of
from workbench.frontend.promotion import cast_term, constant, join, spread
from workbench.frontend.regions import last_sent
from workbench.frontend.renaming import Target
from workbench.frontend.scan_reads import size_of
from workbench.frontend.subscripts import is_expensive
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Axis, Hint, KernelBuilder
from workbench.graph.types import BOOL, I64

_MOST_CHOSEN = 16
"""More arrays are sent to their places: a choice looks at all of them for each element."""


def concatenate(arrays: Sequence[object], axis: object = 0) -> Value:
    """The elements of several arrays one after another along an axis, as NumPy has them; in functions of arrays.

    All arrays have the same number of axes, and equal lengths along the others. The type is that in which they meet.
    Each array is sent to its place (a Scatter), because one of them may have no element. Few arrays with one element
    along the axis, which None made, are chosen by its number instead: np.stack.
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
    if len(terms) <= _MOST_CHOSEN and _are_layers([order_of(term) for term in terms], place):
        type_ = reduce(join, [term.type for term in terms])
        return wrap(_chosen(trace, positions, [cast_term(term, type_) for term in terms], place))
    whole = [positions.with_own_axes(term) for term in terms]
    type_ = reduce(join, [term.type for term in whole])
    return wrap(_joined(trace, positions, [cast_term(term, type_) for term in whole], place))


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
            trace.hint(term, Hint("manifest"))
    found: Operand = terms[-1]
    for k, term in reversed(tuple(enumerate(terms[:-1]))):
        found = where(apply("equal", number, k), term, found)
    assert isinstance(found, Term)
    return found


def _joined(trace: Trace, positions: FunctionPositions, terms: Sequence[Term], place: int) -> Term:
    table, type_ = positions.table, terms[0].type
    first = terms[0].order or ()
    for term in terms[1:]:
        for number, (a, b) in enumerate(zip(first, order_of(term), strict=True)):
            if number != place and a is not None and b is not None and not table.same_length(a, b):
                positions.join(table.length_of(a), table.length_of(b), trace.text_here())
    lengths = tuple(table.origin(axis) for term in terms if (axis := order_of(term)[place]) is not None)
    taken = [*first, *(axis for term in terms for axis in order_of(term))]
    new = positions.free(table.axis(table.length(SumOrigin(lengths))), taken)
    order = tuple(new if number == place else axis for number, axis in enumerate(first))
    space = positions.space(order)
    made = constant(trace, False if type_ == BOOL else 0, type_, space)
    begins = trace.emit(lambda pool: pool.imm(0, I64))
    for term in terms:
        own = order_of(term)[place]
        assert own is not None
        pairs = enumerate(zip(order_of(term), first, strict=True))
        along = {a: Target(b) for k, (a, b) in pairs if k != place and a is not None and b is not None and a != b}
        moved = positions.rename(term, along)
        senders = positions.space([own if k == place else axis for k, axis in enumerate(first)])
        made = _sent(trace, made, spread(moved, senders), {new: own}, begins)
        size = size_of(trace, own)
        begins = trace.emit(lambda pool, size=size, begins=begins: pool.arith("add", begins.index, size.index))  # type: ignore[misc]  # bound now
    return made.in_order(order)


def _sent(trace: Trace, made: Term, sent: Term, own: dict[Axis, Axis], begins: Term) -> Term:
    """The array with one more in its place: from `begins` on along the axis that is another one of what is sent."""
    keeps = last_sent(trace, made.type)

    def build(pool: KernelBuilder) -> int:
        indices = []
        for axis in made.space.axes:
            index = pool.index(sent.space.axes.index(own.get(axis, axis)), sent.space)
            if axis in own:
                index = pool.arith("add", index, pool.broadcast(begins.index, sent.space))
            indices.append(index)
        return pool.scatter(keeps, made.index, sent.index, indices, None)

    return trace.emit(build)
