"""Loop sizes: how much a step goes through, where loops and arrays have some of a program's axes."""

from __future__ import annotations

from math import prod

from workbench.planning.axes import along
from workbench.planning.plan import Plan


def most_cells(plan: Plan, extents: tuple[int, ...]) -> int:
    """Return the cells of the largest loop or array."""
    steps = [step for kernel in plan.kernels for step in (kernel.plain, kernel.observed)]
    parts = [loop.axes for step in steps for loop in step.subkernels] + [slot.axes for slot in plan.array_slots]
    return max((prod(along(extents, axes)) for axes in parts), default=prod(extents))
