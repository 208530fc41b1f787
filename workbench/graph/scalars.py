"""The operator table applied to NumPy values of one component; types are exact, nothing warns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import GraphError
from workbench.graph.operators import OPERATORS, Array, cast
from workbench.graph.types import StorageType


def apply_row(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """Return the operator's value, an array of the operands' shape (0-d for Globals) and exactly `result`'s dtype."""
    with np.errstate(all="ignore"):
        return value_of_row(operator, operands, result)


def value_of_row(operator: str, operands: Sequence[Array], result: StorageType) -> Array:
    """The same for callers that have told NumPy not to warn, once for many operators."""
    row = OPERATORS[operator]
    value = np.asarray(cast(operands[0], result) if row.rule == "cast" else row.meaning(*operands))
    if value.dtype != result.numpy:  # e.g. a promotion inside a row's meaning: never silently rounded
        raise GraphError(f"operator {operator} gave {value.dtype} instead of {result}", advice="Correct its table row.")
    return value


def number(value: bool | int | float, type_: StorageType) -> Array:
    """Return the number as a 0-d array of the type."""
    return np.asarray(type_.numpy.type(value))
