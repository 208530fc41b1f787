"""Simplify: constants folded, values shared, needless Extends and dead code gone; depends on no choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.graph import (
    OPERATORS,
    Arith,
    Extend,
    Graph,
    Imm,
    Kernel,
    Node,
    Shift,
    Store,
)
from workbench.graph.builder import KernelBuilder
from workbench.graph.identity import Remembered
from workbench.graph.instructions import places_on_domain, traits_of
from workbench.graph.rewrite import Rule, copy, merged_hint, rewrite, rewrite_kernel
from workbench.graph.types import BOOL
from workbench.planning.displaced import share_displaced
from workbench.planning.identities import fold, identity
from workbench.planning.reach import find_margins
from workbench.planning.slices import compute_where_read
from workbench.planning.variants import live_nodes

_MOST_ROUNDS = 10  # every round removes nodes; three are the most that programs have needed
SIMPLIFIED = Remembered[Graph](32)
"""Those of a few programs: a plan asks again for what a machine was made of."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to make a graph simpler: it changes no bit, and nothing where there is nothing to do."""

    name: str
    run: Callable[[Graph], Graph]


def simplify(graph: Graph) -> Graph:
    """Return the graph without what costs something and changes no bit.

    Before: graph verified. After: no Store or Reduce takes an Extend, no two Stores take one collective, every Extend
    has ghost cells that are read, equal values are one node, also those that are equal at another cell
    (`share_displaced`), every node is live, exact operators on constants are folded, and what is the same in every cell
    is computed once as a Global. Names, spans and hints follow the values. A graph that was returned lately is returned
    as it is.
    """
    if graph in SIMPLIFIED:
        return graph
    for _ in range(_MOST_ROUNDS):
        simpler = graph
        for each in REWRITES:
            simpler = each.run(simpler)
        if simpler == graph:
            break
        graph = simpler
    return SIMPLIFIED.add(_stored_once(graph))


def _stored_once(graph: Graph) -> Graph:
    """Let one field take what a scan or another collective makes, and each further one a copy of it.

    The loop of a collective stores into one array. The copy is written select(true, a, a), which the rules above fold
    again, so that this comes after them.
    """
    return replace(
        graph,
        kernels=tuple(
            rewrite_kernel(kernel, graph.space, graph.statics, _copy_rule()) if _stores_twice(kernel) else kernel
            for kernel in graph.kernels
        ),
    )


def _stores_twice(kernel: Kernel) -> bool:
    taken = [node.operands[0] for node in kernel.nodes if isinstance(node.instruction, Store)]
    return any(taken.count(n) > 1 and traits_of(kernel.nodes[n].instruction).is_collective for n in taken)


def _copy_rule() -> Rule:
    stored: set[int] = set()

    def rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
        if isinstance(node.instruction, Store) and traits_of(builder.node(operands[0]).instruction).is_collective:
            (value,) = operands
            space = builder.node(value).space
            assert space is not None
            if value in stored:
                always = builder.imm(True, BOOL, space)
                return builder.store(node.instruction.name, builder.arith("select", always, value, value))
            stored.add(value)
        return copy(builder, node, operands)

    return rule


def _rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
    """What a node becomes, looking at itself and its operands only."""
    if isinstance(node.instruction, Shift) and traits_of(builder.node(operands[0]).instruction).uniform:
        return operands[0]
    if isinstance(node.instruction, Arith):
        return _arith(builder, node, operands)
    bare = places_on_domain(node.instruction)  # where an Extend is its operand
    return copy(builder, node, tuple(_without_extend(builder, o) if k in bare else o for k, o in enumerate(operands)))


def _without_extend(builder: KernelBuilder, value: int) -> int:
    node = builder.node(value)
    return node.operands[0] if isinstance(node.instruction, Extend) else value


def _arith(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
    makers = [builder.node(o) for o in operands]
    found = fold(builder, node, makers)
    if found is None:
        found = identity(builder, node, operands, makers)
    return _hoisted(builder, node, operands, makers) if found is None else found


def _hoisted(builder: KernelBuilder, node: Node, operands: tuple[int, ...], makers: Sequence[Node]) -> int:
    """Compute what is the same in every cell once, as a Global, if the operator is exact."""
    assert isinstance(node.instruction, Arith)
    uniform = all(traits_of(m.instruction).uniform and m.is_local for m in makers)
    if not uniform or OPERATORS[node.instruction.operator].ulp:
        return copy(builder, node, operands)
    numbers = []
    for maker in makers:
        if isinstance(maker.instruction, Imm):
            numbers.append(builder.imm(maker.instruction.value, maker.value_type))
        else:
            numbers.append(maker.operands[0])
    return builder.broadcast(_arith(builder, node, tuple(numbers)), makers[0].space)


def _drop_extends(graph: Graph) -> Graph:
    """Replace each Extend that is not read outside the domain by its operand.

    Not a matter of one node: u + u[+1] needs no ghosts of u at its first operand, but if the sum itself is needed
    outside it does. `find_margins` follows every use to the end.
    """
    return replace(graph, kernels=tuple(_without_needless(kernel) for kernel in graph.kernels))


def _without_needless(kernel: Kernel) -> Kernel:
    if not any(isinstance(node.instruction, Extend) for node in kernel.nodes):
        return kernel
    margins = find_margins(kernel, live_nodes(kernel))
    instead: dict[int, int] = {}
    nodes = []
    for index, node in enumerate(kernel.nodes):
        if isinstance(node.instruction, Extend) and not any(map(any, margins[index])):
            instead[index] = instead.get(node.operands[0], node.operands[0])
        nodes.append(replace(node, operands=tuple(instead.get(o, o) for o in node.operands)))
    for index, operand in instead.items():
        nodes[operand] = _named_too(nodes[operand], kernel.nodes[index])
    return kernel if not instead else replace(kernel, nodes=tuple(nodes))


def _named_too(node: Node, other: Node) -> Node:
    """The node with the other's names and spans as well; its hint too, where it has none."""
    names = tuple(dict.fromkeys((*node.names, *other.names)))
    spans = tuple(dict.fromkeys((*node.spans, *other.spans)))
    return replace(node, names=names, spans=spans, hint=merged_hint(node, other))


REWRITES: tuple[Rewrite, ...] = (
    Rewrite("fold and share", lambda graph: rewrite(graph, _rule)),
    Rewrite("share displaced", lambda graph: share_displaced(graph)),
    Rewrite("drop extends", _drop_extends),
    Rewrite("compute where read", compute_where_read),
)
"""In this order, until none changes anything. Machines and plans have this graph: what rewrites it belongs here."""
