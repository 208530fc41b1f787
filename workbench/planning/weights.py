"""Weights: what an operation costs a cell, in additions of f64 in a vector loop; for estimates."""

from __future__ import annotations

from workbench.graph import OPERATORS, Arith, Kernel, Loop
from workbench.graph.extended_arrays import weight_of
from workbench.planning.emission import loop_weight

# Fixed figures, so that every machine makes the same plan.
EXPENSIVE = {"divide": 16.0, "sqrt": 16.0}
"""Vectors of f64 take 32 to 36 times an addition, of f32 16 to 20; other work goes on beside the divider."""
PASSES = 2
"""How often loops that make a Scan or a Scatter compute each cell, where several threads share them."""
IN_TURN, _FUNCTION = 4.0, 15.0
"""Their cells come one after the other: functions of at least so many operations lose the lanes of vectors of f64."""


def weight_of_cell(kernel: Kernel, index: int) -> float:
    """Return what a node costs in a loop that computes vectors of cells; 0 for all that is no arithmetic."""
    node = kernel.nodes[index]
    if isinstance(node.instruction, Loop):
        return loop_weight(node.instruction)
    if not isinstance(node.instruction, Arith):
        return 0.0
    name = node.instruction.operator
    if any(kernel.nodes[n].value_type.is_record for n in (index, *node.operands)):
        return weight_of(name)
    weight = EXPENSIVE.get(name, OPERATORS[name].flops)
    return weight * max(kernel.nodes[o].value_type.itemsize for o in node.operands) / 8


def weight_in_turn(kernel: Kernel, index: int, weight: float) -> float:
    """Return what it costs in a loop that makes a Scan or a Scatter: vectors of any type have one lane in use.

    weight: its own in other loops, 0 for a value with few axes. Of those functions alone count, because the loop that
    would store them costs no more than a launch in an estimate.
    """
    instruction = kernel.nodes[index].instruction
    if isinstance(instruction, Loop):
        return PASSES * IN_TURN * loop_weight(instruction)
    operations = OPERATORS[instruction.operator].flops if isinstance(instruction, Arith) else 0.0
    return PASSES * (IN_TURN * operations if operations >= _FUNCTION else weight)
