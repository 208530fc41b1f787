"""Counted loops: loops over whole arrays whose condition counts turns, so that a device need not be asked after each.

After a turn such a loop goes on if a whole number, which each turn makes greater by one, is below a bound that no turn
changes, and if all else that the condition asks is changed by no turn either. So once it goes on after one turn, it
does for as many more as the number is below the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.backends.base import Number
from workbench.graph import Arith, Broadcast, Graph, Imm, Load, LoadSize, Node, While


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop that goes on while the scalar `counter` is below a bound: a number, a scalar by name, an axis' extent."""

    counter: str
    bound: int | str | LoadSize

    def turns_left(self, read: Callable[[str], Number], extents: tuple[int, ...]) -> int:
        """How many turns follow, of a loop that goes on after its last turn; read: the value of a scalar or param."""
        match self.bound:
            case LoadSize(axis=axis):
                bound = extents[axis]
            case str():
                bound = int(read(self.bound))
            case _:
                bound = self.bound
        return max(bound - int(read(self.counter)), 1)


def counted_loops(graph: Graph) -> dict[str, CountedLoop]:
    """The counted loops of a graph by their turns; of those without loops inside."""
    found = {loop.turn: _counted(graph, loop) for loop in graph.loops if not graph.loops_before(loop.turn)}
    return {turn: counted for turn, counted in found.items() if counted is not None}


def _counted(graph: Graph, loop: While) -> CountedLoop | None:
    kernel = graph.kernel(loop.turn)
    nodes, stored = kernel.nodes, dict(kernel.stores())
    if loop.going not in stored:
        return None
    asked = list(_conjunction(nodes, stored[loop.going]))
    varying = [each for each in asked if not _is_invariant(nodes, each, stored)]
    if len(varying) != 1:
        return None
    node = nodes[varying[0]]
    if node.instruction == Arith("less"):
        count, bound = node.operands
    elif node.instruction == Arith("greater"):
        bound, count = node.operands
    else:
        return None
    counter, limit = _counter(nodes, count, stored), _bound(nodes[bound], stored)
    return None if counter is None or limit is None else CountedLoop(counter, limit)


def _conjunction(nodes: tuple[Node, ...], node: int) -> Iterable[int]:
    """What must hold together."""
    if nodes[node].instruction == Arith("logical_and"):
        for each in nodes[node].operands:
            yield from _conjunction(nodes, each)
    else:
        yield node


def _is_invariant(nodes: tuple[Node, ...], node: int, stored: dict[str, int]) -> bool:
    """Whether the node has the same value in each turn: one made of numbers, extents, and what no turn stores."""
    left, seen = [node], {node}
    while left:
        index = left.pop()
        match nodes[index].instruction:
            case Imm() | LoadSize() | Arith() | Broadcast():
                pass
            case Load(name=name) if name not in stored:
                pass
            case _:
                return False
        fresh = [each for each in nodes[index].operands if each not in seen]
        seen.update(fresh)
        left += fresh
    return True


def _counter(nodes: tuple[Node, ...], node: int, stored: dict[str, int]) -> str | None:
    """The scalar that each turn makes greater by one, if the node is its next value."""
    if nodes[node].instruction != Arith("add") or not nodes[node].value_type.is_integer:
        return None
    for old, step in (nodes[node].operands, nodes[node].operands[::-1]):
        load, one = nodes[old].instruction, nodes[step].instruction
        if isinstance(load, Load) and isinstance(one, Imm) and one.value == 1:
            is_next = load.name in stored and stored[load.name] == node
            return load.name if is_next else None
    return None


def _bound(node: Node, stored: dict[str, int]) -> int | str | LoadSize | None:
    match node.instruction:
        case Imm(value=value):
            return int(value)
        case Load(name=name):
            return None if name in stored else name
        case LoadSize() as size:
            return size
        case _:
            return None
