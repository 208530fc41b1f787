"""Which scalars are diagnostic: evaluated on observed steps only (semantics §5)."""

from __future__ import annotations

from workbench.graph.graph import Graph, Kernel
from workbench.graph.instructions import Load, Reduce

REPEATED = "step"
"""The kernel that runs call again and again; a graph without it runs once at each call."""


def ancestors(kernel: Kernel, node: int) -> frozenset[int]:
    """Return the node and everything that its value depends on."""
    found: set[int] = set()
    waiting = [node]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(kernel.nodes[index].operands)
    return frozenset(found)


def diagnostic_stores(graph: Graph, kernel: Kernel) -> frozenset[str]:
    """Return the scalars whose Store in `kernel` may be left out on steps that are not observed.

    A Store to a scalar is diagnostic if its value depends on a Reduce, so that leaving it out saves a pass over the
    cells, and if no Store of any kernel depends on a Load of the scalar. A scalar that accumulates loads itself; one
    that another diagnostic scalar loads is needed from the step before an observed one. Neither is diagnostic, and
    nothing is in a graph that runs once: what it computes is all wanted.
    """
    if all(each.name != REPEATED for each in graph.kernels):
        return frozenset()
    scalars = {s.name for s in graph.scalars}
    read = _names_read(graph)
    found: set[str] = set()
    for name, value in kernel.stores():
        if name in scalars and name not in read:
            below = ancestors(kernel, value)
            if any(isinstance(kernel.nodes[i].instruction, Reduce) for i in below):
                found.add(name)
    return frozenset(found)


def _names_read(graph: Graph) -> frozenset[str]:
    """The statics whose Load some Store of some kernel depends on."""
    names: set[str] = set()
    for kernel in graph.kernels:
        live = frozenset[int]().union(*(ancestors(kernel, value) for _, value in kernel.stores()))
        for index in live:
            instruction = kernel.nodes[index].instruction
            if isinstance(instruction, Load):
                names.add(instruction.name)
    return frozenset(names)
