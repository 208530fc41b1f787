"""Tiles: what a schedule of several steps moves, in words, and how fast it should be on this machine."""

from __future__ import annotations

from workbench.backends.host import host_figures
from workbench.backends.tile_sizes import tile_host
from workbench.planning.cost import HostFigures
from workbench.planning.plan import Plan
from workbench.planning.schedules.table import schedule_of


def locality_lines(
    plan: Plan, extents: tuple[int, ...], threads: int = 0, figures: HostFigures | None = None
) -> tuple[str, ...]:
    """Return the locality table of a plan whose steps run in tiles, and what is expected; nothing for other plans.

    threads: 0 for all. figures: of this machine if None; without measured ones no rate is expected. Of towers,
    which run on devices, no rate is expected either.
    """
    kernel, choices, host = plan.main, plan.choices.plan.tiling, tile_host(threads)
    return tuple(schedule_of(kernel).expected(kernel, extents, choices, host, lambda: figures or host_figures()))
