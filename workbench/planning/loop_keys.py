"""Loop keys: a name for a loop over cells that holds in every plan that has this loop."""

from __future__ import annotations

import hashlib

from workbench.planning.plan import KernelPlan, Plan, Subkernel


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
