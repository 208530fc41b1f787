"""Regions: what makes a closed scalar graph a legal operator of Reduce, or a legal body of Loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.errors import GraphError
from workbench.graph.instructions import (
    Arith,
    Constant,
    Gather,
    Imm,
    Instruction,
    Load,
    Loop,
    Node,
    Region,
    array_places,
    arrays_read,
)
from workbench.graph.operators import OPERATORS, REDUCTIONS, accepts, result_type
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, I64, StorageType


def region_in(instruction: Instruction) -> Region | None:
    """Return the small graph that the instruction has, None if it has none."""
    region = instruction.body if isinstance(instruction, Loop) else getattr(instruction, "operator", None)
    return region if isinstance(region, Region) else None


def check_combiner(operator: str | Region, type_: StorageType) -> None:
    """Raise GraphError unless a name is one of REDUCTIONS and takes this type; regions are the verifier's work."""
    if isinstance(operator, Region):
        return
    if operator not in REDUCTIONS:
        raise GraphError(f"unknown reduction {operator!r}", advice=f"Use one of {', '.join(REDUCTIONS)}.")
    if not accepts(OPERATORS[REDUCTIONS[operator].operator], type_):
        raise GraphError(f"reduction {operator!r} does not take {type_}", advice="Cast the value first.")


def check_region(region: Region, type_: StorageType, *, combines: bool = True) -> str:
    """Return what is wrong with the region as a binary operator on `type_`, or "".

    combines: it must have an identity.
    """
    if [p.type for p in region.parameters] != [type_, type_]:
        return f"parameters {[str(p.type) for p in region.parameters]} instead of two of type {type_}"
    if region.parameters[0].name == region.parameters[1].name:
        return f"both parameters are called {region.parameters[0].name!r}"
    if region.identity is None and combines:
        return "no identity"
    if region.identity is not None and not represents(type_, region.identity):
        return f"identity {region.identity!r} is not a number of type {type_}"
    trouble = "a parameter that is an array" if _has_arrays(region) else _check_nodes(region)
    if not trouble and (not region.nodes or region.nodes[-1].type != type_):
        return f"the last node is not the result of type {type_}"
    return trouble


def check_loop(loop: Loop, operands: Sequence[StorageType | None]) -> str:
    """Return what is wrong with a Loop on operands of these types, or ""."""
    body, names = loop.body, [p.name for p in loop.body.parameters]
    if operands[:1] != [I64]:
        return f"the most turns are {operands[0] if operands else 'missing'}, not i64"
    if list(operands[1:]) != [p.type for p in body.parameters]:
        return f"operands {[str(t) for t in operands[1:]]} for parameters {[str(p.type) for p in body.parameters]}"
    if len(set(names)) < len(names):
        return f"two parameters have one name: {', '.join(names)}"
    if any(parameter.axes for parameter in body.parameters[: len(body.results) - 1]):
        return "it carries an array"
    trouble = _check_nodes(body)
    if trouble:
        return trouble
    if not 2 <= len(body.results) <= len(names) + 1 or not all(0 <= r < len(body.nodes) for r in body.results):
        return f"results {body.results} of {len(body.nodes)} nodes and {len(names)} parameters"
    expected = [BOOL, *(p.type for p in body.parameters[: len(body.results) - 1])]
    if any(_axes(body, r) for r in body.results):
        return "a result is an array"
    found = [body.nodes[r].type for r in body.results]
    if found != expected:
        return f"results {[str(t) for t in found]} instead of {[str(t) for t in expected]}"
    return "" if 0 <= loop.result < len(body.results) - 1 else f"result {loop.result} of {len(body.results) - 1}"


def _check_nodes(region: Region) -> str:
    for index in range(len(region.nodes)):
        trouble = _check_node(region, index)
        if trouble:
            return f"node %{index}: {trouble}"
    return ""


