"""Windows: how much of arrays larger than memory is there at a time, while many steps run in tiles.

A window has planes of the axis that is swept, or rows of whole tiles (`workbench.planning.schedules.diamond`). In
memory are the window, what tiles lean over behind it, the window before, which is on its way to the disk, and the next
one, which is on its way from there. On a ring the rest has as much as tiles lean over at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from workbench.graph.naming import value_name
from workbench.planning.choices import TilingChoices
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.lines import line_of
from workbench.planning.plan import Plan
from workbench.planning.schedules.locality import TileSizes
from workbench.planning.schedules.tiling import Refusal
from workbench.planning.tiled import Tiling

_TOGETHER = 3  # windows: that of now, the one before and the next one
_DISK = 10.0  # times as long as from memory, that arrays come from the disk and go there


@dataclass(frozen=True, slots=True)
class Streaming:
    """What windows follow from: the bytes of all arrays that may be in memory, and those of a plane along axis 0.

    A plane of one axis is a cell. rounding: bytes that are there beside because files have pages.
    """

    memory: int
    plane: int
    rounding: int = 0

    @property
    def planes(self) -> int:
        """How many may be in memory."""
        return max(self.memory - self.rounding, 0) // self.plane


def with_windows(
    kernel: KernelPlan,
    extents: tuple[int, ...],
    choices: TilingChoices,
    streaming: Streaming,
    sizes_of: Callable[[TilingChoices], TileSizes | None],
) -> TileSizes | None:
    """Return the sizes of tiles in windows that memory has room for; None where it has for none of two steps.

    sizes_of: sizes by choices, without windows. A deep march goes rarely to the disk and back; a large window loads
    less of a tile again into the cache, at its border. Both share the room, so the sizes are those that take the least
    time by `_seconds`.
    """
    tiling = kernel.tiling
    if tiling is None:
        return None
    found = [
        tried
        for sizes in _candidates(tiling, choices, sizes_of)
        for depth in range(2, sizes.depth + 1)
        if (tried := _largest(tiling, extents, replace(sizes, depth=depth), streaming.planes)) is not None
    ]
    return min(found, key=lambda tried: _seconds(tiling, tried), default=None)


def planes_in_use(tiling: Tiling, extents: tuple[int, ...], sizes: TileSizes) -> int:
    """Return how many planes of axis 0 are in memory at a time."""
    size, beside = _unit(tiling, extents, sizes)
    lean = _lean(tiling, sizes)
    rest = 2 * lean + size * sizes.window if tiling.rings[0] else 0
    return beside + max(lean + _TOGETHER * size * sizes.window, rest)


def _lean(tiling: Tiling, sizes: TileSizes) -> int:
    """Planes that a march leans over."""
    return tiling.slopes[0] * (sizes.depth * tiling.levels + 1)


def _unit(tiling: Tiling, extents: tuple[int, ...], sizes: TileSizes) -> tuple[int, int]:
    """Planes of one unit of a window's size, and those that are touched beside."""
    if tiling.roles[0] == "wave":
        return 1, 2 + tiling.slopes[0]
    width = -(-extents[0] // sizes.spaces)
    return width, 3 * width


def _candidates(
    tiling: Tiling, choices: TilingChoices, sizes_of: Callable[[TilingChoices], TileSizes | None]
) -> Iterator[TileSizes]:
    """Sizes of tiles to try: what the caches ask for, then ever lower ones."""
    sizes = sizes_of(choices)
    while sizes is not None:
        yield sizes
        if sizes.height < 2:
            return
        axis = tiling.across
        widths = [*choices.widths, *[0] * len(tiling.roles)][: len(tiling.roles)]
        widths[axis] = 2 * max(tiling.slopes[axis], 1) * (sizes.height // 2)
        sizes = sizes_of(replace(choices, widths=tuple(widths), tile_count=0))


def _largest(tiling: Tiling, extents: tuple[int, ...], sizes: TileSizes, room: int) -> TileSizes | None:
    """With the largest window that there is room for, of whole chunks; None where there is for none."""
    step = sizes.chunk if tiling.roles[0] == "wave" else 1
    unit, beside = _unit(tiling, extents, sizes)
    lean = _lean(tiling, sizes)
    most = (room - beside - lean) // (_TOGETHER * unit * step)
    if tiling.rings[0]:
        most = min(most, (room - beside - 2 * lean) // (unit * step))
    return replace(sizes, window=most * step) if most > 0 else None


def _seconds(tiling: Tiling, sizes: TileSizes) -> float:
    """The time of a step in units of that in which all arrays come from memory once.

    Tiles load what they need into the cache; those of planes load what they lean over again in each window.
    """
    lean = sizes.height * tiling.slopes[0] / sizes.window if tiling.roles[0] == "wave" else 0.0
    return _DISK / sizes.depth + tiling.levels * (1.0 + lean) / sizes.height


def streams(plan: Plan) -> Refusal | None:
    """Return why loops of a plan do not go through arrays in their order, so that files would be read at random."""
    for each in plan.kernels:
        for loop in (loop for step in (each.plain, each.observed) for loop in step.subkernels):
            anywhere = next((read.node for read in loop.reads if read.anywhere), -1)
            if anywhere >= 0:
                what = f"{value_name(each.kernel, anywhere)} is read at computed places"
                return Refusal(what, line_of(each.kernel, anywhere), by_meaning=False)
            apart = loop.alone if loop.alone >= 0 else loop.outputs[0].node if loop.reduced else -1
            if apart >= 0:
                what = (
                    f"{value_name(each.kernel, apart)} needs a loop of its own, such as a scan or a fold along an axis"
                )
                return Refusal(what, line_of(each.kernel, apart), by_meaning=False)
    return None
