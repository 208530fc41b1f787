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

A march may be cut into windows, which run one after the other, so that arrays larger than memory pass through it once
in a march. A window has a number of planes of the wave axis, if that is axis 0, else of tiles, and moves back with each
level or band by as much as tiles lean: what a cell needs is in its window or in one before. On a ring the windows
leave a wedge around the cut, the rest, which is the last window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarchWindow:
    """A part of a march along axis 0: a number of planes or tiles (size 0: all of the march), or the rest of a ring."""

    number: int = 0
    size: int = 0
    rest: bool = False


ALL = MarchWindow()


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

    def tiles_in(self, band: int, window: MarchWindow) -> list[int]:
        """The tiles of a band in a window of tiles: a tile needs the two below it only."""
        tiles, back = self.tiles(band), (band + 1) // 2
        if not window.size:
            return list(range(tiles))
        low, high = (back + (band % 2 == 0), tiles - back) if self.ring else (0, tiles)
        if low >= high:
            low = high = 0
        if window.rest:
            return [*range(low), *range(high, tiles)]
        first = window.number * window.size - back
        return list(range(max(first, low), min(first + window.size, high)))

    def windows(self, size: int) -> list[MarchWindow]:
        """The windows of a march, each of so many tiles."""
        bands = (self.depth - 1) // self.height + 1
        return windows_of(self.spaces + (0 if self.ring else 1 + bands // 2), size, self.ring)

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


def windows_of(length: int, size: int, rest: bool) -> list[MarchWindow]:
    """The windows that cover a length of planes or tiles, size of each 0 for one of all; `rest`: and one more."""
    if not size:
        return [ALL]
    count = -(-length // size)
    return [MarchWindow(number, size, number == count) for number in range(count + rest)]


def windows_of_planes(planes: int, skew: int, levels: int, size: int, ring: bool = False) -> list[MarchWindow]:
    """The windows of a march of so many levels, each of so many planes."""
    most = (levels - 1) * skew
    return windows_of(planes + (0 if ring else most), size, ring and most > 0)


def wave(
    planes: int, skew: int, chunk: int, levels: Range, ring: bool = False, window: MarchWindow = ALL
) -> Iterator[tuple[int, Range]]:
    """The levels of a tile in the order in which they run, with their planes along the wave axis; no empty ones."""
    first, last = levels
    most = (last - first - 1) * skew
    if not window.size and (chunk >= planes or (ring and 2 * most > planes)):  # no reason to cut, no room for a wedge
        yield from ((level, (0, planes)) for level in range(first, last))
        return
    whole = 0 if window.size else first  # the level that a ring is cut at without a wedge
    begin = window.number * window.size - first * skew if window.size else 0
    end = 0 if window.rest else min(begin + window.size if window.size else planes + most, planes + most)
    for start in range(max(begin, 0), end, chunk):
        for level in range(first, last):
            lag = (level - first) * skew
            left = (level - whole) * skew if ring else 0
            part = max(start - lag, left), min(min(start + chunk, end) - lag, planes - left)
            if part[0] < part[1]:
                yield level, part
    for level in range(first, last) if ring and (window.rest or not window.size) else ():
        lag = min((level - whole) * skew, planes)
        for part in ((max(planes - lag, lag), planes), (0, lag)):
            if part[0] < part[1]:
                yield level, part
