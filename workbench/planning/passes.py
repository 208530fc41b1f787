"""Passes: the way from a graph and choices to a plan, one row for each decision."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.errors import PlanError
from workbench.graph import Graph, Kernel, Reduce, Store, record_name, value_name
from workbench.graph.diagnostics import REPEATED
from workbench.graph.instructions import NOTING
from workbench.graph.types import U64
from workbench.planning.allocation import asks_to_roll, choose_allocation
from workbench.planning.axes import axes_of, in_frame
from workbench.planning.checking import check_graph, check_plan, is_checking
from workbench.planning.choices import Choices, PlanChoices, names_node
from workbench.planning.cost import loop_cost
from workbench.planning.draft import Draft, KernelDraft, StepDraft
from workbench.planning.estimate import Estimate
from workbench.planning.fields import copied_loads, end_fields
from workbench.planning.grouping import emission_of, group_writes
from workbench.planning.memory import Memory, SlotPool, StepParts, aliased_extends, place_arrays, rotation_of
from workbench.planning.plan import (
    Finisher,
    GlobalSlot,
    KernelPlan,
    Plan,
    ScalarStore,
    Slot,
    Step,
    Storage,
    Subkernel,
)
from workbench.planning.reach import check_reach, find_margins, no_margins, union
from workbench.planning.reads import reads_of
from workbench.planning.rerolling import Rolled, reroll
from workbench.planning.retype import retype
from workbench.planning.rolling import find_chains
from workbench.planning.schedules import diamondtorre
from workbench.planning.schedules.stepwise import order_launches
from workbench.planning.schedules.tiling import loops_refusal, refused, tile
from workbench.planning.simplify import simplify
from workbench.planning.tunables import check_choices
from workbench.planning.variants import live_nodes, plain_nodes

_LONGEST_WORDS = 30  # characters of what a sub-kernel makes, in its name; the others are counted


@dataclass(frozen=True, slots=True)
class Pass:
    """One decision: a function draft -> draft and a name for it. Only one that `rewrites` may change the graph."""

    name: str
    run: Callable[[Draft], Draft]
    rewrites: bool = False


def plan_graph(
    graph: Graph,
    choices: Choices | None = None,
    *,
    follows_chains: bool = True,
) -> Plan:
    """Return the plan of a graph under choices: all PASSES in order.

    follows_chains: whether the plan is for a backend that can run loops together. Raises PlanError if choices or hints
    cannot be honoured, or where a field is read outside without a rule.
    """
    draft = Draft(graph, choices or Choices(), follows_chains)
    check_choices(draft.choices.plan)
    checking = is_checking()
    if checking:
        check_graph(graph, "before the first pass")
    for each in PASSES:
        before, draft = draft.graph, each.run(draft)
        if checking and draft.graph is not before:
            check_graph(draft.graph, f"after the pass {each.name}")
        if draft.graph is not before and not each.rewrites:
            raise PlanError(
                f"the pass {each.name} changes the graph, so that keys of the machine's values would mean others",
                advice="Make it a row of REWRITES in planning/simplify, which machines and plans go through alike.",
            )
    halo = no_margins(graph.dim)
    for kernel in draft.planned:
        for index, storage in enumerate(kernel.storage):
            if storage in (Storage.EXISTING, Storage.MANIFEST):
                axes = axes_of(kernel.kernel.nodes[index].space, graph.space)
                halo = union(halo, in_frame(kernel.margins[index], axes, graph.dim))
    schedule = _schedule_of(draft)
    plan = Plan(draft.graph, draft.choices, halo, draft.slots, draft.global_slots, draft.planned, schedule)
    if checking:
        check_plan(plan)
    return plan


def _retype(draft: Draft) -> Draft:
    return replace(draft, graph=retype(draft.graph, draft.choices.meaning))


def _simplify(draft: Draft) -> Draft:
    return replace(draft, graph=simplify(draft.graph))


def _variants(draft: Draft) -> Draft:
    graph = draft.graph
    kernels = []
    for kernel in graph.kernels:
        plain = StepDraft(plain_nodes(graph, kernel))
        kernels.append(KernelDraft(kernel, plain, StepDraft(live_nodes(kernel)), ends=end_fields(graph, kernel)))
    return replace(draft, kernels=tuple(kernels))


def _allocation(draft: Draft) -> Draft:
    _refuse_unknown_keys(draft)
    kernels = []
    for each in draft.kernels:
        if not draft.together or draft.graph.dim < 2:  # nothing rolls
            each = replace(each, unrolled=asks_to_roll(each.kernel, draft.choices.plan.values))
        searches = draft.choices.plan.values.preset == "cost"
        estimates = _estimates(each, draft.together, draft.through_fills) if searches else ()
        found, forced = choose_allocation(each.kernel, draft.choices.plan.values, estimates, each.unrolled)
        kernels.append(replace(each, storage=found.storage, forced=forced, search_ended=found.ended))
    return replace(draft, kernels=tuple(kernels))


def _estimates(each: KernelDraft, together: bool, through_fills: bool) -> tuple[Estimate, ...]:
    steps = (each.plain,) if each.plain == each.observed else (each.plain, each.observed)
    return tuple(
        Estimate(each.kernel, s.margins, s.live, copied_loads(each.kernel, each.ends), together, through_fills)
        for s in steps
    )


def _refuse_unknown_keys(draft: Draft) -> None:
    plan = draft.choices.plan
    keys = [(kernel.name, kernel.keys()) for kernel in draft.graph.kernels]
    known = {name for kernel, each in keys for key in each for name in (key, f"{kernel}/{key}")}
    unknown = sorted((plan.values.manifest | plan.values.delayed | plan.barriers.before | plan.barriers.after) - known)
    if unknown:
        raise PlanError(
            f"no value of {draft.graph.name} has the key {unknown[0]}",
            advice="Take keys from the kernels of plan.graph, which is the simplified graph.",
        )


def _reach(draft: Draft) -> Draft:
    def with_margins(kernel: Kernel, step: StepDraft) -> StepDraft:
        margins = find_margins(kernel, step.live)
        check_reach(draft.graph, kernel, step.live, margins)
        return replace(step, margins=margins)

    return _each_step(draft, lambda k, s: with_margins(k.kernel, s))


def _grouping(draft: Draft) -> Draft:
    def grouped(each: KernelDraft, step: StepDraft) -> StepDraft:
        groups = group_writes(each.kernel, each.storage, step.margins, step.live, copied_loads(each.kernel, each.ends))
        emissions = tuple(emission_of(each.kernel, each.storage, g) for g in groups)
        return replace(step, groups=groups, emissions=emissions)

    return _each_step(draft, grouped)


def _schedule(draft: Draft) -> Draft:
    def ordered(each: KernelDraft, step: StepDraft) -> StepDraft:
        _, filled = aliased_extends(_parts(each, step))
        apart = [number for number, sides in enumerate(_syncs(each, step, draft.choices.plan)) if any(sides)]
        return replace(step, order=order_launches(each.kernel, step.groups, step.emissions, filled, apart))

    return _each_step(draft, ordered)


def _rolling(draft: Draft) -> Draft:
    """Find chains; where some value that asks to roll does not, decide again from the allocation on without it."""
    while True:
        draft = _chained(draft)
        kernels = tuple(_without_idle(each, draft.choices.plan) for each in draft.kernels)
        if kernels == draft.kernels:
            return draft
        draft = replace(draft, kernels=kernels)
        for decide in (_allocation, _grouping, _schedule):
            draft = decide(draft)


def _without_idle(each: KernelDraft, choices: PlanChoices) -> KernelDraft:
    """With all values marked that are stored because they ask to roll and that do not roll wherever they are needed.

    All at once: one that would roll if only another one were given up is recomputed too, which is correct and rare.
    """
    asking = asks_to_roll(each.kernel, choices.values) - each.unrolled
    rolling = ({v.node for c in step.chains for v in c.rolling} for step in (each.plain, each.observed))
    idle = [(asking & step.live) - found for step, found in zip((each.plain, each.observed), rolling, strict=True)]
    return replace(each, unrolled=each.unrolled.union(*idle))


def _chained(draft: Draft) -> Draft:
    def chained(each: KernelDraft, step: StepDraft) -> StepDraft:
        if not draft.together:
            return step
        apart = [number for number, sides in enumerate(_syncs(each, step, draft.choices.plan)) if any(sides)]
        chains = find_chains(each.kernel, step.groups, step.emissions, step.order, apart, draft.through_fills)
        now = Rolled(step.emissions, step.order, chains)
        _, filled = aliased_extends(_parts(each, step))
        found = reroll(each.kernel, each.storage, step.groups, now, filled, apart, draft.through_fills)
        return replace(step, emissions=found.emissions, order=found.order, chains=found.chains)

    return _each_step(draft, chained)


def _memory(draft: Draft) -> Draft:
    pool = SlotPool(draft.graph)
    global_slots = _global_slots(draft.graph)
    placed = [
        (
            place_arrays(_parts(k, k.plain), pool),
            None if k.plain == k.observed else place_arrays(_parts(k, k.observed), pool),
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
    schedule, dim = _schedule_of(draft), draft.graph.dim
    if schedule == "stepwise":
        return found
    if all(each.name != REPEATED for each in draft.graph.kernels):
        raise refused(schedule, f"{draft.graph.name} has no steps: it runs once")
    if found.kernel.name != REPEATED:
        return found
    looping = loops_refusal(draft.graph)
    if looping is not None:
        error = refused(schedule, looping.why)
        raise error if looping.line is None else error.located(looping.line)
    if schedule == diamondtorre.SCHEDULE:
        return replace(found, towers=diamondtorre.towers(found, dim, draft.choices.plan.tiling))
    return replace(found, tiling=tile(found.kernel, found.plain, dim, schedule))


def _schedule_of(draft: Draft) -> str:
    """The schedule of the choices; a plan knows no extents, so that it cannot say what "auto" is."""
    schedule = draft.choices.plan.tiling.schedule
    return "stepwise" if schedule == "auto" else schedule


PASSES: tuple[Pass, ...] = (
    Pass("retype", _retype, rewrites=True),
    Pass("simplify", _simplify, rewrites=True),
    Pass("variants", _variants),
    Pass("reach", _reach),
    Pass("allocation", _allocation),
    Pass("grouping", _grouping),
    Pass("schedule", _schedule),
    Pass("rolling", _rolling),
    Pass("memory", _memory),
)
"""In this order. Reach comes before allocation because it does not depend on it and finds the user's own mistakes."""


