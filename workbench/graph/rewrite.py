"""Rewriting: the way a pass turns a graph into another one; names, spans and hints follow the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.errors import GraphError
from workbench.graph.builder import KernelBuilder
from workbench.graph.graph import Graph, Kernel
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Combining,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
    Leaf,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Node,
    Rank,
    Reduce,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Store,
)
from workbench.graph.marks import NO_HINT, Hint
from workbench.graph.spaces import Space
from workbench.graph.statics import Static

Rule = Callable[[KernelBuilder, Node, tuple[int, ...]], int]
"""(builder of the new kernel, old node, its operands in the new kernel) -> the node's value in the new kernel."""


def copy(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
    """Make the same instruction on new operands; the rule that changes nothing, and the last line of most rules.

    Types and spaces are found anew from the operands, so a rule that changes a Load's type changes all below it.
    """
    match node.instruction:
        case Arith("cast"):  # Ariths first: most nodes are some
            return builder.cast(operands[0], node.value_type)
        case Arith(operator):
            return builder.arith(operator, *operands)
        case Imm() | Load() | LoadIndex() | LoadSize() as leaf:
            return _leaf(builder, node, leaf)
        case Store(name):
            return builder.store(name, operands[0])
        case Join(axis):
            assert node.space is not None
            return builder.join(axis, operands, node.space)
        case Reduce() | Fold() | Scan() | SegmentedReduce() | Scatter() | Rank() as collective:
            return _of_many(builder, collective, operands)
        case Broadcast() | Replicate() | Gather() | Shift() as reading:
            return _of_one(builder, reading, operands)
        case Loop(body, result):
            return builder.loop(body, result, operands)
        case Extend(sides):
            return builder.extend(operands[0], sides, operands[1:])


def _of_many(builder: KernelBuilder, instruction: Combining | Rank, operands: tuple[int, ...]) -> int:
    match instruction:
        case Reduce(operator, axes) | Fold(operator, axes):
            return builder.fold(operator, operands[0], axes)
        case Scan(operator, axis, reverse, exclusive):
            return builder.scan(operator, operands[0], axis, reverse=reverse, exclusive=exclusive)
        case SegmentedReduce(operator):
            return builder.segments(operator, *operands)
        case Scatter(operator, masked):
            defaults, values, *places = operands
            mask = places.pop() if masked else None
            return builder.scatter(operator, defaults, values, places, mask)
        case Rank(bits):
            return builder.rank(operands[0], bits)


def _of_one(
    builder: KernelBuilder, instruction: Broadcast | Replicate | Gather | Shift, operands: tuple[int, ...]
) -> int:
    match instruction:
        case Broadcast(space):
            return builder.broadcast(operands[0], space)
        case Replicate(space):
            return builder.replicate(operands[0], space)
        case Gather():
            return builder.gather(operands[0], operands[1:])
        case Shift(offset):
            return builder.shift(operands[0], offset)


def _leaf(builder: KernelBuilder, node: Node, instruction: Leaf) -> int:
    match instruction:
        case Imm(value):
            assert node.space is not None
            return builder.imm(value, node.value_type, node.space)
        case Load(name, along):
            return builder.load(name, along)
        case LoadIndex(axis):
            return builder.index(axis, node.space)
        case LoadSize(axis):
            return builder.size(axis)


def rewrite(graph: Graph, rule: Rule, statics: Sequence[Static] | None = None) -> Graph:
    """Return the graph with `rule` applied to every live node of every kernel, operands first.

    The value that a rule returns inherits the names, spans and hint of the node that it replaces. Nodes that no Store
    depends on are dropped before and after. `statics` replaces the graph's own (a pass that changes types).
    """
    known = graph.statics if statics is None else tuple(statics)
    kernels = tuple(rewrite_kernel(kernel, graph.space, known, rule) for kernel in graph.kernels)
    return replace(graph, statics=known, kernels=kernels)


def rewrite_kernel(kernel: Kernel, space: Space, statics: Sequence[Static], rule: Rule) -> Kernel:
    """Return one kernel rewritten; see `rewrite`."""
    builder = KernelBuilder(space, statics)
    new: dict[int, int] = {}
    for index in live_nodes(kernel):
        node = kernel.nodes[index]
        made = new[index] = rule(builder, node, tuple(new[i] for i in node.operands))
        mark(builder, made, node)
    return drop_dead(builder.finish(kernel.name))


def mark(builder: KernelBuilder, index: int, node: Node) -> None:
    """Let a value have the names, spans and hint of the node whose value it is; GraphError as for `merged_hint`."""
    builder.mark_as(index, node)
    if node.hint != NO_HINT:
        builder.annotate(index, hint=merged_hint(builder.node(index), node))


def merged_hint(one: Node, other: Node) -> Hint:
    """What two values that have become one are asked to be. Raises GraphError, with both lines, if they contradict."""
    a, b = one.hint, other.hint
    if a.allocation and b.allocation and a.allocation != b.allocation:
        first, second = sorted((a, b), key=lambda hint: hint.line)
        names = "the value " + " or ".join(dict.fromkeys((*one.names, *other.names)))
        raise GraphError(
            f"{names.strip()} is marked {second.allocation} here and {first.allocation} in line {first.line}, "
            "but the two are one value once simplified",
            advice="Keep one of the two hints.",
            line=second.line or None,
        )
    line = a.line if a.allocation else b.line or a.line
    return Hint(a.allocation or b.allocation, a.sync_before or b.sync_before, a.sync_after or b.sync_after, line)


def live_nodes(kernel: Kernel) -> tuple[int, ...]:
    """Return the Stores and all that they depend on, ascending."""
    live = [isinstance(node.instruction, Store) for node in kernel.nodes]
    for index in range(len(kernel.nodes) - 1, -1, -1):
        if live[index]:
            for operand in kernel.nodes[index].operands:
                live[operand] = True
    return tuple(index for index, alive in enumerate(live) if alive)


def drop_dead(kernel: Kernel) -> Kernel:
    """Return the kernel without the nodes that no Store depends on; all else stays as it is."""
    live = live_nodes(kernel)
    if len(live) == len(kernel.nodes):
        return kernel
    new = {old: index for index, old in enumerate(live)}
    nodes = (kernel.nodes[i] for i in live)
    return replace(kernel, nodes=tuple(replace(n, operands=tuple(new[i] for i in n.operands)) for n in nodes))
