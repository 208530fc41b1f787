"""Forecast: how fast steps and tiles will run, from what their shapes move and what was measured of the machine.

All that a cell reads and stores goes through the nearest cache, each array of a step once through the next one, and
what crosses the border of a step or tile through memory. Their times are added, because loops wait for most of what
comes from further away; arithmetic is done beside the loads.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.planning.cost import HostFigures, step_cost
from workbench.planning.plan import KernelPlan
from workbench.planning.schedules.locality import CACHE_BYTES, TileSizes, bytes_in_use
from workbench.planning.schedules.locality_table import locality_table


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds that an update takes in the nearest cache, the second one, memory and arithmetic, of a step or a tile."""

    shape: str
    near: float
    second: float
    memory: float
    arithmetic: float

    @property
    def rate(self) -> float:
        """Updates a second."""
        return 1 / (max(self.near, self.arithmetic) + self.second + self.memory)

    @property
    def limit(self) -> str:
        """What takes the most time."""
        times = {
            "memory": self.memory,
            "second cache": self.second,
            "loads and stores": self.near,
            "arithmetic": self.arithmetic,
        }
        return max(times, key=lambda name: times[name])


def forecasts(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    sizes: TileSizes | None,
    figures: HostFigures,
    cache_bytes: int = CACHE_BYTES,
) -> tuple[Forecast, ...]:
    """Return what is expected of a step and, with sizes, of a tile, of data beyond the caches.

    Nothing where it is not known how fast caches are. The memory's figure counts every byte that moves: a store to an
    array that is not read brings its line in first, which a step is charged for. cache_bytes: of the second caches.
    Tiles that do not fit into one go through the third.
    """
    if len(figures.levels) < 2:
        return ()
    rows = {row.shape: row.bytes_per_update for row in locality_table(kernel, extents, sizes)}
    near = rows["cell"] / figures.levels[0].bandwidth
    held = {"step": cache_bytes // 2, "tile": cache_bytes // 2}
    if sizes is not None and kernel.tiling is not None:
        used = bytes_in_use(kernel, extents, sizes)
        held["tile"] = used if used > cache_bytes else cache_bytes // 2
    second = {shape: rows["step"] / figures.bandwidth_of(size) for shape, size in held.items()}
    arithmetic = step_cost(kernel.plain).doubles / figures.flops
    rows["step"] += _brought_in(kernel)
    return tuple(
        Forecast(shape, near, second[shape], rows[shape] / figures.bandwidth, arithmetic)
        for shape in ("step", "tile")
        if shape in rows
    )


def _brought_in(kernel: KernelPlan) -> int:
    """Bytes an update of lines that are only written."""
    total = 0
    for loop in kernel.plain.subkernels:
        read = {each.slot for each in loop.reads}
        stored = {home.slot: kernel.kernel.nodes[home.node].value_type.itemsize for home in loop.outputs}
        total += sum(size for slot, size in stored.items() if slot not in read)
    return total
