"""Cost: bytes, operations and reads per cell, and the time below which no machine can go (roofline)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from workbench.graph import Axis, Kernel, SegmentedReduce
from workbench.planning.axes import along, axes_of, listed, loop_extents, loop_margins
from workbench.planning.emission import Emission, doubles_weight, operator_weight
from workbench.planning.kernel_plan import Axes, Cost, Home, Read, Step, Storage
from workbench.planning.reach import recomputed_percent

_CELLS = 1 << 20  # of a plan's figures when their number is not given
SMALL_STEP = 1 << 20
"""Weighted operations a step below which one thread is faster than waiting for a second."""


def default_extents(dim: int) -> tuple[int, ...]:
    """A cube of about a million cells: the size of the figures when none was asked for."""
    return (max(2, round(_CELLS ** (1 / dim))),) * dim


@dataclass(frozen=True, slots=True)
class CacheLevel:
    """Bytes per second that were moved where arrays of `size` bytes in all were gone through again and again."""

    size: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class HostFigures:
    """What a machine can do: bytes per second to memory, weighted operations on f64 per second; `label` says how known.

    levels: what caches move, smallest size first, slower from one to the next; empty where it was not measured.
    """

    bandwidth: float
    flops: float
    label: str
    levels: tuple[CacheLevel, ...] = ()

    def bandwidth_of(self, size: int) -> float:
        """Bytes per second that arrays of `size` bytes in all move at most.

        The figure of the next smaller size that was measured, because less data is never moved more slowly.
        """
        if not self.levels:
            return self.bandwidth
        fitting = [level.bandwidth for level in self.levels if level.size <= size]
        return fitting[-1] if fitting else self.levels[0].bandwidth


ESTIMATE = HostFigures(20e9, 20e9, "estimate for a desktop CPU, not measured")
"""Used until this host is measured."""


def loop_cost(
    kernel: Kernel, emission: Emission, reads: Iterable[Read], outputs: Iterable[Home], axes: Axes = ()
) -> Cost:
    """Return what one cell of a loop over `axes` costs: each of these arrays moved once, every read counted.

    Caches are taken to be perfect, so the bytes are the least that must be moved; rolling values are not passed.
    Arrays with fewer axes than the loop move nothing; values that are the same along a row are computed once for it.
    """

    def size(node: int) -> int:
        node_ = kernel.nodes[node]
        return node_.value_type.itemsize if axes_of(node_.space, kernel.space) == axes else 0

    moved = {read.slot: size(read.node) for read in reads}
    written = sum(size(home.node) for home in outputs)
    last = listed(axes, kernel.space.rank)[-1]

    def is_of_cell(node: int) -> bool:
        return last in listed(axes_of(kernel.nodes[node].space, kernel.space), kernel.space.rank)

    operations = [node for node, _ in emission.operations if is_of_cell(node)]
    flops, doubles = (sum(weigh(kernel, node) for node in operations) for weigh in (operator_weight, doubles_weight))
    loads = sum(is_of_cell(node) for node, _ in emission.reads)
    return Cost(float(sum(moved.values()) + written), flops, float(loads), doubles)


def step_cost(step: Step) -> Cost:
    """Return the sum over the sub-kernels of a step that run over all axes.

    Fills are left out because they touch surfaces only, loops over some axes because they have few cells.
    """
    costs = [s.cost for s in step.subkernels if not s.axes]
    moved, doubles = sum(c.bytes_moved for c in costs), sum(c.doubles for c in costs)
    return Cost(moved, sum(c.flops for c in costs), sum(c.loads for c in costs), doubles)


def whole_cost(step: Step, extents: tuple[int, ...]) -> Cost:
    """Return what a whole step costs at these extents, all its loops together; fills are left out."""
    counts = [(prod(loop_extents(s, extents)), s.cost) for s in step.subkernels]
    parts = ("bytes_moved", "flops", "loads", "doubles")
    return Cost(*(sum(cells * getattr(cost, part) for cells, cost in counts) for part in parts))


def near_cost(step: Step, kernel: Kernel, storage: Sequence[Storage]) -> Cost | None:
    """Return what a pair costs that sums within a cutoff visit, all of them together; None if a step has none.

    Such a sum is a SegmentedReduce of a formula of more axes than its loop. What it reads of a source is counted as
    bytes, because other pairs have been visited since; values of the target are computed once.
    """
    formulas: dict[int, tuple[Axis, ...]] = {}
    for subkernel in step.subkernels:
        node = kernel.nodes[subkernel.alone] if subkernel.alone >= 0 else None
        if node is not None and isinstance(node.instruction, SegmentedReduce):
            pair, target = kernel.nodes[node.operands[0]].space, node.space
            if pair is not None and target is not None and pair.rank > target.rank:
                formulas[node.operands[0]] = target.axes
    if not formulas:
        return None
    moved = flops = loads = doubles = 0.0
    for root, own in formulas.items():
        waiting, seen = [root], {root}
        while waiting:
            index = waiting.pop()
            space = kernel.nodes[index].space
            if space is None or set(space.axes) <= set(own):
                continue
            if storage[index] is not Storage.DELAYED:
                moved, loads = moved + kernel.nodes[index].value_type.itemsize, loads + 1
                continue
            flops, doubles = flops + operator_weight(kernel, index), doubles + doubles_weight(kernel, index)
            new = set(kernel.nodes[index].operands) - seen
            seen |= new
            waiting += new
    return Cost(moved, flops, loads, doubles)


def bound_seconds(step: Step, extents: tuple[int, ...], figures: HostFigures = ESTIMATE) -> float:
    """Return the roofline bound: seconds that a step takes at least at these extents."""
    total = 0.0
    for subkernel in step.subkernels:
        cells = prod(loop_extents(subkernel, extents))
        bandwidth = figures.bandwidth_of(round(cells * subkernel.cost.bytes_moved))
        total += cells * max(subkernel.cost.bytes_moved / bandwidth, subkernel.cost.doubles / figures.flops)
    return total


def ghost_percent(step: Step, extents: tuple[int, ...]) -> float:
    """Return the cells that the sub-kernels of a step compute beyond the domain, in percent of the domain."""
    dim = len(extents)
    return recomputed_percent(tuple(loop_margins(s, dim) for s in step.subkernels if not s.axes), extents)


def halo_bytes(step: Step, kernel: Kernel, extents: tuple[int, ...]) -> int:
    """Return the bytes of ghost cells that the fills of one step write."""
    total = 0
    for fill in step.fills:
        domain = volume = 1
        sizes = along(extents, axes_of(kernel.nodes[fill.node].space, kernel.space))
        for (below, above), extent in zip(fill.margins, sizes, strict=True):
            domain *= extent
            volume *= below + extent + above
        total += (volume - domain) * kernel.nodes[fill.node].value_type.itemsize
    return total
