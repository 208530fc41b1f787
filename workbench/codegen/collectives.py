"""Collectives: the text of a loop that makes a Scan, a SegmentedReduce or a Rank, alike for every target."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.codegen.cell_code import ArrayName, CellCode, Pointer, RootText
from workbench.codegen.expressions import emit_cell
from workbench.codegen.gathers import OUTSIDE, note_bit
from workbench.codegen.interior import needed_in
from workbench.codegen.loops import Array, Ranking, Scanning, Segmenting, Sweep
from workbench.codegen.names import NameBook
from workbench.codegen.rows import row_pointers
from workbench.codegen.scope import Scope
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement, words_in
from workbench.codegen.writer import KernelWriter
from workbench.graph import Loop, Rank, Scan, SegmentedReduce
from workbench.graph.instructions import array_places
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Axes, Subkernel

COLLECTIVE_NAMES = frozenset(
    {
        "along",
        "begin",
        "cells",
        "count",
        "counts",
        "digits",
        "place",
        "fits",
        "first",
        "high",
        "length",
        "line",
        "lines",
        "low",
        "part",
        "results",
        "row",
    }
)
"""Names that no value may have in such a text."""
_LANES = 16
_LONGEST = 60
"""Statements of a cell of segments that are written a second time."""


@dataclass(frozen=True, slots=True)
class CollectiveCode:
    """What a loop makes, with what its cells need: `code` is of the cells of its own shape."""

    code: CellCode
    inner: CellCode | None
    shapes: tuple[ArrayShape, ...]
    scanning: Scanning | None
    segmenting: Segmenting | None
    ranking: Ranking | None = None

    @property
    def arrays(self) -> tuple[ArrayName, ...]:
        """All arrays that are read, in order of appearance."""
        return (*self.code.arrays, *(self.inner.arrays if self.inner else ()))

    @property
    def gathers(self) -> bool:
        """Whether something is noted."""
        return self.code.gathers or self.segmenting is not None


def collective_code(
    writer: KernelWriter, subkernel: Subkernel, scope: Scope, target: str, names: NameBook, numbered: dict[int, str]
) -> CollectiveCode:
    """Write the operands of what a loop makes alone; `scope` is that of its own axes, `target` the array of results."""
    node = writer.nodes[subkernel.alone]
    if isinstance(node.instruction, Rank):
        code, (value,) = operands_code(scope, node.operands, names, numbered)
        shapes = writer.shapes_in((a.node for a in code.arrays), subkernel.axes)
        return CollectiveCode(code, None, shapes, None, None, Ranking(value.text, 2**node.instruction.bits, target))
    partial = writer.partial(subkernel.alone, "", "")
    if isinstance(node.instruction, Scan):
        code, (value,) = operands_code(scope, node.operands, names, numbered)
        scan, last = node.instruction, len(scope.loop_axes) - 1
        lanes = 1 if scan.axis == last else _LANES
        free = isinstance(scan.operator, str) and not (node.value_type.is_float or node.value_type.is_record)
        how = (scan.axis, scan.reverse, scan.exclusive, partial.type, partial.combine, partial.identity)
        shapes = writer.shapes_in((a.node for a in code.arrays), subkernel.axes)
        return CollectiveCode(code, None, shapes, Scanning(*how, value.text, target, lanes, free), None)
    assert isinstance(node.instruction, SegmentedReduce)
    values, *places = node.operands
    axes = writer.axes_of(values)
    code, (start, length) = operands_code(scope, tuple(places), names, numbered)
    within = writer.scope_of_others(scope, axes)
    before = names.copy(), dict(numbered)
    inner, (value,) = operands_code(within, (values,), names, numbered)
    cells = within.shapes[listed(axes, writer.dim)]
    segmenting = Segmenting(
        cells,
        len(axes) or writer.dim,
        start.text,
        length.text,
        note_bit(writer.nodes, subkernel.alone),
        partial.type,
        partial.combine,
        partial.identity,
        value.text,
        target,
        pointers_of(writer, inner),
        inner.row,
        inner.cell,
        _stopping_cell(within, values, inner, *before),
        bool(inner.arrays) and (len(axes) or writer.dim) == 1 and _follow(writer, *places),
    )
    shapes = collective_shapes(writer, subkernel.axes, code, (*(a.node for a in inner.arrays), values))
    return CollectiveCode(code, inner, shapes, None, segmenting)


def _follow(writer: KernelWriter, starts: int, lengths: int) -> bool:
    """Whether each segment begins where those before end: at the exclusive sums of the lengths."""
    node = writer.nodes[starts]
    return node.instruction == Scan("sum", 0, exclusive=True) and node.operands == (lengths,)


def _stopping_cell(
    scope: Scope, value: int, code: CellCode, names: NameBook, numbered: dict[int, str]
) -> tuple[Statement, ...]:
    """The cell of `code` for a loop that ends where something outside would be read: one branch, which is foreseen.

    () where cells check nothing, where rows do, or for long cells, which take longer to compile than that is worth.
    names, numbered: as `code` found them, so that both call everything the same.
    """
    checked_before = OUTSIDE in words_in(s.text for s in (*code.uniform, *code.row))
    needed = (scope.nodes[node].instruction for node in needed_in(scope, (value,)))
    turns = any(isinstance(each, Loop) and array_places(each) for each in needed)  # whose end is not that of the loop
    if not code.gathers or checked_before or turns or len(code.cell) > _LONGEST:
        return ()
    return operands_code(replace(scope, stops=True), (value,), names, numbered)[0].cell


def operands_code(
    scope: Scope, operands: tuple[int, ...], names: NameBook, numbered: dict[int, str]
) -> tuple[CellCode, list[RootText]]:
    """Write the operands at a cell; also their texts, in order."""
    roots = tuple(dict.fromkeys(operands))
    read = tuple(root for root in roots if root in scope.stored)
    code = emit_cell(scope, tuple(root for root in roots if root not in read), read, names, numbered)
    results = {result.node: result for result in code.results}
    return code, [results[operand] for operand in operands]


def collective_shapes(
    writer: KernelWriter, axes: Axes, code: CellCode, inside: tuple[int, ...]
) -> tuple[ArrayShape, ...]:
    """Of the arrays beside the loop's own shape, and all that the text of other cells, of the nodes `inside`, names."""
    outer = writer.shapes_in((a.node for a in code.arrays), axes)
    others = writer.shapes_in(inside, (-1,))
    return tuple(dict.fromkeys((*outer, *others)))


