"""Arithmetic on NumPy values as operator table and sequences define it; types are exact, nothing warns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError
from workbench.graph.extended_arrays import apply_to_pairs, pair
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.instructions import Arith, Constant, Imm, Load, Loop, Region
from workbench.graph.many_digits import apply_to_decimals, decimal, is_many
from workbench.graph.operators import OPERATORS, PAIR_RULES, Array
from workbench.graph.scalars import apply_row, number, value_of_row
from workbench.graph.types import StorageType

Combine = Callable[[Any, Any], Array]
"""A binary operator on arrays of one shape."""


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
    return _values(region, arguments)[-1]


def apply_loop(body: Region, operands: Sequence[Array]) -> tuple[Array, ...]:
    """Return what a loop of this body ends with, for operands of one shape: the most turns, starts, what is read.

    Each element turns for itself; those that have ended are not looked at again.
    """
    shape = np.shape(operands[0])
    most, *given = (np.asarray(operand).reshape(-1) for operand in operands)
    count = len(body.results) - 1
    results = [start.copy() for start in given[:count]]
    live, turn = np.flatnonzero(most > 0), 0
    states, captures, most = [s[live] for s in results], [c[live] for c in given[count:]], most[live]
    while len(live):
        values = _values(body, [*states, *captures])
        goes, *states = (values[number] for number in body.results)
        kept = np.flatnonzero(goes)
        live, most = live[kept], most[kept]
        states, captures = [s[kept] for s in states], [c[kept] for c in captures]
        for result, state in zip(results, states, strict=True):
            result[live] = state
        turn += 1
        kept = np.flatnonzero(most > turn)
        if len(kept) < len(live):
            live, most = live[kept], most[kept]
            states, captures = [s[kept] for s in states], [c[kept] for c in captures]
    return tuple(result.reshape(shape) for result in results)


def _values(region: Region, arguments: Sequence[Array]) -> list[Array]:
    """The value of each node of the region."""
    with np.errstate(all="ignore"):  # once: a fold combines row after row, and its region has few nodes
        return _evaluated(region, arguments)


def _evaluated(region: Region, arguments: Sequence[Array]) -> list[Array]:
    by_name = {p.name: a for p, a in zip(region.parameters, arguments, strict=True)}
    shape = np.shape(arguments[0]) if arguments else ()
    values: list[Array] = []
    for node in region.nodes:
        match node.instruction:
            case Imm(value):
                values.append(np.broadcast_to(constant(value, node.value_type), shape))
            case Load(name):
                values.append(by_name[name])
            case Arith(operator):
                values.append(_applied(operator, [values[i] for i in node.operands], node.value_type))
            case Loop(body, result):
                values.append(apply_loop(body, [values[i] for i in node.operands])[result])
            case other:
                raise GraphError(f"{other} inside a region", advice="Use constants, parameters and operators only.")
    return values
