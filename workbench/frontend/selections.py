"""Selections: what a function of arrays selects by conditions, whose lengths become known when a program has run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.frontend.axis_table import (
    AnyOrigin,
    AxisTable,
    ComputedOrigin,
    CutOrigin,
    LeastOrigin,
    Origin,
    ProductOrigin,
    QuotientOrigin,
    SelectedOrigin,
    SumOrigin,
)
from workbench.frontend.trace import Term, Trace
from workbench.graph import Axis, Load


@dataclass(frozen=True, slots=True)
class Selected:
    """The elements of an array for which a condition holds, in their order.

    name: of the array that later programs read. elements: the selected ones first, along the axis of the whole array.
    condition: its node. count: how many there are, a number. length: where that comes from, one for a condition.
    text: what the function has.
    """

    name: str
    elements: Term
    condition: int
    count: Term
    length: SelectedOrigin
    text: str


def origins_of(table: AxisTable, axis: Axis) -> tuple[AnyOrigin, ...]:
    """Where the length of an axis comes from: all of the lengths that were found to be one."""
    root = table.length_of(axis)
    return tuple(origin for number, origin in enumerate(table.origins) if table.root(number) == root)


def function_inside(trace: Trace, terms: Sequence[Term]) -> str:
    """Whose function is traced, if it runs inside of one program or its values do; "" where programs may end."""
    if trace.turning is not None or trace.asking:
        return "a while_loop or branch"
    pool = trace.pool
    made_of = map(pool.node, pool.needed(term.index for term in terms))
    loaded = (node.instruction.name for node in made_of if isinstance(node.instruction, Load))
    return "" if trace.stand_ins.keys().isdisjoint(loaded) else "iterate, repeat or a branch"


def selected_in(origin: AnyOrigin) -> Iterator[SelectedOrigin]:
    """The numbers of selected elements that a length is made of."""
    match origin:
        case SelectedOrigin():
            yield origin
        case Origin():
            return
        case CutOrigin(of, cut):
            yield from selected_in(of)
            for bound in cut[:2]:
                if bound is not None and not isinstance(bound, int):
                    yield from selected_in(bound)
        case LeastOrigin(of_all) | SumOrigin(of_all) | ProductOrigin(of_all) | ComputedOrigin(_, of_all):
            for each in of_all:
                yield from selected_in(each)
        case QuotientOrigin(whole, rest):
            for each in (*whole, *rest):
                yield from selected_in(each)
