"""Checks of ranks."""

from __future__ import annotations

from workbench.graph.graph import Graph
from workbench.graph.instructions import Rank
from workbench.graph.place import places
from workbench.graph.ranks import MOST_BITS
from workbench.graph.types import BOOL


def ranks_count_bits(graph: Graph) -> None:
    """A Rank takes integers of one axis, which it keeps, and few enough bits to count their values."""
    for place in places(graph):
        instruction, node = place.node.instruction, place.node
        if not isinstance(instruction, Rank):
            continue
        keys = place.operand(0)
        axes = 0 if node.space is None else node.space.rank
        if not keys.value_type.is_integer or keys.type == BOOL or axes != 1 or keys.space != node.space:
            place.fail(f"Rank of {keys.type} along {axes} axes", "Give integers along the one axis of the result.")
        if not 1 <= instruction.bits <= MOST_BITS:
            place.fail(f"Rank by {instruction.bits} bits", f"Take 1 to {MOST_BITS}.")
