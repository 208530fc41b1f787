"""Locality table: updates for each value moved, bytes an update and asynchrony of every schedule, as in the paper.

Rows are shapes of the dependency graph (`workbench.planning.schedules.shapes`), the smallest first. The same figures
come from the formulas of Levchenko, Perepelkina and Zakirov, Computation 4 (2016) 29, where these have some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from workbench.amounts import bytes_text
from workbench.graph.spaces import axis_name
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.reads import emission_in
from workbench.planning.schedules.diamond import Lattice
from workbench.planning.schedules.least_traffic import least_bytes
from workbench.planning.schedules.locality import CACHE_BYTES, TileSizes
from workbench.planning.schedules.shapes import Shape, Use, crossing, lattice_tile, uses_of
from workbench.planning.tiled import Tiling

_COUNTED = 8  # levels of a tile that is counted value by value


@dataclass(frozen=True, slots=True)
class Locality:
    """One shape: updates for each value that crosses its border, and bytes that so many values are for an update.

    asynchrony: updates that may be done at the same time.
    """

    shape: str
    vertices_per_edge: float
    bytes_per_update: float
    asynchrony: int


def locality_table(kernel: KernelPlan, extents: tuple[int, ...], sizes: TileSizes | None) -> tuple[Locality, ...]:
    """Return the shapes from the smallest to what runs: a cell, a row along the last axis, a step, a tile, its band.

    Tiles of a band do not need each other. Bytes of a tile count its first and last ones, which are cut off.
    """
    step = kernel.plain
    reads = [emission_in(kernel, step, loop).reads for loop in step.subkernels]
    outputs = sum(len(loop.outputs) for loop in step.subkernels)
    edges = {
        "cell": (sum(len(each) for each in reads), 1),
        "row": (sum(len({(node, offset[:-1]) for node, offset in each}) for each in reads), extents[-1]),
        "step": (sum(len({node for node, _ in each}) for each in reads), prod(extents)),
    }
    least = edges["step"][0] + outputs
    size = sum(loop.cost.bytes_moved for loop in step.subkernels) / least  # of a value, on average
    table = [Locality(name, 1 / (n + outputs), size * (n + outputs), many) for name, (n, many) in edges.items()]
    if sizes is not None and kernel.tiling is not None:
        table += _tile_rows(kernel, kernel.tiling, extents, sizes, size)
    return tuple(table)


def _tile_rows(
    kernel: KernelPlan, tiling: Tiling, extents: tuple[int, ...], sizes: TileSizes, size: float
) -> list[Locality]:
    """A tile, and a band of them."""
    axis, levels = tiling.across, tiling.levels
    slope = max(tiling.slopes[axis], 1)
    depth = sizes.depth * levels
    height = min(sizes.height, depth)
    gain = _updates_per_value(uses_of(kernel), axis, slope, height)
    bands = (depth - 1) // height + 2
    gain *= depth / (bands * height)
    at_a_time = (
        2
        * slope
        * height
        * prod(
            min(sizes.chunk, n) if role == "wave" else n
            for n, role in zip(extents, tiling.roles, strict=True)
            if role != "diamond"
        )
    )
    gain /= levels
    return [
        Locality("tile", gain, size / gain, at_a_time),
        Locality("band", gain, size / gain, at_a_time * sizes.spaces),
    ]


def _updates_per_value(uses: tuple[tuple[Use, ...], ...], axis: int, slope: int, height: int) -> float:
    """Locality of a whole tile. Values that cross grow with the height by as many a level, once it is not tiny."""

    def count(height: int) -> tuple[int, int]:
        found = crossing(uses, lattice_tile(axis, Lattice(8 * height * slope, slope, height, 4, 4 * height)))
        return found.vertices, found.loads + found.stores

    if height <= _COUNTED:
        vertices, edges = count(height)
        return vertices / edges
    less, more = count(_COUNTED // 2)[1], count(_COUNTED)[1]
    return 2 * slope * height**2 / (more + (height - _COUNTED) * (more - less) / (_COUNTED - _COUNTED // 2))


def shape_row(kernel: KernelPlan, shape: Shape, extents: tuple[int, ...]) -> Locality:
    """Return the row of any shape, such as a tower of DiamondTorre; axes that it does not cut are whole."""
    found = crossing(uses_of(kernel), shape)
    levels = sum(launch.kind == "subkernel" for launch in kernel.plain.launches)
    step = sum(loop.cost.bytes_moved for loop in kernel.plain.subkernels)
    values = sum(len(loop.reads) + len(loop.outputs) for loop in kernel.plain.subkernels)
    many = shape.widest * prod(n for axis, n in enumerate(extents) if axis not in shape.axes)
    return Locality(shape.name, found.locality / levels, step / values * levels / found.locality, many)


def table_lines(rows: Sequence[Locality]) -> Iterator[str]:
    """The rows as text, below what their columns are."""
    yield f"  {'shape':<6} {'updates per value moved':>24} {'bytes per update':>18} {'updates at a time':>18}"
    for row in rows:
        figures = f"{row.vertices_per_edge:>24.3f} {row.bytes_per_update:>18.2f} {row.asynchrony:>18}"
        yield f"  {row.shape:<6} {figures}"


def locality_text(
    kernel: KernelPlan, extents: tuple[int, ...], sizes: TileSizes | None, cache_bytes: int = CACHE_BYTES
) -> str:
    """Return the table as lines of text, and the limit for tiles in a cache of so many bytes."""
    lines = [f"locality at {' x '.join(map(str, extents))} cells, {prod(extents):,} in all"]
    if sizes is not None:
        lines.append(
            f"tiles of {sizes.depth} steps, {sizes.height} high, {sizes.spaces} spaces, waves of {sizes.chunk}"
        )
        if sizes.fetches:
            lines.append("a tile fetches the rows that it comes to next while it computes")
    rows = locality_table(kernel, extents, sizes)
    lines += table_lines(rows)
    least = least_bytes(kernel, extents, cache_bytes)
    if least:
        whole = kernel.tiling.whole if kernel.tiling is not None else ()
        of_rows = least_bytes(kernel, extents, cache_bytes, whole) if whole else 0.0
        names = " and ".join(axis_name(axis) for axis in whole)
        lines.append(f"  tiles in a cache of {bytes_text(cache_bytes)} move at least {least:.3g} bytes an update")
        lines.append(f"  (the {rows[-1].shape} moves {rows[-1].bytes_per_update / least:.3g} times that)")
        lines += [f"  tiles that do not cut {names} move at least {of_rows:.3g}"] if of_rows else []
    return "\n".join(lines)
