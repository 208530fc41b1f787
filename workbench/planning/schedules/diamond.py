"""Diamonds: which cells of which levels a tile has, and the order of tiles; `stencil_tiles.h` is the same in C++.

Along one axis tiles lean with time by `slope` cells a level. Even tiles stand at centres c(0) = 0, ..., c(m) = rows.
They grow for `height` levels to 2 slope height rows and shrink again; odd tiles have what lies between them. Both ends
of the axis are centres, so that the outermost `slope` rows of a level belong to one tile. With 16 rows, slope 1,
height 4 and two spaces between centres (even tiles are letters, odd tiles digits, later levels further up):

    level 7   2222222233333333
    level 6   A222222BB333333C
    level 5   AA2222BBBB3333CC
    level 4   AAA22BBBBBB33CCC
    level 3   AAAABBBBBBBBCCCC
    level 2   AAA00BBBBBB11CCC
    level 1   AA0000BBBB1111CC
    level 0   A000000BB111111C

Tiles of one band, even or odd, do not depend on each other; bands follow one another. Within a tile a second axis is
swept in chunks that lag by `skew` cells a level, so that few planes of a tile are in use at a time.

An axis may be a ring, whose ends are neighbours. Then the even tiles at both ends are one. A wave cuts its ring: the
chunks of each level leave `skew` cells more at both ends than those of the level before, and what is left over at the
cut, a wedge, is done in the end, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lattice:
    """Tiles of `depth` levels over `rows` rows, with `spaces` between centres of at least 2 slope height rows each."""

    rows: int
    slope: int
    height: int
    spaces: int
    depth: int
    ring: bool = False

    def bands(self) -> Iterator[int]:
        """The bands in order: -1, 1, 3, ... are odd tiles, 0, 2, 4, ... even ones."""
        return iter(range(-1, (self.depth - 1) // self.height + 1))

    def tiles(self, band: int) -> int:
        """How many tiles a band has."""
        return self.spaces if band % 2 or self.ring else self.spaces + 1

    def levels(self, band: int) -> Range:
        """The levels of a band, within the depth."""
        first = band * self.height
        return max(first, 0), min(first + 2 * self.height - (0 if band % 2 else 1), self.depth)

    def parts_of(self, band: int, tile: int, level: int) -> tuple[Range, ...]:
        """The rows that a tile has at a level of its band: some at each end for the first even tile of a ring."""
        parts = [self.rows_of(band, tile, level)]
        if self.ring and band % 2 == 0 and tile == 0:
            parts.append(self.rows_of(band, self.spaces, level))
        return tuple(part for part in parts if part[0] < part[1])

    def rows_of(self, band: int, tile: int, level: int) -> Range:
        """The rows that a tile has at a level of its band, without those at the other end of a ring."""
        half = self._half_width(level)
        if band % 2:
            return self._centre(tile) + half, self._centre(tile + 1) - half
        centre = self._centre(tile)
        return max(centre - half, 0), min(centre + half, self.rows)

    def _centre(self, number: int) -> int:
        return number * self.rows // self.spaces

    def _half_width(self, level: int) -> int:
        """Rows of an even tile on either side of its centre."""
        phase = level % (2 * self.height)
        return self.slope * (phase + 1 if phase < self.height else 2 * self.height - 1 - phase)


def lattice(rows: int, slope: int, width: int, depth: int, ring: bool = False) -> Lattice | None:
    """Tiles about `width` rows wide at their widest, None where the rows do not suffice for one of height 1."""
    slope = max(slope, 1)
    height = min(max(width // (2 * slope), 1), rows // (2 * slope))
    if height < 1 or depth < 1:
        return None
    return Lattice(rows, slope, height, max(rows // (2 * slope * height), 1), depth, ring)


def wave(planes: int, skew: int, chunk: int, levels: Range, ring: bool = False) -> Iterator[tuple[int, Range]]:
    """The levels of a tile in the order in which they run, with their planes along the wave axis; no empty ones."""
    first, last = levels
    most = (last - first - 1) * skew
    if chunk >= planes or (ring and 2 * most > planes):  # no reason to cut, no room for a wedge
        yield from ((level, (0, planes)) for level in range(first, last))
        return
    for start in range(0, planes + most, chunk):
        for level in range(first, last):
            lag = (level - first) * skew
            left = lag if ring else 0
            part = max(start - lag, left), min(start - lag + chunk, planes - left)
            if part[0] < part[1]:
                yield level, part
    for level in range(first + 1, last) if ring and skew else ():
        lag = (level - first) * skew
        yield level, (planes - lag, planes)
        yield level, (0, lag)
