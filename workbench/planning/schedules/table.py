"""Table of schedules: a row for each way in which steps may follow each other, and which one a plan has."""

from __future__ import annotations

from workbench.errors import PlanError
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.diamond_schedule import DIAMOND
from workbench.planning.schedules.diamondtorre import DIAMONDTORRE
from workbench.planning.schedules.schedule import Schedule
from workbench.planning.schedules.stepwise import STEPWISE

SCHEDULES: tuple[Schedule, ...] = (STEPWISE, DIAMOND, DIAMONDTORRE)
"""In the order in which "auto" and a tuner look at them."""


def schedule_named(name: str) -> Schedule:
    """Return the schedule of this name; of "auto" that of a plan, which knows no extents: one step after the other.

    PlanError lists the names if there is none.
    """
    if name not in _BY_NAME:
        raise PlanError(f"there is no schedule {name!r}", advice=f"Use one of {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]


def schedule_of(kernel: KernelPlan) -> Schedule:
    """Return how the plain steps of a planned kernel follow each other."""
    return STEPWISE if kernel.blocking is None else _BY_NAME[kernel.blocking.schedule]


_BY_NAME: dict[str, Schedule] = {TilingChoices().schedule: STEPWISE, **{row.name: row for row in SCHEDULES}}
