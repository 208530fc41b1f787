"""Tiles summary: the pieces of a schedule along one axis and time, in the order in which threads do them."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import RunError
from workbench.planning.plan import Plan
from workbench.planning.schedules.diamond import lattice

MOST_ROWS = 512  # that a picture can tell apart


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows `first` to `last` (not included) of one level, done by a thread at a turn as part of a tile of a band."""

    level: int
    first: int
    last: int
    band: int
    tile: int
    thread: int
    turn: int


@dataclass(frozen=True, slots=True)
class TilesSummary:
    """What a tiles view shows: pieces in the order of their turns. A turn is a level of a tile on each thread.

    levels counts launches of loops, `levels_a_step` of them a step. bands: of tiles that do not need each other; a
    schedule without tiles has one a level.
    """

    machine: str
    schedule: str
    rows: int
    levels: int
    levels_a_step: int
    slope: int
    threads: int
    pieces: tuple[Piece, ...]

    @property
    def turns(self) -> int:
        """How many turns all pieces take."""
        return max((piece.turn for piece in self.pieces), default=-1) + 1

    def done(self, turns: int) -> tuple[Piece, ...]:
        """The pieces of the first so many turns."""
        return tuple(piece for piece in self.pieces if piece.turn < turns)


def summarise_tiles(plan: Plan, *, rows: int = 64, steps: int = 16, height: int = 6, threads: int = 2) -> TilesSummary:
    """The summary of a plan's main kernel along the axis that its tiles cut, for a grid small enough to be seen.

    rows: along that axis; steps that run together; height of tiles in levels. A plan whose steps follow each other has
    rows shared among the threads at each level. Tiles of a band are shared in runs of neighbours; here all levels of
    a tile take equally long. Raises RunError for numbers that leave no room.
    """
    for name, value, most in (("rows", rows, MOST_ROWS), ("steps", steps, 64), ("threads", threads, 64)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise RunError(f"{name}={value!r} cannot be drawn", advice=f"Use a whole number from 1 to {most}.")
    tiling, main = plan.main.tiling, plan.main
    levels = sum(launch.kind == "subkernel" for launch in main.plain.launches)
    if tiling is None:
        pieces = tuple(
            Piece(level, rows * thread // threads, rows * (thread + 1) // threads, level, thread, thread, level)
            for level in range(steps * levels)
            for thread in range(threads)
        )
        return TilesSummary(plan.graph.name, "stepwise", rows, steps * levels, levels, 0, threads, pieces)
    axis = tiling.roles.index("diamond")
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
    return TilesSummary(plan.graph.name, tiling.schedule, rows, steps * levels, levels, slope, threads, tuple(order))


def describe_tiles(summary: TilesSummary, turns: int | None = None) -> str:
    """In words: the tiles, and what has been done after so many turns."""
    bands = sorted({piece.band for piece in summary.pieces})
    tiles = {(piece.band, piece.tile) for piece in summary.pieces}
    text = (
        f"{summary.machine}, schedule {summary.schedule}: {len(tiles)} tiles in {len(bands)} bands, "
        f"{summary.rows} rows, {summary.levels} levels, {summary.threads} threads, {summary.turns} turns"
    )
    if turns is None:
        return text
    done = summary.done(turns)
    cells = sum(piece.last - piece.first for piece in done)
    now = ", ".join(
        f"thread {piece.thread}: level {piece.level}, rows {piece.first} to {piece.last - 1}"
        for piece in done
        if piece.turn == turns - 1
    )
    share = cells / (summary.rows * summary.levels)
    return f"{text}; turn {turns}: {share:.0%} of the cells done{f'; {now}' if now else ''}"
