"""Cell code: what expressions make of the values of one cell."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.statement import Statement
from workbench.codegen.turns import CutTurns
from workbench.graph import StorageType


@dataclass(frozen=True, slots=True)
class RowPointer:
    """`name` points to cell 0 of the row at `offset` of the array that holds `node`, along the axis that `i` counts.

    move: what to add to the array, "" where the loop's own rows say that.
    """

    name: str
    array: str
    node: int
    offset: tuple[int, ...]
    move: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A row pointer: `move` is what to add to the array, "row.start + 2 * shape.strides[0]" or the row of a buffer."""

    name: str
    type: str
    array: str
    move: str


@dataclass(frozen=True, slots=True)
class ArrayName:
    """The array that holds a node, by the name it has in the text."""

    name: str
    node: int
    type: StorageType


@dataclass(frozen=True, slots=True)
class RootText:
    """A root's value as text to be assigned; `nodes` are those computed inside the text."""

    node: int
    text: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CellCode:
    """What one loop nest needs, in order: `uniform` ahead of everything, `row` in each row, `cell` in each cell.

    stretch: in each stretch of a row, in loops that have them.

    `arrays` are in order of appearance. gathers: whether some line reads at a computed place, and notes one outside.
    cuts: loops between the statements of a cell, if cells turn side by side there. ahead: as in `Reads`.
    The cell's index along the last axis is `i`, counted from the domain's first cell; in a loop that folds, along the
    last axis that it keeps. `at` has those along the other axes.
    """

    arrays: tuple[ArrayName, ...]
    uniform: tuple[Statement, ...]
    pointers: tuple[RowPointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    results: tuple[RootText, ...]
    gathers: bool = False
    cuts: tuple[CutTurns, ...] = ()
    ahead: tuple[tuple[str, int], ...] = ()
    stretch: tuple[Statement, ...] = ()
