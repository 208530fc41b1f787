"""Values: what a user passes for a field, scalar or param becomes its storage type, or an error that says why."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable

import numpy as np

from workbench.backends.base import Array, Number
from workbench.errors import FieldError, ShapeError, warn_user
from workbench.frontend.promotion import show_number
from workbench.graph import Graph, Static, StorageType
from workbench.graph.arithmetic import python_number
from workbench.graph.extended_numbers import as_pairs
from workbench.graph.types import F64
from workbench.run.arrays import to_host

_KINDS = {"U": "text", "S": "bytes", "O": "Python objects", "M": "dates", "m": "spans of time"}
"""What is no number, by the kind of its NumPy type."""


class ParamWarning(UserWarning):
    """A param was given a value that is allowed but unwise."""


def field_values(static: Static, value: object, dim: int, owner: str = "the machine", *, copies: bool = True) -> Array:
    """Return `value` as an array of the field's dtype with `dim` axes, or 0-d for one number in every cell.

    owner: what has these axes, for messages. copies: False for the array itself where it has the dtype.
    """
    array = as_pairs(value) if static.type.is_record else to_host(static.name, value)
    if array.ndim not in (0, dim):
        raise ShapeError(
            f"{static.name} was given {_axes(array.ndim)} (shape {array.shape}), but {owner} has {_axes(dim)}",
            advice=f"Pass an array with {_axes(dim)}, or one number for every cell.",
        )
    if not copies and array.dtype == static.type.numpy:
        return array
    return fit(static.name, array, static.type)


def need_params(graph: Graph, given: Container[str]) -> None:
    """Raise FieldError for a param that has no default and is not given."""
    missing = [static.name for static in graph.params if static.default is None and static.name not in given]
    if missing:
        raise FieldError(
            f"{graph.name} needs {missing[0]}, which has no default", advice=f"Pass {missing[0]}= a number."
        )


def number(static: Static, value: object) -> Number:
    """Return `value` as a Python number that the scalar's or param's type holds."""
    if type(value) is float and static.type == F64 and not static.limits:  # as in most calls
        return value
    array = as_pairs(value) if static.type.is_record else to_host(static.name, value)
    if array.ndim:
        raise FieldError(
            f"{static.name} is a {static.role}: one number, but was given an array of shape {array.shape}",
            advice=f"Pass one number, or declare {static.name} as a field.",
        )
    result = python_number(fit(static.name, array, static.type), static.type)
    if not static.allows(result):
        within = " and ".join(filter(None, (str(static.limits), "finite" if static.limits.allows(result) else "")))
        raise FieldError(
            f"{static.name} is {result!r}, but must be {within or 'a number'}",
            advice=f"Pass a number {within}: {static.name}={static.default!r} is the default.",
        )
    unwise = unwise_text(static, result)
    if unwise:
        warn_user(unwise, ParamWarning)
    return result


def unwise_text(static: Static, value: Number) -> str:
    """What one should know of a value that is allowed; "" for nothing."""
    if not static.limits.warns(value):
        return ""
    return f"{static.name}={value!r} is above {static.limits.warn_above:g}, up to which it is known to work"


def fit(name: str, array: Array, type_: StorageType) -> Array:
    """Return the array in the type's dtype; rounding within floats is the only loss allowed. NaN is a value."""
    if type_.is_record:
        return as_pairs(array)
    kind = array.dtype.kind
    if kind == "O" and array.size and all(type(item) is int for item in array.flat):  # beyond NumPy's own integers
        kind = "i"
    if kind == "c":
        raise FieldError(
            f"{name} was given complex values, but holds {type_}",
            advice="Pass the real and the imaginary part as two fields.",
        )
    if kind == "O" and not array.ndim and callable(array.item()):
        raise FieldError(
            f"{name} was given a function, but holds {type_}",
            advice=f"Pass its values: {name}=f(x), x = (np.arange(n) + 0.5) / n; or write a kernel init in the cell.",
        )
    if kind not in "biuf":
        found = _KINDS.get(array.dtype.kind, f"{array.dtype} values")
        raise FieldError(
            f"{name} was given {found}, but holds {type_}",
            advice="Pass numbers or an array of numbers.",
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
            f"{name} holds {type_}, from {low} to {high}, but was given {show_number(worst)}",
            advice="Pass values in that range, or declare a wider dtype.",
        )
    return array.astype(type_.numpy)


