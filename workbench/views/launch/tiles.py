"""Tiles: what a schedule of several steps moves, in words, and how fast it should be on this machine."""

from __future__ import annotations

from workbench.amounts import scaled
from workbench.backends.host import host_figures
from workbench.backends.processor import cache_bytes
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.planning.cost import HostFigures
from workbench.planning.plan import Plan
from workbench.planning.schedules.diamondtorre import tower_lines
from workbench.planning.schedules.forecast import Forecast, forecasts
from workbench.planning.schedules.locality_table import locality_text


def locality_lines(
    plan: Plan, extents: tuple[int, ...], threads: int = 0, figures: HostFigures | None = None
) -> tuple[str, ...]:
    """Return the locality table of a plan whose steps run in tiles, and what is expected; nothing for other plans.

    threads: 0 for all. figures: of this machine if None; without measured ones nothing is expected. Nothing is of
    towers, which run on devices.
    """
    kernel = plan.main
    if kernel.towers is not None:
        return tuple(tower_lines(kernel, extents, plan.choices.plan.tiling))
    if kernel.tiling is None:
        return ()
    sizes = tile_sizes_here(kernel, extents, plan.choices.plan.tiling, threads)
    table = locality_text(kernel, extents, sizes, cache_bytes()).split("\n")
    expected = forecasts(kernel, extents, sizes, figures or host_figures(), cache_bytes())
    return (*table, *(forecast_text(each) for each in expected))


def forecast_text(forecast: Forecast) -> str:
    """One line: the rate, and what takes the most time."""
    return f"{forecast.shape}: {scaled(forecast.rate, 'cells/s')} expected of all threads; limit: {forecast.limit}"
