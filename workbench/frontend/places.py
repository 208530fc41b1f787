"""Places: a value read at computed places. What is cheap is computed there, what is dear is read from its array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.frontend.renaming import is_stored
from workbench.frontend.trace import Term, Trace
from workbench.graph import OPERATORS, Arith, Axis, Broadcast, Gather, Imm, Load, LoadIndex, Node, Replicate, Space
from workbench.graph.rewrite import copy

DEAR = 4.0
"""Operations from which on reading a stored value costs less than to compute it at a second place."""
_MOST_OPERATIONS = 4.0
_MOST_ARRAYS = 2
"""A value of more operations or arrays is stored before it is read at computed places."""


def read_at(trace: Trace, term: Term, indices: Mapping[Axis, int], space: Space) -> Term:
    """The value at places: for each of its axes the node of an i64 index over `space`, along which the result lies.

    An index outside is an error of the call, as each axis of the value is one of an array that is read.
    """
    pool = trace.pool
    if not _is_cheap(trace, term):
        return trace.emit(lambda pool: pool.gather(term.index, [indices[axis] for axis in term.space.axes]))
    made: dict[int, int] = {}
    for index in _needed(trace, term):
        node = pool.node(index)
        made[index] = index if not node.is_local else _at(trace, index, node, indices, space, made)
    return Term(trace, made[term.index])


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
    pool, needed, waiting = trace.pool, {term.index}, [term.index]
    while waiting:
        node = pool.node(waiting.pop())
        if not node.is_local or is_stored(node):
            continue
        for operand in node.operands[isinstance(node.instruction, Gather) :]:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return sorted(needed)


def _is_cheap(trace: Trace, term: Term) -> bool:
    """Whether few operations of few arrays make it, and each of its axes is one of an array that is read whole."""
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
        elif isinstance(node.instruction, Load) or is_stored(node):
            arrays += 1
            covered.update(node.space.axes)
        elif not isinstance(node.instruction, Imm | Broadcast | Replicate | LoadIndex):
            return False
    return operations < _MOST_OPERATIONS and arrays <= _MOST_ARRAYS and covered >= set(term.space.axes)
