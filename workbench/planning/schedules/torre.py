"""DiamondTorre: towers of several steps, their stages, and which cells of which levels a tower has.

`stencil_torre.h` is the same in CUDA. The schedule is that of Levchenko, Perepelkina and Zakirov (Computation 4 (2016)
29). A level is a step; the values that level t computes are those after t + 1 steps. A tower leans by `reach` cells of
axis 0 a level, and x' = x - reach t is where its cells lie at level 0. With u = x' + y and v = x' - y, a cell needs
values that were computed at no smaller u and no smaller v, at most 2 reach further, because |dx| + |dy| <= reach. So
the plane is cut along lines of constant u and of constant v, `width` = 2 reach size apart: a tower (p, q) follows
towers of no smaller p and no smaller q, and towers of one stage, p + q, do not depend on each other.

Within a tower a cell is (a, b), its u and v counted from the tower's corner. a + b is even. What a level of a tower
reads of one time is its cover, 0 <= a, b < width + 2 reach where the values were computed, one level before.

Axis 1 may be a ring: then cuts repeat with its cells, and the last tower of each turn may be narrower. If axis 0 is a
ring, it is cut at cell 0, and a first sweep leaves `reach` cells more on both sides at each level. A second sweep does
what is left over, a wedge that grows about the cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WHOLE_TURN = 2
"""Levels after which the two arrays are back in their slots; a move has a multiple of so many."""


@dataclass(frozen=True, slots=True)
class TowerSweep:
    """The cells of axis 0 at level t: low + low_lean t <= x < high + high_lean t; of a ring counted past its end."""

    low: int
    low_lean: int
    high: int
    high_lean: int

    def cells(self, level: int) -> tuple[int, int]:
        """The first cell at a level and the one after the last."""
        return self.low + self.low_lean * level, self.high + self.high_lean * level


@dataclass(frozen=True, slots=True)
class Stage:
    """A row of towers along axis 1: p = first, ..., first + towers - 1 and q = number - p."""

    sweep: TowerSweep
    number: int
    first: int
    towers: int


@dataclass(frozen=True, slots=True)
class Tower:
    """A tower of a stage: the cell of its corner (a, b) = (0, 0) at level 0, and how far a and b go."""

    x: int
    y: int
    wide_a: int
    wide_b: int


@dataclass(frozen=True, slots=True)
class Torre:
    """Towers of `levels` levels over `rows` x `columns` cells of axes 0 and 1, whose ends are neighbours in rings."""

    rows: int
    columns: int
    reach: int
    size: int
    levels: int
    rings: tuple[bool, bool] = (False, False)

    @property
    def width(self) -> int:
        """Along u and v."""
        return 2 * self.reach * self.size

    @property
    def turn(self) -> tuple[int, int]:
        """How many cuts there are in how many cells, before they repeat."""
        if not self.rings[1]:
            return 1, self.width
        return -(-self.columns // self.width), self.columns

    def cut(self, number: int) -> int:
        """Where along u or v towers with this p or q begin."""
        many, cells = self.turn
        return number // many * cells + number % many * self.width

    @property
    def most_towers(self) -> int:
        """Of a stage; in every second one they may be one fewer."""
        return max(self._row(number)[1] for number in (0, 1))

    def moves_at_once(self, stages: int) -> int:
        """How many moves could have a stage under way at the same time; stages: of a move.

        A stage reads, at the lowest level, the last one of towers of the move before whose p and q are smaller by what
        a tower leans, so that it may follow `levels / size` stages behind, and one. That are about rows / (reach
        levels) moves, twice as many as the paper says. A wedge waits for all of its first sweep.
        """
        if self.rings[0]:
            return 1
        behind = 2 * -(-self.reach * self.levels // self.width) + 1
        return -(-stages // behind)

    def sweeps(self) -> tuple[TowerSweep, ...]:
        """In order; the second one of a ring is its wedge."""
        if not self.rings[0]:
            return (TowerSweep(0, 0, self.rows, 0),)
        lean = self.reach
        return TowerSweep(0, lean, self.rows, -lean), TowerSweep(self.rows, -lean, self.rows, lean)

    def stages(self) -> Iterator[Stage]:
        """All that have a cell to do, in order."""
        many, cells = self.turn
        for sweep in self.sweeps():
            ends = [
                edge - self.reach * t
                for t in (0, self.levels - 1)
                for edge in (sweep.cells(t)[0], sweep.cells(t)[1] - 1)
            ]
            last = 2 * min(ends) * many // cells - 3 * many - 2
            for number in range(2 * max(ends) * many // cells + 3, last, -1):
                first, count = self._row(number)
                if any(self.has_cells(sweep, self.tower(number, first + k)) for k in range(count)):
                    yield Stage(sweep, number, first, count)

    def _row(self, number: int) -> tuple[int, int]:
        """The first tower of a row and how many there are with cells of axis 1."""
        if self.rings[1]:
            return 0, self.turn[0]
        half = self.width // 2
        first = -((half - 1 - number * half) // self.width)
        return first, (self.columns + half - 2 + number * half) // self.width - first + 1

    def tower(self, number: int, p: int) -> Tower:
        """Tower (p, q) of a stage. In a ring its corner is one of the cells of axis 1."""
        q = number - p
        u, v = self.cut(p), self.cut(q)
        y = (u - v) // 2
        return Tower((u + v) // 2, y % self.columns if self.rings[1] else y, self.cut(p + 1) - u, self.cut(q + 1) - v)

    def cell(self, tower: Tower, level: int, a: int, b: int) -> tuple[int, int]:
        """The cell (a, b) of a level, not yet brought back into a ring."""
        return tower.x + (a + b) // 2 + self.reach * level, tower.y + (a - b) // 2

    def home(self, cell: tuple[int, int]) -> tuple[int, int]:
        """The cell itself, in a ring the one of the domain."""
        x, y = cell
        return x % self.rows if self.rings[0] else x, y % self.columns if self.rings[1] else y

    def computes(self, sweep: TowerSweep, tower: Tower, level: int, a: int, b: int) -> bool:
        """Whether the tower computes its cell (a, b) of a level."""
        (low, high), (x, y) = sweep.cells(level), self.cell(tower, level, a, b)
        inside = self.rings[1] or 0 <= y < self.columns
        return a < tower.wide_a and b < tower.wide_b and low <= x < high and inside

    def covers(
        self, sweep: TowerSweep, tower: Tower, level: int, a: int, b: int, around: tuple[tuple[int, int], ...]
    ) -> bool:
        """Whether level `level` may read the cell (a, b) of the level before, or the next level may as an older value.

        around: how far cells are read beyond the domain, below and above along axes 0 and 1.
        """
        below, above = (self.reach, self.reach) if self.rings[0] else around[0]
        (low, high), (x, y) = sweep.cells(level), self.cell(tower, level - 1, a, b)
        inside = self.rings[1] or -around[1][0] <= y < self.columns + around[1][1]
        beside = a < tower.wide_a + 2 * self.reach and b < tower.wide_b + 2 * self.reach
        return beside and low - below <= x < high + above and inside

    def stores(self, sweep: TowerSweep, tower: Tower, level: int, a: int, b: int) -> bool:
        """Whether others read what the tower computes at (a, b): it does not write the cell again two levels later."""
        if a < 2 * self.reach or b < 2 * self.reach or level >= self.levels - WHOLE_TURN:
            return True
        (low, high), (x, _) = sweep.cells(level + WHOLE_TURN), self.cell(tower, level, a, b)
        return not low <= x < high

    def span(self, sweep: TowerSweep, tower: Tower) -> tuple[int, int]:
        """The levels, of whole turns, in which the tower may have cells: the first and the one after the last."""
        found = [t for t in range(self.levels) if self._touches(sweep, tower, t)]
        return (found[0] // 2 * 2, found[-1] // 2 * 2 + 2) if found else (0, 0)

    def has_cells(self, sweep: TowerSweep, tower: Tower) -> bool:
        """Whether the tower may have cells at all."""
        return self.span(sweep, tower) != (0, 0)

    def _touches(self, sweep: TowerSweep, tower: Tower, level: int) -> bool:
        (low, high), first = sweep.cells(level), tower.x + self.reach * level
        return low < high and first + self.width > low and first < high


def torre(
    extents: tuple[int, int], reach: int, size: int, depth: int, rings: tuple[bool, bool] = (False, False)
) -> Torre | None:
    """Towers of `depth` levels at most, None where the extents have no room for two levels.

    A ring of axis 0 must be twice as long as towers lean. One of axis 1 needs an even number of cells, at least those
    that the cover of a tower has.
    """
    rows, columns = extents
    levels = min(depth, rows // (2 * reach)) if rings[0] else depth
    levels -= levels % WHOLE_TURN
    narrow = rings[1] and (columns % 2 or columns < 2 * reach * (size + 1))
    if levels < WHOLE_TURN or min(extents) < 1 or narrow:
        return None
    return Torre(rows, columns, reach, size, levels, rings)
