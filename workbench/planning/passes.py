"""Passes: the way from a graph and choices to a plan, one row for each decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from workbench.amounts import counted
from workbench.errors import PlanError
from workbench.graph import Graph, Kernel
from workbench.planning.allocation import asks_to_roll, choose_allocation
from workbench.planning.assembly import assemble
from workbench.planning.axes import axes_of, in_frame
from workbench.planning.barriers import barriers_of
from workbench.planning.checking import check_graph, check_plan, is_checking
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.draft import Draft, KernelDraft, StepDraft
from workbench.planning.estimate import Estimate
from workbench.planning.fields import copied_loads, end_fields
from workbench.planning.grouping import emission_of, group_writes
from workbench.planning.kernel_plan import Storage
from workbench.planning.memory import aliased_extends
from workbench.planning.plan import Plan
from workbench.planning.reach import check_reach, find_margins, no_margins, union
from workbench.planning.remembered import AllocationStore, remembered_allocation
from workbench.planning.rerolling import Rolled, reroll
from workbench.planning.retype import retype
from workbench.planning.rolling import find_chains
from workbench.planning.schedules.stepwise import order_launches
from workbench.planning.schedules.table import schedule_named
from workbench.planning.simplify import simplify
from workbench.planning.tunables import check_choices
from workbench.planning.variants import live_nodes, plain_nodes


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
    allocations: AllocationStore | None = None,
) -> Plan:
    """Return the plan of a graph under choices: all PASSES in order.

    follows_chains: whether the plan is for a backend that can run loops together. allocations: where long searches for
    what to store are kept, which find the same each time; nowhere if None. Raises PlanError if choices or hints
    cannot be honoured, or where a field is read outside without a rule.
    """
    draft = Draft(graph, choices or Choices(), follows_chains, allocations=allocations)
    check_choices(draft.choices.plan)
    _refuse_more_padding_than_axes(draft)
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
    schedule = schedule_named(draft.choices.plan.tiling.schedule).name
    plan = Plan(draft.graph, draft.choices, halo, draft.slots, draft.global_slots, draft.planned, schedule)
    if checking:
        check_plan(plan)
    return plan


def _refuse_more_padding_than_axes(draft: Draft) -> None:
    padding, most = draft.choices.plan.layout.padding, draft.graph.dim - 1
    if len(padding) > most:
        what = f"padding is {padding}, and {draft.graph.name} has {'one axis' if most == 0 else f'{most + 1} axes'}"
        advice = f"Give at most {counted(most, 'number')}: behind rows, behind planes." if most else "Leave it out."
        raise PlanError(what, advice=advice)


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
        search, program = None, f"{draft.graph.name}/{each.kernel.name}"
        if draft.allocations is not None:
            search = partial(remembered_allocation, draft.allocations, program)
        found, forced = choose_allocation(each.kernel, draft.choices.plan.values, estimates, each.unrolled, search)
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
        check_reach(kernel, step.live, margins)
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
        _, filled = aliased_extends(each.kernel, step)
        apart = [number for number, sides in enumerate(barriers_of(each, step, draft.choices.plan)) if any(sides)]
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
        apart = [number for number, sides in enumerate(barriers_of(each, step, draft.choices.plan)) if any(sides)]
        chains = find_chains(each.kernel, step.groups, step.emissions, step.order, apart, draft.through_fills)
        now = Rolled(step.emissions, step.order, chains)
        _, filled = aliased_extends(each.kernel, step)
        found = reroll(each.kernel, each.storage, step.groups, now, filled, apart, draft.through_fills)
        return replace(step, emissions=found.emissions, order=found.order, chains=found.chains)

    return _each_step(draft, chained)


PASSES: tuple[Pass, ...] = (
    Pass("retype", _retype, rewrites=True),
    Pass("simplify", _simplify, rewrites=True),
    Pass("variants", _variants),
    Pass("reach", _reach),
    Pass("allocation", _allocation),
    Pass("grouping", _grouping),
    Pass("schedule", _schedule),
    Pass("rolling", _rolling),
    Pass("memory", assemble),
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
