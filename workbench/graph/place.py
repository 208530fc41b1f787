"""Where a check found something: a node within its kernel or coordinate, and the error that names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from workbench.errors import GraphError
from workbench.graph.graph import Graph
from workbench.graph.identity import by_identity
from workbench.graph.instructions import Node


@dataclass(frozen=True, slots=True)
class Place:
    """A node within its block of nodes: a kernel, or the nodes of a coordinate."""

    block: str
    nodes: tuple[Node, ...]
    index: int

    @property
    def node(self) -> Node:
        """The node itself."""
        return self.nodes[self.index]

    def operand(self, number: int) -> Node:
        """The node's operand of that number."""
        return self.nodes[self.node.operands[number]]

    def fail(self, what: str, advice: str) -> NoReturn:
        """Raise the error, with the node's line if it is known."""
        line = self.node.spans[0].line if self.node.spans else None
        name = f" ({', '.join(self.node.names)})" if self.node.names else ""
        raise GraphError(f"{self.block}, node %{self.index}{name}: {what}", advice=advice, line=line)


@by_identity(size=2)
def places(graph: Graph) -> tuple[Place, ...]:
    """Every node of every kernel and coordinate; a dozen checks of one graph share them."""
    blocks = [(f"kernel {k.name}", k.nodes) for k in graph.kernels]
    blocks += [(f"coordinate {c.name}", c.nodes) for c in graph.coordinates]
    return tuple(Place(block, nodes, index) for block, nodes in blocks for index in range(len(nodes)))
