"""Folds: the text of a loop that folds values over some of its axes, for each cell along the others.

Cells along the last axis that is kept lie side by side, each with a lane of its own, so that loops over them have
vectors. The folded axes are gone through in index order inside (stencil_folds.h).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from workbench.codegen.along import along_row, sought_in_rows
from workbench.codegen.cell_code import CellCode, Pointer, RootText
from workbench.codegen.expressions import emit_cell
from workbench.codegen.folding import FoldedValue, Folding, RowsTogether
from workbench.codegen.loops import Array, Sweep
from workbench.codegen.names import NameBook
from workbench.codegen.roots import ROOT, stages_at_roots
from workbench.codegen.spelling import literal, type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Arith
from workbench.graph.fused_sums import is_fused_sum
from workbench.graph.types import BOOL
from workbench.planning.axes import kept_axes, listed
from workbench.planning.kernel_plan import Subkernel
from workbench.planning.tunables import MOST_UNROLLED

FEW_LANES = 16
MANY_LANES = 128
"""Lanes side by side where kept cells follow each other in memory: the more, the longer each run of memory."""

FAR_LANES, FAR_CELLS = 256, 8
"""The same, and folded cells a turn, of short formulas whose folded cells lie rows apart: more lines of memory are on
their way at a time, and what lanes have so far is read and written once for eight cells."""

TOGETHER = 4
"""Rows of kept cells that a loop takes at a time where they read the same cells: vectors of as many sums stay in
registers beside what they add."""
MOST_PANELS = 2
"""Arrays of which they have a copy, a few cells of each row."""
_MOST_STATEMENTS = 8
_AT = re.compile(r"\bat\[")

_UNROLLED = {"number", "source_at", "target", "own_cells", *(f"source_{number}" for number in range(MOST_UNROLLED))}
_ROWS = {
    *("few", "cell", "rows", "own_row", "some", "begin", "done", "lanes_together", "ROWS_AT_A_TIME"),
    *(f"{name}_{row}" for name in ("kept", "row", "at") for row in range(TOGETHER)),
    *(f"{name}_{panel}" for name in ("shared", "panel", "panel_rows") for panel in range(MOST_PANELS)),
    *("Panel", "SharedRows", "whole_lanes"),
}
_ALONG = {"along", "in_order", "kept_at", "long_row", "high", "for_rows", "first_again", "LONG_ROW", "RowLanes"}
_NAMES = {"for_kept", "kept", "lanes", "low", "high", "axis", "folded", "outer_at", "width", "between"}
FOLD_NAMES = frozenset(_NAMES | _UNROLLED | _ROWS | _ALONG)
"""Names that no value may have in a text that folds."""


def fold_sweep(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sweep, dict[str, str]]:
    """Return the loop nest and its own names as `Shared` wants them."""
    slots = {h.node: h.slot for h in subkernel.reads}
    names, numbered = NameBook(writer.reserved() | FOLD_NAMES), dict[int, str]()
    outputs = tuple(home.node for home in subkernel.outputs)
    operands = {node: entering(writer, node) for node in outputs}
    targets = [names.claim(f"out_{writer.output_name(home, numbered)}") for home in subkernel.outputs]
    cells = [names.claim(f"{writer.value_name(node, numbered)}_cells") for node in outputs]
    trees = [names.claim(f"{writer.value_name(node, numbered)}_trees") for node in outputs]
    roots = tuple(dict.fromkeys(each for taken in operands.values() for each in taken))
    read = tuple(root for root in roots if root in slots)
    scope = replace(writer.scope(frozenset(slots), subkernel.axes, subkernel.reduced), apart=frozenset({ROOT}))
    before = dict(numbered)
    code = emit_cell(scope, tuple(root for root in roots if root not in read), read, names, numbered)
    results = {result.node: result for result in code.results}
    statements = list(code.cell)
    values: list[FoldedValue] = []
    for home, tree, lane, target in zip(subkernel.outputs, trees, cells, targets, strict=True):
        statements.append(taking(writer, home.node, f"{lane}[i - first]", [results[n] for n in operands[home.node]]))
        value = folded_value(writer, home.node, tree, lane, target, f"{target}_array")
        values.append(replace(value, type=_lane_type(writer, home.node, code) or value.type))
    reads = [Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in code.arrays]
    writes = [Array(v.array, f"{v.stored}*", home.slot) for v, home in zip(values, subkernel.outputs, strict=True)]
    pointers = tuple(
        Pointer(p.name, f"const {type_name(writer.nodes[p.node].value_type)}*", p.array, p.move) for p in code.pointers
    )
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    stages = stages_at_roots(tuple(statements))
    few: int | str = _lanes_of_roots(values) if stages else FEW_LANES
    lanes = writer.plan.choices.plan.folds.lanes or (MANY_LANES if kept[-1] == loop[-1] else few)
    fold = folding_of(writer, subkernel, tuple(values), lanes)
    if not (stages or writer.plan.choices.plan.folds.lanes or fold.sources > 1):
        before.update({array.node: numbered[array.node] for array in code.arrays if array.node in numbered})
        lanes_along = (f"{cell}_along" for cell in cells)
        fresh = NameBook(writer.reserved() | FOLD_NAMES | {*targets, *trees, *cells, *lanes_along})
        along = along_row(writer, subkernel, code, values, fresh, before)
        if along is not None and along.found:
            sought = zip(values, sought_in_rows(writer, subkernel), strict=True)
            fold = replace(fold, values=tuple(replace(value, seeking=each.combine) for value, each in sought))
        fold = replace(fold, along=along)
    if not stages:
        fold = replace(fold, rows=_rows_together(writer, subkernel, code, pointers, fold))
        fold = _of_far_cells(writer, subkernel, code, fold) if fold.rows is None and fold.along is None else fold
    sweep = Sweep(
        "",
        subkernel.name,
        tuple(reads),
        tuple(writes),
        (),
        code.uniform,
        pointers,
        code.row,
        tuple(statements),
        False,
        len(loop),
        writer.shapes_in((*(a.node for a in code.arrays), *outputs), subkernel.axes),
        fold,
        outside=writer.outside(code),
        extended=writer.extends(statements),
        stages=stages,
    )
    own = {name: f"out {k}" for k, target in enumerate(targets) for name in (target, f"{target}_array")}
    return sweep, own


def _lanes_of_roots(values: Sequence[FoldedValue]) -> str:
    """Lanes where roots are taken, which depend on the processor's vectors (stencil_roots.h)."""
    return f"lanes_of_roots<{'float' if all(value.type == 'float' for value in values) else 'double'}>"


