"""Arithmetic on NumPy values as operator table and sequences define it; types are exact, nothing warns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from workbench.errors import GraphError
from workbench.graph.extended_arrays import apply_to_pairs, pair
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.instructions import Arith, Constant, Gather, Imm, Load, Loop, Node, Region
from workbench.graph.many_digits import apply_to_decimals, decimal, is_many
from workbench.graph.operators import OPERATORS, PAIR_RULES, Array
from workbench.graph.scalars import apply_row, number, value_of_row
from workbench.graph.types import StorageType

Combine = Callable[[Any, Any], Array]
"""A binary operator on arrays of one shape."""
Refusing = Callable[[Node, int, int, tuple[int, ...]], NoReturn]
"""Raises the error for a Gather in a loop: which operand of the loop it reads, for which element, at which indices."""


def _no_arrays(node: Node, array: int, element: int, places: tuple[int, ...]) -> NoReturn:
    raise GraphError(f"{node.instruction} reads at {places}, outside", advice="Give loops that read arrays a refusal.")


def apply(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value, an array of the operands' shape (0-d for Globals) and exactly `result`'s dtype."""
    with np.errstate(all="ignore"):
        return _applied(operator, operands, result)


def _applied(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """The same where NumPy does not warn."""
    if OPERATORS[operator].rule in PAIR_RULES:
        return value_of_row(operator, operands, result)
    kinds = [operand.dtype.kind for operand in operands]
    if "O" in kinds or is_many(result):
        return apply_to_decimals(operator, operands, result)
    if "V" in kinds or result.is_record:
        return apply_to_pairs(operator, operands, result)
    return value_of_row(operator, operands, result)


def constant(value: Constant, type_: StorageType) -> Array:
    """Return the number, or the tuple that a pair is, as a 0-d array of the type."""
    if type_.is_pair:
        assert isinstance(value, tuple)
        parts = [constant(part, each) for part, each in zip(value, type_.members, strict=True)]
        return apply_row("pair", parts, type_)
    assert not isinstance(value, tuple)
    if is_many(type_):
        return decimal(value, type_)
    if type_.is_record:
        return pair(float(value), value.lo if isinstance(value, DoubleDouble) else 0.0)
    return number(value, type_)


def stored(value: Array | bool | int | float, type_: StorageType) -> Array:
    """Return a number, or an array that has the type's dtype already, as an array of it."""
    return value if isinstance(value, np.ndarray) else constant(value, type_)


def python_number(value: Array, type_: StorageType) -> bool | int | float:
    """Return a 0-d array as Python's number of its kind."""
    result: bool | int | float = DoubleDouble(*value.item()) if type_.is_record else value.item()
    return result


def apply_region(region: Region, arguments: Sequence[Array]) -> Array:
    """Return the region's result for arguments of one shape, in the order of its parameters."""
    values: dict[int, Array] = {}
    _evaluate(region, range(len(region.nodes)), arguments, values, _no_arrays)
    return values[len(region.nodes) - 1]


def apply_loop(body: Region, operands: Sequence[Array], refuse: Refusing = _no_arrays) -> tuple[Array, ...]:
    """Return what a loop of this body ends with, for operands of one shape: the most turns, starts, what is read.

    Each element turns for itself; those that have ended are not looked at again. Arrays that are read at computed
    places have shapes of their own. refuse: what an index outside of one raises.
    """
    shape = np.shape(operands[0])
    most = np.asarray(operands[0]).reshape(-1)
    given = [
        operand if parameter.axes else np.asarray(operand).reshape(-1)
        for operand, parameter in zip(operands[1:], body.parameters, strict=True)
    ]
    are_arrays = [parameter.axes > 0 for parameter in body.parameters]

    def at(values: Sequence[Array], kept: Array) -> list[Array]:
        return [v if is_array else v[kept] for v, is_array in zip(values, are_arrays, strict=True)]

    count = len(body.results) - 1
    asking = _needed(body, body.results[:1])
    making = [index for index in _needed(body, body.results[1:]) if index not in set(asking)]
    results = [start.copy() for start in given[:count]]
    live, turn = np.flatnonzero(most > 0), 0
    given, most = at(given, live), most[live]

    def refuse_at(node: Node, array: int, element: int, places: tuple[int, ...]) -> NoReturn:
        refuse(node, array, int(live[element]), places)

    while len(live):
        values: dict[int, Array] = {}
        _evaluate(body, asking, given, values, refuse_at)
        kept = np.flatnonzero(values[body.results[0]])
        if len(kept) < len(live):  # what makes the next values is not looked at where there is no turn
            live, most, given = live[kept], most[kept], at(given, kept)
            values = {i: v if _is_array(body, i) else v[kept] for i, v in values.items()}
        _evaluate(body, making, given, values, refuse_at)
        given = [*(values[number] for number in body.results[1:]), *given[count:]]
        for result, state in zip(results, given[:count], strict=True):
            result[live] = state
        turn += 1
        kept = np.flatnonzero(most > turn)
        if len(kept) < len(live):
            live, most, given = live[kept], most[kept], at(given, kept)
    return tuple(result.reshape(shape) for result in results)


def _needed(region: Region, results: Sequence[int]) -> list[int]:
    """The nodes that make these, operands first."""
    needed, waiting = set(results), list(results)
    while waiting:
        for operand in region.nodes[waiting.pop()].operands:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return sorted(needed)


def _is_array(region: Region, index: int) -> bool:
    instruction = region.nodes[index].instruction
    return isinstance(instruction, Load) and any(p.name == instruction.name and p.axes for p in region.parameters)


def _evaluate(
    region: Region, order: Iterable[int], arguments: Sequence[Array], values: dict[int, Array], refuse: Refusing
) -> None:
    """Add the values of these nodes of the region, operands first."""
    by_name = {p.name: number for number, p in enumerate(region.parameters)}
    shape = np.shape(arguments[0]) if arguments else ()

    def array_number(index: int) -> int:
        load = region.nodes[index].instruction
        return 1 + by_name[load.name] if isinstance(load, Load) else -1

    with np.errstate(all="ignore"):  # once: a fold combines row after row, and its region has few nodes
        for index in order:
            node = region.nodes[index]
            operands = [values[i] for i in node.operands]
            match node.instruction:
                case Imm(value):
                    values[index] = np.broadcast_to(constant(value, node.value_type), shape)
                case Load(name):
                    values[index] = arguments[by_name[name]]
                case Arith(operator):
                    values[index] = _applied(operator, operands, node.value_type)
                case Gather():
                    source, *places = operands
                    outside = first_outside(source, places)
                    if outside is not None:
                        found = tuple(int(place[outside]) for place in places)
                        refuse(node, array_number(node.operands[0]), outside, found)
                    values[index] = source[tuple(places)]
                case Loop(body, result):

                    def refuse_inside(
                        inner: Node, array: int, element: int, places: tuple[int, ...], outer: Node = node
                    ) -> NoReturn:
                        refuse(inner, array_number(outer.operands[array]), element, places)

                    values[index] = apply_loop(body, operands, refuse_inside)[result]
                case other:
                    raise GraphError(f"{other} inside a region", advice="Use constants, parameters and operators only.")


def first_outside(source: Array, places: Sequence[Array]) -> int | None:
    """Return the first of the places, numbered in C order, where an index lies outside of the array; None if none."""
    outside = np.zeros(places[0].shape, np.bool_)
    for place, n in zip(places, source.shape, strict=True):
        outside |= (place < 0) | (place >= n)
    return int(np.argmax(outside)) if outside.any() else None
