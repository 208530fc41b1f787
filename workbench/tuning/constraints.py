"""Constraints: which points of a program's space are no candidates, and why; known before anything is rendered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from workbench.backends.occupancy import registers_of_a_thread
from workbench.errors import PlanError
from workbench.planning.emission import EMISSION_LIMIT
from workbench.planning.plan import Plan
from workbench.planning.schedules.table import schedule_named
from workbench.planning.tunables import Setting, Tunable
from workbench.tuning.outlook import MachineOutlook
from workbench.tuning.search_space import Point

Refusal = Callable[[Point], str]
"""Why a point is no candidate; "" if it is one."""

_KEPT = 4096  # answers to whether something can be planned
_SHAPING = ("schedule", "diamond_size", "column_threads")
"""These, and storage and barriers, decide whether there is a plan, and whether a device has room for it."""
_REGISTER_BYTES = 4


def accepted(point: Point) -> str:
    """That of a space without constraints."""
    return ""


def refusals(
    rows: Sequence[Tunable],
    values: Sequence[tuple[Setting, ...]],
    start: Point,
    stepwise: bool,
    outlook: MachineOutlook | None,
    planned: Callable[[Point], Plan],
) -> Refusal | None:
    """Why points of a space are none to try; None where all are.

    stepwise: the schedule where none of the rows chooses it. planned: the plan of a point, or PlanError.
    """
    at = {row.name: number for number, row in enumerate(rows)}
    tiles = "schedule" in at or not stepwise
    large = _may_be_large(outlook, start)
    if not tiles and not large:
        return None
    shaping = [number for number, row in enumerate(rows) if row.section in ("M", "S") or row.name in _SHAPING]
    sizes = [number for number, row in enumerate(rows) if row.section == "T" and row.name != "schedule"]

    @lru_cache(maxsize=_KEPT)
    def of_plan(settings: Point) -> str:
        point = list(start)
        for number, value in zip(shaping, settings, strict=True):
            point[number] = value
        try:
            return _of_towers(planned(tuple(point)))
        except PlanError as error:
            return str(error).splitlines()[0]

    def is_stepwise(point: Point) -> bool:
        if "schedule" not in at:
            return stepwise
        return not schedule_named(str(values[at["schedule"]][point[at["schedule"]]])).is_blocked

    def refusal(point: Point) -> str:
        if is_stepwise(point):
            changed = next((rows[number].name for number in sizes if point[number] != start[number]), "")
            if changed:
                return f"{changed} is of tiles, and steps run one after the other"
            crowded = large and outlook is not None and outlook.longest(point) > EMISSION_LIMIT
            return of_plan(tuple(point[number] for number in shaping)) if crowded else ""
        if "stages" in at and point[at["stages"]] != start[at["stages"]]:
            return "stages is of single steps, and several run together in tiles"
        return of_plan(tuple(point[number] for number in shaping))

    return refusal


def settled(point: Point, start: Point, rows: Sequence[Tunable], *, tiles: bool) -> Point:
    """A point with the start's settings where they change nothing: sizes of tiles without `tiles`, stages in them."""
    idle = [row.name == "stages" if tiles else row.section == "T" and row.name != "schedule" for row in rows]
    planned = tuple(first if no else own for own, first, no in zip(point, start, idle, strict=False))
    return (*planned, *point[len(rows) :])


def _may_be_large(outlook: MachineOutlook | None, start: Point) -> bool:
    """Whether some storage may lead to a loop that no compiler is given: if nothing is stored, loops are longest."""
    return outlook is not None and outlook.longest(outlook.without_storage(start)) > EMISSION_LIMIT


def _of_towers(plan: Plan) -> str:
    """Why a device has no room for the plan's towers; "" if it has, or if there are none.

    Loops of single steps need no such rule: their text bounds the threads of a block, so that the compiler shares out
    the registers (`nvrtc.compile_options`), and they take no shared memory.
    """
    towers = plan.main.towers
    if towers is None:
        return ""
    output = plan.main.plain.subkernels[0].outputs[0].node
    needed = towers.values * -(-plan.main.kernel.nodes[output].value_type.itemsize // _REGISTER_BYTES)
    most = registers_of_a_thread(towers.threads)
    if needed <= most:
        return ""
    return (
        f"a thread of a tower of size {towers.size} has {towers.values} values in {needed} registers, and one of "
        f"{towers.threads} threads may have {most}"
    )
