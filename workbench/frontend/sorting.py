"""Sorting: the order of elements by whole numbers, a stable radix sort of some bits a pass (Knuth, TAOCP 5.2.5)."""

from __future__ import annotations

from workbench.frontend.operations import apply
from workbench.frontend.regions import last_sent
from workbench.frontend.trace import Term, Trace
from workbench.graph.ranks import MOST_BITS


def sorted_by(trace: Trace, keys: Term, bits: int) -> tuple[Term, Term]:
    """The keys in ascending order of their low bits, and the number of the element at each place; i64.

    keys: whole numbers along one axis; equal ones keep their order. A pass ranks by some bits, of which a negative
    number has those of two's complement, and sends each element to its place.
    """
    space, passes = keys.space, -(-bits // MOST_BITS)
    width = -(-bits // passes)
    order = trace.emit(lambda pool: pool.index(0, space)).in_order(keys.order)
    for low in range(0, bits, width):
        digit = apply("shift_right", keys, low) if low else keys
        assert isinstance(digit, Term)
        some = min(width, bits - low)
        place = trace.emit(lambda pool, digit=digit, some=some: pool.rank(digit.index, some))  # type: ignore[misc]  # bound now
        keys, order = (_sent(trace, each, place) for each in (keys, order))
    return keys, order


def _sent(trace: Trace, each: Term, place: Term) -> Term:
    """The elements at their places, which are all there are."""
    keep, type_, space = last_sent(trace, each.type), each.type, each.space
    zero = trace.emit(lambda pool: pool.imm(0, type_, space))
    return trace.emit(lambda pool: pool.scatter(keep, zero.index, each.index, [place.index])).in_order(each.order)
