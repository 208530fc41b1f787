"""Reach: how far outside the domain each value is needed (Paraiso's boundary analysis, turned round)."""

from __future__ import annotations

from workbench.errors import PlanError
from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
    Kernel,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Node,
    Rank,
    Reduce,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Store,
    Undefined,
    value_name,
)
from workbench.graph.instructions import array_places, places_on_domain, traits_of
from workbench.planning.kernel_plan import Margins

Offset = tuple[int, ...]


def no_margins(dim: int) -> Margins:
    """Return the margins of a value that is needed on the domain only."""
    return ((0, 0),) * dim


def union(a: Margins, b: Margins) -> Margins:
    """Return the margins that cover both."""
    return tuple((max(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, b, strict=True))


def moved(margins: Margins, offset: Offset) -> Margins:
    """Return where the operand of Shift(offset) is needed if the result is needed within `margins`."""
    return tuple((max(m[0] + o, 0), max(m[1] - o, 0)) for m, o in zip(margins, offset, strict=True))


def rank_of(kernel: Kernel, index: int) -> int:
    """Return the number of axes of a value; one that is no Local counts as having them all."""
    node = kernel.nodes[index]
    return node.space.rank if node.is_local and node.space is not None else kernel.space.rank


def projection(kernel: Kernel, replicate: int) -> tuple[int, ...]:
    """Return the numbers of the axes of a Replicate that its operand has."""
    node = kernel.nodes[replicate]
    inner = kernel.nodes[node.operands[0]].space
    assert inner is not None
    assert node.space is not None
    positions = inner.positions_in(node.space)
    assert positions is not None
    return positions


def demands(kernel: Kernel, index: int, margins: Margins) -> tuple[Margins, ...]:
    """Return how far each operand is needed by a node that is needed within `margins`; of each its own axes.

    Reduce and Store see the domain; so does Extend of its first operand, whose outside it replaces, and a Fold along
    the axes that it folds. The operands of value rules are needed wherever the ghosts are.
    """
    node = kernel.nodes[index]
    traits = traits_of(node.instruction)
    match node.instruction:
        case Shift(offset):
            return (moved(margins, offset),)
        case Replicate():
            return (tuple(margins[axis] for axis in projection(kernel, index)),)
        case Fold(_, axes):
            kept = iter(margins)
            return (tuple((0, 0) if k in axes else next(kept) for k in range(rank_of(kernel, node.operands[0]))),)
        case Scatter() | Join():
            return tuple(no_margins(rank_of(kernel, operand)) for operand in node.operands)
        case _ if on_domain := places_on_domain(node.instruction):
            return tuple(
                no_margins(rank_of(kernel, operand)) if number in on_domain else margins
                for number, operand in enumerate(node.operands)
            )
        case _ if traits.reads in ("cell", "none"):
            return (no_margins(len(margins)) if traits.reads == "none" else margins,) * len(node.operands)
        case _:
            raise AssertionError(f"nothing says how far the operands of node {index} ({traits.word}) are needed")


def find_margins(kernel: Kernel, live: frozenset[int]) -> tuple[Margins, ...]:
    """Return for each node the margins within which the live nodes need it, along its own axes; zero for dead ones.

    Before: operands precede their consumers. After: the margins cover every read of every plan, because a value is
    needed equally far whether it is stored or recomputed.
    """
    margins = [no_margins(rank_of(kernel, index)) for index in range(len(kernel.nodes))]
    if not any(isinstance(kernel.nodes[index].instruction, Shift) for index in live):
        return tuple(margins)  # nothing else asks for a cell beside
    for index in sorted(live, reverse=True):
        node = kernel.nodes[index]
        for operand, needed in zip(node.operands, demands(kernel, index, margins[index]), strict=True):
            if kernel.nodes[operand].is_local:
                margins[operand] = union(margins[operand], needed)
    return tuple(margins)


def check_reach(kernel: Kernel, live: frozenset[int], margins: tuple[Margins, ...]) -> None:
    """Refuse a read outside a field that has no boundary rule there: PlanError with field, side and line.

    Also a boundary value that itself depends on an array or a fold over some axes: fills evaluate boundary values in
    ghost cells, from indices and Globals alone.
    """
    for index in sorted(live):
        node = kernel.nodes[index]
        if not node.is_local:
            continue
        if isinstance(node.instruction, Extend):
            _refuse_arrays_in_rules(kernel, index)
        for axis, pair in enumerate(margins[index]):
            for side in (0, 1):
                if pair[side] and _undefined(node, axis, side):
                    raise _outside(kernel, live, margins, (index, axis, side))


def _refuse_arrays_in_rules(kernel: Kernel, extend: int) -> None:
    waiting = list(kernel.nodes[extend].operands[1:])
    while waiting:
        index = waiting.pop()
        node = kernel.nodes[index]
        if not node.is_local:
            continue
        traits = traits_of(node.instruction)
        if traits.evaluated_in != "cells" or array_places(node.instruction):  # no formula of indices and numbers
            error = PlanError(
                f"a boundary value of {value_name(kernel, extend)} depends on the array {value_name(kernel, index)}",
                advice="Compute boundary values from indices, sizes, params and scalars only.",
            )
            spans = kernel.nodes[extend].spans or node.spans
            if spans:
                error.located(spans[0].line)
            raise error
        waiting.extend(node.operands)


def _undefined(node: Node, axis: int, side: int) -> bool:
    if isinstance(node.instruction, Extend):
        return isinstance(node.instruction.sides[axis][side], Undefined)
    return traits_of(node.instruction).domain_only


def _outside(
    kernel: Kernel, live: frozenset[int], margins: tuple[Margins, ...], place: tuple[int, int, int]
) -> PlanError:
    index, axis, side = place
    cells = margins[index][axis][side]
    name = value_name(kernel, index)
    space = kernel.nodes[index].space
    assert space is not None
    sign = f"{space.axes[axis].name}{'-+'[side]}"
    error = PlanError(
        f"{name} is read {cells} cell{'s' * (cells > 1)} outside at side {sign}, where it has no boundary rule",
        advice=f'Give {name} a rule at {sign}, for example boundary="periodic" or extend({name}, "outflow").',
    )
    culprit = _culprit(kernel, live, margins, place)
    for node in (culprit, kernel.nodes[index]):
        if node is not None and node.spans:
            return _located(error, node)
    return error


def _located(error: PlanError, node: Node) -> PlanError:
    error.located(node.spans[0].line, column=node.spans[0].column)
    return error


def _culprit(
    kernel: Kernel, live: frozenset[int], margins: tuple[Margins, ...], place: tuple[int, int, int]
) -> Node | None:
    """The Shift that asks for the cells farthest outside."""
    index, axis, side = place
    consumers = kernel.consumers()
    while True:
        wanted = margins[index][axis][side]
        for consumer in consumers[index]:
            if consumer not in live:
                continue
            node = kernel.nodes[consumer]
            needed = demands(kernel, consumer, margins[consumer])
            if any(o == index and d[axis][side] == wanted for o, d in zip(node.operands, needed, strict=True)):
                break
        else:
            return None
        if isinstance(node.instruction, Shift) and node.instruction.offset[axis]:
            return node
        axis = _axis_in_consumer(kernel, consumer, axis)
        index = consumer


def _axis_in_consumer(kernel: Kernel, consumer: int, axis: int) -> int:
    """Which axis of a consumer is an axis of its operand along which cells outside are wanted."""
    match kernel.nodes[consumer].instruction:
        case Replicate():
            return projection(kernel, consumer)[axis]
        case Fold(_, folded):
            return axis - sum(k < axis for k in folded)
        case Arith() | Loop() | Shift() | Extend() | Gather() | SegmentedReduce():
            return axis
        case (
            Imm()
            | Load()
            | LoadIndex()
            | LoadSize()
            | Store()
            | Reduce()
            | Broadcast()
            | Scan()
            | Scatter()
            | Join()
            | Rank()
        ):
            raise AssertionError(f"node {consumer} asks for no cell outside")


def recomputed_percent(margins: tuple[Margins, ...], extents: tuple[int, ...]) -> float:
    """Return the ghost cells that sub-kernels with these margins compute, in percent of the cells of their domains."""
    domain = 1
    for extent in extents:
        domain *= extent
    extra = 0
    for each in margins:
        volume = 1
        for (below, above), extent in zip(each, extents, strict=True):
            volume *= below + extent + above
        extra += volume - domain
    return 100.0 * extra / (domain * len(margins)) if margins else 0.0
