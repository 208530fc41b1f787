"""Free order: reductions that have the same bits in any order, and what they take of a cell.

Sums and products of whole numbers wrap; their extremes, and conditions, have no NaN and no zero with a sign. So a loop
may have as many lanes as vectors hold, and add up narrow numbers in lanes that are hardly wider.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from dataclasses import replace

from workbench.codegen.loops import Partial
from workbench.codegen.spelling import type_name
from workbench.codegen.writer import KernelWriter
from workbench.graph import Arith, Reduce
from workbench.planning.kernel_plan import Subkernel


def taken_in_any_order(writer: KernelWriter, subkernel: Subkernel) -> tuple[int, ...]:
    """The node that each reduction of a loop takes of a cell, if all have the same bits in any order; () else.

    That of a sum may be narrower than its operand, which only widens it.
    """
    stored = {read.node for read in subkernel.reads}
    found = tuple(_taken(writer, node, stored) for node in subkernel.reductions)
    return () if any(node < 0 for node in found) else found


def _taken(writer: KernelWriter, reduction: int, stored: Set[int]) -> int:
    """-1 where the order matters. stored: what the loop reads from arrays."""
    node = writer.nodes[reduction]
    instruction, type_ = node.instruction, node.value_type
    if not isinstance(instruction, Reduce) or not isinstance(instruction.operator, str):
        return -1
    if not (type_.is_integer or (type_.kind == "bool" and instruction.operator in ("any", "all"))):
        return -1
    (operand,) = node.operands
    made = writer.nodes[operand]
    if instruction.operator != "sum" or made.instruction != Arith("cast") or operand in stored:
        return operand
    (narrow,) = made.operands
    of = writer.nodes[narrow]
    is_widened = of.value_type.kind == "bool" or (of.value_type.is_integer and of.value_type.bits < type_.bits)
    return narrow if is_widened and of.space == made.space else operand


def in_any_order(writer: KernelWriter, partials: Iterable[Partial], taken: Collection[int]) -> tuple[Partial, ...]:
    """The reductions of a loop with the types of what they take; as they are where that is ()."""
    if not taken:
        return tuple(partials)
    return tuple(
        replace(partial, taken=type_name(writer.nodes[node].value_type))
        for partial, node in zip(partials, taken, strict=True)
    )