def pointers_of(writer: KernelWriter, code: CellCode) -> tuple[Pointer, ...]:
    """Row pointers with their types, of arrays: what the node itself makes has none."""
    return row_pointers((p for p in code.pointers if p.array), writer.nodes, None)


def collective_sweep(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sweep, dict[str, str]]:
    """Return the loop nest for a host and its own names as `Shared` wants them."""
    slots = {home.node: home.slot for home in subkernel.reads}
    names, numbered = NameBook(writer.reserved() | COLLECTIVE_NAMES), dict[int, str]()
    (home,) = subkernel.outputs
    target = names.claim(f"out_{writer.output_name(home, numbered)}_array")
    scope = writer.scope(frozenset(slots), subkernel.axes)
    made = collective_code(writer, subkernel, scope, target, names, numbered)
    reads = [Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in made.arrays]
    sweep = Sweep(
        "",
        subkernel.name,
        tuple(reads),
        (Array(target, f"{type_name(writer.nodes[home.node].value_type)}*", home.slot),),
        (),
        (*made.code.uniform, *(made.inner.uniform if made.inner else ())),
        pointers_of(writer, made.code),
        made.code.row,
        made.code.cell,
        False,
        len(subkernel.axes) or writer.dim,
        made.shapes,
        outside=writer.plan.outside if made.gathers else -1,
        scanning=made.scanning,
        segmenting=made.segmenting,
        ranking=made.ranking,
    )
    return sweep, {target: "out 0"}
