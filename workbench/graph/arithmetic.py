"""Arithmetic on NumPy values as the operator table defines it; types are exact, nothing warns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError
from workbench.graph.instructions import Arith, Imm, Load, Region
from workbench.graph.operators import OPERATORS, Array, cast
from workbench.graph.types import StorageType

Combine = Callable[[Any, Any], Array]
"""A binary operator on arrays of one shape."""


def apply(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value, an array of the operands' shape (0-d for Globals) and exactly `result`'s dtype."""
    row = OPERATORS[operator]
    with np.errstate(all="ignore"):
        value = np.asarray(cast(operands[0], result) if row.rule == "cast" else row.meaning(*operands))
    if value.dtype != result.numpy:  # e.g. a promotion inside a row's meaning: never silently rounded
        raise GraphError(f"operator {operator} gave {value.dtype} instead of {result}", advice="Correct its table row.")
    return value


def constant(value: bool | int | float, type_: StorageType) -> Array:
    """Return the number as a 0-d array of the type."""
    return np.asarray(type_.numpy.type(value))


def apply_region(region: Region, arguments: Sequence[Array]) -> Array:
    """Return the region's result for arguments of one shape, in the order of its parameters."""
    by_name = {p.name: a for p, a in zip(region.parameters, arguments, strict=True)}
    shape = np.shape(arguments[0]) if arguments else ()
    values: list[Array] = []
    for node in region.nodes:
        match node.instruction:
            case Imm(number):
                values.append(np.broadcast_to(constant(number, node.value_type), shape))
            case Load(name):
                values.append(by_name[name])
            case Arith(operator):
                values.append(apply(operator, [values[i] for i in node.operands], node.value_type))
            case other:
                raise GraphError(f"{other} inside a region", advice="Use constants, parameters and operators only.")
    return values[-1]
