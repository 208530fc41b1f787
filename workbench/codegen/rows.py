"""Rows: where a row of cells lies, in an array or in a buffer, and what is passed and noted for arrays, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.codegen.cell_code import CellCode, Pointer, RowPointer
from workbench.codegen.loops import Array
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement
from workbench.graph import Node
from workbench.planning.kernel_plan import Home, Subkernel


def row_element(node: int, offset: tuple[int, ...], planes: Mapping[int, int] | None) -> str:
    """The element where the row at an offset has its cell 0: of an array, or of the buffer of a node in `planes`."""
    if planes and node in planes:
        return f"rolling_row<{planes[node]}>(tile, at, {{{', '.join(map(str, offset))}}})"
    return f"row.start{row_move(offset)}"


def row_pointers(
    read: Iterable[RowPointer], nodes: tuple[Node, ...], planes: Mapping[int, int] | None
) -> tuple[Pointer, ...]:
    """The rows that a cell reads, each with its type and its element."""
    return tuple(
        Pointer(
            p.name,
            f"const {type_name(nodes[p.node].value_type)}*",
            p.array,
            p.move or row_element(p.node, p.offset, planes),
        )
        for p in read
    )


def written(code: CellCode, outputs: Sequence[int], targets: Sequence[str]) -> tuple[Statement, ...]:
    """The lines that write results of a cell, each to its row."""
    values = {r.node: (r.text, r.nodes) for r in code.results}
    return tuple(
        Statement(f"{out}[i] = {values[node][0]};", tuple(sorted({node, *values[node][1]})))
        for node, out in zip(outputs, targets, strict=True)
    )


def row_move(offset: tuple[int, ...]) -> str:
    """What to add to a row's start for the row at an offset: "" or " + 2 * shape.strides[0]"."""
    moves = (
        f" {'+' if o > 0 else '-'} {f'{abs(o)} * ' if abs(o) > 1 else ''}shape.strides[{k}]"
        for k, o in enumerate(offset)
        if o
    )
    return "".join(moves)


def passed_array(array: Array) -> str:
    """The argument for a pointer to an array: the slot's array now."""
    return f"run.array<{array.type.removeprefix('const ')[:-1]}>({array.slot})"


def beyond_domain(subkernel: Subkernel) -> tuple[Home, ...]:
    """What a sub-kernel stores, if that is beyond the domain."""
    return subkernel.outputs if any(map(any, subkernel.margins)) else ()


def lost_tags(written: Iterable[Home]) -> tuple[tuple[int, int], ...]:
    """The slots whose lasting ghost cells are gone, each with tag 0."""
    return tuple((slot, 0) for slot in dict.fromkeys(home.slot for home in written))
