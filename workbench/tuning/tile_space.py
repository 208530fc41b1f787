"""Tile space: what may be chosen of schedules of several steps, and of stages, for programs that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.backends.registry import row_of
from workbench.errors import PlanError
from workbench.graph import Graph
from workbench.graph.spaces import axis_name
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.plan import Plan
from workbench.planning.schedules.schedule import Schedule, TunedSize
from workbench.planning.schedules.stepwise import STEPWISE
from workbench.planning.tunables import MOST_CELLS, Numbers, Setting, Tunable, tunable

_DEPTHS = (0, 4, 8, 16, 32, 64, 128)


def tile_tunables(graph: Graph, base: Choices, backend: str, longest: int = 0) -> tuple[Tunable, ...]:
    """Schedule, depth, and the sizes of tiles; none where steps cannot run together.

    Tiles have a width along each axis that they are cut along; towers the size of their diamonds, and threads along the
    last axis. base: with these choices. longest: the most cells that the last axis of a run has, 0 where that is not
    known. PlanError if the choices cannot be met.
    """
    known = row_of(backend).schedules
    for schedule in known:
        tiled = scheduled_plan(graph, base, backend, schedule)
        if tiled is not None and tiled.main.blocking is not None:
            sizes = schedule.tuned(tiled.main, longest)
            break
    else:
        return ()
    return (
        replace(tunable("schedule"), sensible=(STEPWISE.name, *(schedule.name for schedule in known))),
        replace(tunable("depth"), sensible=_DEPTHS),
        *map(_size_row, sizes),
    )


def stages_tunable(graph: Graph, base: Choices, backend: str) -> Tunable | None:
    """Whether loops run together through boundary rules between them; None where no loops of the program can.

    base: with these choices.
    """
    if not row_of(backend).follows_chains:
        return None
    staged = replace(base, plan=base.plan.changed(stages=True, loops="together"))
    plan = scheduled_plan(graph, staged, backend, STEPWISE)
    if plan is None or not any(chain.fills for chain in plan.main.plain.chains):
        return None
    return replace(tunable("stages"), sensible=(False, True))


def scheduled_plan(graph: Graph, base: Choices, backend: str, schedule: Schedule) -> Plan | None:
    """The plan by a schedule, None if it is refused."""
    try:
        return plan_for(graph, replace(base, plan=base.plan.changed(schedule=schedule.name)), backend)
    except PlanError:
        return None


def is_tiling(rows: Sequence[Tunable]) -> bool:
    """Whether these may choose a schedule of several steps."""
    return any(row.name == "schedule" for row in rows)


def _size_row(size: TunedSize) -> Tunable:
    if size.axis < 0:
        return replace(tunable(size.member), sensible=size.sensible)
    axis = size.axis

    def read(plan: PlanChoices) -> Setting:
        widths = plan.tiling.widths
        return widths[axis] if axis < len(widths) else 0

    def write(plan: PlanChoices, value: Any) -> PlanChoices:  # noqa: ANN401  # it was checked
        widths = [*plan.tiling.widths, *[0] * (axis + 1 - len(plan.tiling.widths))]
        widths[axis] = value
        while widths and not widths[-1]:
            widths.pop()
        count = plan.tiling.tile_count if value == read(plan) else 0  # of another width as many as there is room for
        return plan.changed(widths=tuple(widths), tile_count=count)

    name = f"width along {axis_name(axis)}"
    return Tunable(name, "T", "any", 0, size.sensible, Numbers(0, MOST_CELLS), read, write, "tiling", size.member)
