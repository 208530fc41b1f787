"""Locality: how much of what tiles compute stays in the cache, and the sizes of tiles that follow from it.

A tile of w rows and h levels of height updates w h cells for each cell of its first level and moves each array once
over w rows and the slopes beside them. `locality_table` counts what any shape moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.diamond import lattice
from workbench.planning.tiled import Tiling

CACHE_BYTES = 1 << 20
"""A core's own cache, where its size is not known."""

FIRST_CACHE_BYTES = 1 << 15
"""The cache before it, where its size is not known."""

FILLED_BY_PLANES = 1.25
"""Second caches that planes of three dimensions may fill: not all of a tile's are in use at a time."""

_SHARE = 0.6  # of the cache that a tile may fill
_TALLEST = 32  # levels; beyond it memory is no limit any more and tiles only get fewer
_TALLEST_OF_LINES = 1024  # where a row of a tile is all that a loop runs over
_LEAST_GAIN = 2.0  # steps for each time that values are moved: below it, the boxes of tiles cost what they spare
DEPTH = 64  # steps; a march looks at the clock between them
_LEAST_CELLS = 512  # of a row that is cut: shorter rows cost more than they save
_CELLS_ON_LINES = 16  # whole vectors of any type
_LEAST_OF_WHOLE = 3.5  # steps for each time that values are moved, with which whole rows are as fast as cut ones
_PLANES = 4  # of a wave of planes
_ENOUGH = 4.0  # steps for each time that values are moved, for which planes may lie in the third cache
_ENOUGH_NEAR = 15.0  # such levels, for which planes and rows may lie in a third cache that few cores share


@dataclass(frozen=True, slots=True)
class TileSizes:
    """Steps that may run together, height of the lattice, spaces between centres, planes or cells of a wave.

    window: planes of a window, where axis 0 is swept, else tiles; 0 for one window of all. fetches: whether tiles fetch
    what they come to next (`workbench.planning.schedules.fetching`).
    """

    depth: int
    height: int
    spaces: int
    chunk: int
    window: int = 0
    fetches: bool = False


def tile_sizes(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    choices: TilingChoices,
    threads: int = 1,
    cache_bytes: int = CACHE_BYTES,
    shared_bytes: int = 0,
    *,
    shared_is_near: bool = False,
) -> TileSizes | None:
    """Return the sizes of tiles of these extents, None where a kernel or its extents have no room for any.

    What the choices say counts; what they leave open (0, no widths) is chosen so that what a tile works on at a time
    fits into the cache, and that each thread has tiles enough. shared_bytes: a thread's part of a cache behind its
    core's own, where planes of three dimensions may be: levels pass through few of them at a time. Tiles of planes are
    taller than the second cache has room for only until they do steps enough for each time that values are moved.
    shared_is_near: that cache is nearly as fast as the second one; then rows of two dimensions may be there too, and
    more steps are worth it, unless all arrays are there anyway.
    """
    tiling = kernel.tiling
    depth = choices.depth or DEPTH
    if tiling is None or depth < 2:
        return None
    axis = tiling.across
    swept = tiling.roles.index("wave") if "wave" in tiling.roles else None
    given = (*choices.widths, *[0 for _ in extents])
    slope = max(tiling.slopes[axis], 1)
    shared_is_near = shared_is_near and prod(extents) * _cell_bytes(kernel) > 2 * shared_bytes * threads
    near, far = _rooms(len(extents), cache_bytes, shared_bytes, shared_is_near=shared_is_near)
    enough = max(_ENOUGH_NEAR / tiling.levels, _ENOUGH) if shared_is_near else _ENOUGH
    room = far if len(extents) == 2 else near
    chunk = (given[swept] if swept is not None else 0) or _chunk(kernel, tiling, extents, threads, room)
    most = extents[axis] // (2 * slope)  # times spaces, the height that the axis has room for
    count = min(choices.tile_count, most)
    tallest = most // count if count else _best_height(kernel, tiling, extents, threads, chunk, (near, far), enough)
    width = given[axis] or 2 * slope * tallest
    found = lattice(extents[axis], slope, width, depth * tiling.levels, tiling.rings[axis])
    if found is None:
        return None
    height, spaces = found.height, found.spaces
    if count:
        height, spaces = min(height, tallest), count
    elif not given[axis]:
        height, spaces = _shared_out(most, height, spaces, threads)
    return TileSizes(depth, height, spaces, chunk)


def choices_of_tiles(kernel: KernelPlan, choices: TilingChoices, sizes: TileSizes) -> TilingChoices:
    """Return choices that give these sizes over equal extents, on any machine; what they say already stays.

    sizes: those that the choices gave here.
    """
    tiling = kernel.tiling
    assert tiling is not None
    axis = tiling.across
    cells = {"diamond": 2 * max(tiling.slopes[axis], 1) * sizes.height, "wave": sizes.chunk, "whole": 0}
    given = (*choices.widths, *[0 for _ in tiling.roles])
    widths = [width or cells[role] for width, role in zip(given, tiling.roles, strict=False)]
    while len(widths) > len(choices.widths) and not widths[-1]:
        widths.pop()
    return replace(
        choices,
        depth=choices.depth or sizes.depth,
        widths=tuple(widths),
        tile_count=choices.tile_count or sizes.spaces,
    )


