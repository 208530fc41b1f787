"""Interior: the cells of a row for which no index of a neighbour is cut at an end of the array.

A window reads its neighbours at max(i - 1, 0) and min(i + 1, n - 1). Away from the ends of a row these are i - 1 and
i + 1: neighbouring cells read neighbouring elements, which is one load of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.codegen.scope import Scope
from workbench.graph import Arith, Gather, Imm, LoadIndex, LoadSize, Node, Replicate
from workbench.graph.instructions import operands_in_cell, traits_of


@dataclass(frozen=True, slots=True)
class Interior:
    """How far the interior is from the ends of a row, and what is the same in all its cells.

    moves: how far indices are from the cell's own there. conditions: nodes that ask whether such an index is beyond an
    end of the row.
    """

    below: int
    above: int
    moves: Mapping[int, int]
    conditions: tuple[int, ...]


def interior_of(scope: Scope, needed: Sequence[int]) -> Interior | None:
    """Find the indices that are a constant away from the cell's own along a row; None where no Gather needs one.

    needed: the nodes that are computed in a cell, as `needed_in` finds them.
    """
    if not scope.within or scope.frame is None or scope.frame.axes[scope.inner].kind != "array":
        return None
    moves: dict[int, int] = {}
    conditions = []
    for index in needed:
        node = scope.nodes[index]
        move = _move(scope, node, moves)
        if move is not None:
            moves[index] = move
        elif _passes_end(scope, node, moves):
            conditions.append(index)
    gathers = (scope.nodes[index] for index in needed if isinstance(scope.nodes[index].instruction, Gather))
    if not any(moves.get(operand) for gather in gathers for operand in gather.operands[1:]):
        return None
    below, above = max(0, *(-move for move in moves.values())), max(0, *moves.values())
    return Interior(below, above, moves, tuple(conditions))


def needed_in(scope: Scope, roots: Sequence[int]) -> list[int]:
    """The nodes that are computed in a cell, operands first."""
    seen, waiting = set(roots), list(roots)
    while waiting:
        node = scope.nodes[waiting.pop()]
        for operand in operands_in_cell(node):
            if operand not in seen and operand not in scope.stored:
                seen.add(operand)
                waiting.append(operand)
    return sorted(seen)


def _move(scope: Scope, node: Node, moves: dict[int, int]) -> int | None:
    """How far an index is from that of the cell along the row, where it is not cut; None for what is no such index."""
    match node.instruction:
        case LoadIndex(axis) if node.space is not None:
            return 0 if scope.frame is not None and node.space.axes[axis] == scope.frame.axes[scope.inner] else None
        case Replicate():
            return moves.get(node.operands[0])
        case Arith("add"):
            for own, other in (node.operands, node.operands[::-1]):
                number = scope.nodes[other].instruction
                if own in moves and isinstance(number, Imm) and isinstance(number.value, int):
                    return moves[own] + number.value
        case Arith("maximum" | "minimum" as operator):
            for own, other in (node.operands, node.operands[::-1]):
                if own in moves and (_is_first if operator == "maximum" else _is_last)(scope, other):
                    return moves[own]
        case Arith("select"):
            wrapped = _wrapped(scope, node, moves)
            if wrapped is not None:
                number = scope.nodes[wrapped[1]].instruction
                assert isinstance(number, Imm)
                return moves[wrapped[0]] + int(number.value)
        case _:
            pass
    return None


def _wrapped(scope: Scope, node: Node, moves: dict[int, int]) -> tuple[int, int] | None:
    """The index and the number that is added to it in j if j < n else j - n, where j = i + number mod n."""
    asked, below, above = (scope.nodes[operand] for operand in node.operands)
    moved = node.operands[1]
    if (
        asked.instruction != Arith("less")
        or above.instruction != Arith("subtract")
        or below.instruction != Arith("add")
    ):
        return None
    sizes = (asked.operands[1], above.operands[1])
    if {asked.operands[0], above.operands[0]} != {moved} or not all(_is_length(scope, size) for size in sizes):
        return None
    for own, other in (below.operands, below.operands[::-1]):
        rest = scope.nodes[_bare(scope, other)]
        if own in moves and rest.instruction == Arith("remainder") and _is_length(scope, rest.operands[1]):
            number = scope.nodes[_bare(scope, rest.operands[0])].instruction
            if isinstance(number, Imm) and isinstance(number.value, int):
                return own, _bare(scope, rest.operands[0])
    return None


def _bare(scope: Scope, index: int) -> int:
    """A value that is the same along some axes, as it is without them."""
    while traits_of(scope.nodes[index].instruction).repeats:
        (index,) = scope.nodes[index].operands
    return index


def _is_length(scope: Scope, index: int) -> bool:
    """Whether a value is the length of a row."""
    size = scope.nodes[_bare(scope, index)].instruction
    axes = () if scope.frame is None else scope.frame.axes
    return isinstance(size, LoadSize) and axes[size.axis].extent == axes[scope.inner].extent


def _passes_end(scope: Scope, node: Node, moves: dict[int, int]) -> bool:
    """Whether a node asks if such an index is below the first or above the last of the row."""
    if len(node.operands) != 2 or node.operands[0] not in moves:
        return False
    if node.instruction == Arith("less"):
        return _is_first(scope, node.operands[1])
    return node.instruction == Arith("greater") and _is_last(scope, node.operands[1])


def _is_first(scope: Scope, index: int) -> bool:
    return scope.nodes[index].instruction == Imm(0)


def _is_last(scope: Scope, index: int) -> bool:
    """Whether a value is the last index along the row: its length less one."""
    node = scope.nodes[_bare(scope, index)]
    is_less_one = node.instruction == Arith("subtract") and scope.nodes[node.operands[1]].instruction == Imm(1)
    return is_less_one and _is_length(scope, node.operands[0])
