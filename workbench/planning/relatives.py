"""Relatives: labels by which values and loops of two programs are recognised, though types or the dimension differ.

A named value is its name; what has none is its operation on the labels of its operands. Ghost cells, casts and numbers
in all cells are the value that they are of. A loose label leaves out what
changes with the number of axes: digits of names, axes, and in which order a read goes how far along which axis.
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
    """The labels of all values; equal ones play the same part."""
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
