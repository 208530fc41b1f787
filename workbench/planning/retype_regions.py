"""Retyping of regions: operators and bodies of loops in another float type, and with arrays of other types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.graph import GLOBAL, OPERATORS, Arith, Gather, Imm, Load, Loop, Node, Region, StorageType
from workbench.graph.instructions import array_places
from workbench.graph.operators import accepts
from workbench.graph.types import F64


def number_in(value: bool | int | float, type_: StorageType) -> float:
    """Return the nearest number of a float type; a number in a program is one f64 at most."""
    return float(type_.numpy.type(value)) if type_.components == ("float32",) else float(value)


def region_in_type(region: Region, type_: StorageType) -> Region:
    """Return the region in another float type, in f64 if the type is dd and an operator has no dd form."""
    if not _takes(region, type_):
        return region if type_ == F64 else region_in_type(region, F64)
    nodes = []
    for node in region.nodes:
        if isinstance(node.instruction, Loop):
            node = replace(
                node, instruction=replace(node.instruction, body=region_in_type(node.instruction.body, type_))
            )
        if node.value_type.is_float:
            node = replace(node, type=type_)
            if isinstance(node.instruction, Imm):
                node = replace(node, instruction=Imm(number_in(node.instruction.value, type_)))
        nodes.append(node)
    parameters = tuple(replace(p, type=type_) if p.type.is_float else p for p in region.parameters)
    identity = region.identity
    if identity is not None:
        assert not isinstance(identity, tuple)  # of a pair, whose types stay
        identity = number_in(identity, type_)
    return replace(region, parameters=parameters, nodes=tuple(nodes), identity=identity)


def _takes(region: Region, type_: StorageType) -> bool:
    """Whether a type has every operator that a region applies to floats, in loops inside it too."""
    for node in region.nodes:
        computes = any(region.nodes[o].value_type.is_float for o in node.operands)
        match node.instruction:
            case Loop(body, _):
                if not _takes(body, type_):
                    return False
            case Arith(operator):
                if computes and not accepts(OPERATORS[operator], type_):
                    return False
            case _:
                pass
    return True


def with_arrays_of(region: Region, types: Sequence[StorageType]) -> Region:
    """Return the body of a loop with arrays of these types; an element is cast to the type that it had, as it is read.

    So no array is converted as a whole.
    """
    if [p.type for p in region.parameters if p.axes] == list(types):
        return region
    wanted = iter(types)
    parameters = tuple(replace(p, type=next(wanted)) if p.axes else p for p in region.parameters)
    arrays = {p.name: p.type for p in parameters if p.axes}
    nodes: list[Node] = []
    new: dict[int, int] = {}
    for index, old in enumerate(region.nodes):
        node = replace(old, operands=tuple(new[o] for o in old.operands))
        given = [nodes[node.operands[k]].value_type for k in array_places(node.instruction)]
        match node.instruction:
            case Load(name) if name in arrays:
                node = replace(node, type=arrays[name])
            case Gather() if given[0] != node.type:
                nodes.append(replace(node, type=given[0], names=()))
                node = Node(Arith("cast"), (len(nodes) - 1,), node.type, GLOBAL, node.names)
            case Loop(body, result):
                node = replace(node, instruction=Loop(with_arrays_of(body, given), result))
            case _:
                pass
        new[index] = len(nodes)
        nodes.append(node)
    return replace(region, parameters=parameters, nodes=tuple(nodes), results=tuple(new[r] for r in region.results))
