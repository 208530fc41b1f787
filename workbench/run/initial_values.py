"""Initial values: what `simulate` is given, checked and sorted, and the first state made of it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import SupportsIndex, cast

import numpy as np

from workbench.amounts import counted
from workbench.arguments import shown
from workbench.backends.base import Array, Instance, MarchRequest, Number
from workbench.errors import FieldError, RunError, ShapeError
from workbench.graph import Graph
from workbench.run.values import field_values, groups, need_params, number, split_group, unknown_name

INIT = "init"
Shape = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InitialValues:
    """Extents, fields (whole arrays, or 0-d for one number in every cell) and numbers for scalars and params."""

    extents: tuple[int, ...]
    fields: Mapping[str, Array]
    numbers: Mapping[str, Number]


def need_only(keyword: str, value: object, known: str) -> None:
    """Raise RunError for another value of a keyword that has one value so far."""
    if value != known:
        raise RunError(f"{keyword}={value!r} is unknown", advice=f"Use {keyword}={known!r}, the only one there is.")


def read_initial_values(graph: Graph, values: Mapping[str, object], shape: object = None) -> InitialValues:
    """Check `values` by name, type and shape. Raises FieldError or ShapeError naming what does not fit."""
    fields, numbers = sort_values(graph, values, copies=False)
    need_params(graph, numbers)
    extents = _extents(graph, fields, shape)
    missing = _missing(graph, fields)
    if missing:
        raise FieldError(
            f"{graph.name} needs a value for {_listed(missing)}: neither given nor set by a kernel {INIT!r}",
            advice=f"Pass {', '.join(f'{name}=' for name in missing)} an array or a number.",
        )
    return InitialValues(extents, fields, numbers)


def missing_fields(graph: Graph, values: Mapping[str, object]) -> list[str]:
    """Names of the fields that `values` do not give and that no kernel `init` sets."""
    return _missing(graph, sort_values(graph, values, copies=False)[0])


def _missing(graph: Graph, fields: Mapping[str, Array]) -> list[str]:
    return [s.name for s in graph.fields if s.name not in fields and s.name not in _initialised(graph)]


def sort_values(
    graph: Graph, values: Mapping[str, object], *, copies: bool = True
) -> tuple[dict[str, Array], dict[str, Number]]:
    """Return (fields, scalars and params) as the graph's types; vectors are taken apart into components.

    copies: False for arrays that are the caller's own where they have the field's dtype.
    """
    fields: dict[str, Array] = {}
    numbers: dict[str, Number] = {}
    for name, value in split_values(graph, values).items():
        static = graph.static(name)
        if static.role == "field":
            owner = "the machine" if static.space == graph.space else name
            fields[name] = field_values(static, value, static.space.rank, owner, copies=copies)
        else:
            numbers[name] = number(static, value)
    return fields, numbers


def set_initial_values(graph: Graph, initial: InitialValues, instance: Instance) -> None:
    """Write the numbers, run `init`, then let what was given overwrite what `init` made."""
    for name, value in initial.numbers.items():
        instance.write_global(name, value)
    if any(kernel.name == INIT for kernel in graph.kernels):
        instance.march(MarchRequest(INIT, 1))
    for name, array in initial.fields.items():
        instance.write_field(name, whole(array, extents_of(graph, name, initial.extents)))
    for name, value in initial.numbers.items():
        instance.write_global(name, value)


def extents_of(graph: Graph, field: str, extents: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of a field, which may have some of the program's axes only, where the program has these."""
    return graph.static(field).space.extents_in(graph.space, extents)


def whole(array: Array, extents: tuple[int, ...]) -> Array:
    """The array itself, or a view that shows its only number in every cell."""
    return array if array.ndim else np.broadcast_to(array, extents)


def check_shape(name: str, array: Array, extents: tuple[int, ...]) -> None:
    """Raise ShapeError unless the array is one number or has the extents."""
    if array.ndim and array.shape != extents:
        raise ShapeError(
            f"{name} was given shape {array.shape}, but in this simulation it has shape {extents}",
            advice=f"Pass an array of shape {extents}.",
        )


def split_values(graph: Graph, values: Mapping[str, object]) -> dict[str, object]:
    """The same values with each vector or tensor replaced by its components. Raises FieldError for unknown names."""
    known = {static.name for static in graph.declared}
    result: dict[str, object] = {}
    for name, value in values.items():
        members = groups(graph).get(name)
        if name in known or members is None:
            if name not in known:
                raise unknown_name(graph, name)
            result[name] = value
            continue
        result |= split_group(name, members, value)
    return result


