"""Slices: a formula that is only read at places that move along its axes is computed where it is read.

sqrt(x)[::-1] reads each element of sqrt(x) once or never, so that it need not be stored: it is sqrt(x[::-1]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from workbench.graph import Arith, Broadcast, Gather, Graph, Imm, Kernel, LoadIndex, Node, Replicate
from workbench.graph.builder import KernelBuilder
from workbench.graph.instructions import operands_in_cell, traits_of
from workbench.graph.marks import NO_HINT
from workbench.graph.rewrite import copy, rewrite_kernel

_MOVING = ("add", "subtract")
_MOST_NODES = 100  # of a formula: what is longer is stored, and never made again


def compute_where_read(graph: Graph) -> Graph:
    """Return the graph in which such formulas are made of the elements of their operands.

    Before: every node is live. After: no Gather reads a formula of arrays that nothing else needs and of which it reads
    no element twice, unless a hint says how the formula is stored, or it is long. No element is computed more often
    than before.
    """
    return replace(graph, kernels=tuple(_moved(graph, kernel) for kernel in graph.kernels))


def _moved(graph: Graph, kernel: Kernel) -> Kernel:
    users: list[list[int]] = [[] for _ in kernel.nodes]
    for index, node in enumerate(kernel.nodes):
        for operand in node.operands:
            users[operand].append(index)
    found, inside = [], set[int]()
    for index in range(len(kernel.nodes) - 1, -1, -1):
        if index not in inside:  # what moves with another formula does not move twice
            formula = _formula_read(kernel.nodes, users, index)
            if formula:
                found.append(index)
                inside |= formula
    if not found:
        return kernel
    moved = {id(kernel.nodes[index]) for index in found}

    def rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
        if id(node) in moved:
            return _Places(builder, operands[1:]).of(operands[0])
        return copy(builder, node, operands)

    return rewrite_kernel(kernel, graph.space, graph.statics, rule)


def _formula_read(nodes: Sequence[Node], users: Sequence[Sequence[int]], index: int) -> frozenset[int]:
    """The nodes that are computed where this one reads them; none where it is no such Gather."""
    node = nodes[index]
    if not isinstance(node.instruction, Gather) or not node.is_local:
        return frozenset()
    value = node.operands[0]
    if not isinstance(nodes[value].instruction, Arith) or not _reads_once(nodes, node):
        return frozenset()
    return _formula_of_this_alone(nodes, users, index, value)


def _reads_once(nodes: Sequence[Node], gather: Node) -> bool:
    """Whether no two cells read the same element: each axis moves one index by steps that are no 0."""
    assert gather.space is not None
    axes = {axis for index in gather.operands[1:] if (axis := _axis_of(nodes, index)) is not None}
    return axes == set(range(gather.space.rank))


def _axis_of(nodes: Sequence[Node], index: int) -> int | None:
    """The axis along which an index moves by equal steps, and no other one; None if there is none."""
    node = nodes[index]
    match node.instruction:
        case LoadIndex(axis):
            return axis
        case Arith(operator) if operator in _MOVING:
            moving = [operand for operand in node.operands if not _is_one_number(nodes[operand])]
            return _axis_of(nodes, moving[0]) if len(moving) == 1 else None
        case Arith("multiply"):
            steps = [nodes[operand].instruction for operand in node.operands]
            for step, operand in zip(steps, reversed(node.operands), strict=True):
                if isinstance(step, Imm) and step.value:
                    return _axis_of(nodes, operand)
        case _:  # of any other kind it may be the same twice
            pass
    return None


def _is_one_number(node: Node) -> bool:
    return traits_of(node.instruction).uniform


def _formula_of_this_alone(
    nodes: Sequence[Node], users: Sequence[Sequence[int]], gather: int, value: int
) -> frozenset[int]:
    """The nodes of a formula that only the Gather needs, made of arrays, indices and numbers; none if it is another."""
    inside, seen, waiting = {gather}, {value}, [-value]
    while waiting:
        index = -heappop(waiting)  # users come before, as they have larger numbers
        node = nodes[index]
        traits = traits_of(node.instruction)
        if not node.is_local or traits.domain_only or traits.uniform or traits.is_leaf:
            continue
        if _axis_of(nodes, index) is not None:  # several may count along an axis, each for itself
            continue
        if not isinstance(node.instruction, Arith | Gather | Replicate):
            return frozenset()
        if not set(users[index]) <= inside or node.hint != NO_HINT:
            return frozenset()
        inside.add(index)
        if len(inside) > _MOST_NODES:
            return frozenset()
        for operand in operands_in_cell(node):
            if operand not in seen:
                seen.add(operand)
                heappush(waiting, -operand)
    return frozenset(inside)


@dataclass(slots=True)
class _Places:
    """Values at the places that indices number, all of one space."""

    builder: KernelBuilder
    indices: tuple[int, ...]
    _made: dict[int, int] = field(default_factory=dict)

    def of(self, value: int) -> int:
        """The value there."""
        if value not in self._made:
            self._made[value] = self._make(value)
        return self._made[value]

    def _make(self, value: int) -> int:
        builder, node = self.builder, self.builder.node(value)
        if not node.is_local:
            return value
        space = builder.node(self.indices[0]).space
        assert space is not None
        match node.instruction:
            case Imm(number):
                return builder.imm(number, node.value_type, space)
            case Broadcast():
                return builder.broadcast(node.operands[0], space)
            case LoadIndex(axis):
                return self.indices[axis]
            case Gather():
                return builder.gather(node.operands[0], [self.of(index) for index in node.operands[1:]])
            case Arith():
                made = copy(builder, replace(node, space=space), tuple(self.of(operand) for operand in node.operands))
            case Replicate():
                inner = builder.node(node.operands[0]).space
                assert inner is not None
                assert node.space is not None
                kept = [self.indices[node.space.axes.index(axis)] for axis in inner.axes]
                return _Places(builder, tuple(kept)).of(node.operands[0])
            case _:
                return builder.gather(value, self.indices)
        builder.mark_as(made, node)
        return made
