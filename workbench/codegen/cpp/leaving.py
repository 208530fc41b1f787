"""Leaving: how far a step may be left undone, because the fields that it began with are still whole."""

from __future__ import annotations

from collections.abc import Collection

from workbench.planning.kernel_plan import Chain, Step


def first_write(step: Step, fields: Collection[int]) -> int:
    """Return the first of a step's launches that writes cells of a field's array; their number if none does.

    fields: the slots of fields, where these are at the start of a step. Before that launch nothing of the state is
    lost: ghost cells are written anew, and temporary arrays hold nothing between two steps.
    """
    inside = {number for chain in step.chains for number in range(*chain.launches)}
    moved = {member for chain in step.chains for member in chain.moved}
    writes = [len(step.launches)]
    for number, launch in enumerate(step.launches):
        match launch.kind:
            case "fill" if number not in inside:
                slots = {step.fills[m].target for m in launch.members if step.fills[m].source != step.fills[m].target}
            case "subkernel" if number not in inside:
                slots = {home.slot for m in launch.members if m not in moved for home in step.subkernels[m].outputs}
            case _:
                continue
        if not slots.isdisjoint(fields):
            writes.append(number)
    writes += [chain.launches[0] for chain in step.chains if not _slots(step, chain).isdisjoint(fields)]
    return min(writes)


def _slots(step: Step, chain: Chain) -> set[int]:
    """Those of the arrays that a chain writes; what rolls stays in buffers."""
    rolling = {value.node for value in chain.rolling}
    outputs = (home for member in chain.members for home in step.subkernels[member.subkernel].outputs)
    return {home.slot for home in outputs if home.node not in rolling}
