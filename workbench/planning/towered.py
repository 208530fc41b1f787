"""Towered: how several plain steps of a kernel run together in towers, for any extents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Towers:
    """A step that is one loop over two arrays, which change places (`workbench.planning.schedules.diamondtorre`).

    schedule: its name. Values after an even number of steps lie in slot `even`, those after an odd number in slot
    `odd`. older: whether a step reads, at the same cell, the values of the step before as well. reach: cells of axes 0
    and 1 together that a step reads away; around: how far it reads beyond each side of the domain. rings: axes whose
    ends are neighbours. fill: the fill whose ghost cells, written before a move in both arrays, then stay as they are;
    -1 where all axes are rings. size: that of the diamonds, in units of 2 reach (DTS). threads: of a tower, one for
    each cell of the last axis, at most. group: cells of a level between two barriers, 0 if no step reads along the last
    axis; along: how far it reads there. ahead: whether steps change scalars, so that each level has Globals of its own.
    """

    schedule: str
    even: int
    odd: int
    older: bool
    reach: int
    around: tuple[tuple[int, int], ...]
    rings: tuple[bool, bool, bool]
    fill: int
    size: int
    threads: int
    group: int
    along: int
    ahead: bool

    @property
    def cells(self) -> int:
        """Of a tower on a level."""
        return 2 * (self.reach * self.size) ** 2

    @property
    def values(self) -> int:
        """That a thread holds at once: the cover of a level, and what the level computes or replaces."""
        return values_of_a_thread(self.reach, self.size, self.older)

    @property
    def pitch(self) -> int:
        """Values of a column in shared memory, with those beyond its ends."""
        return self.threads + 2 * self.along


def values_of_a_thread(reach: int, size: int, older: bool) -> int:
    """Values that a thread of a tower holds at once; arguments as in `Towers`."""
    return 2 * reach**2 * ((size + 1) ** 2 + (size**2 if older else (size - 1) ** 2))
