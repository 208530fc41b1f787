"""Retype: apply the meaning part of choices, graph to graph, before anything else."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import PlanError
from workbench.graph import (
    OPERATORS,
    Arith,
    Broadcast,
    Extend,
    Fold,
    Graph,
    Imm,
    Node,
    Reduce,
    Region,
    Replicate,
    Static,
    StorageType,
    Store,
    storage_type,
)
from workbench.graph.builder import KernelBuilder
from workbench.graph.instructions import traits_of
from workbench.graph.rewrite import copy, rewrite
from workbench.planning.choices import Meaning


def retype(graph: Graph, meaning: Meaning) -> Graph:
    """Return the graph with the named floats in the precision that `meaning` asks for.

    A static's type changes and with it all that is computed from it; a named value is rounded to its new type where
    it is made. Where types then meet, the rules of semantics §2 hold: constants and Broadcasts (Globals) take the
    Local's type, of two Locals or two Globals the wider type wins, Store casts. Raises PlanError for a name that
    nothing carries and for types that are not floats.
    """
    if not meaning.precision:
        return graph
    types = dict(_checked(graph, name, spelling) for name, spelling in meaning.precision)
    statics = tuple(replace(s, type=types.get(s.name, s.type)) for s in graph.statics)
    by_name = {s.name: s for s in statics}

    def rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
        value = _retyped(builder, node, operands, by_name)
        asked = [types[n] for n in node.names if n in types]
        if asked and not isinstance(node.instruction, Store):
            return _round(builder, value, asked[-1])
        return value

    return rewrite(graph, rule, statics)


def _checked(graph: Graph, name: str, spelling: str) -> tuple[str, StorageType]:
    found = [s.type for s in graph.statics if s.name == name]
    found += [n.value_type for k in graph.kernels for n in k.nodes if name in n.names and n.type is not None]
    if not found:
        raise PlanError(f"no value is called {name!r}, so its precision cannot change", advice="Name a field or value.")
    try:
        type_ = storage_type(spelling)
    except KeyError:
        raise PlanError(f"{spelling!r} is no storage type", advice='Use "f32" or "f64".') from None
    if not type_.is_float or not all(t.is_float for t in found):
        wrong = type_ if not type_.is_float else next(t for t in found if not t.is_float)
        raise PlanError(f"the precision of {name} cannot change: {wrong} is no float", advice='Use "f32" or "f64".')
    return name, type_


def _retyped(builder: KernelBuilder, node: Node, operands: tuple[int, ...], statics: dict[str, Static]) -> int:
    """The same instruction on operands whose types may have changed."""
    match node.instruction:
        case Store(name):
            return copy(builder, node, (_round(builder, operands[0], statics[name].type),))
        case Extend():
            target = builder.node(operands[0]).value_type
            return copy(builder, node, (operands[0], *(_round(builder, o, target) for o in operands[1:])))
        case Reduce(Region() as region) | Fold(Region() as region, _):  # its nodes have types of their own
            return copy(builder, node, (_round(builder, operands[0], region.parameters[0].type),))
        case Arith("cast"):
            return copy(builder, node, operands)
        case Arith(operator):
            first = 1 if OPERATORS[operator].rule == "select" else 0
            agreed = _agree(builder, operands[first:])
            return copy(builder, node, (*operands[:first], *agreed))
        case _:  # its type follows from the operands', the static's or its own
            return copy(builder, node, operands)


def _agree(builder: KernelBuilder, operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands in one type: that of the widest one that is computed, if there is one."""
    types = {builder.node(o).value_type for o in operands}
    if len(types) == 1:
        return operands
    computed = [o for o in operands if not traits_of(builder.node(o).instruction).uniform]
    target = max((builder.node(o).value_type for o in computed or operands), key=lambda t: t.bits)
    return tuple(_round(builder, o, target) for o in operands)


def _round(builder: KernelBuilder, value: int, type_: StorageType) -> int:
    """The value in another type; what is the same in many cells is converted once, not in every cell."""
    node = builder.node(value)
    if node.type == type_:
        return value
    if isinstance(node.instruction, Imm) and node.space is not None:
        return builder.imm(node.instruction.value, type_, node.space)
    if isinstance(node.instruction, Broadcast):
        return builder.broadcast(_round(builder, node.operands[0], type_), node.instruction.space)
    if isinstance(node.instruction, Replicate):
        return builder.replicate(_round(builder, node.operands[0], type_), node.instruction.space)
    return builder.cast(value, type_)
