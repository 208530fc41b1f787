"""Assembly: the last pass, from what the others decided to arrays in memory and to the plan of each kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from workbench.graph import Graph, Kernel, Reduce, Store, record_name, value_name
from workbench.graph.diagnostics import REPEATED
from workbench.graph.instructions import notes_outside
from workbench.graph.types import U64
from workbench.planning.barriers import barriers_of
from workbench.planning.cost import loop_cost
from workbench.planning.draft import Draft, KernelDraft, StepDraft
from workbench.planning.kernel_plan import Finisher, KernelPlan, ScalarStore, Step, Subkernel
from workbench.planning.memory import Memory, SlotPool, place_arrays, rotation_of
from workbench.planning.plan import GlobalSlot, Slot
from workbench.planning.reads import reads_of
from workbench.planning.schedules.table import schedule_named
from workbench.planning.schedules.tiling import loops_refusal, refused

_LONGEST_WORDS = 30  # characters of what a sub-kernel makes, in its name; the others are counted


def assemble(draft: Draft) -> Draft:
    """Give arrays and numbers their memory, and make the plan of each kernel of all that was decided."""
    pool = SlotPool(draft.graph)
    global_slots = _global_slots(draft.graph)
    placed = [
        (
            place_arrays(k, k.plain, pool),
            None if k.plain == k.observed else place_arrays(k, k.observed, pool),
        )
        for k in draft.kernels
    ]
    planned = []
    for each, (plain, observed) in zip(draft.kernels, placed, strict=True):
        first = _step(draft, each, each.plain, plain, pool, global_slots, "")
        second = first
        if observed is not None:
            second = _step(draft, each, each.observed, observed, pool, global_slots, "observed_")
        margins = each.observed.margins
        found = KernelPlan(each.kernel, each.storage, each.forced, margins, first, second, each.search_ended)
        planned.append(_scheduled(draft, found))
    slots = tuple(
        Slot(i, t.itemsize, pool.fields[i] if i < len(pool.fields) else "", ", ".join(pool.labels[i]), axes)
        for i, (t, axes) in enumerate(zip(pool.types, pool.axes, strict=True))
    )
    return replace(draft, slots=slots, global_slots=global_slots, planned=tuple(planned))


def _scheduled(draft: Draft, found: KernelPlan) -> KernelPlan:
    """With how plain steps run together, if the choices ask for it: those of the kernel that runs repeat."""
    tiling = draft.choices.plan.tiling
    schedule = schedule_named(tiling.schedule)
    if schedule.block is None:
        return found
    if all(each.name != REPEATED for each in draft.graph.kernels):
        raise refused(schedule.name, f"{draft.graph.name} has no steps: it runs once")
    if found.kernel.name != REPEATED:
        return found
    looping = loops_refusal(draft.graph)
    if looping is not None:
        error = refused(schedule.name, looping.why)
        raise error if looping.line is None else error.located(looping.line)
    return replace(found, blocking=schedule.block(found, draft.graph.dim, tiling))


def _global_slots(graph: Graph) -> tuple[GlobalSlot, ...]:
    slots: list[GlobalSlot] = []
    free = 0
    for static in graph.statics:
        if static.role != "field":
            slots.append(GlobalSlot(free, static.name, static.role, static.type))
            free += static.type.words
    for kernel in graph.kernels:
        for index, node in enumerate(kernel.nodes):
            if isinstance(node.instruction, Reduce):
                name = f"{kernel.name}.{value_name(kernel, index)}"
                slots.append(GlobalSlot(free, name, "reduction", node.value_type, kernel.name, index))
                free += node.value_type.words
    if any(notes_outside(node.instruction) for kernel in graph.kernels for node in kernel.nodes):
        slots.append(GlobalSlot(free, "outside", "outside", U64))
    return tuple(slots)


def _step(  # it gathers what seven passes decided
    draft: Draft,
    each: KernelDraft,
    step: StepDraft,
    memory: Memory,
    pool: SlotPool,
    global_slots: Sequence[GlobalSlot],
    variant: str,
) -> Step:
    slot_of = {home.node: home.slot for home in memory.homes}
    numbers = {(g.kernel, g.node): g.index for g in global_slots if g.role == "reduction"}
    statics = {g.name: g.index for g in global_slots if g.is_static}
    rolling = {value.node for chain in step.chains for value in chain.rolling}  # caches hold them
    rolling |= {memory.fills[number].node for chain in step.chains for number in chain.fills}
    barriers = barriers_of(each, step, draft.choices.plan)
    subkernels = []
    for index, (group, emission) in enumerate(zip(step.groups, step.emissions, strict=True)):
        reads = reads_of(emission, slot_of)
        outputs = memory.outputs[index]
        before, after = barriers[index]
        subkernels.append(
            Subkernel(
                index,
                _name(each.kernel, f"{variant}{index}", group.roots),
                group.margins,
                outputs,
                group.reductions,
                reads,
                len(emission.operations),
                loop_cost(
                    each.kernel,
                    emission,
                    [read for read in reads if read.node not in rolling],
                    [home for home in outputs if home.node not in rolling],
                    group.axes,
                ),
                before,
                after,
                group.axes,
                group.reduced,
                group.alone,
            )
        )
    stores = tuple(
        ScalarStore(statics[node.instruction.name], node.operands[0])
        for index, node in enumerate(each.kernel.nodes)
        if index in step.live and isinstance(node.instruction, Store) and node.instruction.name in statics
    )
    finishers = tuple(Finisher(n, numbers[each.kernel.name, n]) for n in step.order.finishers)
    rotation = rotation_of(memory.ends, pool)
    return Step(
        memory.homes, memory.fills, tuple(subkernels), finishers, step.order.launches, stores, rotation, step.chains
    )


def _name(kernel: Kernel, number: str, roots: Sequence[int]) -> str:
    """An identifier of C by what the sub-kernel computes; the number makes it unique in its kernel."""
    words = list(dict.fromkeys(record_name(kernel, r).split(" ")[0].removesuffix(".next") for r in roots))
    shown = words
    while len(shown) > 1 and len("_".join(shown)) > _LONGEST_WORDS:
        shown = shown[:-1]
    others = [f"and_{len(words) - len(shown)}_more"] if len(shown) < len(words) else []
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join([kernel.name, number, *shown, *others]))[:60].rstrip("_")
