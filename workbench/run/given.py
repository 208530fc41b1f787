"""Given: what a machine is called with, arrays and numbers by name, those of one set or of two, vectors whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.errors import FieldError, ShapeError
from workbench.graph import Axis, Graph, Static
from workbench.graph.spaces import NamedExtent
from workbench.run.arrays import device_array, lies_on_device
from workbench.run.one_call import MAIN
from workbench.run.values import field_values, groups, need_params, number, split_group

_SOURCE = ".source"


@dataclass(frozen=True, slots=True)
class Given:
    """What a call is given: values of one set or by name, and those of two sets apart, None where they are one.

    by_place: what was given without a name, which is a mistake.
    """

    values: Mapping[str, object]
    targets: Mapping[str, object] | None = None
    sources: Mapping[str, object] | None = None
    by_place: tuple[object, ...] = ()


def read_call(graph: Graph, given: Given) -> tuple[dict[str, Array], dict[str, Number], tuple[int, ...]]:
    """Return what a call is given: arrays by the names of their statics (0-d for one number), params, and extents.

    Raises FieldError or ShapeError naming what does not fit.
    """
    given = _apart(graph, given)
    arrays, numbers = _sorted(graph, given)
    return arrays, numbers, _extents(graph, arrays, given)


def input_names(graph: Graph) -> tuple[str, ...]:
    """The names of the arrays that a call is given, each once."""
    return tuple(dict.fromkeys(_given_as(static) for static in inputs_of(graph)))


def inputs_of(graph: Graph) -> list[Static]:
    """The arrays that are given, in order of declaration."""
    stored = {name for name, _ in graph.kernel(MAIN).stores()}
    return [static for static in graph.fields if static.name not in stored]


def _plain(static: Static) -> str:
    """The name as it was declared, of a component of a vector its own."""
    return static.name.removesuffix(_SOURCE)


def _given_as(static: Static) -> str:
    """The name under which it is given: the vector's of a component."""
    return (static.group or static.name).removesuffix(_SOURCE)


def _side(static: Static) -> str:
    """The set of elements that has the array: "targets" or "sources"."""
    return "sources" if static.name.endswith(_SOURCE) else "targets"


def _apart(graph: Graph, given: Given) -> Given:
    """What is given, the components of vectors apart. Raises ShapeError for a vector of other components."""
    vectors = {name: members for name, members in groups(graph).items() if members[0] in inputs_of(graph)}
    if not vectors:
        return given

    def apart(values: Mapping[str, object] | None, side: str) -> Mapping[str, object] | None:
        if not isinstance(values, Mapping):
            return values
        found: dict[str, object] = {}
        for name, value in values.items():
            sides = [vectors[each] for each in (name, f"{name}{_SOURCE}") if each in vectors]
            members = next((each for each in sides if side in ("", _side(each[0]))), ())
            found |= _components(name, members, value) if members else {name: value}
        return found

    together = apart(given.values, "")
    assert together is not None
    return replace(
        given, values=together, targets=apart(given.targets, "targets"), sources=apart(given.sources, "sources")
    )


def _components(name: str, members: tuple[Static, ...], value: object) -> dict[str, object]:
    """The components of a vector by their names; rows of an array on a GPU stay there."""
    plain = [_plain(static) for static in members]
    if lies_on_device(value):
        array = device_array(name, value)
        if array.ndim and array.shape[0] == len(members):
            return dict(zip(plain, array, strict=True))
    named = tuple(replace(static, name=each) for static, each in zip(members, plain, strict=True))
    return split_group(name, named, value)