def _lane_type(writer: KernelWriter, node: int, code: CellCode) -> str:
    """Of a condition, a whole number as wide as the numbers that cells compute: gcc makes no vectors of both widths.

    "" where a value keeps its own type.
    """
    if writer.nodes[node].value_type != BOOL or not writer.combine(node).startswith("combine_logical"):
        return ""
    types = {writer.nodes[each].value_type for statement in code.cell for each in statement.nodes}
    widest = max((type_.itemsize for type_ in types if not (type_.is_pair or type_.is_record)), default=1)
    return {4: "int32_t", 8: "int64_t"}.get(widest, "")


def entering(writer: KernelWriter, node: int) -> tuple[int, ...]:
    """What a Fold takes of a cell: its operand, or of a fused sum the two factors of the product, if they are there."""
    (operand,) = writer.nodes[node].operands
    record = writer.nodes[operand]
    is_made_here = isinstance(record.instruction, Arith) and record.instruction.operator == "pair"
    return record.operands if is_fused_sum(writer.nodes[node]) and is_made_here else (operand,)


def taking(writer: KernelWriter, node: int, lane: str, taken: Sequence[RootText]) -> Statement:
    """The statement by which a Fold takes what enters it into a lane."""
    texts, nodes = ", ".join(each.text for each in taken), {node, *(n for each in taken for n in each.nodes)}
    if len(taken) > 1:
        text = f"{writer.target.math}fma({texts}, {lane})"
    else:
        text = f"{writer.combine(node)}()({lane}, {texts})"
    return Statement(f"{lane} = {text};", tuple(sorted(nodes)))


