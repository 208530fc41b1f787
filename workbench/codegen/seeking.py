"""Seeking: loops that find first extremes along their rows, where the place of a cell is its index along the row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.codegen.loops import Partial
from workbench.codegen.names import NameBook
from workbench.codegen.statement import Statement
from workbench.codegen.writer import KernelWriter
from workbench.graph import OPERATORS, REDUCTIONS, Arith, LoadIndex
from workbench.graph.first_extremes import extreme_of
from workbench.planning.axes import listed
from workbench.planning.kernel_plan import Subkernel


@dataclass(frozen=True, slots=True)
class Sought:
    """A first extreme: the node of its elements, and how two of these combine."""

    element: int
    combine: str


def sought_by(writer: KernelWriter, subkernel: Subkernel, made: Iterable[int]) -> tuple[Sought, ...]:
    """What the loop seeks, if the nodes that it makes of its cells are first extremes along its rows; () if one is not.

    Their records must be made by the loop: so the element alone is computed.
    """
    axis, stored = listed(subkernel.axes, writer.dim)[-1], {read.node for read in subkernel.reads}
    found = [_sought(writer, node, axis, stored) for node in made]
    return () if None in found else tuple(each for each in found if each is not None)


def _sought(writer: KernelWriter, node: int, axis: int, stored: set[int]) -> Sought | None:
    name = extreme_of(writer.nodes[node])
    if name is None:
        return None
    (record,) = writer.nodes[node].operands
    if record in stored or writer.nodes[record].instruction != Arith("pair"):
        return None
    element, place = writer.nodes[record].operands
    index = writer.nodes[place].instruction
    if not isinstance(index, LoadIndex) or listed(writer.axes_of(place), writer.dim)[index.axis] != axis:
        return None
    return Sought(element, f"combine_{OPERATORS[REDUCTIONS[name].operator].name}")


def seeking(
    partials: Iterable[Partial], sought: Iterable[Sought], lines: Iterable[Statement], names: NameBook
) -> tuple[Partial, ...]:
    """The reductions of a loop that seeks; lines: the last of a function of a cell, which gives the element."""
    return tuple(
        replace(partial, seeking=each.combine, best=names.claim(f"{partial.cells}_best"), found=line)
        for partial, each, line in zip(partials, sought, lines, strict=True)
    )
