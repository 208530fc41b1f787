"""Array layout: where a cell lies in memory, the same for every array of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

ALIGNMENT = 64
"""Bytes: a cache line and a 512-bit vector. Cell (.., 0) of every row starts at a multiple of it."""

PAGE = 4096
"""Bytes after which the sets of a first cache repeat, and addresses look alike to what orders loads and stores."""

APART = 25 * ALIGNMENT
"""Bytes between the places of arrays in a page: near the golden section of it, so that few and many spread evenly."""

LARGE_BYTES = 32 << 20
"""Arrays from this size on come from memory in every step, and padding with them."""

_MOST_PADDED = 1.125
"""Times the elements of large arrays that they may have with padding."""

_MOST_WORD = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Element counts: C-ordered, halo around the domain, rows padded to whole multiples of the alignment.

    strides[k] elements from a cell to its neighbour along axis k (strides[-1] == 1); `start` is the element of cell
    (0, ..., 0); `elements` is the size of an array.
    """

    extents: tuple[int, ...]
    halo: tuple[tuple[int, int], ...]
    strides: tuple[int, ...]
    start: int
    elements: int

    @property
    def shape_words(self) -> tuple[int, ...]:
        """The 64-bit words of a `Shape` in the order of its members: the whole domain, origin 0, a rule at every side.

        A function of arrays of many lengths has more cells along all its axes than 64 bits count; no array has so
        many, and no kernel reads the strides of one.
        """
        dim = len(self.extents)
        strides, start = (min(stride, _MOST_WORD) for stride in self.strides), min(self.start, _MOST_WORD)
        return (*self.extents, *strides, *([0] * dim), *self.extents, *([1] * (2 * dim)), start)


def lay_out_on_host(
    extents: tuple[int, ...],
    halo: tuple[tuple[int, int], ...],
    smallest_itemsize: int,
    *,
    on_lines: bool = False,
    padding: tuple[int, ...] = (),
) -> Layout:
    """Return the layout for CPU threads: rows on cache lines where arrays are worked on in caches, else not padded.

    on_lines: rows of large arrays begin on lines too, unless they have few cells, as loops wait for more than memory
    (`plan_figures.rows_on_lines`). A vector that crosses two lines costs time in a cache and none beside a memory
    access; there every byte between rows is moved with them. padding: as in `lay_out`; given, it decides alone.
    """
    aligned = lay_out(extents, halo, smallest_itemsize, padding=padding)
    if padding or aligned.elements * smallest_itemsize < LARGE_BYTES:
        return aligned
    bare = lay_out(extents, halo, smallest_itemsize, alignment=smallest_itemsize)
    return aligned if on_lines and aligned.elements <= _MOST_PADDED * bare.elements else bare


def place_in_page(number: int) -> int:
    """Return where in a page the array of this number begins, in bytes: a multiple of ALIGNMENT.

    Large arrays would all begin at one place. Then the same cell of each lies in the same cache set, and a load waits
    for a store to another array whose address it takes for its own.
    """
    return number * APART % PAGE


def lay_out_packed(extents: tuple[int, ...], halo: tuple[tuple[int, int], ...], smallest_itemsize: int) -> Layout:
    """Return the layout of arrays as NumPy makes them, C-ordered and without padding; for programs without halo."""
    del smallest_itemsize
    strides = tuple(prod(extents[axis + 1 :]) for axis in range(len(extents)))
    return Layout(extents, halo, strides, 0, prod(extents))


def lay_out(
    extents: tuple[int, ...],
    halo: tuple[tuple[int, int], ...],
    smallest_itemsize: int,
    alignment: int = ALIGNMENT,
    padding: tuple[int, ...] = (),
) -> Layout:
    """Return the layout of arrays over `extents` cells with `halo` cells around, items of at least the given bytes.

    `alignment` is in bytes: a multiple of the item size that divides ALIGNMENT. padding: times ALIGNMENT bytes that are
    left free behind each row, each plane and so on; () for what rows need.

    The ghost cells behind a row and those before the next one share the padding between them: memory that holds no
    cell is moved all the same where rows follow each other. A pitch that is a multiple of 4096 bytes gets one more
    cache line, because neighbouring rows would otherwise compete for the same cache sets, unless padding is given.
    """
    line = alignment // smallest_itemsize
    below, above = halo[-1]
    pitch = _round_up(below + extents[-1] + above, line)
    if not padding and len(extents) > 1 and (pitch * smallest_itemsize) % 4096 == 0:
        padding = (1,)
    lines = (*padding, *[0] * len(extents))[: len(extents) - 1]
    before = _round_up(below, line)
    strides = [1]
    start = before
    size = pitch
    for extent, (below, above), free in zip(reversed(extents[:-1]), reversed(halo[:-1]), lines, strict=True):
        size += free * (ALIGNMENT // smallest_itemsize)
        strides.insert(0, size)
        start += below * size
        size *= below + extent + above
    return Layout(extents, halo, tuple(strides), start, before + size)


def _round_up(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple
