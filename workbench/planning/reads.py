"""Reads: which arrays a loop reads at which offsets; their boxes are in the plan, the exact offsets found on demand."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.planning.emission import Emission, boxes_of, emit
from workbench.planning.kernel_plan import KernelPlan, Read, Step, Subkernel
from workbench.planning.rerolling import seen_by


def reads_of(emission: Emission, slots: Mapping[int, int]) -> tuple[Read, ...]:
    """Return the reads of a loop, ascending by node; `slots` says where stored nodes lie."""
    boxes = boxes_of(emission.reads)
    return tuple(Read(node, slots[node], box, node in emission.anywhere) for node, box in boxes.items())


def emission_in(kernel: KernelPlan, step: Step, subkernel: Subkernel) -> Emission:
    """Return what the body of a sub-kernel of a finished plan consists of, with every offset at which it reads."""
    nodes = kernel.kernel.nodes
    outputs = tuple(home.node for home in subkernel.outputs)
    taken = (*subkernel.reductions, *(outputs if subkernel.takes else ()))
    used = tuple(operand for node in taken for operand in nodes[node].operands)
    storage = seen_by(kernel.storage, step, subkernel)
    return emit(kernel.kernel, storage, () if subkernel.takes else outputs, used)
