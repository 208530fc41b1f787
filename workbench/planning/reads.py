"""Reads: which arrays a loop reads at which offsets; their boxes are in the plan, the exact offsets found on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.planning.emission import Emission, emit
from workbench.planning.kernel_plan import Box, KernelPlan, Read, Step, Subkernel
from workbench.planning.reach import Offset
from workbench.planning.rerolling import seen_by


def reads_of(emission: Emission, slots: Mapping[int, int]) -> tuple[Read, ...]:
    """Return the reads of a loop, ascending by node; `slots` says where stored nodes lie."""
    offsets: dict[int, list[Offset]] = {}
    for node, offset in emission.reads:
        offsets.setdefault(node, []).append(offset)
    return tuple(Read(node, slots[node], box_of(offsets[node]), node in emission.anywhere) for node in sorted(offsets))


def box_of(offsets: Iterable[Offset]) -> Box:
    """Return the smallest box that holds the offsets, of which there is at least one."""
    return tuple((min(along), max(along)) for along in zip(*offsets, strict=True))


def emission_in(kernel: KernelPlan, step: Step, subkernel: Subkernel) -> Emission:
    """Return what the body of a sub-kernel of a finished plan consists of, with every offset at which it reads."""
    nodes = kernel.kernel.nodes
    outputs = tuple(home.node for home in subkernel.outputs)
    taken = (*subkernel.reductions, *(outputs if subkernel.takes else ()))
    used = tuple(operand for node in taken for operand in nodes[node].operands)
    storage = seen_by(kernel.storage, step, subkernel)
    return emit(kernel.kernel, storage, () if subkernel.takes else outputs, used)
