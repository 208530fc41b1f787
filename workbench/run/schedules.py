"""Schedules: what "auto" is for a simulation, once its size is known."""

from __future__ import annotations

from dataclasses import replace

from workbench.backends.base import Instance, TiledInstance
from workbench.backends.host import last_figures
from workbench.backends.looping import bare_instance
from workbench.backends.processor import available_threads, cache_bytes, last_cache_bytes, third_cache_is_near
from workbench.backends.registry import row_of
from workbench.backends.teams import wanted_threads
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.errors import PlanError
from workbench.graph import Graph
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, TilingChoices
from workbench.planning.cost import HostFigures
from workbench.planning.far_rows import reads_far_rows
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.schedules.gain import Caches, meet_often, of_a_thread, spares_meetings, tiles_gain
from workbench.planning.schedules.table import schedule_named, schedule_of
from workbench.planning.schedules.tiling import loops_refusal, refusal


def resolved(
    graph: Graph, choices: Choices, backend: str, extents: tuple[int, ...], threads: int = 0
) -> tuple[Choices, str]:
    """Return choices that say which schedule "auto" is for these extents, and why, "" for grids that need no tiles.

    A schedule of several steps is taken where it gains by the model of `planning/schedules/gain`, with what was
    measured of an idle machine, if it was: where arrays leave the second cache, and where several threads have so
    little to do that they wait at barriers for most of a step. Else steps follow each other; the stages of a step that
    apply their rules again run together where arrays leave the last cache. Other choices are returned as they are.
    threads: 0 if no number is asked for. Raises PlanError if the choices cannot be met at all.
    """
    tilings = [schedule for schedule in row_of(backend).schedules if schedule.is_automatic]
    if choices.plan.tiling.schedule != "auto" or not tilings:
        return choices, ""
    plan = plan_for(graph, choices, backend)
    many = wanted_threads(plan, extents, threads)
    arrays = memory_bytes(plan, extents) // many
    if arrays <= cache_bytes() and not meet_often(plan, extents, many):
        return choices, ""
    found = loops_refusal(plan.graph) or refusal(plan.main.kernel, plan.main.plain, plan.graph.dim)
    if found is not None:
        return _in_stages(graph, choices, backend, extents, plan, f"one step after the other: {found}")
    for schedule in tilings:
        tiled = replace(choices, plan=choices.plan.changed(schedule=schedule.name))
        if _gains(_planned(graph, tiled, backend), extents, many, arrays):
            return tiled, f"several steps together, {schedule.name}"
    why = "one step after the other: tiles would gain too little here"
    return _in_stages(graph, choices, backend, extents, plan, why)


def _in_stages(
    graph: Graph, choices: Choices, backend: str, extents: tuple[int, ...], plan: Plan, why: str
) -> tuple[Choices, str]:
    """With the stages of a step run together where that spares the way to memory; in a cache they cost more.

    So do those of loops that read far along rows, which take less time one by one.
    """
    follows = row_of(backend).follows_chains and choices.plan.cpu.loops == "together"
    if not follows or memory_bytes(plan, extents) <= last_cache_bytes() or reads_far_rows(plan.main, len(extents)):
        return choices, why
    staged = replace(choices, plan=choices.plan.changed(stages=True))
    found = _planned(graph, staged, backend)
    if found is None or not any(chain.fills for chain in found.main.plain.chains):
        return choices, why
    return staged, f"{why}; its stages run together"


def sized(choices: Choices, extents: tuple[int, ...]) -> Choices:
    """Return choices with the sizes that their schedule takes from the grid alone; sizes that are given stay."""
    tiling = choices.plan.tiling
    told = schedule_named(tiling.schedule).told(tiling, extents)
    return choices if told is tiling else replace(choices, plan=replace(choices.plan, tiling=told))


def in_use(plan: Plan, instance: Instance) -> TilingChoices:
    """Return how steps follow each other in an instance of a plan: no "auto", and the sizes that it has decided."""
    bare = bare_instance(instance)
    known = bare.tiling if isinstance(bare, TiledInstance) else None
    choices = plan.choices.plan if known is None else replace(plan.choices.plan, tiling=known)
    return choices.changed(schedule=plan.schedule).tiling


def schedule_text(plan: Plan, instance: Instance) -> str:
    """Return how several steps run together in an instance of a plan, and in which sizes; "" where none do by plan."""
    bare = bare_instance(instance)
    if not isinstance(bare, TiledInstance):
        return ""
    return schedule_of(plan.main).about(plan.main, instance.extents, bare.tiling)


def _planned(graph: Graph, choices: Choices, backend: str) -> Plan | None:
    try:
        return plan_for(graph, choices, backend)
    except PlanError:
        return None


def _gains(plan: Plan | None, extents: tuple[int, ...], threads: int, arrays: int) -> bool:
    """arrays: bytes that each thread works on."""
    sizes = None if plan is None else tile_sizes_here(plan.main, extents, plan.choices.plan.tiling, threads)
    if plan is None or sizes is None:
        return False
    if meet_often(plan, extents, threads) and spares_meetings(plan.main, sizes):
        return True
    caches = Caches(cache_bytes(), last_cache_bytes() // threads, third_cache_is_near())
    return tiles_gain(plan.main, extents, sizes, arrays, caches, _figures(), threads)


def _figures() -> HostFigures | None:
    """What a thread moves and computes; None where nobody has measured it on an idle machine."""
    figures = last_figures()
    return None if figures is None else of_a_thread(figures, available_threads())