def _each_step(draft: Draft, change: Callable[[KernelDraft, StepDraft], StepDraft]) -> Draft:
    """Apply `change` to both variants of every kernel, once where they are the same."""
    kernels = []
    for each in draft.kernels:
        plain = change(each, each.plain)
        observed = plain if each.plain == each.observed else change(each, each.observed)
        kernels.append(replace(each, plain=plain, observed=observed))
    return replace(draft, kernels=tuple(kernels))


def _parts(each: KernelDraft, step: StepDraft) -> StepParts:
    return StepParts(
        each.kernel,
        step.live,
        each.storage,
        step.margins,
        step.groups,
        step.emissions,
        step.order,
        each.ends,
        step.chains,
    )


def _syncs(each: KernelDraft, step: StepDraft, choices: PlanChoices) -> list[tuple[bool, bool]]:
    """Whether some value that a sub-kernel evaluates or reads asks for a barrier before, or after it; for each one."""
    kernel, hints = each.kernel, choices.values.hints
    before = {i for i, n in enumerate(kernel.nodes) if hints and n.hint.sync_before}
    after = {i for i, n in enumerate(kernel.nodes) if hints and n.hint.sync_after}
    for asking, chosen in ((before, choices.barriers.before), (after, choices.barriers.after)):
        if chosen:
            asking.update(i for i, key in enumerate(kernel.keys()) if names_node(chosen, kernel.name, key))
    if not before and not after:
        return [(False, False)] * len(step.groups)
    found = []
    for group, emission in zip(step.groups, step.emissions, strict=True):
        touched = {n for n, _ in emission.operations} | {n for n, _ in emission.reads} | emission.globals
        touched.update(group.roots)
        found.append((not touched.isdisjoint(before), not touched.isdisjoint(after)))
    return found


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
    if any(isinstance(node.instruction, NOTING) for kernel in graph.kernels for node in kernel.nodes):
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
    barriers = _syncs(each, step, draft.choices.plan)
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
    """An identifier of C that tells what the sub-kernel makes; the number makes it unique in its kernel."""
    words = list(dict.fromkeys(record_name(kernel, r).split(" ")[0] for r in roots))
    told = words
    while len(told) > 1 and len("_".join(told)) > _LONGEST_WORDS:
        told = told[:-1]
    others = [f"and_{len(words) - len(told)}_more"] if len(told) < len(words) else []
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join([kernel.name, number, *told, *others]))[:60].rstrip("_")
