"""Comparison grid: on how many cells, over how many steps a candidate is compared, by the tiles that it runs in.

The usual grid of a study has more than two blocks and tasks of every candidate. Tiles of several steps are wider, and
what is wrong at the border of two of them shows only where there are two: such a candidate has a grid of its own, with
the sizes of tiles that the timed run has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from workbench.amounts import counted
from workbench.backends.registry import row_of
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.graph.spaces import axis_name
from workbench.planning.choices import Choices
from workbench.planning.cost import step_cost
from workbench.planning.plan import Plan
from workbench.planning.schedules.locality import TileSizes
from workbench.planning.tiled import Tiling
from workbench.planning.towered import Towers
from workbench.tuning.setup import Setup

_WANTED = (3, 2)  # tiles along each axis that they cut, so that one has neighbours on both sides; else one border
_MOST_CELLS = 1 << 22
_MOST_WORK = 1 << 28  # operations of a step on all cells: 60 such steps take some seconds
_MOST_SIMULATED = 100_000  # cells, as a simulated thread takes 1000 times longer
_ALONE = 2  # steps of a march that run in no tile: the first, and the last, which is observed
_ODD = 5  # rows more than whole tiles, so that centres of tiles are at no equal distances


@dataclass(frozen=True, slots=True)
class TiledAxis:
    """Tiles along one axis: how many the timed run has, and how many the comparison."""

    axis: int
    run: int
    compared: int

    def __str__(self) -> str:
        text = f"{counted(self.compared, 'tile')} along {axis_name(self.axis)}"
        if self.compared >= min(self.run, _WANTED[-1]):
            return text if self.compared > 1 else f"{text} as in the run"
        return f"{text} of {self.run} in the run, as two are too many cells"


@dataclass(frozen=True, slots=True)
class ComparisonGrid:
    """Cells and steps of a comparison; `choices` are the candidate's with the sizes of tiles of its timed run."""

    extents: tuple[int, ...]
    steps: int
    choices: Choices
    cuts: tuple[TiledAxis, ...] = ()

    def __str__(self) -> str:
        cells = f"{' x '.join(map(str, self.extents))} cells"
        return ", ".join([cells, counted(self.steps, "step"), *map(str, self.cuts)])


def comparison_grid(plan: Plan, setup: Setup) -> ComparisonGrid:
    """Where the candidate of a plan is compared."""
    usual = ComparisonGrid(setup.check_extents, setup.check_steps, plan.choices)
    match plan.main.blocking:
        case None:
            return usual
        case Towers() as towers:
            return _of_towers(plan, towers, setup, usual)
        case Tiling() as tiling:
            sizes = tile_sizes_here(plan.main, setup.extents, plan.choices.plan.tiling, setup.threads)
            return usual if sizes is None else _of_tiles(plan, tiling, sizes, setup, usual)


def _of_tiles(plan: Plan, tiling: Tiling, sizes: TileSizes, setup: Setup, usual: ComparisonGrid) -> ComparisonGrid:
    diamond = tiling.across
    swept = tiling.roles.index("wave") if "wave" in tiling.roles else -1
    width = 2 * max(tiling.slopes[diamond], 1) * sizes.height
    together = min(sizes.depth, -(-(2 * sizes.height + 1) // tiling.levels))  # steps that a tile and the next begin in
    steps = max(usual.steps, _ALONE + together)
    levels = min(2 * sizes.height, sizes.depth * tiling.levels)  # of a tile
    lean = (levels - 1) * tiling.slopes[swept] if swept >= 0 and tiling.rings[swept] else 0
    run = {diamond: sizes.spaces}
    pieces = {diamond: width}
    if swept >= 0 and sizes.chunk < setup.extents[swept]:
        is_cut = 2 * lean <= setup.extents[swept]  # a ring without room for its wedge stays whole
        run[swept] = -(-setup.extents[swept] // sizes.chunk) if is_cut else 1
        pieces[swept] = sizes.chunk
    elif swept >= 0 and plan.choices.plan.tiling.widths[swept : swept + 1] > (0,):
        run[swept] = 1  # chunks were asked for, and they are as wide as the run

    def needed(wanted: int) -> dict[int, int]:
        cells = {diamond: min(wanted, run[diamond]) * width + _ODD}
        if run.get(swept, 1) > 1:
            whole = min(wanted, run[swept]) - 1
            cells[swept] = max(whole * sizes.chunk + sizes.chunk // 2 + 1, 2 * lean + 1)
        return cells

    extents = _fitting(plan, setup, needed)
    widths = [*plan.choices.plan.tiling.widths, *[0] * len(extents)][: len(extents)]
    for axis, piece in pieces.items():
        widths[axis] = piece
    planned = plan.choices.plan.changed(depth=sizes.depth, widths=tuple(widths), tile_count=0)
    choices = replace(plan.choices, plan=planned)
    found = tile_sizes_here(plan.main, extents, planned.tiling, setup.threads)
    if found is None:
        return usual
    compared = {diamond: found.spaces}
    if swept in run:
        is_cut = found.chunk < extents[swept] and 2 * lean <= extents[swept]
        compared[swept] = -(-extents[swept] // found.chunk) if is_cut else 1
    cuts = tuple(TiledAxis(axis, run[axis], compared[axis]) for axis in sorted(run))
    return ComparisonGrid(extents, steps, choices, cuts)


def _of_towers(plan: Plan, towers: Towers, setup: Setup, usual: ComparisonGrid) -> ComparisonGrid:
    width = 2 * towers.reach * towers.size  # of a diamond, along axes 0 and 1
    run = {axis: max(setup.extents[axis] // width, 1) for axis in (0, 1)}

    def needed(wanted: int) -> dict[int, int]:
        cells = {axis: min(wanted, run[axis]) * width + 1 for axis in (0, 1)}
        if towers.rings[1]:  # has room for what a tower reads
            cells[1] = max(cells[1], 2 * towers.reach * (towers.size + 1))
        return cells

    rows, columns, length = _fitting(plan, setup, needed)  # a ring has an even number of columns
    extents = (rows, columns + columns % 2 if towers.rings[1] else columns, length)
    cuts = tuple(TiledAxis(axis, run[axis], max(extents[axis] // width, 1)) for axis in (0, 1))
    return ComparisonGrid(extents, usual.steps, usual.choices, cuts)


def _fitting(plan: Plan, setup: Setup, needed: Callable[[int], Mapping[int, int]]) -> tuple[int, ...]:
    """The extents that have room for the most tiles of those wanted, and are not too many cells; else the usual ones.

    needed: the cells along each axis that is cut, for so many tiles. Axes of one extent have the most that any needs.
    """
    usual, leaders = setup.check_extents, plan.graph.space.leaders
    work = max(step_cost(plan.main.plain).flops, 1)
    most = _MOST_SIMULATED if row_of(setup.backend).is_simulator else min(_MOST_CELLS, _MOST_WORK // work)
    for wanted in _WANTED:
        cells = needed(wanted)
        for least in (usual, (0,) * len(usual)):  # beside one long axis another one may be shorter than usual
            own = [max(cells.get(axis, usual[axis]), least[axis]) for axis in range(len(usual))]
            found = tuple(max(n for n, first in zip(own, leaders, strict=True) if first == one) for one in leaders)
            if prod(found) <= max(most, prod(usual)):
                return found
    return usual
