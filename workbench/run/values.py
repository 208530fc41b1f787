"""Values: what a user passes for a field, scalar or param becomes its storage type, or an error that says why."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np

from workbench.backends.base import Array, Number
from workbench.errors import FieldError, ShapeError
from workbench.graph import Graph, Static, StorageType
from workbench.run.arrays import to_host


def field_values(static: Static, value: object, dim: int) -> Array:
    """Return `value` as an array of the field's dtype with `dim` axes, or 0-d for one number in every cell."""
    array = to_host(static.name, value)
    if array.ndim not in (0, dim):
        raise ShapeError(
            f"{static.name} was given {_axes(array.ndim)} (shape {array.shape}), but the machine has {_axes(dim)}",
            advice=f"Pass an array with {_axes(dim)}, or one number for every cell.",
        )
    return fit(static.name, array, static.type)


def number(static: Static, value: object) -> Number:
    """Return `value` as a Python number that the scalar's or param's type holds."""
    array = to_host(static.name, value)
    if array.ndim:
        raise FieldError(
            f"{static.name} is a {static.role}: one number, but was given an array of shape {array.shape}",
            advice=f"Pass one number, or declare {static.name} as a field.",
        )
    result: Number = fit(static.name, array, static.type).item()
    return result


def fit(name: str, array: Array, type_: StorageType) -> Array:
    """Return the array in the type's dtype; rounding within floats is the only loss allowed. NaN is a value."""
    kind = array.dtype.kind
    if kind == "c":
        raise FieldError(
            f"{name} was given complex values, but holds {type_}",
            advice="Pass the real and the imaginary part as two fields.",
        )
    if kind not in "biuf":
        raise FieldError(
            f"{name} was given {array.dtype} values, but holds {type_}", advice="Pass numbers or an array of numbers."
        )
    if type_.is_float:
        return _fit_float(name, array, type_)
    if kind == "f":
        raise FieldError(
            f"{name} holds {type_}, but was given {array.dtype} values: fractions would be lost",
            advice=f"Pass np.asarray({name}).astype(np.{type_.numpy.name}), or declare {name} with dtype=float.",
        )
    low, high = (0, 1) if type_.kind == "bool" else (np.iinfo(type_.numpy).min, np.iinfo(type_.numpy).max)
    if array.size and (int(array.min()) < low or int(array.max()) > high):
        worst = int(array.min()) if int(array.min()) < low else int(array.max())
        raise FieldError(
            f"{name} holds {type_}, from {low} to {high}, but was given {worst}",
            advice="Pass values in that range, or declare a wider dtype.",
        )
    return array.astype(type_.numpy)


def _fit_float(name: str, array: Array, type_: StorageType) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        result = array.astype(type_.numpy)
    lost = np.isinf(result) & np.isfinite(array)
    if lost.any():
        raise FieldError(
            f"{name} holds {type_}, but was given {array[lost].flat[0]}, which is too large for it",
            advice="Scale the values, or declare a wider dtype.",
        )
    return result


def unknown_name(graph: Graph, name: str, others: Iterable[str] = ()) -> FieldError:
    """The error for a name that is no field, scalar, param or group of the graph, with a guess at what was meant."""
    known = [*(s.name for s in graph.statics), *groups(graph), *others]
    close = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return FieldError(f"{graph.name} has no {name!r}.{guess}", advice=f"Use one of {', '.join(known) or 'no names'}.")


def groups(graph: Graph) -> dict[str, tuple[Static, ...]]:
    """Vectors and tensors: name -> components, in order of their indices."""
    found: dict[str, list[Static]] = {}
    for static in graph.statics:
        if static.group:
            found.setdefault(static.group, []).append(static)
    return {name: tuple(sorted(members, key=lambda s: s.component)) for name, members in found.items()}


def group_shape(members: tuple[Static, ...]) -> tuple[int, ...]:
    """Components along each index: (dim,) for a vector, (dim, dim) for a matrix."""
    return tuple(1 + max(axis) for axis in zip(*(m.component for m in members), strict=True))


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"
