"""Shrinks a graph that makes something fail to a small one that still does, for a person to read."""

from dataclasses import replace

from workbench.errors import GraphError
from workbench.graph import Imm, Load, Store
from workbench.graph.rewrite import drop_dead
from workbench.graph.verify import verify


def shrink(graph, fails, attempts=200):
    """The smallest graph found for which `fails(graph)` holds; every graph that is tried passes the verifier.

    Greedy: leaves out kernels and stores, replaces a node by one of its operands or by a constant, then drops the
    statics that are not used. `fails` must be repeatable and should return False for errors of another kind.
    """
    progress = True
    while progress and attempts > 0:
        progress = False
        for smaller in _smaller(graph):
            if attempts <= 0:
                break
            try:
                verify(smaller)
            except GraphError:
                continue
            attempts -= 1
            if fails(smaller):
                graph, progress = smaller, True
                break
    return graph


def _smaller(graph):
    for number in range(len(graph.kernels)):
        if len(graph.kernels) > 1:
            yield _tidy(replace(graph, kernels=graph.kernels[:number] + graph.kernels[number + 1 :]))
    for number, kernel in enumerate(graph.kernels):
        for nodes in _smaller_nodes(kernel.nodes):
            made = drop_dead(replace(kernel, nodes=nodes))
            yield _tidy(replace(graph, kernels=(*graph.kernels[:number], made, *graph.kernels[number + 1 :])))


def _smaller_nodes(nodes):
    for index, node in enumerate(nodes):
        if isinstance(node.instruction, Store):
            yield _without(nodes, index)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        for operand in node.operands:
            if node.type is not None and (nodes[operand].type, nodes[operand].space) == (node.type, node.space):
                yield tuple(replace(n, operands=tuple(operand if o == index else o for o in n.operands)) for n in nodes)
        if node.type is not None and not isinstance(node.instruction, Imm):
            one = {"bool": True, "float": 1.0}.get(node.type.kind, 1)
            yield (*nodes[:index], replace(node, instruction=Imm(one), operands=()), *nodes[index + 1 :])


def _without(nodes, index):
    """The nodes without a Store; those behind it move up by one."""
    kept = nodes[:index] + nodes[index + 1 :]
    return tuple(replace(n, operands=tuple(o - (o > index) for o in n.operands)) for n in kept)


def _tidy(graph):
    used = {n.instruction.name for k in graph.kernels for n in k.nodes if isinstance(n.instruction, Load | Store)}
    return replace(graph, statics=tuple(s for s in graph.statics if s.name in used))
