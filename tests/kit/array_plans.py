"""Plans of functions of arrays, in numbers."""

import workbench as wb


def loops(function, *given, choices=None):
    """How many loops run, and how many arrays are made beside those that are given and returned."""
    machine = wb.collective(function).machine(*given)
    plan = machine.plan("openmp") if choices is None else machine.plan("openmp", choices)
    (kernel,) = plan.kernels
    return len(kernel.observed.subkernels), len(plan.array_slots) - len(machine.graph.fields)
