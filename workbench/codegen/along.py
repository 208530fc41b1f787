"""Along: the text of a fold's cells where a row of them is folded by itself, 16 side by side.

For operators that take equal values any number of times in any order: "or", "and", minimum and maximum. The order of
floats still says which of 0 and -0 is the result; where the lanes do not agree on it, the loop takes that row in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen.cell_code import CellCode
from workbench.codegen.expressions import emit_cell
from workbench.codegen.folding import AlongRow, FoldedValue
from workbench.codegen.names import NameBook
from workbench.codegen.rows import row_pointers
from workbench.codegen.seeking import Sought, sought_by
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Subkernel

_OPERATORS = frozenset({"combine_minimum", "combine_maximum", "combine_logical_or", "combine_logical_and"})
_LONGEST = 60
"""Statements of a cell that are written a second time; more take longer to compile than they are worth."""


def along_row(
    writer: KernelWriter,
    subkernel: Subkernel,
    code: CellCode,
    values: Sequence[FoldedValue],
    names: NameBook,
    numbered: dict[int, str],
) -> AlongRow | None:
    """Write the cells of a row that is folded by itself; None where its order matters, or cells do not follow in it.

    code: the cells in order. names, numbered: as `code` found them, with the numbers that it gave arrays, so that both
    call them the same.
    """
    folded, loop = subkernel.reduced, listed(subkernel.axes, writer.dim)
    if folded[-1] != loop[-1] or code.gathers or code.cuts or len(code.cell) > _LONGEST:
        return None
    sought = sought_in_rows(writer, subkernel)
    if not sought and (not {value.combine for value in values} <= _OPERATORS or writer.extends(code.cell)):
        return None
    if any(writer.nodes[home.node].value_type.is_record for home in subkernel.outputs):
        return None
    stored = frozenset(home.node for home in subkernel.reads)
    operands = {home.node: writer.nodes[home.node].operands[0] for home in subkernel.outputs}
    operands.update((home.node, each.element) for home, each in zip(subkernel.outputs, sought, strict=False))
    roots = tuple(dict.fromkeys(operands.values()))
    read = tuple(root for root in roots if root in stored)
    computed = tuple(root for root in roots if root not in stored)
    made = emit_cell(writer.scope(stored, subkernel.axes), computed, read, names, numbered)
    if not set(made.arrays) <= set(code.arrays) or made.gathers or made.cuts:
        return None
    results = {result.node: result for result in made.results}
    lines = []
    for home, value in zip(subkernel.outputs, values, strict=True):
        taken = results[operands[home.node]]
        text = f"return {taken.text};" if sought else f"{value.cells}_along[lane] = {taken.text};"
        lines.append(Statement(text, tuple(sorted({home.node, *taken.nodes}))))
    cell, found = (made.cell, tuple(lines)) if sought else ((*made.cell, *lines), ())
    return AlongRow(made.uniform, row_pointers(made.pointers, writer.nodes, None), made.row, cell, found)


def sought_in_rows(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sought, ...]:
    """What a fold of single rows seeks, if that is what it does; () where it does something else."""
    return sought_by(writer, subkernel, (h.node for h in subkernel.outputs)) if len(subkernel.reduced) == 1 else ()
