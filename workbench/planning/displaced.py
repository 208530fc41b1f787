"""Displaced: values that are one computation at different cells become one value, read beside the cell.

Every value continues outside the domain by its formula (only Load and Extend end there), so f(a[+1], b[+1]) is
f(a, b)[+1] in every cell, bit by bit. Written out, a flux takes the sound speed of the cell before and of the cell
after for each axis anew; as one value it may be stored once, or roll along with the loops that read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.graph import (
    Arith,
    Graph,
    Kernel,
    Shift,
)
from workbench.graph.builder import KernelBuilder
from workbench.graph.instructions import Node, places_of_arrays, traits_of
from workbench.graph.rewrite import copy, drop_dead, mark
from workbench.graph.spaces import Space
from workbench.graph.types import StorageType
from workbench.planning.reach import Offset, rank_of

_Class = int  # a formula; values of one class differ in nothing but the cell that they belong to
_Place = tuple[_Class, Offset | None]  # value[i] = formula at cell i - offset; None: the same in every cell
_Formula = tuple[str, StorageType | None, Space | None, tuple[_Place, ...]]


def share_displaced(graph: Graph) -> Graph:
    """Return the graph with one node for each formula that several nodes compute at different cells.

    Before: every node is live. After: of the nodes that share a formula one is left, and the others are Shifts of it,
    with the spans of both; a kernel without such nodes is as it was. No value is needed farther outside than before,
    and however values are then stored, no sub-kernel has more operations.

    Left as they are: what a field takes or extend() fills, because it is stored and its copies would then wait for
    that array; what boundary rules need, which fills compute cell by cell; a named value beside another one of the
    same formula, so that every name can still be looked up and stored; and what is to be delayed or apart by a hint.
    """
    return replace(graph, kernels=tuple(_shared(graph, kernel) for kernel in graph.kernels))


@dataclass(slots=True)
class _Formulas:
    """The formula and the cell of every node, and which nodes compute the same formula."""

    places: list[_Place] = field(default_factory=list)
    members: dict[_Class, list[int]] = field(default_factory=dict)
    named: dict[_Class, int] = field(default_factory=dict)
    known: dict[_Formula, _Class] = field(default_factory=dict)


def _shared(graph: Graph, kernel: Kernel) -> Kernel:
    if not any(isinstance(node.instruction, Shift) for node in kernel.nodes):
        return kernel  # equal formulas at one cell are one node as they are made
    formulas = _find_formulas(kernel)
    instead: dict[int, int] = {}
    for shared, members in formulas.members.items():
        if len(members) > 1:
            kept = formulas.named.get(shared, min(members, key=lambda m: (_distance(formulas.places[m]), m)))
            instead.update((member, kept) for member in members if member != kept)
    return _rebuilt(graph, kernel, formulas.places, instead) if instead else kernel


def _distance(place: _Place) -> int:
    return sum(map(abs, place[1] or ()))


def _find_formulas(kernel: Kernel) -> _Formulas:
    found, alone = _Formulas(), _left_alone(kernel)
    for index, node in enumerate(kernel.nodes):
        place: _Place = (
            index,
            (0,) * rank_of(kernel, index),
        )  # a formula of its own, called by the number of its first node
        instruction = node.instruction
        if traits_of(instruction).uniform:
            place = (index, None)
        elif isinstance(instruction, Shift) and not node.names:
            place = _moved(found.places[node.operands[0]], instruction.offset)
        elif isinstance(instruction, Arith) and node.is_local and index not in alone:
            place = _place_of(found, index, node, instruction.operator)
        found.places.append(place)
    return found


def _moved(place: _Place, distance: Sequence[int]) -> _Place:
    formula, offset = place
    return formula, None if offset is None else tuple(a + b for a, b in zip(offset, distance, strict=True))


def _place_of(found: _Formulas, index: int, node: Node, operator: str) -> _Place:
    """Where an Arith stands: the cell of its first operand that differs from cell to cell is its own."""
    operands = [found.places[o] for o in node.operands]
    origin = next((offset for _, offset in operands if offset is not None), None)
    if origin is None:
        return index, None
    back = [-o for o in origin]
    key = (operator, node.type, node.space, tuple(_moved(place, back) for place in operands))
    shared = found.known.setdefault(key, index)
    named = found.named.get(shared)
    if node.names and named is not None and found.places[named][1] != origin:
        return index, (0,) * len(origin)
    if node.names:
        found.named.setdefault(shared, index)
    found.members.setdefault(shared, []).append(index)
    return shared, origin


def _left_alone(kernel: Kernel) -> frozenset[int]:
    """The nodes whose array or whose place in the plan would change others; see `share_displaced`."""
    alone: set[int] = set()
    rules: set[int] = set()
    for index, node in enumerate(kernel.nodes):
        arrays = places_of_arrays(node.instruction)
        alone.update(node.operands[number] for number in arrays)
        if 0 in arrays:
            rules.update(node.operands[1:])
        if node.hint.allocation == "delayed" or node.hint.sync_before or node.hint.sync_after:
            alone.add(index)
    for index in range(len(kernel.nodes) - 1, -1, -1):
        if index in rules:
            rules.update(kernel.nodes[index].operands)
    return frozenset(alone | rules)


def _rebuilt(graph: Graph, kernel: Kernel, places: Sequence[_Place], instead: dict[int, int]) -> Kernel:
    """The kernel with `instead[node]`, moved to its cell, for each of these nodes."""
    builder = KernelBuilder(graph.space, graph.statics)
    new: dict[int, int] = {}
    waiting = list(range(len(kernel.nodes) - 1, -1, -1))
    while waiting:
        index = waiting.pop()
        if index in new:
            continue
        node = kernel.nodes[index]
        needed = (instead[index],) if index in instead else node.operands
        missing = [n for n in needed if n not in new]
        if missing:  # what is kept may come later than the copies
            waiting += [index, *missing]
        elif index in instead:
            new[index] = _beside(builder, node, new[needed[0]], (places[index], places[needed[0]]))
        else:
            new[index] = copy(builder, node, tuple(new[o] for o in node.operands))
            mark(builder, new[index], node)
    return drop_dead(builder.finish(kernel.name))


def _beside(builder: KernelBuilder, node: Node, kept: int, places: tuple[_Place, _Place]) -> int:
    """The value of `node`, read from `kept`, which gets its spans and its hint as well."""
    (_, here), (_, there) = places
    assert here is not None
    assert there is not None
    made = builder.shift(kept, [a - b for a, b in zip(here, there, strict=True)])
    mark(builder, kept, replace(node, names=()))
    builder.mark_as(made, node)
    return made
