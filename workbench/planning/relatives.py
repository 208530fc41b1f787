"""Relatives: labels that match values and loops of two programs whose types or number of axes differ.

The label of a named value is its name; that of another one is a hash of its operation and of its operands' labels. An
Extend, a cast and a Broadcast have the label of their operand: boundary rules and types decide where these stand.

A loose label also matches programs of other dimensions. It leaves out what changes with the number of axes: digits in
names, the numbers of axes, and the order of the offsets of a Shift.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from workbench.graph import Arith, Broadcast, Extend, Imm, Kernel, LoadIndex, LoadSize, Node, Reduce, Shift
from workbench.graph.identity import by_identity
from workbench.graph.naming import own_name
from workbench.planning.kernel_plan import KernelPlan, Subkernel
from workbench.planning.plan import Plan

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Labels:
    """Of each value of a kernel, in node order."""

    exact: tuple[str, ...]
    loose: tuple[str, ...]


@by_identity(size=8)
def labels_of(kernel: Kernel) -> Labels:
    """The labels of all values; values of equal labels correspond to each other."""
    exact: list[str] = []
    loose: list[str] = []
    for index, node in enumerate(kernel.nodes):
        name = own_name(kernel, index)
        if name:
            exact.append(name)
            loose.append(_NUMBER.sub("#", name))
            continue
        if isinstance(node.instruction, Broadcast | Extend) or node.instruction == Arith("cast"):
            exact.append(exact[node.operands[0]])  # types and sides decide where these are
            loose.append(loose[node.operands[0]])
            continue
        exact.append(_hashed(_told(node), [exact[operand] for operand in node.operands]))
        loose.append(_hashed(_told_loosely(node), [loose[operand] for operand in node.operands]))
    return Labels(tuple(exact), tuple(loose))


def loops_of(plan: Plan, *, loose: bool = False) -> dict[str, list[tuple[KernelPlan, Subkernel]]]:
    """The loops of a plan by kernel and the labels of what they make."""
    found: dict[str, list[tuple[KernelPlan, Subkernel]]] = {}
    for kernel in plan.kernels:
        labels = labels_of(kernel.kernel)
        label = labels.loose if loose else labels.exact
        for step in (kernel.plain, kernel.observed):
            for loop in step.subkernels:
                made = sorted({label[node] for node in (*(home.node for home in loop.outputs), *loop.reductions)})
                found.setdefault(_hashed(kernel.kernel.name, made), []).append((kernel, loop))
    return found


def _told(node: Node) -> str:
    """The operation; neither the type nor the last digits of a constant, which another precision changes."""
    match node.instruction:
        case Imm(value):
            return f"Imm {value:.5g}"
        case other:
            return repr(other)


def _told_loosely(node: Node) -> str:
    match node.instruction:
        case Shift(offset):
            return f"Shift {sorted(abs(cells) for cells in offset if cells)}"
        case LoadIndex() | LoadSize():
            return type(node.instruction).__name__
        case Reduce(operator, _):
            return f"Reduce {operator}"
        case Imm():
            return _told(node)
        case other:
            return type(other).__name__ + str(getattr(other, "operator", ""))


def _hashed(head: str, parts: list[str]) -> str:
    return hashlib.sha256("\n".join([head, *parts]).encode()).hexdigest()
