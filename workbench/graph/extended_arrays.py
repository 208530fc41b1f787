"""Operators and reductions on NumPy arrays of type dd: what the reference computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError
from workbench.graph.arithmetic import Combine
from workbench.graph.extended import DD, apply, from_scalar, sequences, to_scalar
from workbench.graph.extended_numbers import DD_DTYPE
from workbench.graph.operators import REDUCTIONS, Array
from workbench.graph.reduction import reduce_in_order
from workbench.graph.types import StorageType, storage_type

_IDENTITIES: dict[str, tuple[float, float]] = {
    "sum": (-0.0, -0.0),
    "product": (1.0, 0.0),
    "min": (np.inf, 0.0),
    "max": (-np.inf, 0.0),
}


def apply_to_pairs(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value: of DD_DTYPE if `result` is dd, else of its own dtype; in the operands' shape.

    Operands are arrays of DD_DTYPE, of one shape; the condition of a select is bool, what is cast to dd of any scalar
    type. GraphError names an operator that dd has not.
    """
    if operator == "cast":
        sequence = from_scalar(storage_type(operands[0].dtype)) if result == DD else to_scalar(result)
    elif operator in sequences():
        sequence = sequences()[operator]
    else:
        raise GraphError(f"dd has no operator {operator}", advice='Cast the value to another type: astype(x, "f64").')
    components = [part for operand in operands for part in _components(operand)]
    found = apply(sequence, components)
    if len(found) == 1:
        return found[0]
    pairs = np.empty(found[0].shape, DD_DTYPE)
    pairs["hi"], pairs["lo"] = found
    return pairs


def identity_of(reduction: str) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return the number, 0-d, with which a lane of the reduction begins; it changes no value but -0.0, to 0.0."""
    return np.array(_IDENTITIES[reduction], DD_DTYPE)


def reduce_pairs(reduction: str, values: np.ndarray[Any, np.dtype[np.void]]) -> Array:
    """Reduce an array of DD_DTYPE over all axes, in the canonical order; the result is 0-d."""
    return reduce_in_order(combine_pairs(REDUCTIONS[reduction].operator), identity_of(reduction), values)


def combine_pairs(operator: str) -> Combine:
    """The operator as a function of two arrays of DD_DTYPE."""
    return lambda a, b: apply_to_pairs(operator, (a, b), DD)


def _components(operand: Array) -> tuple[Array, ...]:
    return (operand["hi"], operand["lo"]) if operand.dtype.names else (operand,)
