"""Errors: how far the values of one trial are from those of another, in many digits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.graph.arithmetic import apply
from workbench.graph.many_digits import context_of
from workbench.graph.types import StorageType


@dataclass(frozen=True, slots=True)
class Error:
    """The largest difference over all cells, relative to a scale, and the cell that has it."""

    relative: float
    place: tuple[int, ...]


def magnitude(exact: Array) -> Decimal:
    """The largest finite absolute value."""
    return max((v.copy_abs() for v in exact.ravel() if v.is_finite()), default=Decimal(0))


def error_of(found: Array, exact: Array, many: StorageType, scale: Decimal) -> Error:
    """Compare values of any float type with exact ones, of the type `many`.

    The error is 0 if both are equal everywhere, and infinite where only one of both is finite, or if the scale is 0 and
    they differ. scale: `magnitude` of the exact values, or what stands for it where that is zero.
    """
    values, wanted = np.asarray(apply("cast", (found,), many)).ravel(), exact.ravel()
    context, shape = context_of(many), np.shape(exact)
    worst, place = Decimal(0), 0
    for cell, (a, b) in enumerate(zip(values, wanted, strict=True)):
        if a.is_finite() and b.is_finite():
            difference = context.subtract(a, b).copy_abs()
            if difference > worst:
                worst, place = difference, cell
        elif not (a.is_nan() and b.is_nan()) and (a.is_nan() or b.is_nan() or a != b):
            return Error(np.inf, _place(cell, shape))
    if not worst:
        return Error(0.0, _place(0, shape))
    return Error(float(context.divide(worst, scale)) if scale else np.inf, _place(place, shape))


def error_beside_dd(found: Array | Number, exact: Array) -> float:
    """The largest difference from values of dd, over the largest finite magnitude of these; fast, for large arrays.

    found: of any float type. Infinite where only one of both is finite, or if all of `exact` is 0 and they differ.
    """
    (high, low), (wanted, rest) = _parts(np.asarray(found)), _parts(exact)
    finite = np.isfinite(wanted)
    same = (high == wanted) | (np.isnan(high) & np.isnan(wanted))
    if np.any(np.isfinite(high) != finite) or not np.all(same | finite):
        return float(np.inf)
    with np.errstate(invalid="ignore"):
        difference = np.abs((high - wanted) + (low - rest))[finite]
    worst = float(np.max(difference, initial=0.0))
    scale = float(np.max(np.abs(wanted[finite]), initial=0.0))
    if not worst:
        return 0.0
    return worst / scale if scale else float(np.inf)


def _parts(values: Array) -> tuple[Array, Array]:
    """High and low parts as f64."""
    if values.dtype.names:
        return np.asarray(values["hi"]), np.asarray(values["lo"])
    return values.astype(np.float64), np.zeros(values.shape)


def _place(cell: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(cell, shape)) if np.prod(shape) else ()


def number_text(value: Any, digits: int) -> str:  # noqa: ANN401  # an element of an array of any type
    """An element of an array, to so many digits."""
    if not isinstance(value, np.void):
        return f"{value:.{digits}g}"
    if not np.isfinite(value["hi"]):
        return str(value["hi"])
    return f"{Decimal(float(value['hi'])) + Decimal(float(value['lo'])):.{digits}g}"
