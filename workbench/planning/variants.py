"""Variants: a kernel's plain step, without its diagnostic scalars, and its observed step with all."""

from __future__ import annotations

from collections.abc import Collection

from workbench.graph import Graph, Kernel, Store
from workbench.graph.diagnostics import diagnostic_stores


def live_nodes(kernel: Kernel, without: Collection[str] = ()) -> frozenset[int]:
    """Return the Stores (but for those to the scalars `without`) and all that they depend on."""
    live: set[int] = set()
    for index in range(len(kernel.nodes) - 1, -1, -1):
        node = kernel.nodes[index]
        if isinstance(node.instruction, Store) and node.instruction.name not in without:
            live.add(index)
        if index in live:
            live.update(node.operands)
    return frozenset(live)


def plain_nodes(graph: Graph, kernel: Kernel) -> frozenset[int]:
    """Return the nodes of a plain step, which is not observed; node numbers are those of the whole kernel."""
    return live_nodes(kernel, diagnostic_stores(graph, kernel))
