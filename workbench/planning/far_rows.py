"""Far rows: loops that read several neighbours along a row and do little else than sums and products.

They wait for loads as much as for memory. Code generation shifts their neighbours in registers where that is faster
(`codegen/vectors`), which needs rows that begin on cache lines and loops that do not run together plane by plane.
"""

from __future__ import annotations

from collections import Counter

from workbench.graph import Arith
from workbench.planning.kernel_plan import KernelPlan, Step, Subkernel
from workbench.planning.plan import Plan
from workbench.planning.reads import emission_in

FEWEST = 4
"""Neighbours of a cell along a row of some array; with two, little is gained."""

_OPERATORS = frozenset(("add", "subtract", "multiply", "divide", "negative"))


def reads_far_rows(plan: Plan) -> bool:
    """Return whether a loop of the main kernel's step is one of these."""
    if len(plan.halo) < 2 or sum(plan.halo[-1]) < FEWEST:
        return False
    kernel = plan.main
    return any(_is_far(kernel, kernel.plain, loop) for loop in kernel.plain.subkernels)


def _is_far(kernel: KernelPlan, step: Step, loop: Subkernel) -> bool:
    found = emission_in(kernel, step, loop)
    made = (kernel.kernel.nodes[node].instruction for node, _ in found.operations)
    if not all(instruction.operator in _OPERATORS for instruction in made if isinstance(instruction, Arith)):
        return False
    rows = Counter((node, offset[:-1]) for node, offset in found.reads if offset and offset[-1])
    return max(rows.values(), default=0) >= FEWEST
