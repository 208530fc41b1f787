"""Emission: which operations and reads a sub-kernel consists of, each once per distinct offset (Paraiso §3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.graph import (
    OPERATORS,
    Arith,
    Extend,
    Kernel,
    Load,
    Loop,
    Reduce,
    Shift,
)
from workbench.graph.extended_arrays import weight_of
from workbench.graph.identity import by_identity
from workbench.graph.instructions import arrays_read, operands_in_cell, traits_of
from workbench.planning.kernel_plan import Box, Storage
from workbench.planning.reach import Offset, projection, rank_of

EMISSION_LIMIT = 50_000
"""Operations that one sub-kernel may hold: beyond it compilers take minutes (Paraiso's 2-D hydro had 13,058 lines)."""

EXPECTED_TURNS = 16.0
"""Turns of a loop as the cost model counts them: many enough that computing a loop again is never the cheaper way."""

STORED = (Storage.EXISTING, Storage.MANIFEST)


@dataclass(frozen=True, slots=True)
class Emission:
    """What the cell at offset zero needs: arithmetic and reads of arrays as (node, offset), and Globals.

    Offsets count each node's own axes. anywhere: the nodes among `reads` that are read at computed places, listed there
    at offset zero.
    """

    operations: frozenset[tuple[int, Offset]]
    reads: frozenset[tuple[int, Offset]]
    globals: frozenset[int]
    anywhere: frozenset[int] = frozenset()

    def flops(self, kernel: Kernel) -> float:
        """Weighted operations a cell."""
        return sum(operator_weight(kernel, node) for node, _ in self.operations)


def operator_weight(kernel: Kernel, index: int) -> float:
    """Return the cost-model weight of one node: its operator's, 0 for all that is no arithmetic."""
    instruction = kernel.nodes[index].instruction
    if isinstance(instruction, Loop):
        return loop_weight(instruction)
    if not isinstance(instruction, Arith):
        return 0.0
    return weight_of(instruction.operator) if _has_pairs(kernel, index) else OPERATORS[instruction.operator].flops


def loop_weight(loop: Loop) -> float:
    """Return the weight of one of the values that a loop ends with; all of them together are the turns' arithmetic."""
    body = loop.body
    operators = [node.instruction for node in body.nodes]
    turn = sum(OPERATORS[each.operator].flops for each in operators if isinstance(each, Arith))
    turn += sum(loop_weight(each) for each in operators if isinstance(each, Loop))
    return EXPECTED_TURNS * max(turn, 1.0) / (len(body.results) - 1)


def doubles_weight(kernel: Kernel, index: int) -> float:
    """Return the same in units of operations on f64: of half the bytes a vector register holds twice as many."""
    weight = operator_weight(kernel, index)
    if not weight or _has_pairs(kernel, index):
        return weight
    return weight * max(kernel.nodes[n].value_type.itemsize for n in (index, *kernel.nodes[index].operands)) / 8


def _has_pairs(kernel: Kernel, index: int) -> bool:
    """Whether an operator takes or gives values of type dd."""
    return any(kernel.nodes[n].value_type.is_record for n in (index, *kernel.nodes[index].operands))


def emit(
    kernel: Kernel,
    storage: Sequence[Storage],
    computed: Iterable[int],
    used: Iterable[int] = (),
    limit: int = EMISSION_LIMIT,
) -> Emission:
    """Return what it takes to compute the nodes `computed` by their formulas and to have the values of `used`.

    A Fold has a loop of its own; what that takes are the values of its operand.

    Stops soon after `limit` operations; a result with more than `limit` is not complete.
    """
    operations: set[tuple[int, Offset]] = set()
    reads: set[tuple[int, Offset]] = set()
    numbers: set[int] = set()
    anywhere: set[int] = set()
    seen: set[tuple[int, Offset, bool]] = set()
    waiting = [(n, (0,) * rank_of(kernel, n), False) for n in used]
    waiting += [(n, (0,) * rank_of(kernel, n), True) for n in computed]
    while waiting and len(operations) <= limit:
        entry = waiting.pop()
        if entry in seen:
            continue
        seen.add(entry)
        index, offset, by_formula = entry
        node = kernel.nodes[index]
        if storage[index] in STORED and not by_formula:
            reads.add((index, offset))
            continue
        traits = traits_of(node.instruction)
        if isinstance(node.instruction, Load):  # a copy: the one formula of a Load is to read it
            reads.add((index, offset))
        elif isinstance(node.instruction, Shift):
            here = tuple(a - b for a, b in zip(offset, node.instruction.offset, strict=True))
            waiting.append((node.operands[0], here, False))
        elif traits.evaluated_in != "cells":
            raise AssertionError(f"node {index} has no formula for a cell")
        elif traits.is_elementwise:
            operations.add((index, offset))
            waiting.extend((operand, offset, False) for operand in operands_in_cell(node))
        elif traits.reads == "none":
            numbers.update(node.operands)
        elif traits.reads == "projection":
            there = tuple(offset[axis] for axis in projection(kernel, index))
            waiting.append((node.operands[0], there, False))
        elif traits.reads == "anywhere":
            waiting.extend((operand, offset, False) for operand in operands_in_cell(node))
        else:
            raise AssertionError(f"nothing says which cells of its operands node {index} ({traits.word}) reads")
        if traits.evaluated_in == "cells":
            arrays = arrays_read(node)
            anywhere.update(arrays)
            reads.update((array, (0,) * rank_of(kernel, array)) for array in arrays)
    return Emission(frozenset(operations), frozenset(reads), frozenset(numbers), frozenset(anywhere))


@by_identity(size=2048)
def boxes_of(reads: frozenset[tuple[int, Offset]]) -> Mapping[int, Box]:
    """Return for each node that is read, ascending, the smallest box that holds the offsets; asked for again and again.

    reads: those of an emission.
    """
    offsets: dict[int, list[Offset]] = {}
    for node, offset in reads:
        offsets.setdefault(node, []).append(offset)
    return {node: box_of(offsets[node]) for node in sorted(offsets)}


def box_of(offsets: Iterable[Offset]) -> Box:
    """Return the smallest box that holds the offsets, of which there is at least one."""
    return tuple((min(along), max(along)) for along in zip(*offsets, strict=True))


def gathered_by(kernel: Kernel, nodes: Iterable[int]) -> frozenset[int]:
    """Return the values that these nodes read at computed places."""
    return frozenset(array for n in nodes for array in arrays_read(kernel.nodes[n]))


def reductions_below(kernel: Kernel, numbers: Iterable[int]) -> frozenset[int]:
    """Return the Reduce nodes that these Globals depend on without another Reduce in between."""
    found: set[int] = set()
    waiting = list(numbers)
    seen: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        node = kernel.nodes[index]
        if isinstance(node.instruction, Reduce):
            found.add(index)
        else:
            waiting.extend(node.operands)
    return frozenset(found)


def direct_needs(kernel: Kernel, storage: Sequence[Storage], root: int) -> frozenset[int]:
    """Return the stored nodes and Reduce nodes that a root needs: what must have been made before it.

    A root is a Manifest node, a Reduce, an Extend, or a Load that is copied. Of an Extend's value operands only
    Reduce nodes count, because a fill evaluates their formulas of indices and Globals.
    """
    node = kernel.nodes[root]
    if isinstance(node.instruction, Load):
        return frozenset({root})
    if isinstance(node.instruction, Extend):
        by_formula = reductions_below(kernel, node.operands[1:])
        return by_formula | {node.operands[0]}
    found: set[int] = set()
    seen: set[int] = set()
    waiting = list(node.operands)
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        if isinstance(kernel.nodes[index].instruction, Reduce) or storage[index] in STORED:
            found.add(index)
        else:
            waiting.extend(kernel.nodes[index].operands)
    return frozenset(found)
