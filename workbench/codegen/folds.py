"""Folds: the text of a loop that folds values over some of its axes, for each cell along the others.

Cells along the last axis that is kept lie side by side, each with a lane of its own, so that loops over them have
vectors. The folded axes are gone through in index order inside (stencil_folds.h).
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.cell_code import Pointer
from workbench.codegen.expressions import emit_cell
from workbench.codegen.loops import Array, FoldedValue, Folding, Sweep
from workbench.codegen.names import NameBook
from workbench.codegen.roots import ROOT, stages_at_roots
from workbench.codegen.spelling import type_name
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.planning.axes import kept_axes, listed
from workbench.planning.plan import Subkernel
from workbench.planning.tunables import MOST_UNROLLED

FEW_LANES = 16
MANY_LANES = 128
"""Lanes side by side where kept cells follow each other in memory: the more, the longer each run of memory."""

_UNROLLED = {"number", "source_at", "target", "own_cells", *(f"source_{number}" for number in range(MOST_UNROLLED))}
FOLD_NAMES = frozenset({"kept", "lanes", "low", "high", "axis", "folded", "outer_at", "width", "between"} | _UNROLLED)
"""Names that no value may have in a text that folds."""


def fold_sweep(writer: KernelWriter, subkernel: Subkernel) -> tuple[Sweep, dict[str, str]]:
    """Return the loop nest and its own names as `Shared` wants them."""
    slots = {h.node: h.slot for h in subkernel.reads}
    names, numbered = NameBook(writer.reserved() | FOLD_NAMES), dict[int, str]()
    outputs = tuple(home.node for home in subkernel.outputs)
    operands = {node: writer.nodes[node].operands[0] for node in outputs}
    targets = [names.claim(f"out_{writer.output_name(home, numbered)}") for home in subkernel.outputs]
    cells = [names.claim(f"{writer.value_name(node, numbered)}_cells") for node in outputs]
    trees = [names.claim(f"{writer.value_name(node, numbered)}_trees") for node in outputs]
    roots = tuple(dict.fromkeys(operands.values()))
    read = tuple(root for root in roots if root in slots)
    scope = replace(writer.scope(frozenset(slots), subkernel.axes, subkernel.reduced), apart=frozenset({ROOT}))
    code = emit_cell(scope, tuple(root for root in roots if root not in read), read, names, numbered)
    results = {result.node: result for result in code.results}
    statements = list(code.cell)
    values: list[FoldedValue] = []
    for home, tree, lane, target in zip(subkernel.outputs, trees, cells, targets, strict=True):
        partial, result = writer.partial(home.node, lane, tree), results[operands[home.node]]
        text = f"{lane}[i - first] = {partial.combine}()({lane}[i - first], {result.text});"
        statements.append(Statement(text, tuple(sorted({home.node, *result.nodes}))))
        array = f"{target}_array"
        values.append(FoldedValue(tree, lane, partial.type, partial.combine, partial.identity, target, array))
    reads = [Array(a.name, f"const {type_name(a.type)}*", slots[a.node]) for a in code.arrays]
    writes = [Array(v.array, f"{v.type}*", home.slot) for v, home in zip(values, subkernel.outputs, strict=True)]
    pointers = (
        Pointer(p.name, f"const {type_name(writer.nodes[p.node].value_type)}*", p.array, p.move) for p in code.pointers
    )
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    lanes = writer.plan.choices.plan.folds.lanes or (MANY_LANES if kept[-1] == loop[-1] else FEW_LANES)
    sweep = Sweep(
        "",
        subkernel.name,
        tuple(reads),
        tuple(writes),
        (),
        code.uniform,
        tuple(pointers),
        code.row,
        tuple(statements),
        False,
        len(loop),
        writer.shapes_in((*(a.node for a in code.arrays), *outputs), subkernel.axes),
        folding_of(writer, subkernel, tuple(values), lanes),
        outside=writer.outside(code),
        extended=writer.extends(statements),
        stages=stages_at_roots(tuple(statements)),
    )
    own = {name: f"out {k}" for k, target in enumerate(targets) for name in (target, f"{target}_array")}
    return sweep, own


def folding_of(writer: KernelWriter, subkernel: Subkernel, values: tuple[FoldedValue, ...], lanes: int) -> Folding:
    """Return what is kept and what is folded, as numbers of the loop's axes."""
    loop, kept = listed(subkernel.axes, writer.dim), kept_axes(subkernel, writer.dim)
    folded = tuple(loop.index(axis) for axis in subkernel.reduced)
    shape, numbers, choices = (
        writer.shape_name(kept),
        tuple(loop.index(axis) for axis in kept),
        writer.plan.choices.plan,
    )
    return Folding(shape, numbers, folded, lanes, values, choices.folds.targets, choices.folds.sources)
