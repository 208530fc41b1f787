"""Far rows: programs that read neighbours along a row and do nothing but sums and products in their cells.

They wait for loads as much as for memory. Code generation shifts their neighbours in registers where that is faster
(`codegen/vectors`), which needs rows that begin on cache lines and loops that do not run together plane by plane.
"""

from __future__ import annotations

from collections import Counter

from workbench.graph import Arith, Shift
from workbench.planning.kernel_plan import KernelPlan

_OPERATORS = frozenset(("add", "subtract", "multiply", "divide", "negative"))


def fewest_neighbours(axes: int) -> int:
    """Return how many neighbours of a cell along a row of some array are enough for these programs.

    Loops over planes also prefetch, and gain with two; in a plane, two gain little.
    """
    return 2 if axes > 2 else 4


def reads_far_rows(kernel: KernelPlan, axes: int) -> bool:
    """Return whether a kernel is that of such a program."""
    nodes = kernel.kernel.nodes
    if axes < 2:
        return False
    made = (node.instruction for node in nodes if node.is_local)
    if not all(instruction.operator in _OPERATORS for instruction in made if isinstance(instruction, Arith)):
        return False
    shifts = ((node.operands[0], node.instruction.offset) for node in nodes if isinstance(node.instruction, Shift))
    rows = Counter((value, offset[:-1]) for value, offset in shifts if offset[-1])
    return max(rows.values(), default=0) >= fewest_neighbours(axes)
