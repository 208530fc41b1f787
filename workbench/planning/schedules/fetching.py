"""Fetching: whether tiles of planes fetch rows that they come to next while they compute (`stencil_ahead.h`).

A processor's own prefetchers follow rows, and what a tile comes to next lies in other ones. Fetching pays as long as
the rows that a loop works on at one place of a plane stay in the first cache. Loops that read them from the second one
at each place keep the first one's miss buffers busy, which fetching needs too.
"""

from __future__ import annotations

from workbench.planning.kernel_plan import KernelPlan, Subkernel
from workbench.planning.reads import emission_in
from workbench.planning.schedules.locality import FILLED_BY_PLANES, TileSizes, bytes_in_use

_FEW_PLANES = 16  # FEW_PLANES of stencil_rows.h: of more, rows run plane by plane


def fetches(
    kernel: KernelPlan, extents: tuple[int, ...], sizes: TileSizes, cache_bytes: int, first_cache_bytes: int
) -> bool:
    """Return whether tiles of these sizes shall fetch what they come to next.

    cache_bytes: of a core's second cache, into which they fetch. first_cache_bytes: of its first one.
    """
    tiling = kernel.tiling
    if tiling is None or tiling.roles != ("wave", "diamond", "whole") or sizes.chunk > _FEW_PLANES:
        return False
    if bytes_in_use(kernel, extents, sizes) > FILLED_BY_PLANES * cache_bytes:
        return False
    loops = kernel.plain.subkernels
    return max(_bytes_at_a_place(kernel, loop, extents[-1], sizes.chunk) for loop in loops) < first_cache_bytes


def _bytes_at_a_place(kernel: KernelPlan, loop: Subkernel, cells: int, planes: int) -> int:
    """Bytes of the rows that a loop reads and writes at one place along axis 1, for all planes of a box."""
    slots = {read.node: read.slot for read in loop.reads}
    touched = [(node, slots[node], offset[:-1]) for node, offset in emission_in(kernel, kernel.plain, loop).reads]
    touched += [(home.node, home.slot, (0, 0)) for home in loop.outputs]
    nodes = kernel.kernel.nodes
    rows = {
        (slot, plane + above, beside): nodes[node].value_type.itemsize
        for node, slot, (above, beside) in touched
        for plane in range(planes)
    }
    return cells * sum(rows.values())
