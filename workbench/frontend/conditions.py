"""Conditions: what functions of arrays select by conditions of any number of axes, as NumPy has it."""

from __future__ import annotations

from typing import Any

from workbench.errors import TraceError
from workbench.frontend.compression import compressed
from workbench.frontend.operations import apply
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import spread
from workbench.frontend.shapes import reshape
from workbench.frontend.subscripts import subscript
from workbench.frontend.trace import Term
from workbench.frontend.value import Value, operand, term_of, wrap
from workbench.graph.types import BOOL


def selected(positions: FunctionPositions, term: Term, condition: Term) -> Value:
    """x[condition]: the elements where it holds, the last axis fastest; of fewer axes it selects along the first ones.

    Raises TraceError for a condition with more axes than the array, or with none. Lengths have to be equal, also where
    one of them is 1, which a call checks.
    """
    rank, own = len(order_of(condition)), len(order_of(term))
    if not 0 < rank <= own:
        raise TraceError(
            f"{positions.trace.text_here('this subscript')}: a condition of {rank} axes on an array of {own}",
            advice="Give a condition on the first axes of the array, or on all.",
        )
    term, condition = _with_lengths(positions, term, rank), _with_lengths(positions, condition, rank)
    for along, asked in zip(order_of(term), order_of(condition), strict=False):
        if along is not None and asked is not None and not positions.table.same_length(along, asked):
            text = positions.trace.text_here("this subscript")
            positions.join(positions.table.length_of(along), positions.table.length_of(asked), text)
    behind = condition.in_order((*order_of(condition), *(None,) * (own - rank)))
    (met, held), _ = positions.meet([term, behind])
    assert isinstance(met, Term)
    assert isinstance(held, Term)
    held = held.in_order(order_of(held)[:rank])
    if own == 1:
        return compressed(met, held)  # type: ignore[no-any-return]  # an array value
    if rank == own:
        return compressed(reshape(positions, met, (-1,)), reshape(positions, held, (-1,)))  # type: ignore[no-any-return]  # as above
    rest: Any = wrap(met)
    rows = met if rank == 1 else reshape(positions, met, (-1, *rest.shape[rank:]))
    return wrap(subscript(positions, rows, [term_of(_places(positions, held))]))


def _with_lengths(positions: FunctionPositions, term: Term, count: int) -> Term:
    """The same elements; each of the first axes has a length, 1 if None made it, which then fits no other one."""
    order = list(order_of(term))
    for place in range(count):
        if order[place] is None:
            one = positions.free(positions.table.axis(positions.length_of(1)), [*order, *term.space.axes])
            order[place] = one
            term = spread(term, positions.space([*term.space.axes, one])).in_order(tuple(order))
    return term


def nonzero(positions: FunctionPositions, a: object) -> tuple[Value, ...]:
    """np.nonzero: along each axis the places of elements that are not zero, the last axis fastest."""
    term = _array(positions, a, "np.nonzero")
    places: Any = _places(positions, _holds(term))
    shape: Any = wrap(term)
    found = []
    for length in reversed(shape.shape[1:]):
        found.append(places % length)
        places = places // length
    return (places, *reversed(found))


def _array(positions: FunctionPositions, a: object, what: str) -> Term:
    given = operand(a)
    if not isinstance(given, Term) or not order_of(given):
        raise TraceError(
            f"{positions.trace.text_here(what)}: a number has no places", advice="Give an array of one axis or more."
        )
    return given


def _holds(term: Term) -> Term:
    """Whether elements are not zero."""
    if term.type == BOOL:
        return term
    made = apply("not_equal", term, 0)
    assert isinstance(made, Term)
    return made


def _places(positions: FunctionPositions, condition: Term) -> Value:
    """The places of elements for which a condition holds, as numbers among all elements."""
    flat = condition if len(order_of(condition)) == 1 else reshape(positions, condition, (-1,))
    flat = positions.with_own_axes(flat)
    axis = order_of(flat)[0]
    assert axis is not None
    index = positions.generate_along([positions.table.length_of(axis)], lambda i: i)
    return compressed(index, flat)  # type: ignore[no-any-return]  # an array value
