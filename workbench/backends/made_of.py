"""Which nodes the interpreter reads to compute a node in a box of cells, as far as that is known without values."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.boxes import Box
from workbench.graph import Arith, Broadcast, Extend, Gather, Join, Loop, Node, Rank, Reduce, Scan, Scatter, Shift
from workbench.graph.instructions import arrays_read, operands_in_cell

Request = tuple[int, Box | None]
"""A node and the cells in which it is read, None for a Global."""


def made_of(node: Node, box: Box | None, domain: Callable[[int], Box]) -> list[Request]:
    """Return which nodes, and in which cells, the node reads in this box, or as a Global.

    Kinds that read piece by piece give a part of it or nothing; the interpreter evaluates the rest when it needs it.
    domain: the cells of another node's domain.
    """
    match node.instruction:
        case Arith():
            return [(operand, box) for operand in node.operands]
        case Loop():
            arrays = [(array, domain(array)) for array in arrays_read(node)]
            return [*arrays, *((operand, box) for operand in operands_in_cell(node))]
        case Broadcast():
            return [(node.operands[0], None)]
        case Shift(offset) if box is not None:
            return [(node.operands[0], moved(box, offset))]
        case Reduce() | Extend():  # ghost cells come from the domain
            return [(node.operands[0], domain(node.operands[0]))]
        case Scan() | Scatter() | Join() | Rank():
            return [(operand, domain(operand)) for operand in node.operands]
        case Gather():
            source, *places = node.operands
            return [(source, domain(source)), *((place, box) for place in places)]
        case _:
            return []


def moved(box: Box, offset: tuple[int, ...]) -> Box:
    """Return the cells that a Shift by this offset moves into the box."""
    return tuple((low - o, high - o) for (low, high), o in zip(box, offset, strict=True))
