"""Device joins: one kernel for each array, whose cells go to their places in the result."""

from __future__ import annotations

from workbench.codegen.cuda.scatters import ScatterKernel, read_arrays, sweep_over
from workbench.codegen.joins import join_code, join_shapes, place_of, shape_in_loop
from workbench.codegen.names import NameBook
from workbench.codegen.scope import Scope
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import Join
from workbench.planning.kernel_plan import Subkernel


def join_kernels(
    writer: KernelWriter, subkernel: Subkernel, scope: Scope, target: str, names: NameBook, numbered: dict[int, str]
) -> tuple[ScatterKernel, ...]:
    """Return the kernels of a Join, in order; `scope` is that of the loop's axes, `target` the array of results."""
    node = writer.nodes[subkernel.alone]
    assert isinstance(node.instruction, Join)
    parts = join_code(writer, subkernel, scope, names, numbered)
    shapes = join_shapes(writer, subkernel, parts)
    joined = shape_in_loop(writer, subkernel.axes)
    rank, made = len(subkernel.axes) or writer.dim, []
    for number, part in enumerate(parts):
        place = place_of(part, node.instruction.axis, rank, "i", joined)
        inside = tuple(sorted({part.node, subkernel.alone, *part.result.nodes}))
        write = Statement(f"{target}[{' + '.join(place)}] = {part.result.text};", inside)
        outside = writer.plan.outside if part.code.gathers else -1
        sweep = sweep_over(
            writer, subkernel, part.axes, (part.code,), (*part.code.cell, write), shapes, outside=outside, lists=False
        )
        reads = read_arrays((part.code,))
        made.append(ScatterKernel("join", sweep, reads, (), part.axes, True, keeps=number > 0))
    return tuple(made)
