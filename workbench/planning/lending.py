"""Lending: whether a program that runs once at each call may work on arrays of its caller without copies."""

from __future__ import annotations

from workbench.planning.plan import Plan, Slot


def lent_slots(plan: Plan) -> tuple[Slot, ...]:
    """The slots of what a call gives and returns; what loops over arrays carry is the program's own."""
    inner = {static.name for static in plan.graph.statics if static.inner}
    return tuple(slot for slot in plan.slots if slot.field and slot.field not in inner)


def leaves_inputs_alone(plan: Plan) -> bool:
    """Return whether fields stay in their slots, and only those are written that the program stores."""
    lent = {slot.index for slot in lent_slots(plan)}
    for kernel in plan.kernels:
        stored = {name for name, _ in kernel.kernel.stores()}
        inputs = {slot.index for slot in plan.slots if slot.index in lent and slot.field not in stored}
        loads = {node for _, node in kernel.kernel.loads()}
        for step in (kernel.plain, kernel.observed):
            moved = any(slot != source and lent & {slot, source} for slot, source in enumerate(step.rotation))
            if moved or any(home.slot in inputs and home.node not in loads for home in step.homes):
                return False
    return True