def _shared_out(most: int, height: int, spaces: int, threads: int) -> tuple[int, int]:
    """Height and spaces of tiles a little smaller, so that each thread has equally many of a band.

    most: times spaces, the height that the axis has room for. Of five tiles two threads do three and two, and one waits
    for the time of a tile in each band. Ends of an axis that is no ring have half a tile each, which add up to one.
    """
    shared = -(-max(spaces, -(-most // height)) // threads) * threads  # none taller than what fits
    return (most // shared, shared) if most >= shared else (height, spaces)


def _rooms(axes: int, cache_bytes: int, shared_bytes: int, *, shared_is_near: bool) -> tuple[float, float]:
    """Bytes that a tile may fill, and those that it may until it does steps enough for each time that values move."""
    near = (_SHARE if axes < 3 else FILLED_BY_PLANES) * cache_bytes
    further = axes > 2 or (axes == 2 and shared_is_near)
    return near, max(near, shared_bytes if further else 0)


def _chunk(kernel: KernelPlan, tiling: Tiling, extents: tuple[int, ...], threads: int, room: float) -> int:
    """Planes of a wave in three dimensions, cells of a row in two, for tiles of at most `room` bytes.

    Rows stay whole where tiles of whole rows are tall enough: those of a part begin between two lines at most levels,
    and their vectors cross lines, so that lower tiles of whole rows take less time.
    """
    if "wave" not in tiling.roles:
        return 1
    if len(extents) > 2:
        return _PLANES
    lag = 2 * _TALLEST * tiling.slopes[1]
    rows = 2 * max(tiling.slopes[0], 1) * (_TALLEST + 1)
    cut = max(int(room / (rows * _cell_bytes(kernel))) - lag, _LEAST_CELLS) // _CELLS_ON_LINES * _CELLS_ON_LINES
    if cut >= extents[1]:
        return extents[1] + lag
    whole, part = (_height(kernel, tiling, extents, threads, room, cells) for cells in (extents[1] + lag, cut))
    return extents[1] + lag if whole >= part or _steps_a_move(tiling, whole) >= _LEAST_OF_WHOLE else cut


def _best_height(
    kernel: KernelPlan,
    tiling: Tiling,
    extents: tuple[int, ...],
    threads: int,
    chunk: int,
    rooms: tuple[float, float],
    enough: float,
) -> int:
    """The height of tiles by the second cache and a thread's part of the third one, filled until steps are enough."""
    near, far = (_height(kernel, tiling, extents, threads, room, chunk) for room in rooms)
    return next((height for height in range(near, far) if _steps_a_move(tiling, height) >= enough), far)


def _steps_a_move(tiling: Tiling, height: int) -> float:
    """Steps that tiles of a height do for each time that values are moved, of any slope, where they are deep enough."""
    return height * height / (height + 1) / tiling.levels


def _height(kernel: KernelPlan, tiling: Tiling, extents: tuple[int, ...], threads: int, room: float, chunk: int) -> int:
    """The tallest tile whose rows in use at a time take at most `room` bytes, with at least two tiles a thread."""
    axis = tiling.across
    slope = max(tiling.slopes[axis], 1)
    tallest = _TALLEST if len(extents) > 1 else _TALLEST_OF_LINES
    enough = max(extents[axis] // (4 * slope * threads), 1) if threads > 1 else tallest
    for height in range(min(tallest, enough), 1, -1):
        if _bytes_in_use(kernel, tiling, extents, height, chunk) <= room:
            return height
    return 1


def bytes_in_use(kernel: KernelPlan, extents: tuple[int, ...], sizes: TileSizes) -> int:
    """Return how many bytes of all arrays a tile works on at a time."""
    assert kernel.tiling is not None
    return _bytes_in_use(kernel, kernel.tiling, extents, sizes.height, sizes.chunk)


def _bytes_in_use(kernel: KernelPlan, tiling: Tiling, extents: tuple[int, ...], height: int, chunk: int) -> int:
    """Bytes of all arrays that the levels of one chunk of a tile touch."""
    cells = 1
    for extent, slope, role in zip(extents, tiling.slopes, tiling.roles, strict=True):
        match role:
            case "diamond":
                cells *= min(max(slope, 1) * (height + 1), extent)  # on average over the levels
            case "wave":
                cells *= min(chunk + 2 * height * slope, extent)
            case "whole":
                cells *= extent
    return cells * _cell_bytes(kernel)


def _cell_bytes(kernel: KernelPlan) -> int:
    """Bytes of a cell of all arrays that a step uses."""
    return max(sum(slot_bytes(kernel).values()), 1)


def slot_bytes(kernel: KernelPlan) -> dict[int, int]:
    """Bytes of a cell of each array that a step uses, by slot."""
    nodes = kernel.kernel.nodes
    sizes: dict[int, int] = {}
    for loop in kernel.plain.subkernels:
        sizes |= {read.slot: nodes[read.node].value_type.itemsize for read in loop.reads}
        sizes |= {home.slot: nodes[home.node].value_type.itemsize for home in loop.outputs}
    return sizes


def pays(kernel: KernelPlan, extents: tuple[int, ...], sizes: TileSizes) -> bool:
    """Return whether tiles are expected to take less time than one step after the other, of data beyond the cache.

    They are where a cell does two steps or more each time that its values are moved, and no loops are chained.
    """
    assert kernel.tiling is not None
    return not chained(kernel) and updates_per_move(kernel.tiling, extents, sizes) / kernel.tiling.levels >= _LEAST_GAIN


def chained(kernel: KernelPlan) -> bool:
    """Return whether loops of a step run together in a chain without ghost cells between them.

    They move few values in each step, and do more at a time than the boxes of a tile.
    """
    return any(not chain.fills for chain in kernel.plain.chains)


def updates_per_move(tiling: Tiling, extents: tuple[int, ...], sizes: TileSizes) -> float:
    """Return how many levels a cell does for each time that its values are moved to the cache and back."""
    axis = tiling.across
    width = extents[axis] / sizes.spaces
    height = min(sizes.height, sizes.depth * tiling.levels)
    return max(height * width / (width + 2 * tiling.slopes[axis]), 1.0)
