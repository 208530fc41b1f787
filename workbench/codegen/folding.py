"""Folding: what the templates need to know of a loop that folds, as finished text."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.cell_code import Pointer
from workbench.codegen.statement import Statement


@dataclass(frozen=True, slots=True)
class FoldedValue:
    """A Fold inside a loop: its trees, the lane of each kept cell, how two values combine, and where results go.

    stored: the type of the array of results; made_of: what stands before and after a result to make one of it.
    seeking: of a first extreme, how its elements combine.
    """

    trees: str
    cells: str
    type: str
    combine: str
    identity: str
    target: str
    array: str
    stored: str
    made_of: tuple[str, str] = ("", "")
    seeking: str = ""


@dataclass(frozen=True, slots=True)
class RowsTogether:
    """How a fold takes `count` rows of kept cells at a time, to read once what is the same for them.

    pointers and statements: those of a row of cells that are the same for all of these; own_pointers and
    own_statements: those of each. packed: shared pointers to what is put side by side first, as many rows read it.
    """

    count: int
    pointers: tuple[Pointer, ...]
    statements: tuple[Statement, ...]
    own_pointers: tuple[Pointer, ...]
    own_statements: tuple[Statement, ...]
    packed: tuple[Pointer, ...] = ()


@dataclass(frozen=True, slots=True)
class AlongRow:
    """How a fold takes the cells of one row side by side: statements put what is folded into `NAME_along[lane]`.

    found: of first extremes, the last line of a function of a cell that gives the element, one for each value.
    """

    uniform: tuple[Statement, ...]
    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    found: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Folding:
    """How a loop folds: over the cells of `shape`, `lanes` of the last kept axis side by side.

    lanes: a number, or the constant of the text that has it. kept and folded: numbers of the loop's axes. targets: kept
    cells a thread of a device. sources: cells of the last folded axis a turn. rows: how a host takes several rows of
    kept cells at a time, if it does. along: how it takes the cells of a long row of folded ones side by side, if it
    may.
    """

    shape: str
    kept: tuple[int, ...]
    folded: tuple[int, ...]
    lanes: int | str
    values: tuple[FoldedValue, ...]
    targets: int = 1
    sources: int = 1
    rows: RowsTogether | None = None
    along: AlongRow | None = None
