"""Scattering: what the templates need to know of a loop that sends cells to computed places."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.cell_code import Pointer
from workbench.codegen.statement import Statement


@dataclass(frozen=True, slots=True)
class ScatteredCells:
    """The text of cells of another shape than the loop's: its row pointers, rows and cells."""

    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Scattering:
    """A Scatter: the senders, which lie in the shape `senders` of `rank` axes, where each sends to, and what.

    default: what a destination begins with, in the loop's own cells. indices and mask ("" for none) stand in the text
    `places`, value in `values`. combine: of the new and the old value. bit: which notes an index outside. early:
    whether values are computed with the places, because they note something themselves, also where they are not sent.
    neutral: what changes no value that it is combined with, where senders may be taken in any order; "" elsewhere.
    """

    senders: str
    rank: int
    type: str
    combine: str
    default: str
    indices: tuple[str, ...]
    mask: str
    bit: int
    value: str
    array: str
    places: ScatteredCells
    values: ScatteredCells
    early: bool
    neutral: str
