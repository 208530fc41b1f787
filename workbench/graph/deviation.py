"""Deviation: how far backends may differ in what a program stores, by the bounds of its operators (semantics §3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.graph.graph import Graph, Kernel
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Extend,
    Gather,
    Instruction,
    Join,
    Load,
    Node,
    Replicate,
    Shift,
    Store,
)
from workbench.graph.operators import OPERATORS
from workbench.graph.region import region_in
from workbench.graph.side_rules import Fixed, Neumann

Bound = int | None
"""Units in the last place; 0 if the bits are equal, None if nothing is promised."""

_COPIES: tuple[type[Instruction], ...] = (Shift, Broadcast, Replicate, Join, Store, Extend)
_KEEPS_DISTANCE = ("negative", "absolute")


def is_exact(graph: Graph) -> bool:
    """Whether every operator of the graph, those inside of regions too, gives the same bits on all backends."""
    return all(_all_exact(kernel.nodes) for kernel in graph.kernels)


def bounds_after(kernel: Kernel, before: Mapping[str, Bound]) -> dict[str, Bound]:
    """Return the bound of each static after one step of the kernel; `before` has those of all statics at its start."""
    bounds: list[Bound] = []
    for node in kernel.nodes:
        bounds.append(_bound(node, [bounds[o] for o in node.operands], before))
    return {**before, **{name: bounds[value] for name, value in kernel.stores()}}


def bounds_after_any(kernel: Kernel, before: Mapping[str, Bound]) -> dict[str, Bound]:
    """Return bounds that hold after any number of steps of the kernel, and at the start."""
    now = dict(before)
    while True:
        after = bounds_after(kernel, now)
        joined = {name: largest((bound, after[name])) for name, bound in now.items()}
        if joined == now:
            return now
        now = joined


def largest(bounds: Sequence[Bound]) -> Bound:
    """Return the weakest of the bounds, 0 if there is none."""
    return None if None in bounds else max((b for b in bounds if b is not None), default=0)


def _bound(node: Node, operands: list[Bound], before: Mapping[str, Bound]) -> Bound:
    instruction, worst = node.instruction, largest(operands)
    if isinstance(instruction, Load):
        return before[instruction.name]
    if worst == 0:
        return _of_exact_operands(instruction)
    if isinstance(instruction, Arith):
        copies = instruction.operator == "select" and operands[0] == 0
        return worst if copies or instruction.operator in _KEEPS_DISTANCE else None
    if isinstance(instruction, Gather):
        return worst if largest(operands[1:]) == 0 else None
    # A kind that is not known to copy promises nothing: so a new one cannot make a promise that was not proved.
    return worst if isinstance(instruction, _COPIES) and not _computes_outside(instruction) else None


def _of_exact_operands(instruction: Instruction) -> Bound:
    if isinstance(instruction, Arith):
        return OPERATORS[instruction.operator].ulp
    region = region_in(instruction)
    return 0 if region is None or _all_exact(region.nodes) else None


def _computes_outside(instruction: Instruction) -> bool:
    """Whether it is an Extend whose ghost cells are differences or sums, not copies."""
    sides = instruction.sides if isinstance(instruction, Extend) else ()
    return any(isinstance(rule, Fixed | Neumann) for pair in sides for rule in pair)


def _all_exact(nodes: Sequence[Node]) -> bool:
    for node in nodes:
        match node.instruction:
            case Arith(operator) if OPERATORS[operator].ulp:
                return False
            case other:
                region = region_in(other)
                if region is not None and not _all_exact(region.nodes):
                    return False
    return True
