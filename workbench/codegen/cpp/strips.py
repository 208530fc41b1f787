"""Strips: how much a loop touches around each cell of a plane, by which its tasks are strips of planes or not."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph import Node
from workbench.planning.kernel_plan import Subkernel


def bytes_around(nodes: Sequence[Node], subkernel: Subkernel) -> int:
    """Return the bytes that a loop reads and writes for each cell of a plane, of all planes around; 0 of one plane.

    A plane has the last two of three axes or more. Each is read again where the loop comes to the planes next to it, so
    that they should still be in a cache then.
    """
    read = [(each.planes, nodes[each.node].value_type.itemsize) for each in subkernel.reads if len(each.box) > 2]
    if all(planes == 1 for planes, _ in read):
        return 0
    written = sum(nodes[each.node].value_type.itemsize for each in subkernel.outputs)
    return written + sum(planes * size for planes, size in read)
