"""Interior cells: the text of a loop's cells for the interior of a row, beside that for its ends."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen.cell_code import CellCode
from workbench.codegen.expressions import emit_cell
from workbench.codegen.gathers import OUTSIDE
from workbench.codegen.interior import interior_of
from workbench.codegen.loops import InteriorCells
from workbench.codegen.names import NameBook
from workbench.codegen.rows import row_pointers, written
from workbench.codegen.scope import Scope
from workbench.codegen.statement import words_in

_LONGEST = 75
"""Statements of a cell that are written a second time; more take longer to compile than they are worth."""


def interior_cells(
    scope: Scope,
    code: CellCode,
    roots: tuple[tuple[int, ...], tuple[int, ...]],
    results: tuple[Sequence[int], Sequence[str]],
    names: NameBook,
    numbered: dict[int, str],
) -> InteriorCells | None:
    """Write the cells of the interior; None where they are like those at the ends, too many lines, or of more use.

    code: the cells at the ends. roots: nodes that are computed and read. results: nodes that are written, and to which
    rows. names, numbered: as `code` found them, with the numbers that it gave arrays, so that both call them the same.
    """
    interior = None if len(code.cell) > _LONGEST or code.cuts else interior_of(scope, roots[0])
    if interior is None:
        return None
    made = emit_cell(interior.scope, *roots, names, numbered)
    if not set(made.arrays) <= set(code.arrays):
        return None
    cell = (*made.cell, *written(made, *results))
    return InteriorCells(
        interior.below,
        interior.above,
        made.uniform,
        row_pointers(made.pointers, scope.nodes, None),
        made.row,
        cell,
        notes=OUTSIDE in words_in(statement.text for statement in cell),
    )
