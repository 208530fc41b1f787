"""Gathering: cells that index values number; one that lies outside is an error (semantics §2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from workbench.backends.boxes import Box, shape_of
from workbench.codegen.gathers import noted
from workbench.errors import OutsideError, OutsideIndex, RunError
from workbench.graph import GLOBAL, Arith, Gather, Join, Load, Node, Rank, Region, Scan, Scatter, SegmentedReduce, Space
from workbench.graph.arithmetic import apply_loop, first_outside
from workbench.graph.joins import join_in_order
from workbench.graph.operators import Array
from workbench.graph.ranks import places_in_order
from workbench.graph.scans import fold_segments_canonically, scan_canonically
from workbench.graph.scatters import scatter_in_order
from workbench.planning.plan import Plan

_SLAB = 1 << 22
"""Cells of lines that are evaluated at a time."""


def gathered(nodes: tuple[Node, ...], gather: int, box: Box, source: Array, places: Sequence[Array]) -> Array:
    """Return the cells of `source` that `places` number, an array of i64 over the box for each of its axes.

    RunError at the first cell of the box, in the order of cells, for which an index lies outside; it names the value,
    the index, the cell and the line of the Gather, which is node `gather`.
    """
    outside = first_outside(source, places)
    if outside is not None:
        index = tuple(int(place.reshape(-1)[outside]) for place in places)
        node = nodes[gather]
        raise outside_error(nodes, node, node.operands[0], node.space, box, outside, index, source.shape)
    found: Array = source[tuple(places)]
    return found


def outside_error(
    nodes: tuple[Node, ...],
    reading: Node,
    source: int,
    cells: Space | None,
    box: Box,
    element: int,
    index: tuple[int, ...],
    extents: tuple[int, ...],
) -> OutsideError:
    """Return the error for the Gather `reading`, which may stand in a loop, of the array `source` by these indices.

    element: which of the cells in the box reads there, in their order; `cells` has their axes.
    """
    within = np.unravel_index(element, shape_of(box))
    cell = tuple(int(i) + low for i, (low, _) in zip(within, box, strict=True))
    instruction = nodes[source].instruction
    names = (gathered_name(nodes, source), instruction.name if isinstance(instruction, Load) else "")
    return _told(reading, names, nodes[source].space, cells, cell, index, extents)


def looped(
    nodes: tuple[Node, ...], body: Region, operands: tuple[int, ...], given: Sequence[Array], box: Box
) -> tuple[Array, ...]:
    """Return what a loop ends with in the cells of the box. OutsideError for an element outside of an array it reads.

    operands: of the Loop; given: their values, of arrays that are read at computed places on their whole domains.
    """

    def refuse(gather: Node, array: int, element: int, index: tuple[int, ...]) -> NoReturn:
        cells = nodes[operands[0]].space
        raise outside_error(nodes, gather, operands[array], cells, box, element, index, given[array].shape)

    return apply_loop(body, given, refuse)


def rows_of(nodes: tuple[Node, ...], index: int, operands: Sequence[Array], value: Callable[[int], Array]) -> int:
    """Return how many rows are cut alike by a SegmentedReduce: its lengths are read again and again, by a remainder."""
    if not isinstance(nodes[index].instruction, SegmentedReduce):
        return 1
    lengths = nodes[nodes[index].operands[2]]
    if not isinstance(lengths.instruction, Gather) or nodes[lengths.operands[1]].instruction != Arith("remainder"):
        return 1
    return len(operands[2]) // max(len(value(lengths.operands[0])), 1)


def combined(nodes: tuple[Node, ...], index: int, operands: Sequence[Array], rows: int = 1) -> Array:
    """Return the values on the domain of one of COLLECTIVES, from those of its operands.

    rows: that are cut alike, of which an error speaks.
    RunError at the first segment that does not lie inside, or at the last one if it does not end with the cells; at the
    first sender of a Scatter that has an index outside.
    """
    instruction, type_ = nodes[index].instruction, nodes[index].value_type
    if isinstance(instruction, Scan):
        operator, axis, reverse, exclusive = (
            instruction.operator,
            instruction.axis,
            instruction.reverse,
            instruction.exclusive,
        )
        return scan_canonically(operator, operands[0], axis, type_, reverse=reverse, exclusive=exclusive)
    if isinstance(instruction, Join):
        spaces = [nodes[operand].space or GLOBAL for operand in nodes[index].operands]
        return join_in_order(operands, spaces, nodes[index].space or GLOBAL, instruction.axis)
    if isinstance(instruction, Rank):
        return places_in_order(operands[0], instruction.bits)
    if isinstance(instruction, Scatter):
        return _scattered(nodes, index, operands)
    assert isinstance(instruction, SegmentedReduce)
    values, starts, lengths = operands
    ends, count = starts + lengths, len(values)
    wrong = (lengths < 0) | (starts < 0) | (ends > count)
    if wrong.any() or (ends[-1] if len(ends) else 0) != count:
        segment = int(np.argmax(wrong)) if wrong.any() else len(ends) - 1
        raise _ill_cut(nodes, index, segment, lengths[: len(lengths) // rows], count // rows, rows)
    return fold_segments_canonically(instruction.operator, values, starts, lengths, type_)


def folded_parts(
    nodes: tuple[Node, ...], index: int, lines: Callable[[int, int], Array], starts: Array, lengths: Array, count: int
) -> Array:
    """Return the values of a SegmentedReduce whose segments are parts of lines of their own, of `count` cells each.

    lines: gives those of the segments [low, high), (high - low, count); few at a time, because all may be very many.
    RunError at the first segment that does not lie in its line.
    """
    node = nodes[index]
    assert isinstance(node.instruction, SegmentedReduce)
    wrong = np.flatnonzero((lengths < 0) | (starts < 0) | (starts + lengths > count))
    if len(wrong):
        raise RunError(
            f"segment {wrong[0]} has {lengths[wrong[0]]} cells from cell {starts[wrong[0]]}, but its line has {count}",
            advice="Let each segment lie inside of its line.",
            line=node.spans[0].line if node.spans else None,
        )
    thick = max(1, _SLAB // max(count, 1))
    slabs = [
        fold_segments_canonically(
            node.instruction.operator, lines(low, high), starts[low:high], lengths[low:high], node.value_type
        )
        for low in range(0, max(len(starts), 1), thick)  # one of no segments where there are none
        for high in (min(low + thick, len(starts)),)
    ]
    return np.concatenate(slabs)


def _scattered(nodes: tuple[Node, ...], index: int, operands: Sequence[Array]) -> Array:
    node = nodes[index]
    assert isinstance(node.instruction, Scatter)
    defaults, values, *places = operands
    sent = places.pop() if node.instruction.masked else np.ones(values.shape, np.bool_)
    outside = np.zeros(values.shape, np.bool_)
    for place, n in zip(places, defaults.shape, strict=True):
        outside |= (place < 0) | (place >= n)
    if (outside & sent).any():
        cell = tuple(int(i) for i in np.argwhere(outside & sent)[0])
        raise _sent_outside(nodes, index, cell, tuple(int(place[cell]) for place in places), defaults.shape)
    there = [place[sent] for place in places]
    return scatter_in_order(node.instruction.operator, defaults, there, values[sent], node.value_type)


def _sent_outside(
    nodes: tuple[Node, ...], index: int, cell: tuple[int, ...], there: tuple[int, ...], extents: tuple[int, ...]
) -> OutsideError:
    return _told(
        nodes[index], ("", ""), nodes[index].space, nodes[nodes[index].operands[1]].space, cell, there, extents
    )


def _ill_cut(nodes: tuple[Node, ...], index: int, segment: int, lengths: Array, count: int, rows: int) -> RunError:
    line = nodes[index].spans[0].line if nodes[index].spans else None
    negative = np.flatnonzero(lengths < 0)
    if len(negative):
        what = f"segment {negative[0]} has the length {lengths[negative[0]]}"
        return RunError(what, advice="Give lengths of 0 and more.", line=line)
    total = int(lengths.sum())
    if total == count:  # they begin at other cells than those after each other
        what = f"segment {segment} does not follow the one before, or lies outside of {count} cells"
        return RunError(what, advice="Let each segment begin where the one before ends.", line=line)
    there = f"there are {count} cells" if rows == 1 else f"each of {rows} rows has {count} cells"
    what = f"the lengths of {len(lengths)} segments add up to {total}, but {there}"
    return RunError(what, advice=f"Give lengths whose sum is {count}.", line=line)


def gathered_name(nodes: tuple[Node, ...], array: int) -> str:
    """Return what to call a value that is read at computed places."""
    source = nodes[array]
    if isinstance(source.instruction, Load):
        static = source.instruction.name
        return next((name for name in source.names if static.startswith(f"{name}_")), static)  # a while_loop carries it
    return next(iter(source.names), "a value")


def noted_error(plan: Plan, kernel: str, bits: int) -> RunError:
    """Return the error for the bits that a march of a kernel has noted of indices outside."""
    nodes = plan.kernel(kernel).kernel.nodes
    note = noted(nodes, bits)
    advice = "Run the same on the backend reference, which names the index."
    if issubclass(note.kind, SegmentedReduce):
        what = "the lengths of segments do not fit the cells"
        advice = "Run the same on the backend reference, which names the lengths."
    elif issubclass(note.kind, Scatter):
        what = "scatter sends to an index outside of its result"
    else:
        what = f"{gathered_name(nodes, note.source)} is read at an index outside of it"
    return RunError(what, advice=advice, line=note.spans[0].line if note.spans else None)


def _told(
    node: Node,
    names: tuple[str, str],
    own: Space | None,
    cells: Space | None,
    cell: tuple[int, ...],
    index: tuple[int, ...],
    extents: tuple[int, ...],
) -> OutsideError:
    """The error for the first of the indices that lies outside of an array with the axes `own`."""
    assert own is not None
    assert cells is not None
    axis, wrong, n = next((a, i, n) for a, i, n in zip(own.axes, index, extents, strict=True) if not 0 <= i < n)
    outside = OutsideIndex(
        *names,
        index=wrong,
        own=tuple(each.name for each in own.axes),
        axis=axis.name,
        extent=n,
        of_cells=axis.kind == "grid",
        at=tuple((each.name, i) for each, i in zip(cells.axes, cell, strict=True)),
    )
    return OutsideError(outside, line=node.spans[0].line if node.spans else None)
