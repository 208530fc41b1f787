"""Forecast: how fast steps and tiles will run, from what their shapes move and what was measured of the machine.

All that a cell reads and stores goes through the nearest cache. Each array of a step comes from memory once, at the
rate of a loop over as much data, which contains its way through the caches. Those of a tile go through the second cache
at each level, and what crosses the border of the tile through memory. These times are added, because loops wait for
most of what comes from further away; arithmetic is done beside the loads. Loops over planes that prefetch, and tiles
that fetch what they come to next, wait for little of it, so that the longest of these times counts most. Loops that
figures were measured with load and store what they move from further away, so that these loads and stores are not
charged again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from workbench.amounts import scaled
from workbench.planning.cost import HostFigures, step_cost
from workbench.planning.far_rows import reads_far_rows
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.locality import CACHE_BYTES, TileSizes, bytes_in_use
from workbench.planning.schedules.locality_table import locality_table


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds that an update takes in the nearest cache, the second one, memory and arithmetic, of a step or a tile.

    is_fetched: whether what comes from further away is fetched while the loop computes.
    """

    shape: str
    near: float
    second: float
    memory: float
    arithmetic: float
    is_fetched: bool = False

    @property
    def rate(self) -> float:
        """Updates a second."""
        if self.is_fetched:
            return self.overlapped_rate
        return 1 / (max(self.near, self.arithmetic) + self.second + self.memory)

    @property
    def overlapped_rate(self) -> float:
        """Updates a second where most of what comes from further away is fetched while the loop computes.

        The time is the root of the sum of squares: the longest part counts, and what is as long adds to it.
        """
        return 1 / hypot(self.near + self.arithmetic, self.second, self.memory)

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


@dataclass(frozen=True, slots=True)
class Needs:
    """What an update of a step or a tile needs of a machine: bytes at three distances, and weighted operations on f64.

    second_held: bytes of all data that passes through the second cache at a time, by which its rate is looked up.
    arrays: bytes of all arrays; 0 for more than caches hold. is_fetched: as in `Forecast`.
    """

    shape: str
    near: float
    second: float
    second_held: int
    memory: float
    doubles: float
    arrays: int = 0
    is_fetched: bool = False

    def forecast(self, figures: HostFigures) -> Forecast | None:
        """The times by the ceilings of a machine; None where it is not known how fast its caches are.

        Arrays that stay in the second cache move nothing from further away. The memory's figure counts every byte that
        moves; it is that of a third cache where figures are of arrays that fit into it.
        """
        if len(figures.levels) < 2:
            return None
        far = self.memory / figures.bandwidth
        second = self.second / figures.bandwidth_of(self.second_held)
        if 0 < self.arrays <= self.second_held:
            far = 0.0
        elif self.shape == "step":
            second = 0.0
        near = max(self.near - self.second, 0.0) / figures.levels[0].bandwidth
        return Forecast(self.shape, near, second, far, self.doubles / figures.flops, self.is_fetched)


def needs_of(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    sizes: TileSizes | None,
    cache_bytes: int = CACHE_BYTES,
    arrays: int = 0,
) -> tuple[Needs, ...]:
    """Return what an update of a step and, with sizes, of a tile needs.

    A store to an array that is not read brings its line in first, which a step is charged for. cache_bytes: of the
    second caches. Tiles that do not fit into one go through the third. arrays: as in `Needs`.
    """
    rows = {row.shape: row.bytes_per_update for row in locality_table(kernel, extents, sizes)}
    second = rows["step"]
    held = {"step": cache_bytes // 2, "tile": cache_bytes // 2}
    if sizes is not None and kernel.tiling is not None:
        used = bytes_in_use(kernel, extents, sizes)
        held["tile"] = used if used > cache_bytes else cache_bytes // 2
    doubles = step_cost(kernel.plain).doubles
    rows["step"] += _brought_in(kernel)
    in_loops = len(extents) > 2 and reads_far_rows(kernel, len(extents))
    is_fetched = {"step": in_loops, "tile": in_loops or (sizes is not None and sizes.fetches)}
    return tuple(
        Needs(shape, rows["cell"], second, held[shape], rows[shape], doubles, arrays, is_fetched[shape])
        for shape in ("step", "tile")
        if shape in rows
    )


def forecasts(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    sizes: TileSizes | None,
    figures: HostFigures,
    cache_bytes: int = CACHE_BYTES,
) -> tuple[Forecast, ...]:
    """Return what is expected of a step and, with sizes, of a tile, of data beyond the caches.

    Nothing where it is not known how fast caches are. The memory's figure counts every byte that moves.
    """
    found = (needs.forecast(figures) for needs in needs_of(kernel, extents, sizes, cache_bytes))
    return tuple(each for each in found if each is not None)


def _brought_in(kernel: KernelPlan) -> int:
    """Bytes an update of lines that are only written."""
    total = 0
    for loop in kernel.plain.subkernels:
        read = {each.slot for each in loop.reads}
        stored = {home.slot: kernel.kernel.nodes[home.node].value_type.itemsize for home in loop.outputs}
        total += sum(size for slot, size in stored.items() if slot not in read)
    return total


def forecast_text(forecast: Forecast) -> str:
    """One line: the rate, and what takes the most time."""
    return f"{forecast.shape}: {scaled(forecast.rate, 'cells/s')} expected of all threads; limit: {forecast.limit}"
