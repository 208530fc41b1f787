"""Retype: apply the meaning part of choices, graph to graph, before anything else."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from workbench.errors import PlanError
from workbench.graph import (
    OPERATORS,
    REDUCTIONS,
    Arith,
    Coordinate,
    Extend,
    Fold,
    Graph,
    Imm,
    Join,
    Load,
    Loop,
    Node,
    Reduce,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Static,
    StorageType,
    Store,
    storage_type,
)
from workbench.graph.builder import KernelBuilder
from workbench.graph.fused_sums import fused_sum, is_fused_sum
from workbench.graph.instructions import (
    Broadcast,
    Combining,
    Gather,
    LoadIndex,
    LoadSize,
    Rank,
    Shift,
    array_places,
    traits_of,
)
from workbench.graph.operators import accepts
from workbench.graph.rewrite import copy, rewrite
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import DD, F64, I64
from workbench.planning.choices import EVERY, Meaning
from workbench.planning.retype_regions import number_in, region_in_type, with_arrays_of

SOURCE = ".source"  # ends the names of the sources' arrays in a program of pairs
_ADVICE = 'Use "f32", "f64" or "dd".'


@dataclass(frozen=True, slots=True)
class Precision:
    """Float types by name, of statics and of values, and the type `every` of all that is not named, if any."""

    types: Mapping[str, StorageType]
    every: StorageType | None = None

    def of(self, node: Node) -> StorageType | None:
        """The type that a value with names is to have, None if nothing is asked."""
        asked = [self.types[name] for name in node.names if name in self.types]
        if asked:
            return asked[-1]
        return self.every if node.names and node.type is not None and node.type.is_float else None


def retype(graph: Graph, meaning: Meaning) -> Graph:
    """Return the graph with the named floats in the precision that `meaning` asks for; see `retype_as`.

    Raises PlanError for a name that nothing carries and for types that are not floats.
    """
    return graph if not meaning.precision else retype_as(graph, precision_of(graph, meaning))


def precision_of(graph: Graph, meaning: Meaning) -> Precision:
    """What the choices ask for, by the names of statics and values. PlanError for what the graph has not."""
    every: StorageType | None = None
    types: dict[str, StorageType] = {}
    for name, spelling in meaning.precision:
        if name == EVERY:
            every = _float_type("all values", spelling)
            continue
        for member in members_of(graph, name):
            types[member] = _checked(graph, member, spelling)
    return Precision(types, every)


def retype_as(graph: Graph, precision: Precision) -> Graph:
    """Return the graph in the types of `precision`.

    A static's type changes and with it all that is computed from it. A named value is computed in its new type if
    that is the wider one (operands are widened first), and rounded to it where it is made if it is the narrower one.
    `every` is the type of all statics, constants, casts and named values that are not named in `types`. A value that a
    static named here takes, and that has no name of its own, is computed in the static's type if that is wider. Where
    types then meet, the rules of semantics §2 hold: constants and Broadcasts (Globals) take the Local's type, of two
    Locals or two Globals the wider type wins, Store casts. An operator that a type has not computes in f64, but rsqrt
    of dd is 1 / sqrt.
    """
    statics = tuple(_static(s, precision) for s in graph.statics)
    by_name = {s.name: s for s in statics}

    def rule(builder: KernelBuilder, node: Node, operands: tuple[int, ...]) -> int:
        if isinstance(node.instruction, Store):
            name = node.instruction.name
            compute = _in_type if name in precision.types or precision.every else _round
            made = _stored(builder, operands[0], by_name[name].type, compute)
            if builder.node(made).instruction != Arith("cast"):  # computed anew: it is still the value of its line
                for span in builder.node(operands[0]).spans:
                    builder.annotate(made, span=span)
            return copy(builder, node, (made,))
        asked = precision.of(node)
        value = _retyped(builder, node, operands, asked or precision.every, precision.every)
        return value if asked is None else _in_type(builder, value, asked)

    retyped = rewrite(graph, rule, statics)
    return replace(retyped, coordinates=tuple(_coordinate(c, graph, statics) for c in graph.coordinates))


def _static(static: Static, precision: Precision) -> Static:
    type_ = precision.types.get(static.name, precision.every if static.type.is_float else None)
    if type_ is None or type_ == static.type:
        return static
    default = static.default
    return replace(static, type=type_, default=default if default is None else number_in(default, type_))


def members_of(graph: Graph, name: str) -> tuple[str, ...]:
    """What a name stands for: components of a vector, arrays of both sides of pairs, the static that a value loads."""
    statics = {s.name for s in graph.statics}
    found = tuple(s.name for s in graph.statics if name in (s.name, s.group) or s.name == f"{name}{SOURCE}")
    if found:
        return found
    nodes = [n for k in graph.kernels for n in k.nodes if name in n.names]
    loaded = [n.instruction.name for n in nodes if isinstance(n.instruction, Load)]
    if nodes and len(loaded) == len(nodes):
        return tuple(dict.fromkeys(loaded))
    if not nodes:
        known = sorted(statics | {n for k in graph.kernels for node in k.nodes for n in node.names})
        close = difflib.get_close_matches(name, known, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise PlanError(
            f"no value is called {name!r}, so its precision cannot change.{guess}",
            advice=f"Use one of {', '.join(known)}.",
        )
    return (name,)


def _checked(graph: Graph, name: str, spelling: str) -> StorageType:
    found = [s.type for s in graph.statics if s.name == name]
    found += [n.value_type for k in graph.kernels for n in k.nodes if name in n.names and n.type is not None]
    wrong = next((t for t in found if not t.is_float), None)
    if wrong is not None:
        raise PlanError(f"the precision of {name} cannot change: {wrong} is no float", advice="Name a float.")
    return _float_type(name, spelling)


def _float_type(name: str, spelling: str) -> StorageType:
    try:
        type_ = storage_type(spelling)
    except KeyError:
        raise PlanError(f"{spelling!r} is no storage type", advice=_ADVICE) from None
    if not type_.is_float:
        raise PlanError(f"the precision of {name} cannot change: {type_} is no float", advice=_ADVICE)
    return type_


def _retyped(
    builder: KernelBuilder,
    node: Node,
    operands: tuple[int, ...],
    wanted: StorageType | None,
    every: StorageType | None,
) -> int:
    """The same instruction on operands whose types may have changed; `wanted`: what a constant or a cast becomes."""
    match node.instruction:
        case Imm(value) if every is not None and node.value_type.is_float and node.space is not None:
            return builder.imm(number_in(value, every), every, node.space)
        case Extend():
            target = builder.node(operands[0]).value_type
            return copy(builder, node, (operands[0], *(_round(builder, o, target) for o in operands[1:])))
        case Reduce() | Fold() | Scan() | SegmentedReduce() as combining:
            return _combined(builder, node, combining, operands, every)
        case Scatter():
            return _scattered(builder, node, operands, every)
        case Join():
            return copy(builder, node, _agree(builder, operands))
        case Loop(body, result):
            body = body if every is None else region_in_type(body, every)
            body = with_arrays_of(body, [builder.node(operands[k]).value_type for k in array_places(node.instruction)])
            types = (I64, *(parameter.type for parameter in body.parameters))
            given = tuple(_round(builder, o, type_) for o, type_ in zip(operands, types, strict=True))
            return builder.loop(body, result, given)
        case Arith("pair"):  # which keeps the types of its members, as what combines it does
            members = node.value_type.members
            return copy(builder, node, tuple(_round(builder, o, t) for o, t in zip(operands, members, strict=True)))
        case Arith("cast"):
            return builder.cast(operands[0], wanted if wanted and node.value_type.is_float else node.value_type)
        case Arith(operator):
            first = 1 if OPERATORS[operator].rule == "select" else 0
            agreed = _agree(builder, operands[first:])
            if operator == "rsqrt" and builder.node(agreed[0]).value_type == DD:
                return _reciprocal_root(builder, agreed[0])
            return copy(builder, node, (*operands[:first], *_accepted(builder, operator, agreed)))
        case (
            Imm()
            | Load()
            | LoadIndex()
            | LoadSize()
            | Store()
            | Broadcast()
            | Replicate()
            | Gather()
            | Shift()
            | Rank()
        ):
            return copy(builder, node, operands)


def _combined(
    builder: KernelBuilder,
    node: Node,
    instruction: Combining,
    operands: tuple[int, ...],
    every: StorageType | None,
) -> int:
    """Cells combined by an operator; operands after the first are no such cells."""
    value, *others = operands
    if is_fused_sum(node):
        return _fused_sum(builder, node, value)
    region = instruction.operator
    if isinstance(region, str):
        return copy(builder, node, (*_accepted(builder, REDUCTIONS[region].operator, (value,)), *others))
    if every is not None and region.parameters[0].type.is_float:  # its nodes have types of their own
        region = region_in_type(region, every)
    made = replace(node, instruction=replace(instruction, operator=region))
    return copy(builder, made, (_round(builder, value, region.parameters[0].type), *others))


def _fused_sum(builder: KernelBuilder, node: Node, record: int, wider: StorageType | None = None) -> int:
    """A sum of products in the type that its factors have now, or in a wider one; without fma if that has none."""
    factors = _agree(builder, tuple(_before_cast(builder, o) for o in builder.node(record).operands))
    type_ = wider or builder.node(factors[0]).value_type
    factors = tuple(_round(builder, each, type_) for each in factors)
    assert isinstance(node.instruction, Fold)
    axes = node.instruction.axes
    if type_.is_native:
        return builder.fold(fused_sum(type_), builder.arith("pair", *factors), axes)
    made = builder.fold("sum", builder.arith("multiply", *factors), axes)
    return builder.arith("pair", made, builder.imm(1.0, type_, builder.node(made).space or GLOBAL))


def _before_cast(builder: KernelBuilder, value: int) -> int:
    """What a cast between floats is of: members of a record are cast to the types that it had, and then spread."""
    node = builder.node(value)
    if isinstance(node.instruction, Replicate):
        return builder.replicate(_before_cast(builder, node.operands[0]), node.instruction.space)
    if isinstance(node.instruction, Broadcast):
        return builder.broadcast(_before_cast(builder, node.operands[0]), node.instruction.space)
    is_cast = isinstance(node.instruction, Arith) and node.instruction.operator == "cast"
    return node.operands[0] if is_cast and builder.node(node.operands[0]).value_type.is_float else value


def _scattered(builder: KernelBuilder, node: Node, operands: tuple[int, ...], every: StorageType | None) -> int:
    """The values of a Scatter take the type of the elements with which they are combined."""
    defaults, values, *places = operands
    instruction = node.instruction
    assert isinstance(instruction, Scatter)
    region = instruction.operator
    if isinstance(region, str):
        (defaults,) = _accepted(builder, REDUCTIONS[region].operator, (defaults,))
    elif every is not None and region.parameters[0].type.is_float:
        region = region_in_type(region, every)
    if isinstance(region, Region):
        defaults = _round(builder, defaults, region.parameters[0].type)
    values = _round(builder, values, builder.node(defaults).value_type)
    made = replace(node, instruction=replace(instruction, operator=region))
    return copy(builder, made, (defaults, values, *places))


def _coordinate(coordinate: Coordinate, graph: Graph, statics: tuple[Static, ...]) -> Coordinate:
    """Labels keep the types that they were declared in: params are cast to those where they are read."""
    builder = KernelBuilder(graph.space, statics)
    new: list[int] = []
    for node in coordinate.nodes:
        made = copy(builder, node, tuple(new[o] for o in node.operands))
        new.append(_round(builder, made, node.value_type) if isinstance(node.instruction, Load) else made)
    return replace(coordinate, nodes=builder.finish(coordinate.name).nodes[: new[-1] + 1]) if new else coordinate


def _accepted(builder: KernelBuilder, operator: str, operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands, which have one type, in one that the operator takes."""
    type_ = builder.node(operands[0]).value_type
    if not type_.is_float or accepts(OPERATORS[operator], type_):
        return operands
    return tuple(_round(builder, o, F64) for o in operands)