def folded_value(writer: KernelWriter, node: int, tree: str, lane: str, target: str, array: str) -> FoldedValue:
    """How a Fold combines. The sum of a fused one is a number in lanes and trees; what is stored is a record."""
    partial = writer.partial(node, lane, tree)
    if len(entering(writer, node)) == 1:
        return FoldedValue(tree, lane, partial.type, partial.combine, partial.identity, target, array, partial.type)
    type_ = writer.nodes[node].value_type.members[0]
    zero, one = (literal(number, type_).text for number in (-0.0, 1.0))
    made_of = f"{partial.type}{{", f", {one}}}"
    return FoldedValue(tree, lane, type_name(type_), "combine_add", zero, target, array, partial.type, made_of)


def _rows_together(
    writer: KernelWriter, subkernel: Subkernel, code: CellCode, pointers: tuple[Pointer, ...], fold: Folding
) -> RowsTogether | None:
    """How several rows of kept cells are taken together, if they read cells that are the same for all of them.

    Short formulas of numbers alone: what else there is would not stay in registers.
    """
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    types = {writer.nodes[home.node].value_type for home in subkernel.outputs}
    if len(kept) < 2 or kept[-1] != loop[-1] or writer.plan.choices.plan.folds.lanes or fold.sources > 1:
        return None
    if code.gathers or code.cuts or len(code.row) + len(code.cell) > _MOST_STATEMENTS or len(types) > 1:
        return None
    (type_,) = types
    read = [listed(writer.axes_of(pointer.node), writer.dim) for pointer in code.pointers]
    is_shared = any(kept[-1] in axes and kept[-2] not in axes for axes in read)
    if type_.is_record or type_.is_pair or not is_shared:
        return None
    moving = frozenset(kept[:-1])
    own_pointers = [pointer for pointer, axes in zip(pointers, read, strict=True) if not moving.isdisjoint(axes)]
    own_statements = [statement for statement in code.row if statement.along & moving]
    shared = [replace(p, move=_AT.sub("at_0[", p.move)) for p in pointers if p not in own_pointers]
    packed = _packed(writer, subkernel, code) & {pointer.name for pointer in shared}
    return RowsTogether(
        TOGETHER,
        tuple(pointer for pointer in shared if pointer.name not in packed),
        tuple(replace(s, text=_AT.sub("at_0[", s.text)) for s in code.row if s not in own_statements),
        tuple(own_pointers),
        tuple(own_statements),
        tuple(pointer for pointer in shared if pointer.name in packed),
    )


def _packed(writer: KernelWriter, subkernel: Subkernel, code: CellCode) -> frozenset[str]:
    """The first arrays whose rows are folded cells, which follow each other a row apart: by their pointers."""
    loop = listed(subkernel.axes, writer.dim)
    if len(subkernel.reduced) > 1:
        return frozenset()
    own = [subkernel.reduced[0], loop[-1]]
    found = [p.name for p in code.pointers if p.node not in writer.strided and list(writer.axes_of(p.node)) == own]
    return frozenset(found[:MOST_PANELS])


def _of_far_cells(writer: KernelWriter, subkernel: Subkernel, code: CellCode, fold: Folding) -> Folding:
    """The fold with more lanes and several cells a turn, where kept cells follow in memory and folded ones do not."""
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    types = {writer.nodes[home.node].value_type for home in subkernel.outputs}
    if kept[-1] != loop[-1] or writer.plan.choices.plan.folds.lanes or fold.sources > 1 or not code.pointers:
        return fold
    if code.gathers or code.cuts or len(code.row) + len(code.cell) > _MOST_STATEMENTS:
        return fold
    if any(type_.is_record or type_.is_pair for type_ in types) or writer.extends(code.cell):
        return fold
    return replace(fold, lanes=FAR_LANES, sources=FAR_CELLS)


def folding_of(
    writer: KernelWriter, subkernel: Subkernel, values: tuple[FoldedValue, ...], lanes: int | str
) -> Folding:
    """Return what is kept and what is folded, as numbers of the loop's axes."""
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    folded = tuple(loop.index(axis) for axis in subkernel.reduced)
    shape, numbers, choices = (
        writer.shape_name(kept),
        tuple(loop.index(axis) for axis in kept),
        writer.plan.choices.plan,
    )
    return Folding(shape, numbers, folded, lanes, values, choices.folds.targets, choices.folds.sources)
