"""Places: a value read at computed places. A cheap value is computed there, an expensive one is read from its array."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from workbench.frontend.renaming import is_stored
from workbench.frontend.trace import Term, Trace
from workbench.graph import (
    OPERATORS,
    Arith,
    Axis,
    Broadcast,
    Gather,
    Imm,
    KernelBuilder,
    Load,
    LoadIndex,
    Node,
    Replicate,
    Space,
)
from workbench.graph.instructions import operands_in_cell, traits_of
from workbench.graph.rewrite import copy

EXPENSIVE = 4.0
"""Operations from which on reading a stored value costs less than to compute it at a second place."""
_MOST_OPERATIONS = 4.0
_MOST_ARRAYS = 2
"""A value of more operations or arrays is stored before it is read at computed places."""


def read_at(trace: Trace, term: Term, indices: Mapping[Axis, int], space: Space, *, is_inside: bool = False) -> Term:
    """The value at places: for each of its axes the node of an i64 index over `space`, along which the result lies.

    An index outside is an error of the call, as an array is read by it; is_inside: none can be outside.
    """
    checked = {axis for axis in term.space.axes if not is_inside and not _counts(trace, indices[axis], axis)}
    if not _is_cheap(trace, term, checked):
        return trace.emit(lambda pool: pool.gather(term.index, [indices[axis] for axis in term.space.axes]))

    def build(pool: KernelBuilder) -> int:
        made: dict[int, int] = {}
        for index in _needed(trace, term):
            node = pool.node(index)
            made[index] = index if not node.is_local else _at(trace, index, node, indices, space, made)
        return made[term.index]

    return trace.emit(build)


def _at(
    trace: Trace, index: int, node: Node, indices: Mapping[Axis, int], space: Space, made: Mapping[int, int]
) -> int:
    pool = trace.pool
    assert node.space is not None
    match node.instruction:
        case LoadIndex(axis):
            return indices[node.space.axes[axis]]
        case Gather():
            return pool.gather(node.operands[0], [made[o] for o in node.operands[1:]])
        case Broadcast():
            return pool.broadcast(node.operands[0], space)
        case Replicate():
            return made[node.operands[0]]
        case Imm() | Arith():
            return copy(pool, replace(node, space=space), tuple(made[o] for o in node.operands))
        case _:
            return pool.gather(index, [indices[axis] for axis in node.space.axes])


def _needed(trace: Trace, term: Term) -> list[int]:
    """The nodes that make the value in a cell, operands first; not what makes stored values and arrays."""

    def read(index: int) -> tuple[int, ...]:
        node = trace.pool.node(index)
        if not node.is_local or is_stored(node):
            return ()
        return operands_in_cell(node)

    return trace.pool.needed([term.index], read)


def _counts(trace: Trace, index: int, axis: Axis) -> bool:
    """Whether an index is that along an axis of equal length, which lies inside."""
    node = trace.pool.node(index)
    while isinstance(node.instruction, Replicate):
        node = trace.pool.node(node.operands[0])
    if not isinstance(node.instruction, LoadIndex) or node.space is None:
        return False
    return node.space.axes[node.instruction.axis].extent == axis.extent


def _is_cheap(trace: Trace, term: Term, checked: Set[Axis]) -> bool:
    """Whether few operations of few arrays make it, and an array is read by each index that must be checked."""
    if is_stored(term.node):
        return False
    operations, arrays, covered = 0.0, 0, set[Axis]()
    for index in _needed(trace, term):
        node = trace.pool.node(index)
        if not node.is_local:
            continue
        assert node.space is not None
        if isinstance(node.instruction, Arith):
            flops = OPERATORS[node.instruction.operator].flops if node.instruction.operator != "cast" else 1.0
            operations += flops
        elif isinstance(node.instruction, Gather):
            arrays += 1
            read = trace.pool.node(node.operands[0]).space
            assert read is not None
            for number, along in enumerate(read.axes):
                covered.update(axis for axis in node.space.axes if _counts_along(trace, node, number, axis, along))
        elif isinstance(node.instruction, Load) or is_stored(node):
            arrays += 1
            covered.update(node.space.axes)
        elif not traits_of(node.instruction).is_free:
            return False
    return operations < _MOST_OPERATIONS and arrays <= _MOST_ARRAYS and covered >= checked


def _counts_along(trace: Trace, gather: Node, number: int, axis: Axis, along: Axis) -> bool:
    """Whether a Gather's index of that number is the one along an axis, and checks it as the axis of what it reads."""
    node = trace.pool.node(gather.operands[1 + number])
    while isinstance(node.instruction, Replicate):
        node = trace.pool.node(node.operands[0])
    found = node.instruction
    is_index = isinstance(found, LoadIndex) and node.space is not None and node.space.axes[found.axis] == axis
    return is_index and axis.extent == along.extent