def _check_node(region: Region, index: int) -> str:
    node = region.nodes[index]
    if node.space != GLOBAL or node.type is None:
        return "not a Global"
    if any(not 0 <= o < index for o in node.operands):
        return "an operand that does not stand above"
    parameters = {p.name: p.type for p in region.parameters}
    axes = [_axes(region, o) for o in node.operands]
    if [number for number, n in enumerate(axes) if n] != list(array_places(node.instruction)):
        return f"operands of {axes} axes"
    match node.instruction:
        case Imm(value):
            return "" if represents(node.type, value) and not node.operands else f"constant {value!r} as {node.type}"
        case Load(name):
            return "" if parameters.get(name) == node.type and not node.operands else f"no parameter {name!r} fits"
        case Arith(operator):
            row = OPERATORS.get(operator)
            types = [region.nodes[o].value_type for o in node.operands]
            if row is None or len(types) != row.arity:
                return f"operator {operator!r} of {len(types)} operands"
            if row.rule == "select" and types[0] != BOOL:
                return "select by another type than bool"
            fits = node.type == result_type(row, types, node.type)
            return "" if fits else f"{operator} of {', '.join(map(str, types))} gives no {node.type}"
        case Gather():
            types = [region.nodes[o].value_type for o in node.operands]
            fits = types == [node.type, *[I64] * axes[0]]
            return "" if fits else f"Gather of {axes[0]} axes by {', '.join(map(str, types))} as {node.type}"
        case Loop() as loop:
            return _check_inner(region, node, loop)
        case _:
            return f"{type(node.instruction).__name__} is not scalar arithmetic"


def _check_inner(region: Region, node: Node, loop: Loop) -> str:
    trouble = check_loop(loop, [region.nodes[o].type for o in node.operands])
    axes = [_axes(region, o) for o in arrays_read(node)]
    if not trouble and axes != [p.axes for p in loop.body.parameters if p.axes]:
        trouble = f"arrays of {axes} axes"
    if trouble or node.type == loop_type(loop):
        return trouble
    return f"a loop of {loop_type(loop)} gives no {node.type}"


def _axes(region: Region, index: int) -> int:
    """How many axes the array has that a node of a region is, 0 of a number."""
    instruction = region.nodes[index].instruction
    if not isinstance(instruction, Load):
        return 0
    return next((p.axes for p in region.parameters if p.name == instruction.name), 0)


def _has_arrays(region: Region) -> bool:
    return any(parameter.axes for parameter in region.parameters)


def gathers_in(body: Region, operands: Sequence[int]) -> Iterator[tuple[Node, int]]:
    """Yield each Gather of a loop's body, of loops inside too, with the operand that is the array which it reads.

    operands: of the Loop, from the most turns on.
    """
    given = dict(zip((p.name for p in body.parameters), operands[1:], strict=True))
    for node in body.nodes:
        if isinstance(node.instruction, Gather | Loop):
            loads = [body.nodes[o].instruction for o in node.operands]
            outer = [given[load.name] if isinstance(load, Load) else -1 for load in loads]
            if isinstance(node.instruction, Gather):
                yield node, outer[0]
            else:
                yield from gathers_in(node.instruction.body, outer)


def loop_type(loop: Loop) -> StorageType:
    """Return the type of what a Loop gives."""
    return loop.body.parameters[loop.result].type


def represents(type_: StorageType, value: Constant) -> bool:
    """Whether the type holds the number exactly, spelled as Python's number of its kind; any NaN counts.

    Of a pair it is a tuple of two.
    """
    if type_.is_pair or isinstance(value, tuple):
        if not type_.is_pair or not isinstance(value, tuple) or len(value) != len(type_.members):
            return False
        return all(represents(each, part) for each, part in zip(type_.members, value, strict=True))
    if type(value) is not {"bool": bool, "int": int, "uint": int, "float": float}[type_.kind]:
        return False
    if type_.is_record:  # of one component: what has more is a sum of constants
        return True
    try:
        with np.errstate(over="ignore"):
            held = type_.numpy.type(value).item()
    except OverflowError:
        return False
    return repr(held) == repr(value)
