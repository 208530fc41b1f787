"""Tiles summary: the pieces of a schedule along one axis and time, in the order in which threads do them."""

from __future__ import annotations

from workbench.errors import RunError
from workbench.planning.plan import Plan
from workbench.planning.schedules.diamond import lattice
from workbench.planning.tiled import Tiling
from workbench.planning.towered import Towers
from workbench.views.tiles.pieces import Piece, TilesSummary
from workbench.views.tiles.towers import summarise_towers

MOST_ROWS, MOST_COLUMNS = 512, 128  # that a picture can tell apart


def summarise_tiles(
    plan: Plan, *, rows: int = 64, columns: int = 24, steps: int = 16, height: int = 6, threads: int = 2
) -> TilesSummary:
    """The summary of a plan's main kernel along the axis that its tiles cut, for a grid small enough to be seen.

    rows: along that axis; steps that run together; height of tiles in levels. A plan whose steps follow each other has
    rows shared among the threads at each level. Tiles of a band are shared in runs of neighbours; here all levels of
    a tile take equally long. columns: of the second axis, of plans in towers, which have a block of threads each and
    are as high as there are steps. Raises RunError for numbers that leave no room.
    """
    numbers = (
        ("rows", rows, MOST_ROWS),
        ("columns", columns, MOST_COLUMNS),
        ("steps", steps, 64),
        ("height", height, 64),
        ("threads", threads, 64),
    )
    for name, value, most in numbers:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise RunError(f"{name}={value!r} cannot be drawn", advice=f"Use a whole number from 1 to {most}.")
    match plan.main.blocking:
        case None:
            return _summarise_steps(plan, rows, steps, threads)
        case Tiling() as tiling:
            return _summarise_diamonds(plan, tiling, rows, steps, height, threads)
        case Towers() as towers:
            return summarise_towers(plan, towers, rows, columns, steps)


def _levels_of(plan: Plan) -> int:
    """Launches of loops of a step."""
    return sum(launch.kind == "subkernel" for launch in plan.main.plain.launches)


def _summarise_steps(plan: Plan, rows: int, steps: int, threads: int) -> TilesSummary:
    levels = _levels_of(plan)
    pieces = tuple(
        Piece(level, rows * thread // threads, rows * (thread + 1) // threads, level, thread, thread, level)
        for level in range(steps * levels)
        for thread in range(threads)
    )
    return TilesSummary(plan.graph.name, plan.schedule, rows, steps * levels, levels, 0, threads, pieces)


def _summarise_diamonds(plan: Plan, tiling: Tiling, rows: int, steps: int, height: int, threads: int) -> TilesSummary:
    axis, levels = tiling.across, _levels_of(plan)
    slope = max(tiling.slopes[axis], 1)
    found = lattice(rows, slope, 2 * slope * height, steps * levels, tiling.rings[axis])
    if found is None:
        raise RunError(
            f"{rows} rows have no room for tiles that lean by {slope} cells a level", advice="Use more rows."
        )
    pieces_, begin = [], 0
    for band in found.bands():
        free = [begin] * threads
        for tile in range(found.tiles(band)):
            thread = tile * threads // found.tiles(band)
            for level in range(*found.levels(band)):
                parts = found.parts_of(band, tile, level)
                pieces_ += [Piece(level, first, last, band, tile, thread, free[thread]) for first, last in parts]
                free[thread] += bool(parts)
        begin = max(free)
    order = sorted(pieces_, key=lambda piece: (piece.turn, piece.thread))
    return TilesSummary(plan.graph.name, plan.schedule, rows, steps * levels, levels, slope, threads, tuple(order))


def describe_tiles(summary: TilesSummary, turns: int | None = None) -> str:
    """In words: the tiles, and what has been done after so many turns."""
    pieces, plane = summary.everything, summary.plane
    tiles, bands = len({(piece.band, piece.tile) for piece in pieces}), len({piece.band for piece in pieces})
    text = f"{summary.machine}, schedule {summary.schedule}: "
    if plane is None:
        text += f"{tiles} tiles in {bands} bands, {summary.rows} rows, {summary.levels} levels, "
        text += f"{summary.threads} threads, {summary.turns} turns"
    else:
        text += f"{tiles} towers in {bands} stages of up to {plane.most_towers}, {summary.rows} x {plane.columns} "
        text += f"columns of cells, {summary.levels} steps, {summary.turns} turns"
    if turns is None:
        return text
    cells = sum(piece.last - piece.first for piece in pieces if piece.turn < turns)
    now = [piece for piece in pieces if piece.turn == turns - 1]
    if plane is not None:
        levels = sorted({piece.level for piece in now})
        which = f"step {levels[0]}" if len(levels) == 1 else f"steps {levels[0]} to {levels[-1]}" if levels else ""
        words = f"stage {now[0].band}, {which} of {len({piece.tile for piece in now})} towers" if now else ""
    else:
        words = ", ".join(
            f"thread {piece.thread}: level {piece.level}, rows {piece.first} to {piece.last - 1}" for piece in now
        )
    share = cells / (summary.rows * (plane.columns if plane else 1) * summary.levels)
    return f"{text}; turn {turns}: {share:.0%} of the cells done{f'; {words}' if words else ''}"
