"""Tiled: how several plain steps of a kernel run together in tiles, and which ghost cells they write on their way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["diamond", "wave", "whole"]


@dataclass(frozen=True, slots=True)
class GhostUpdate:
    """Ghost cells that tiles write beside the cells that they come from (`workbench.planning.schedules.ghosts`).

    They are those of a fill, after the loops of a level, of the array in `slot` as numbered at that step's start, with
    the Globals of this step (ahead = 0) or of the next one.
    """

    fill: int
    level: int
    slot: int
    ahead: int


@dataclass(frozen=True, slots=True)
class Tiling:
    """How several plain steps run together in tiles, for any extents (`workbench.planning.schedules.tiling`).

    loops: for each level of a step its launch of loops, -1 where a level writes ghost cells only. slopes: cells for
    each level by which tiles lean along each axis. roles: what is done along each axis: cut into diamonds, swept in
    chunks that lag with the level, or taken whole. rings: axes whose ends are neighbours. before: (fill, slot) whose
    ghost cells are written before tiles begin; updates: in them. bare: sub-kernels that compute nothing outside the
    domain in tiles, because images of what they compute inside are the same.
    """

    schedule: str
    loops: tuple[int, ...]
    slopes: tuple[int, ...]
    roles: tuple[Role, ...]
    rings: tuple[bool, ...]
    before: tuple[tuple[int, int], ...]
    updates: tuple[GhostUpdate, ...]
    bare: tuple[int, ...] = ()

    @property
    def levels(self) -> int:
        """Levels of a step."""
        return len(self.loops)

    @property
    def across(self) -> int:
        """The axis that is cut into diamonds."""
        return self.roles.index("diamond")

    @property
    def whole(self) -> tuple[int, ...]:
        """Axes that no tile cuts."""
        return tuple(axis for axis, role in enumerate(self.roles) if role == "whole")
