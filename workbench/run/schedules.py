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
from workbench.graph.spaces import axis_name
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, TilingChoices
from workbench.planning.cost import HostFigures
from workbench.planning.far_rows import reads_far_rows
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.schedules import diamondtorre
from workbench.planning.schedules.diamondtorre import about
from workbench.planning.schedules.gain import Caches, meet_often, of_a_thread, spares_meetings, tiles_gain
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
    # Not diamondtorre: on an H100 towers are as fast as steps (planning/DECISIONS.md), so they are taken by name only.
    tilings = [schedule for schedule in row_of(backend).tilings if schedule != diamondtorre.SCHEDULE]
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
        tiled = replace(choices, plan=replace(choices.plan, tiling=replace(choices.plan.tiling, schedule=schedule)))
        if _gains(_planned(graph, tiled, backend), extents, many, arrays):
            return tiled, f"several steps together, {schedule}"
    why = "one step after the other: tiles would gain too little here"
    return _in_stages(graph, choices, backend, extents, plan, why)


def _in_stages(
    graph: Graph, choices: Choices, backend: str, extents: tuple[int, ...], plan: Plan, why: str
) -> tuple[Choices, str]:
    """With the stages of a step run together where that spares the way to memory; in a cache they cost more.

    So do those of loops that read far along rows, which take less time one by one.
    """
    follows = row_of(backend).follows_chains and choices.plan.cpu.loops == "together"
    if not follows or memory_bytes(plan, extents) <= last_cache_bytes() or reads_far_rows(plan):
        return choices, why
    staged = replace(choices, plan=choices.plan.changed(stages=True))
    found = _planned(graph, staged, backend)
    if found is None or not any(chain.fills for chain in found.main.plain.chains):
        return choices, why
    return staged, f"{why}; its stages run together"


def sized(choices: Choices, extents: tuple[int, ...]) -> Choices:
    """Return choices with as many threads a tower as the last axis has cells, where towers are chosen and nobody says.

    Other choices are returned as they are.
    """
    tiling = choices.plan.tiling
    if tiling.schedule != diamondtorre.SCHEDULE or tiling.column_threads or not extents:
        return choices
    return replace(choices, plan=choices.plan.changed(column_threads=diamondtorre.threads_for(extents[-1])))


def in_use(plan: Plan, instance: Instance) -> TilingChoices:
    """Return how steps follow each other in an instance of a plan: no "auto", and the sizes that it has decided."""
    bare = bare_instance(instance)
    known = bare.tiling if isinstance(bare, TiledInstance) else None
    choices = plan.choices.plan if known is None else replace(plan.choices.plan, tiling=known)
    return choices.changed(schedule=plan.schedule).tiling


def schedule_text(plan: Plan, instance: Instance) -> str:
    """Return how several steps run together in an instance of a plan, and in which sizes; "" where none do by plan."""
    kernel, bare = plan.main, bare_instance(instance)
    if not isinstance(bare, TiledInstance) or (kernel.tiling is None and kernel.towers is None):
        return ""
    choices, extents = bare.tiling, instance.extents
    if kernel.tiling is None:
        return about(kernel, extents, choices or plan.choices.plan.tiling)
    if choices is None:
        return "one step after the other: the grid has no room for tiles"
    sizes = dict(enumerate(zip(kernel.tiling.roles, choices.widths, strict=False)))
    (across,) = (axis for axis, (role, _) in sizes.items() if role == "diamond")
    pieces = [
        f", {width} cells along {axis_name(axis)} at a time"
        for axis, (role, width) in sizes.items()
        if role == "wave" and width < extents[axis]
    ]
    return (
        f"several steps together, {kernel.tiling.schedule}: {choices.depth} steps at most, {choices.tile_count} "
        f"diamonds of {choices.widths[across]} cells along {axis_name(across)}{''.join(pieces)}"
    )


def _planned(graph: Graph, choices: Choices, backend: str) -> Plan | None:
    try:
        return plan_for(graph, choices, backend)
    except PlanError:
        return None


def _gains(plan: Plan | None, extents: tuple[int, ...], threads: int, arrays: int) -> bool:
    """arrays: bytes that each thread works on."""
    if plan is None or plan.main.tiling is None:
        return False
    sizes = tile_sizes_here(plan.main, extents, plan.choices.plan.tiling, threads)
    if sizes is None:
        return False
    if meet_often(plan, extents, threads) and spares_meetings(plan.main, sizes):
        return True
    caches = Caches(cache_bytes(), last_cache_bytes() // threads, third_cache_is_near())
    return tiles_gain(plan.main, extents, sizes, arrays, caches, _figures(), threads)


def _figures() -> HostFigures | None:
    """What a thread moves and computes; None where nobody has measured it on an idle machine."""
    figures = last_figures()
    return None if figures is None else of_a_thread(figures, available_threads())
