"""Strided: which arrays of a call loops read where they lie, as x[::2] does, and which are copied side by side first.

A copy writes and reads each element once more. It is worth that where elements that are far apart are read many times.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.planning.axes import listed
from workbench.planning.kernel_plan import StridedField, Subkernel
from workbench.planning.lending import leaves_inputs_alone
from workbench.planning.plan import Plan

_KNOWN = (1, -1, 2)
"""Steps along rows that texts have as numbers: compilers read a vector of neighbours then, and put it in order."""
_MOST_LOOPS = 2
"""Loops that read an array whose elements are apart, at most; more read a copy."""


def strided_fields(plan: Plan, steps: Mapping[str, int]) -> tuple[StridedField, ...]:
    """The fields that are read where they lie.

    steps: of arrays that are not dense, by the name of their field: elements between neighbours along the last axis.
    """
    if not leaves_inputs_alone(plan):
        return ()
    return tuple(
        StridedField(name, step if step in _KNOWN else 0)
        for name, step in steps.items()
        if step == 1 or _is_read_about_once(plan, name)
    )


def _is_read_about_once(plan: Plan, name: str) -> bool:
    """Whether few loops read the array, and none an element in many cells."""
    slot = next(slot for slot in plan.slots if slot.field == name)
    own, dim = listed(slot.axes, plan.graph.dim), plan.graph.dim
    loops = [loop for kernel in plan.kernels for loop in kernel.observed.subkernels if _reads(loop, slot.index)]
    return len(loops) <= _MOST_LOOPS and not plan.graph.loops and all(listed(loop.axes, dim) == own for loop in loops)


def _reads(loop: Subkernel, slot: int) -> bool:
    return any(read.slot == slot for read in loop.reads)
