"""Loop keys: a name for a loop over cells that holds in every plan that has this loop."""

from __future__ import annotations

import hashlib

from workbench.planning.kernel_plan import KernelPlan, Subkernel
from workbench.planning.plan import Plan


def loop_key(kernel: KernelPlan, subkernel: Subkernel, keys: tuple[str, ...] = ()) -> str:
    """Hash of the kernel's name and the structural keys of what the loop makes; 16 hex digits.

    Equal for the plain and the observed step where both make the same. keys: `kernel.kernel.keys()`, if they are known.
    """
    keys = keys or kernel.kernel.keys()
    made = sorted({keys[node] for node in (*(home.node for home in subkernel.outputs), *subkernel.reductions)})
    return hashlib.sha256("\n".join((kernel.kernel.name, *made)).encode()).hexdigest()[:16]


def loop_names(plan: Plan) -> dict[str, str]:
    """Key -> name of the sub-kernel, for all loops of a plan in order; the plain step's name where both have it."""
    found: dict[str, str] = {}
    for kernel in plan.kernels:
        keys = kernel.kernel.keys()
        for step in (kernel.plain, kernel.observed):
            for subkernel in step.subkernels:
                found.setdefault(loop_key(kernel, subkernel, keys), subkernel.name)
    return found


def shared_out(plan: Plan) -> frozenset[str]:
    """Keys of the loops whose rows are shared out among CPU threads by a number of their own.

    None of a single loop, and none in one dimension, where there is one row. Not of those that run together in a step,
    nor of those that fold, scan, sort or scatter.
    """
    found: set[str] = set()
    for kernel in plan.kernels:
        keys = kernel.kernel.keys()
        for step in (kernel.plain, kernel.observed):
            chained = {member.subkernel for chain in step.chains for member in chain.members}
            loops = [loop for loop in step.subkernels if not loop.takes and loop.index not in chained]
            found |= {loop_key(kernel, loop, keys) for loop in loops}
    return frozenset(found) if len(loop_names(plan)) > 1 and plan.graph.dim > 1 else frozenset()


def tiles_of_loops(plan: Plan) -> tuple[int, ...]:
    """Rows a task of each loop in the order of `loop_names`; () where no loop has another number than all."""
    choices = plan.choices.plan
    if all(numbers.tile is None for _, numbers in choices.loops):
        return ()
    shared = shared_out(plan)
    tiles = tuple(choices.tile_of(key) if key in shared else choices.cpu.tile for key in loop_names(plan))
    return () if set(tiles) == {choices.cpu.tile} else tiles
