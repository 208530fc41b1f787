"""Pieces: the records of a tiles view: which thread does which cells of which level, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows `first` to `last` (not included) of one level, done by a thread at a turn as part of a tile of a band.

    column: along the second axis, of towers.
    """

    level: int
    first: int
    last: int
    band: int
    tile: int
    thread: int
    turn: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Plane:
    """Of towers, the plane of the first two axes: all runs of cells along the first one, in the order of turns.

    shown: the column through which the section in rows and levels goes. A piece's band is its stage, its tile and
    thread are the tower's number in it: a block of threads, one for each cell of the last axis.
    """

    columns: int
    shown: int
    runs: tuple[Piece, ...]

    @property
    def most_towers(self) -> int:
        """Towers of the largest stage."""
        return max((run.tile for run in self.runs), default=-1) + 1

    def at(self, turn: int) -> tuple[Piece, ...]:
        """The runs of one turn."""
        return tuple(run for run in self.runs if run.turn == turn)


@dataclass(frozen=True, slots=True)
class TilesSummary:
    """What a tiles view shows: pieces in the order of their turns. A turn is a level of a tile on each thread.

    levels counts launches of loops, `levels_a_step` of them a step. bands: of tiles that do not need each other; a
    schedule without tiles has one a level. plane: of towers, whose pieces are a section through it.
    """

    machine: str
    schedule: str
    rows: int
    levels: int
    levels_a_step: int
    slope: int
    threads: int
    pieces: tuple[Piece, ...]
    plane: Plane | None = None

    @property
    def everything(self) -> tuple[Piece, ...]:
        """All pieces, of towers those of the whole plane."""
        return self.pieces if self.plane is None else self.plane.runs

    @property
    def turns(self) -> int:
        """How many turns all pieces take."""
        return max((piece.turn for piece in self.everything), default=-1) + 1

    def done(self, turns: int) -> tuple[Piece, ...]:
        """The pieces of the first so many turns."""
        return tuple(piece for piece in self.pieces if piece.turn < turns)
