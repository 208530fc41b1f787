"""Diamond: the schedule of several steps in tiles on threads, each axis cut into diamonds, swept or left whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.graph.spaces import axis_name
from workbench.planning.choices import TilingChoices
from workbench.planning.cost import HostFigures
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.fetching import fetches
from workbench.planning.schedules.forecast import forecast_text, forecasts
from workbench.planning.schedules.locality import TileSizes, choices_of_tiles, tile_sizes
from workbench.planning.schedules.locality_table import locality_text
from workbench.planning.schedules.schedule import Extents, Schedule, TileHost, TunedSize
from workbench.planning.schedules.tiling import tile
from workbench.planning.tiled import Role, Tiling

_WIDTHS: dict[tuple[Role, bool], tuple[int, ...]] = {
    ("diamond", True): (0, 256, 1024, 4096, 16384),  # cells of the only axis
    ("diamond", False): (0, 4, 8, 16, 32, 64, 128),  # rows
    ("wave", False): (0, 1, 2, 4, 8, 16),  # planes
    ("wave", True): (0, 512, 1024, 2048, 4096, 8192),  # cells of a row
}
"""By the role of an axis, and whether it is the last one."""


def sizes_on(kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost) -> TileSizes | None:
    """Return how many steps run together on a host, in tiles of which size; None where there is no room for any."""
    caches = host.cache_bytes, host.shared_bytes
    sizes = tile_sizes(kernel, extents, choices, host.threads, *caches, shared_is_near=host.shared_is_near)
    if sizes is None:
        return None
    return replace(sizes, fetches=fetches(kernel, extents, sizes, host.cache_bytes, host.first_cache_bytes))


def _block(kernel: KernelPlan, dim: int, choices: TilingChoices) -> Tiling:
    del choices  # sizes are numbers of a run
    return tile(kernel.kernel, kernel.plain, dim, DIAMOND.name)


def _decided(kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost) -> TilingChoices | None:
    sizes = sizes_on(kernel, extents, choices, host)
    return None if sizes is None else choices_of_tiles(kernel, choices, sizes)


def _about(kernel: KernelPlan, extents: Extents, choices: TilingChoices | None) -> str:
    if choices is None:
        return "one step after the other: the grid has no room for tiles"
    tiling = _tiling(kernel)
    across = tiling.across
    pieces = [
        f", {width} cells along {axis_name(axis)} at a time"
        for axis, (role, width) in enumerate(zip(tiling.roles, choices.widths, strict=False))
        if role == "wave" and width < extents[axis]
    ]
    return (
        f"several steps together, {DIAMOND.name}: {choices.depth} steps at most, {choices.tile_count} "
        f"diamonds of {choices.widths[across]} cells along {axis_name(across)}{''.join(pieces)}"
    )


def _lines(kernel: KernelPlan, extents: Extents, choices: TilingChoices) -> Iterator[str]:
    """How plain steps run together, and what that spares."""
    tiling = _tiling(kernel)
    axes = (
        f"{axis_name(k)} {role}{f' leaning by {slope}' if slope else ''}"
        for k, (role, slope) in enumerate(zip(tiling.roles, tiling.slopes, strict=True))
    )
    yield f"several plain steps in tiles: {', '.join(axes)}"
    table = locality_text(kernel, extents, tile_sizes(kernel, extents, choices))
    yield from (f"  {line}" for line in table.split("\n"))


def _expected(
    kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost, figures: Callable[[], HostFigures]
) -> Iterator[str]:
    sizes = sizes_on(kernel, extents, choices, host)
    yield from locality_text(kernel, extents, sizes, host.cache_bytes).split("\n")
    yield from map(forecast_text, forecasts(kernel, extents, sizes, figures(), host.cache_bytes))


def _tuned(kernel: KernelPlan, longest: int) -> tuple[TunedSize, ...]:
    """A width along each axis that tiles are cut along."""
    del longest
    roles = _tiling(kernel).roles
    last = len(roles) - 1
    found = ((axis, _WIDTHS.get((role, axis == last))) for axis, role in enumerate(roles))
    return tuple(TunedSize("widths", sensible, axis) for axis, sensible in found if sensible is not None)


def _tiling(kernel: KernelPlan) -> Tiling:
    assert kernel.tiling is not None  # it is asked of plans that have this schedule
    return kernel.tiling


DIAMOND = Schedule(
    "diamond",
    "threads",
    _block,
    is_automatic=True,
    decided=_decided,
    about=_about,
    lines=_lines,
    expected=_expected,
    tuned=_tuned,
)