def _reciprocal_root(builder: KernelBuilder, value: int) -> int:
    """What rsqrt is in dd: two operators that dd has."""
    one = builder.imm(1.0, DD, builder.node(value).space or GLOBAL)
    return builder.arith("divide", one, builder.arith("sqrt", value))


def _agree(builder: KernelBuilder, operands: tuple[int, ...]) -> tuple[int, ...]:
    """The operands in one type: that of the widest one that is computed, if there is one."""
    types = {builder.node(o).value_type for o in operands}
    if len(types) == 1:
        return operands
    computed = [o for o in operands if not traits_of(builder.node(o).instruction).uniform]
    target = max((builder.node(o).value_type for o in computed or operands), key=lambda t: t.bits)
    return tuple(_round(builder, o, target) for o in operands)


def _stored(
    builder: KernelBuilder, value: int, type_: StorageType, compute: Callable[[KernelBuilder, int, StorageType], int]
) -> int:
    """What a static takes. A value with a name has the precision that this name has."""
    return _round(builder, value, type_) if builder.node(value).names else compute(builder, value, type_)


def _in_type(builder: KernelBuilder, value: int, type_: StorageType) -> int:
    """The value computed in a wider type, from operands that are widened first; in a narrower one it is rounded."""
    node = builder.node(value)
    if node.value_type.is_float and type_.is_float and type_.bits > node.value_type.bits:
        match node.instruction:
            case Arith(operator) if OPERATORS[operator].rule in ("same", "select"):
                if accepts(OPERATORS[operator], type_):
                    first = 1 if OPERATORS[operator].rule == "select" else 0
                    widened = (_round(builder, o, type_) for o in node.operands[first:])
                    return builder.arith(operator, *node.operands[:first], *widened)
            case (
                Reduce(operator=str() as operator)
                | Fold(operator=str() as operator)
                | Scan(operator=str() as operator)
                | SegmentedReduce(operator=str() as operator)
            ) if accepts(OPERATORS[REDUCTIONS[operator].operator], type_):
                first_operand, *others = node.operands
                return copy(builder, node, (_round(builder, first_operand, type_), *others))
            case Join():
                return copy(builder, node, tuple(_round(builder, operand, type_) for operand in node.operands))
            case Arith("first") if is_fused_sum(builder.node(node.operands[0])):
                folded = builder.node(node.operands[0])
                return builder.arith("first", _fused_sum(builder, folded, folded.operands[0], type_))
            case Scatter(operator=str() as operator) if accepts(OPERATORS[REDUCTIONS[operator].operator], type_):
                defaults, sent, *places = node.operands
                widened = (_round(builder, operand, type_) for operand in (defaults, sent))
                return copy(builder, node, (*widened, *places))
            case _:
                pass
    return _round(builder, value, type_)


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
