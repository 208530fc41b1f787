"""Operators on NumPy arrays of type dd, whose fields are hi and lo: what the reference computes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from workbench.errors import GraphError
from workbench.graph.extended import from_scalar, sequences, to_scalar
from workbench.graph.extended_functions import FUNCTIONS, function_sequences
from workbench.graph.instructions import Arith
from workbench.graph.operators import OPERATORS, Array
from workbench.graph.sequences import Sequence as Operations
from workbench.graph.sequences import apply
from workbench.graph.types import DD, StorageType, storage_type

_IDENTITIES: dict[str, tuple[float, float]] = {
    "sum": (-0.0, -0.0),
    "product": (1.0, 0.0),
    "min": (np.inf, 0.0),
    "max": (-np.inf, 0.0),
}


def apply_to_pairs(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value: of DD.numpy if `result` is dd, else of its own dtype; in the operands' shape.

    Operands are arrays of DD.numpy, of one shape; the condition of a select is bool, what is cast to dd of any scalar
    type. GraphError names an operator without a dd form.
    """
    if operator == "cast":
        sequence = from_scalar(storage_type(operands[0].dtype)) if result == DD else to_scalar(result)
    else:
        sequence = _sequence(operator)
    components = [part for operand in operands for part in _components(operand)]
    found = apply(sequence, components)
    if len(found) == 1:
        return found[0]
    pairs = np.empty(found[0].shape, DD.numpy)
    pairs["hi"], pairs["lo"] = found
    return pairs


@cache
def weight_of(operator: str) -> float:
    """Return the weight in the cost model of an operator on dd or of a cast to or from it: of its f64 operations."""
    if operator == "cast":
        return OPERATORS["cast"].flops
    steps = (node.instruction for node in _sequence(operator).nodes if isinstance(node.instruction, Arith))
    return sum(OPERATORS[step.operator].flops for step in steps)


def identity_of(reduction: str) -> Array:
    """Return the number, 0-d, with which a lane of the reduction begins; it changes no value but -0.0, to 0.0."""
    return pair(*_IDENTITIES[reduction])


def pair(hi: float, lo: float) -> Array:
    """Return the number hi + lo, 0-d."""
    return np.array((hi, lo), DD.numpy)


def _sequence(operator: str) -> Operations:
    if operator in sequences():
        return sequences()[operator]
    if operator in FUNCTIONS:
        return function_sequences()[operator]
    raise GraphError(f"dd has no operator {operator}", advice='Cast the value to another type: astype(x, "f64").')


def _components(operand: Array) -> tuple[Array, ...]:
    return (operand["hi"], operand["lo"]) if operand.dtype.names else (operand,)