def _sorted(graph: Graph, given: Given) -> tuple[dict[str, Array], dict[str, Number]]:
    """Arrays by the names of their statics (0-d for one number), and params."""
    if given.targets is not None and given.sources is not None and not _of_pairs(graph):
        raise FieldError(f"{graph.name} has no targets and sources", advice="Give its arrays by name.")
    if (given.targets is None) != (given.sources is None):
        missing = "sources" if given.sources is None else "targets"
        raise FieldError(f"{graph.name} was given no {missing}=", advice="Give both, or all names without them.")
    apart = {"targets": given.targets, "sources": given.sources}
    for side, values in apart.items():
        if values is not None and not isinstance(values, Mapping):
            raise FieldError(
                f"{graph.name} was given {side}= as {type(values).__name__}",
                advice=f'Give arrays by their names: {side}={{"x": x}}.',
            )
    inputs, params = inputs_of(graph), {static.name: static for static in graph.params}
    together = {} if given.targets is not None else {_plain(s) for s in inputs}
    _check_known(graph, given.values, {*params, *together}, "")
    arrays: dict[str, Array] = {}
    for side, values in apart.items():
        if values is not None:
            _check_known(graph, values, {_plain(s) for s in inputs if _side(s) == side}, side)
    for static in inputs:
        values = apart[_side(static)]
        where = given.values if values is None else values
        if _plain(static) not in where:
            shown = "" if values is None else f" of the {_side(static)}"
            raise FieldError(
                f"{graph.name} needs {_given_as(static)}{shown}",
                advice=f"Pass {_given_as(static)}= an array or a number.",
            )
        arrays[static.name] = _values(static, where[_plain(static)])
    need_params(graph, given.values)
    return arrays, {name: number(params[name], value) for name, value in given.values.items() if name in params}


def _values(static: Static, value: object) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """The values of an array: the array itself if it fits as it is, also where it lies on a GPU."""
    if type(value) is np.ndarray or lies_on_device(value):
        array: Any = value if isinstance(value, np.ndarray) else device_array(static.name, value)
        if array.ndim == static.space.rank and array.dtype == static.type.numpy:
            return array
    return field_values(static, value, static.space.rank)


def _check_known(graph: Graph, values: Mapping[str, object], known: set[str], side: str) -> None:
    for name in values:
        if name not in known:
            of = f" among its {side}" if side else ""
            parts = {_plain(static): _given_as(static) for static in inputs_of(graph)}
            names = {parts.get(each, each) for each in known}
            raise FieldError(
                f"{graph.name} has no {name!r}{of}", advice=f"Use one of: {', '.join(sorted(names)) or 'none'}."
            )


def _extents(graph: Graph, arrays: Mapping[str, Array], given: Given) -> tuple[int, ...]:
    """The length of each axis; where targets and sources are one set, both have the one that all arrays agree on."""
    found: dict[str, tuple[str, int]] = {}
    one_set = given.targets is None and _of_pairs(graph)
    for static in inputs_of(graph):
        array = arrays[static.name]
        for axis, length in zip(static.space.axes, array.shape, strict=False):
            side = "" if one_set else axis.name
            name, known = found.setdefault(side, (_given_as(static), length))
            if known != length:
                raise _unequal(f"{_given_as(static)} has {length} elements", f"{name} has {known}", axis, one_set)
    lengths = []
    for axis in graph.space.axes:
        side = "" if one_set else axis.name
        if side not in found:
            of = f" with the axis {_axis_title(axis)}" if side else ""
            raise ShapeError(f"no array{of} was given, so its extent is unknown", advice="Pass at least one array.")
        lengths.append(found[side][1])
    return tuple(lengths)


def _unequal(one: str, other: str, axis: Axis, one_set: bool) -> ShapeError:
    if one_set:
        advice = "Give arrays of one length, or targets= and sources= for two sets."
        return ShapeError(f"{one}, {other}", advice=advice)
    title = _axis_title(axis)
    return ShapeError(f"{one} along {title}, {other}", advice=f"Give arrays of one length along {title}.")


def _axis_title(axis: Axis) -> str:
    """What an axis is called in a cell: targets and sources by these names."""
    return axis.extent.name if isinstance(axis.extent, NamedExtent) else axis.name


def _of_pairs(graph: Graph) -> bool:
    return any(static.name.endswith(_SOURCE) for static in graph.fields)


def stacked_vectors(graph: Graph, results: dict[str, Any]) -> dict[str, Any]:
    """The results, those of a vector as one array (dim, n) where its components have one type."""
    for name, members in groups(graph).items():
        parts = [results[static.name] for static in members if static.name in results]
        if parts and len({str(part.dtype) for part in parts}) == 1:
            places = list(results)
            first = places.index(members[0].name)
            stacked = {**{each: results[each] for each in places[:first]}, name: np.stack(parts)}
            rest = {each: results[each] for each in places[first + len(parts) :]}
            results = {**stacked, **rest}
    return results