def _extents(graph: Graph, fields: Mapping[str, Array], shape: object) -> tuple[int, ...]:
    """The one shape that arrays and `shape` agree on; fields of some axes only must fit it."""
    if graph.space.named:
        return _extents_by_name(graph, fields, shape)
    found = None if shape is None else ("shape=", read_shape(graph, shape))
    few = {name: array for name, array in fields.items() if graph.static(name).space != graph.space}
    for name, array in fields.items():
        if name in few:
            continue
        if array.ndim and found is None:
            found = (name, array.shape)
        elif array.ndim and found is not None and array.shape != found[1]:
            raise ShapeError(
                f"{name} has shape {array.shape}, but {found[0].rstrip('=')} is {found[1]}",
                advice="Give all fields of a machine the same shape.",
            )
    if found is None:
        example = "256" if graph.dim == 1 else ", ".join(["256"] * graph.dim)
        raise ShapeError(
            f"no array was given to {graph.name}, so its shape is unknown",
            advice=f"Pass shape=({example}{',' if graph.dim == 1 else ''}).",
        )
    extents = read_shape(graph, found[1])
    for name, array in few.items():
        check_shape(name, array, extents_of(graph, name, extents))
    return extents


def lengths_of(graph: Graph, fields: Mapping[str, Array]) -> dict[str, tuple[str, int]]:
    """By population of particles an array's name and its length, on which all arrays must agree."""
    found: dict[str, tuple[str, int]] = {}
    for name, array in fields.items():
        for axis, length in zip(graph.static(name).space.axes, array.shape, strict=False):
            first, known = found.setdefault(axis.name, (name, length))
            if length != known:
                raise ShapeError(
                    f"{name} has {length} {axis.name}, but {first} has {known}",
                    advice=f"Give all arrays of {axis.name} one length.",
                )
    return found


def _extents_by_name(graph: Graph, fields: Mapping[str, Array], shape: object) -> tuple[int, ...]:
    """Of particles: the lengths of the arrays, and those of `shape` where no array says another one."""
    found = lengths_of(graph, fields)
    leading = [graph.space.axes[leader].name for leader in sorted(set(graph.space.leaders))]
    if shape is not None:
        given = graph.space.shape_of(read_shape(graph, shape))
        for name, length in zip(leading, given, strict=True):
            first, known = found.setdefault(name, ("shape=", length))
            if length != known:
                raise ShapeError(
                    f"{first} has {known} {name}, but shape is {given}", advice="Leave shape out, or give arrays of it."
                )
    missing = [name for name in leading if name not in found]
    if missing:
        raise ShapeError(
            f"no array of {' and '.join(missing)} was given to {graph.name}, so their number is unknown",
            advice=f"Pass an array, or shape=({', '.join(['1000'] * len(leading))},).",
        )
    return read_shape(graph, tuple(found[name][1] for name in leading))


def read_shape(graph: Graph, shape: object) -> tuple[int, ...]:
    """Extents from what a user passed as shape=: an int for one axis, else one positive int an axis.

    The axis along which particles are seen as sources has the extent of their own, which is given once.
    """
    try:
        parts = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) else (shape,)
        extents = tuple(operator.index(cast(SupportsIndex, part)) for part in parts)
    except TypeError as error:
        advice = "Pass shape=(256, 256), and arrays by the names of their fields."
        raise ShapeError(f"shape={shown(shape)} is no tuple of whole numbers", advice=advice) from error
    leaders = graph.space.leaders
    free = sorted(set(leaders))
    if len(extents) == len(free):
        extents = tuple(extents[free.index(leader)] for leader in leaders)
    if len(extents) != graph.dim or extents != graph.space.agreeing(extents):
        raise ShapeError(
            f"shape={extents} has {counted(len(extents), 'extent')}, but {graph.name} has {len(free)}",
            advice=f"Pass {len(free)}.",
        )
    if min(extents) < 1:
        raise ShapeError(f"shape={extents} has an extent below 1", advice="Give every axis at least one cell.")
    return extents


def _initialised(graph: Graph) -> frozenset[str]:
    """Fields that `init` stores."""
    return frozenset(name for kernel in graph.kernels if kernel.name == INIT for name, _ in kernel.stores())


def _listed(names: list[str]) -> str:
    return f"field {names[0]}" if len(names) == 1 else f"fields {', '.join(names)}"
