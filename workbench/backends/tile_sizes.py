"""Sizes of tiles on this machine: what planning chooses, for the caches and threads that there are."""

from __future__ import annotations

from workbench.amounts import bytes_text, counted
from workbench.backends.processor import (
    available_threads,
    cache_bytes,
    first_cache_bytes,
    shared_cache_bytes,
    third_cache_is_near,
)
from workbench.errors import NoRoomError
from workbench.graph.spaces import axis_name
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.plan import Plan
from workbench.planning.schedules.diamond_schedule import sizes_on
from workbench.planning.schedules.locality import TileSizes, choices_of_tiles
from workbench.planning.schedules.schedule import TileHost
from workbench.planning.schedules.windows import Streaming, with_windows


def tile_host(threads: int = 0) -> TileHost:
    """What sizes of tiles follow from here. threads: 0 for all that this process may use."""
    many = threads or available_threads()
    return TileHost(many, cache_bytes(), shared_cache_bytes(many), third_cache_is_near(), first_cache_bytes())


def tile_sizes_here(
    kernel: KernelPlan, extents: tuple[int, ...], choices: TilingChoices, threads: int = 0
) -> TileSizes | None:
    """How many steps of a kernel run together here, in tiles of which size; None where there is no room for any.

    threads: 0 for all that this process may use.
    """
    return sizes_on(kernel, extents, choices, tile_host(threads))


def tiles_of_kernels(
    plan: Plan, extents: tuple[int, ...], threads: int, streaming: Streaming | None = None
) -> tuple[TileSizes | None, ...]:
    """The same for each kernel of a plan. streaming: where arrays lie in files; then tiles run in windows."""
    choices = plan.choices.plan.tiling
    if streaming is None:
        return tuple(tile_sizes_here(kernel, extents, choices, threads) for kernel in plan.kernels)
    return tuple(_in_windows(kernel, extents, choices, threads, streaming) for kernel in plan.kernels)


def _in_windows(
    kernel: KernelPlan, extents: tuple[int, ...], choices: TilingChoices, threads: int, streaming: Streaming
) -> TileSizes | None:
    def sizes_of(tried: TilingChoices) -> TileSizes | None:
        return tile_sizes_here(kernel, extents, tried, threads)

    found = with_windows(kernel, extents, choices, streaming, sizes_of)
    if found is None and kernel.blocking is not None:
        raise NoRoomError(
            f"memory={bytes_text(streaming.memory, 4)} has room for {counted(streaming.planes, 'plane')} along "
            f"{axis_name(0)}, too few for a window of two steps",
            advice='Give more memory, or one step after the other: schedule="stepwise".',
        )
    return found


def tiling_in_use(plan: Plan, tiles: tuple[TileSizes | None, ...]) -> TilingChoices | None:
    """The plan's choices with the sizes of the main kernel's tiles, None where it has none. tiles: of each kernel."""
    sizes = tiles[plan.kernels.index(plan.main)]
    return None if sizes is None else choices_of_tiles(plan.main, plan.choices.plan.tiling, sizes)


def tiling_text(plan: Plan) -> str:
    """What a plan says of the sizes of tiles, for the key of what would run; "" without tiles."""
    tiling = plan.choices.plan.tiling
    count = f" {tiling.tile_count}" if tiling.tile_count else ""
    return "" if plan.main.blocking is None else f" {tiling.depth} {tiling.widths}{count}"
