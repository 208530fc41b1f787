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
from workbench.planning.choices import Choices, PlanChoices, Schedule
from workbench.planning.plan import Plan
from workbench.planning.schedules import diamondtorre
from workbench.planning.tiled import Role
from workbench.planning.tunables import MOST_CELLS, Numbers, Setting, Tunable, tunable

STEPWISE: Schedule = "stepwise"
_DEPTHS = (0, 4, 8, 16, 32, 64, 128)
_DIAMOND_SIZES = (0, 1, 2, 3, 4, 6, 8)  # 0: as many values as registers have room for
_COLUMNS = (32, 64, 128, 256, 512, 1024)
_WIDTHS: dict[tuple[Role, bool], tuple[int, ...]] = {
    ("diamond", True): (0, 256, 1024, 4096, 16384),  # cells of the only axis
    ("diamond", False): (0, 4, 8, 16, 32, 64, 128),  # rows
    ("wave", False): (0, 1, 2, 4, 8, 16),  # planes
    ("wave", True): (0, 512, 1024, 2048, 4096, 8192),  # cells of a row
}
"""By the role of an axis, and whether it is the last one; 0 is chosen from extents and caches."""


def tile_tunables(graph: Graph, base: Choices, backend: str, longest: int = 0) -> tuple[Tunable, ...]:
    """Schedule, depth, and the sizes of tiles; none where steps cannot run together.

    Tiles have a width along each axis that they are cut along; towers the size of their diamonds, and threads along the
    last axis. base: with these choices. longest: the most cells that the last axis of a run has, 0 where that is not
    known. PlanError if the choices cannot be met.
    """
    for schedule in row_of(backend).tilings:
        tiled = scheduled_plan(graph, base, backend, schedule)
        if tiled is not None and tiled.main.tiling is not None:
            roles = enumerate(tiled.main.tiling.roles)
            sizes = [_width_row(axis, role, axis == graph.dim - 1) for axis, role in roles]
            break
        if tiled is not None and tiled.main.towers is not None:
            sizes = [
                replace(tunable("diamond_size"), sensible=_DIAMOND_SIZES),
                replace(tunable("column_threads"), sensible=column_threads(longest)),
            ]
            break
    else:
        return ()
    schedules = (STEPWISE, *row_of(backend).tilings)
    return (
        replace(tunable("schedule"), sensible=schedules),
        replace(tunable("depth"), sensible=_DEPTHS),
        *(row for row in sizes if row is not None),
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


def column_threads(longest: int) -> tuple[int, ...]:
    """Threads of a tower along the last axis that are worth trying: those that it needs first; 0 if that is unknown."""
    least = diamondtorre.threads_for(longest) if longest else 0
    return tuple(sorted({least, *(threads for threads in _COLUMNS if threads > least)}))


def scheduled_plan(graph: Graph, base: Choices, backend: str, schedule: Schedule) -> Plan | None:
    """The plan by a schedule, None if it is refused."""
    plan = replace(base.plan, tiling=replace(base.plan.tiling, schedule=schedule))
    try:
        return plan_for(graph, replace(base, plan=plan), backend)
    except PlanError:
        return None


def is_tiling(rows: Sequence[Tunable]) -> bool:
    """Whether these may choose a schedule of several steps."""
    return any(row.name == "schedule" for row in rows)


def _width_row(axis: int, role: Role, last: bool) -> Tunable | None:
    sensible = _WIDTHS.get((role, last))
    if sensible is None:
        return None

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
    return Tunable(name, "T", "any", 0, sensible, Numbers(0, MOST_CELLS), read, write, "tiling", "widths")
