"""Gain: whether tiles will take clearly less time than steps, by the caches of a thread and what these move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, prod

from workbench.planning.cost import SMALL_STEP, CacheLevel, HostFigures
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.plan import Plan
from workbench.planning.plan_figures import operations_of
from workbench.planning.schedules.forecast import Needs, needs_of
from workbench.planning.schedules.locality import TileSizes, chained, pays

_MARGIN = 1.3
"""How many times as fast tiles must be by their forecast, which leaves out the edges of their boxes: up to 0.75."""
_MARGIN_FAR = 1.1
"""The same where arrays fill a good part of the last cache, which steps find there less often than forecasts say."""
_GOOD_PART = 0.25
"""Of a thread's part of the last cache, from which on that is so: other cores use it too."""
_EDGES = 1.15
"""How many times as fast tiles must be where loops wait for little: the edges of their boxes take 1.03 to 1.26."""
_BEYOND = 1.5
"""Second caches that arrays fill at least where nothing was measured: no cell is found there again in the next step."""
_BEYOND_NEAR = 0.5
"""Of a thread's part of a last cache that is nearly as fast as the second one: below it steps lose little there."""
_SLOWER = 1.5
"""How many times too long a forecast of a step may be: to decline tiles costs more than to pad rows in vain."""
FEW, LONGEST_FEW = 4, 2.5
"""Slow steps that run together and the seconds that they may take one by one, as in stencil_openmp.h."""
_LEAST_HEIGHT = 8
"""Levels of tiles from which on barriers are much fewer than with one at the end of each step."""


@dataclass(frozen=True, slots=True)
class Caches:
    """Bytes of a thread's second cache and of its part of the last one, beyond which all comes from memory.

    last_is_near: few cores share that one, so that it is nearly as fast, which counts where nothing was measured.
    """

    second: int
    last: int
    last_is_near: bool = False


def tiles_gain(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    sizes: TileSizes,
    arrays: int,
    caches: Caches,
    figures: HostFigures | None = None,
    threads: int = 1,
) -> bool:
    """Return whether tiles of these sizes are expected to take less time than one step after the other.

    arrays: bytes of all arrays that each thread works on; what fits into its second cache is as near in steps.
    figures: what a thread moves and computes (`of_a_thread`), None where it was not measured. Between the second cache
    and memory tiles gain by how slow the third one is, and its size says little of that: other cores may use most of
    it. Steps that are too long to run together gain nothing by rows that are padded for tiles. Processors differ in how
    long loops wait for data from further away; tiles must gain in a forecast without such waits, too.
    """
    unmeasured = arrays > max(_BEYOND * caches.second, _BEYOND_NEAR * caches.last if caches.last_is_near else 0)
    if arrays <= caches.second or not pays(kernel, extents, sizes):
        return False
    needed = needs_of(kernel, extents, sizes, caches.second)
    if figures is None or not figures.levels:
        return unmeasured and _gains_at_best(needed, arrays, caches, _typical(caches))
    here = replace(figures, bandwidth=_beyond(figures, arrays, caches))
    match [each.forecast(here) for each in needed]:
        case [step, tile] if step is not None and tile is not None:
            seconds = prod(extents) / (step.rate * threads)
            margin = _MARGIN if arrays < _GOOD_PART * caches.last else _MARGIN_FAR
            return (
                tile.rate >= margin * step.rate
                and _gains_at_best(needed, arrays, caches, figures)
                and FEW * seconds <= _SLOWER * LONGEST_FEW
            )
        case _:
            return unmeasured


def meet_often(plan: Plan, extents: tuple[int, ...], threads: int) -> bool:
    """Return whether several threads, if so many were asked for, spend most of a step at the barrier at its end."""
    return threads > 1 and prod(extents) * operations_of(plan) < SMALL_STEP


def spares_meetings(kernel: KernelPlan, sizes: TileSizes) -> bool:
    """Return whether tiles of these sizes have much fewer barriers than steps."""
    return sizes.height >= _LEAST_HEIGHT and not chained(kernel)


def of_a_thread(figures: HostFigures, threads: int) -> HostFigures:
    """The part of each of the threads that figures were measured with."""
    levels = tuple(CacheLevel(level.size // threads, level.bandwidth / threads) for level in figures.levels)
    return HostFigures(figures.bandwidth / threads, figures.flops / threads, figures.label, levels)


def _gains_at_best(needed: Sequence[Needs], arrays: int, caches: Caches, figures: HostFigures) -> bool:
    """Whether tiles gain where what comes from further away is fetched while loops compute."""
    here = replace(figures, bandwidth=_between(figures, arrays, caches))
    step, tile = (each.forecast(here) for each in needed)
    return step is None or tile is None or tile.overlapped_rate >= _EDGES * step.overlapped_rate


def _typical(caches: Caches) -> HostFigures:
    """What a core with vectors of 256 or 512 bits moves and computes, where nothing was measured."""
    rates = {caches.second // 64: 2e11, caches.second // 2: 6e10, caches.last // 2: 2.5e10, 8 * caches.last: 1.2e10}
    levels = tuple(CacheLevel(size, rate) for size, rate in rates.items())
    return HostFigures(1.2e10, 2.5e10, "typical of a core", levels)


def _between(figures: HostFigures, arrays: int, caches: Caches) -> float:
    """The figure of data from behind the second cache; of sizes between the last cache and memory, one in between.

    A last cache that others use too may hold more than a thread's part: the logarithms of rates are taken by those of
    sizes, so that data of a few times its size counts as partly there.
    """
    cached = [level for level in figures.levels if level.size <= caches.last]
    far = figures.levels[-1]
    if arrays <= caches.last or not cached or not cached[-1].size < arrays < far.size:
        return _beyond(figures, arrays, caches)
    near = cached[-1]
    part = log(arrays / near.size) / log(far.size / near.size)
    return near.bandwidth * exp(part * log(figures.bandwidth / near.bandwidth))


def _beyond(figures: HostFigures, arrays: int, caches: Caches) -> float:
    """Bytes a second that come from behind the second cache: a figure of data that surely left it, if there is one."""
    left = [level.size for level in figures.levels if level.size >= 2 * caches.second]
    if arrays > caches.last or not left:
        return figures.bandwidth
    return figures.bandwidth_of(max(arrays, min(left)))
