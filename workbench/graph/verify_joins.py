"""Checks of joins."""

from __future__ import annotations

from workbench.graph.graph import Graph
from workbench.graph.instructions import Join
from workbench.graph.joins import own_axis
from workbench.graph.place import places
from workbench.graph.spaces import GLOBAL


def joins_have_parts(graph: Graph) -> None:
    """A Join takes arrays of its type with its axes, but for the joined one, and one of their own at most."""
    for place in places(graph):
        instruction, node = place.node.instruction, place.node
        if not isinstance(instruction, Join):
            continue
        space = GLOBAL if node.space is None else node.space
        if not 0 <= instruction.axis < space.rank:
            place.fail(f"Join of {len(node.operands)} along axis {instruction.axis} of {space.rank}", "Name an axis.")
        for number in range(len(node.operands)):
            operand = place.operand(number)
            if not operand.is_local or operand.space is None or operand.type != node.type:
                place.fail(f"operand {number} of a Join is no Local of {node.type}", "Cast or replicate it.")
            try:
                own_axis(operand.space, space, instruction.axis)
            except ValueError as error:
                place.fail(f"operand {number} of a Join: {error}", "Give the other axes, and one more at most.")
