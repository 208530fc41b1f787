"""Lending: whether a program that runs once at each call may work on arrays of its caller, which nobody copies."""

from __future__ import annotations

from workbench.planning.plan import Plan


def leaves_inputs_alone(plan: Plan) -> bool:
    """Return whether fields stay in their slots, and only those are written that the program stores."""
    for kernel in plan.kernels:
        stored = {name for name, _ in kernel.kernel.stores()}
        inputs = {slot.index for slot in plan.slots if slot.field and slot.field not in stored}
        loads = {node for _, node in kernel.kernel.loads()}
        for step in (kernel.plain, kernel.observed):
            moved = any(slot != source for slot, source in enumerate(step.rotation))
            if moved or any(home.slot in inputs and home.node not in loads for home in step.homes):
                return False
    return True
