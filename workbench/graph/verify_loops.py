"""Checks of loops that each cell makes for itself."""

from __future__ import annotations

from workbench.graph.graph import Graph
from workbench.graph.instructions import Loop
from workbench.graph.place import places
from workbench.graph.region import check_loop, loop_type


def loops_are_closed(graph: Graph) -> None:
    """A Loop has a body of scalar arithmetic, and operands of its parameters' types in one space."""
    for place in places(graph):
        node = place.node
        if not isinstance(node.instruction, Loop):
            continue
        operands = [place.operand(number) for number in range(len(node.operands))]
        trouble = check_loop(node.instruction, [operand.type for operand in operands])
        if trouble:
            place.fail(f"Loop: {trouble}", "Give operands of the body's types, and a body of scalar arithmetic.")
        if any(operand.space != node.space for operand in operands) or node.type != loop_type(node.instruction):
            place.fail("Loop mixes spaces, or has another type than its value", "Correct type and spaces.")
