"""Simplify: constant folding, shared values, needless Extends, dead code; depends on no choice."""

from __future__ import annotations

from workbench.graph import Extend, Graph, Node, Reduce, Store
from workbench.graph.builder import KernelBuilder
from workbench.graph.rewrite import copy, rewrite


def simplify(graph: Graph) -> Graph:
    """Return the graph without what costs and changes nothing."""
    return rewrite(graph, _rule)


def _rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
    if isinstance(node.instruction, Store | Reduce) and isinstance(builder.node(operands[0]).instruction, Extend):
        operands = (builder.node(operands[0]).operands[0],)
    return copy(builder, node, operands)
