"""Sizes of tiles on this machine: what planning chooses, for the caches and threads that there are."""

from __future__ import annotations

from workbench.backends.processor import available_threads, cache_bytes, shared_cache_bytes, third_cache_is_near
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.locality import TileSizes, tile_sizes


def tile_sizes_here(
    kernel: KernelPlan, extents: tuple[int, ...], choices: TilingChoices, threads: int = 0
) -> TileSizes | None:
    """How many steps of a kernel run together here, in tiles of which size; None where there is no room for any.

    threads: 0 for all that this process may use.
    """
    many = threads or available_threads()
    caches = cache_bytes(), shared_cache_bytes(many)
    return tile_sizes(kernel, extents, choices, many, *caches, shared_is_near=third_cache_is_near())
