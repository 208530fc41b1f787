"""Plans of functions of arrays, in numbers."""

import workbench as wb
from workbench.planning.kernel_plan import Storage


def loops(function, *given, choices=None):
    """How many loops run, and how many arrays are made beside those that are given and returned."""
    machine = wb.collective(function).machine(*given)
    return loops_of_machine(machine if choices is None else machine.with_choices(choices))


def loops_of_machine(machine, backend="openmp"):
    """The same of a machine of arrays."""
    return loops_of_plan(machine.plan(backend))


def loops_of_plan(plan):
    """The same of a plan."""
    (kernel,) = plan.kernels
    return len(kernel.observed.subkernels), len(plan.array_slots) - len(plan.graph.fields)


def array_of(plan, name):
    """The array that a value lies in; None if it is computed where it is needed."""
    (planned,) = plan.kernels
    index = planned.kernel.find(name)
    if planned.storage[index] is not Storage.MANIFEST:
        return None
    (number,) = {home.slot for loop in planned.observed.subkernels for home in loop.outputs if home.node == index}
    return next(slot for slot in plan.array_slots if slot.index == number)