def _fit_float(name: str, array: Array, type_: StorageType) -> Array:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            wide = array.astype(np.float64) if array.dtype.kind == "O" else array
            result = wide.astype(type_.numpy)
    except OverflowError:
        raise _too_large(name, max(array.flat, key=abs), type_) from None
    lost = np.isinf(result) & np.isfinite(wide)
    if lost.any():
        raise _too_large(name, wide[lost].flat[0].item(), type_)
    return result


def _too_large(name: str, value: Number, type_: StorageType) -> FieldError:
    return FieldError(
        f"{name} holds {type_}, but was given {show_number(value)}, which is too large for it",
        advice="Scale the values, or declare a wider dtype.",
    )


def unknown_name(graph: Graph, name: str, others: Iterable[str] = ()) -> FieldError:
    """The error for a name that is no field, scalar, param or group of the graph, with a guess at what was meant."""
    known = [*(s.name for s in graph.declared), *groups(graph), *others]
    close = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return FieldError(f"{graph.name} has no {name!r}.{guess}", advice=f"Use one of {', '.join(known) or 'no names'}.")


def groups(graph: Graph) -> dict[str, tuple[Static, ...]]:
    """Vectors and tensors: name -> components, in order of their indices."""
    found: dict[str, list[Static]] = {}
    for static in graph.declared:
        if static.group:
            found.setdefault(static.group, []).append(static)
    return {name: tuple(sorted(members, key=lambda s: s.component)) for name, members in found.items()}


def vector_dim(graph: Graph) -> int:
    """Components of a vector: as many as the grid has axes; of particles those of the vectors that are declared."""
    declared = (1 + max(static.component) for static in graph.fields if static.component)
    return max(declared, default=1) if graph.space.named else graph.dim


def group_shape(members: tuple[Static, ...]) -> tuple[int, ...]:
    """Components along each index: (dim,) for a vector, (dim, dim) for a matrix."""
    return tuple(1 + max(axis) for axis in zip(*(m.component for m in members), strict=True))


def group_member(members: tuple[Static, ...], index: tuple[int, ...]) -> Static:
    """The component at an index tuple; a symmetric tensor keeps the one with ascending indices."""
    found = {member.component: member for member in members}
    return found.get(index) or found[tuple(sorted(index))]


def split_group(name: str, members: tuple[Static, ...], value: object) -> dict[str, object]:
    """The components of a value for a whole vector or tensor, by their stored names.

    The value is an array whose first axes are the indices, a nested tuple or list of components, each an array or a
    number, or one number for all. Raises ShapeError unless it has the components, FieldError unless a symmetric
    tensor is given symmetric values.
    """
    shape = group_shape(members)
    stacked = value if isinstance(value, tuple | list) else to_host(name, value)
    if isinstance(stacked, np.ndarray) and stacked.ndim == 0:
        return {member.name: stacked for member in members}
    result: dict[str, object] = {}
    for index in np.ndindex(shape):
        member = group_member(members, index)
        part = _part(name, members, stacked, index)
        if member.name in result and not np.array_equal(to_host(name, part), to_host(name, result[member.name])):
            raise FieldError(
                f"{name} is symmetric, but component {index} given differs from {member.component}",
                advice=f"Pass equal values at both places, or {member.name} and its like apart.",
            )
        result.setdefault(member.name, part)
    return result


def _part(name: str, members: tuple[Static, ...], stacked: object, index: tuple[int, ...]) -> object:
    """The component of `stacked` at an index tuple."""
    shape, part = group_shape(members), stacked
    for depth, a in enumerate(index):
        parts = part if isinstance(part, tuple | list) or (isinstance(part, np.ndarray) and part.ndim) else ()
        if len(parts) != shape[depth]:
            given, turned = f"{len(parts)}", ""
            if isinstance(stacked, np.ndarray):
                given = f"an array of shape {stacked.shape}"
                if len(shape) == 1 and stacked.shape[1:] and stacked.shape[-1] == shape[0]:
                    turned = f"{name}.T" if stacked.ndim == 2 else f"np.moveaxis({name}, -1, 0)"
            raise ShapeError(
                f"{name} has components of shape {shape}, but was given {given}",
                advice=f"Pass {turned}: the first axis is that of components."
                if turned
                else f"Pass an array whose first axes are {shape}, or {', '.join(m.name for m in members)} apart.",
            )
        part = parts[a]
    return part


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"
