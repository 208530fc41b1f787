"""Towers summary: which tower does which cells of x, y and which step, in the order of stages and their levels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from workbench.errors import RunError
from workbench.planning.plan import Plan
from workbench.planning.schedules.torre import Stage, Torre, Tower, torre
from workbench.planning.towered import Towers
from workbench.views.tiles.pieces import Piece, Plane, TilesSummary


def summarise_towers(plan: Plan, towers: Towers, rows: int, columns: int, steps: int) -> TilesSummary:
    """The summary of a plan whose steps run in towers, over rows x columns cells of its first two axes.

    A turn is a level of each tower of a stage; a tower begins as soon as its stage does. The section is the middle
    column. Raises RunError where there is no room for a tower.
    """
    found = torre((rows, columns), towers.reach, towers.size, steps, towers.rings[:2])
    if found is None:
        raise RunError(
            f"{rows} x {columns} cells have no room for towers of {steps} steps, diamonds of {towers.cells} cells",
            advice="Use more rows and columns, an even number of columns, or a smaller diamond_size.",
        )
    runs = tuple(sorted(_runs(found), key=lambda run: (run.turn, run.tile, run.column, run.first)))
    plane = Plane(columns, columns // 2, runs)
    section = tuple(run for run in runs if run.column == plane.shown)
    return TilesSummary(
        plan.graph.name, plan.schedule, rows, found.levels, 1, towers.reach, plane.most_towers, section, plane
    )


def levels_done(summary: TilesSummary, turns: int) -> npt.NDArray[np.int64]:
    """How many steps each cell (row, column) has done after so many turns."""
    plane = summary.plane
    assert plane is not None
    done = np.zeros((summary.rows, plane.columns), np.int64)
    for run in plane.runs:
        if run.turn < turns:
            done[run.first : run.last, run.column] = run.level + 1
    return done


def _runs(found: Torre) -> Iterator[Piece]:
    """The cells of every tower, level and column that lie side by side along the first axis."""
    begin, number = 0, 0
    for stage in found.stages():
        end, tile = begin, 0
        for tower in (found.tower(stage.number, stage.first + k) for k in range(stage.towers)):
            levels = {level: cells for level in range(found.levels) if (cells := _cells(found, stage, tower, level))}
            for turn, (level, cells) in enumerate(levels.items(), begin):
                for column, first, last in _side_by_side(cells):
                    yield Piece(level, first, last, number, tile, tile, turn, column)
            end = max(end, begin + len(levels))
            tile += bool(levels)
        number += end > begin
        begin = end


def _cells(found: Torre, stage: Stage, tower: Tower, level: int) -> list[tuple[int, int]]:
    """The cells (column, row) that a tower computes at a level, in order."""
    width = found.width
    return sorted(
        found.home(found.cell(tower, level, a, b))[::-1]
        for a in range(width)
        for b in range(a % 2, width, 2)
        if found.computes(stage.sweep, tower, level, a, b)
    )


def _side_by_side(cells: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Columns with the first row of a run and the one after its last."""
    for (column, _), group in groupby(enumerate(cells), key=lambda each: (each[1][0], each[1][1] - each[0])):
        rows = [row for _, (_, row) in group]
        yield column, rows[0], rows[-1] + 1
