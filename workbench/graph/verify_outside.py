"""Checks of what lies outside the domain: boundary rules, their operands, and reads there."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.graph.graph import Graph
from workbench.graph.instructions import (
    Arith,
    Broadcast,
    Extend,
    Fold,
    Gather,
    Imm,
    Join,
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
    places_on_domain,
    traits_of,
)
from workbench.graph.place import Place, places
from workbench.graph.side_rules import Periodic, Prescribed, SideRule, ValueRule
from workbench.graph.spaces import axis_name
from workbench.graph.types import BOOL

_Offsets = tuple[tuple[int, int], ...]
"""Least and largest offset along each axis."""


def _rank(node: Node) -> int:
    return 0 if node.space is None else node.space.rank


def _offsets_of_operand(nodes: tuple[Node, ...], node: Node, operand: int, own: _Offsets) -> _Offsets:
    """At which offsets the operand is needed where the node is at `own`."""
    space, inner = node.space, nodes[operand].space
    match node.instruction:
        case Shift(offset):
            return tuple((low - o, high - o) for (low, high), o in zip(own, offset, strict=True))
        case Scatter() | Join():
            return ((0, 0),) * _rank(nodes[operand])
        case Replicate():
            positions = (inner.positions_in(space) if inner is not None and space is not None else None) or ()
            return tuple(own[p] for p in positions)
        case Fold(_, axes):
            kept = iter(own)
            return tuple((0, 0) if axis in axes else next(kept) for axis in range(_rank(nodes[operand])))
        case Arith() | Loop() | Extend() | Gather() | SegmentedReduce():  # of the last two only what numbers
            return own
        case Imm() | Load() | LoadIndex() | LoadSize() | Store() | Broadcast() | Reduce() | Scan() | Rank():
            return own  # these have no operand that may be needed outside


def _rules(graph: Graph) -> Iterator[tuple[Place, int, tuple[SideRule, SideRule]]]:
    for place in places(graph):
        if isinstance(place.node.instruction, Extend):
            for axis, pair in enumerate(place.node.instruction.sides):
                yield place, axis, pair


def periodic_has_both_sides(graph: Graph) -> None:
    """A cyclic axis has no end."""
    for place, axis, pair in _rules(graph):
        if sum(isinstance(rule, Periodic) for rule in pair) == 1:
            place.fail(f"axis {axis_name(axis)} is periodic on one side", "Make both sides periodic.")
        if isinstance(pair[0], Periodic) and pair[0] != pair[1]:
            place.fail(f"axis {axis_name(axis)} is periodic with two signs", "Give both sides the same sign.")


def signs_fit_the_type(graph: Graph) -> None:
    """+1 or -1; -1 and arithmetic rules only where the type has negative numbers or arithmetic."""
    for place, axis, pair in _rules(graph):
        type_ = place.node.value_type
        for rule in pair:
            sign = getattr(rule, "sign", 1)
            if sign not in (1, -1):
                place.fail(f"{rule} at axis {axis_name(axis)}", "Use sign 1 or -1.")
            if sign == -1 and type_.kind in ("bool", "uint"):
                place.fail(f"{rule} on {type_}, which has no negative numbers", "Use sign 1 or a signed type.")
            if isinstance(rule, ValueRule) and not isinstance(rule, Prescribed) and type_ == BOOL:
                place.fail(f"{rule} on bool", "Use constant(v) for a bool field.")


def rule_operands_are_free_of_fields(graph: Graph) -> None:
    """A value rule names an operand of the Extend that depends on indices and Globals only; no operand is idle."""
    for place in places(graph):
        node = place.node
        if not isinstance(node.instruction, Extend):
            continue
        rules = [rule for pair in node.instruction.sides for rule in pair]
        named = {rule.operand for rule in rules if isinstance(rule, ValueRule)}
        if named != set(range(1, len(node.operands))):
            place.fail(f"rules name operands {sorted(named)} of {len(node.operands) - 1}", "Name each one, from 1.")
        for number in named:
            field = _field_below(place.nodes, node.operands[number])
            if field:
                place.fail(f"a boundary value depends on field {field}", "Use indices, params and scalars only.")


def _field_below(nodes: tuple[Node, ...], index: int) -> str:
    """A field that the Local depends on other than through a Global, or ""."""
    waiting, seen = [index], set[int]()
    while waiting:
        index = waiting.pop()
        node = nodes[index]
        if node.is_local and index not in seen:
            seen.add(index)
            waiting.extend(node.operands)
            if isinstance(node.instruction, Load):
                return node.instruction.name
    return ""


def loads_stay_inside(graph: Graph) -> None:
    """A field is read outside its domain only through an Extend."""
    for kernel in graph.kernels:
        reach: list[_Offsets | None] = [None] * len(kernel.nodes)  # offsets at which it is needed
        for index in range(len(kernel.nodes) - 1, -1, -1):
            node, own = kernel.nodes[index], reach[index]
            instruction = node.instruction
            inside_only = traits_of(instruction).domain_only and node.is_local
            if inside_only and own is not None and any(map(any, own)):
                name = instruction.name if isinstance(instruction, Load) else type(instruction).__name__
                Place(f"kernel {kernel.name}", kernel.nodes, index).fail(
                    f"{name} is read outside its domain without a boundary rule", "Put an Extend above it."
                )
            for number, operand in enumerate(node.operands):
                if kernel.nodes[operand].is_global:
                    continue
                if number in places_on_domain(instruction):
                    needed = ((0, 0),) * _rank(kernel.nodes[operand])
                elif own is None:
                    continue
                else:
                    needed = _offsets_of_operand(kernel.nodes, node, operand, own)
                other = reach[operand] or needed
                reach[operand] = tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(needed, other, strict=True))
