"""Given: what a machine is called with, arrays and numbers by name, those of one set or of two, vectors whole."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from workbench.backends.base import Array, Number
from workbench.errors import FieldError, ShapeError
from workbench.forking import forkable_lock
from workbench.graph import Axis, Graph, Static
from workbench.graph.spaces import NamedExtent
from workbench.run.arrays import device_array, lies_on_device
from workbench.run.one_call import MAIN
from workbench.run.values import field_values, groups, need_params, number, split_group

_SOURCE = ".source"


class Given(NamedTuple):  # which is made faster than a record, at each call
    """What a call is given: values of one set or by name, and those of two sets apart, None where they are one.

    by_place: what was given without a name, which is a mistake.
    """

    values: Mapping[str, object]
    targets: Mapping[str, object] | None = None
    sources: Mapping[str, object] | None = None
    by_place: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """An array that is given: its static, its name as it was declared, that under which it is given, and its side.

    side: the set of elements that has it, "targets" or "sources". given_as: of a component the vector's name. dtype:
    the static's.
    """

    static: Static
    dtype: np.dtype[Any]
    plain: str
    given_as: str
    side: str


@dataclass(frozen=True, slots=True)
class Interface:
    """What a called program is given and returns, each in order of declaration.

    groups: vectors and tensors, their components by their names; vectors: those that are given. of_pairs: whether it
    has targets and sources. names: all that may be given where those are one set.
    """

    graph: Graph
    inputs: tuple[Input, ...]
    params: Mapping[str, Static]
    groups: Mapping[str, tuple[Static, ...]]
    vectors: Mapping[str, tuple[Static, ...]]
    returned: tuple[Static, ...]
    of_pairs: bool
    names: frozenset[str]


_MOST_KNOWN = 64
_known: OrderedDict[int, Interface] = OrderedDict()
_lock = forkable_lock()


def interface_of(graph: Graph) -> Interface:
    """What a program is given and returns; found once, as calls are short."""
    found = _known.get(id(graph))
    if found is None or found.graph is not graph:
        found = _found(graph)
        with _lock:
            _known[id(graph)] = found
            while len(_known) > _MOST_KNOWN:
                _known.popitem(last=False)
    return found


def _found(graph: Graph) -> Interface:
    stored = [name for name, _ in graph.kernel(MAIN).stores()]
    given = [static for static in graph.fields if static.name not in stored]
    inputs = tuple(
        Input(static, static.type.numpy, _plain(static), _given_as(static), _side(static)) for static in given
    )
    together = groups(graph)
    vectors = {name: members for name, members in together.items() if members[0] in given}
    returned = tuple(map(graph.static, stored))
    of_pairs = any(static.name.endswith(_SOURCE) for static in graph.fields)
    params = {static.name: static for static in graph.params}
    names = frozenset({*params, *(each.plain for each in inputs)})
    return Interface(graph, inputs, params, together, vectors, returned, of_pairs, names)


def read_call(graph: Graph, given: Given) -> tuple[dict[str, Array], dict[str, Number], tuple[int, ...]]:
    """Return what a call is given: arrays by the names of their statics (0-d for one number), params, and extents.

    Raises FieldError or ShapeError naming what does not fit.
    """
    given = _apart(graph, given)
    arrays, numbers = _sorted(graph, given)
    return arrays, numbers, _extents(graph, arrays, given)


def input_names(graph: Graph) -> tuple[str, ...]:
    """The names of the arrays that a call is given, each once."""
    return tuple(dict.fromkeys(each.given_as for each in interface_of(graph).inputs))


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
    vectors = interface_of(graph).vectors
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
    return Given(together, apart(given.targets, "targets"), apart(given.sources, "sources"), given.by_place)


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
    interface = interface_of(graph)
    inputs, params = interface.inputs, interface.params
    apart = {"targets": given.targets, "sources": given.sources}
    if given.targets is not None or given.sources is not None:
        _check_sides(graph, given, apart)
    elif not interface.names.issuperset(given.values):
        _check_known(graph, given.values, interface.names, "")
    arrays: dict[str, Array] = {}
    for each in inputs:
        values = apart[each.side]
        where = given.values if values is None else values
        if each.plain not in where:
            shown = "" if values is None else f" of the {each.side}"
            raise FieldError(
                f"{graph.name} needs {each.given_as}{shown}", advice=f"Pass {each.given_as}= an array or a number."
            )
        arrays[each.static.name] = _values(each, where[each.plain])
    need_params(graph, given.values)
    return arrays, {name: number(params[name], value) for name, value in given.values.items() if name in params}


def _check_sides(graph: Graph, given: Given, apart: Mapping[str, Mapping[str, object] | None]) -> None:
    """Raise FieldError unless both sets are there, by names that they have, and nothing of them stands beside them."""
    interface = interface_of(graph)
    if given.targets is not None and given.sources is not None and not interface.of_pairs:
        raise FieldError(f"{graph.name} has no targets and sources", advice="Give its arrays by name.")
    if given.targets is None or given.sources is None:
        missing = "sources" if given.sources is None else "targets"
        raise FieldError(f"{graph.name} was given no {missing}=", advice="Give both, or all names without them.")
    for side, values in apart.items():
        if not isinstance(values, Mapping):
            raise FieldError(
                f"{graph.name} was given {side}= as {type(values).__name__}",
                advice=f'Give arrays by their names: {side}={{"x": x}}.',
            )
    if beside := [each.plain for each in interface.inputs if each.plain in given.values]:
        name = beside[0]
        raise FieldError(
            f"{graph.name} was given {name}= beside targets= and sources=",
            advice=f"Put {name} into one or both of them; only params stand beside them.",
        )
    _check_known(graph, given.values, interface.params, "")
    for side, values in apart.items():
        assert values is not None
        _check_known(graph, values, {each.plain for each in interface.inputs if each.side == side}, side)


def _values(given: Input, value: object) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """The values of an array: the array itself if it fits as it is, also where it lies on a GPU."""
    static = given.static
    if type(value) is np.ndarray or lies_on_device(value):
        array: Any = value if isinstance(value, np.ndarray) else device_array(static.name, value)
        if array.ndim == static.space.rank and array.dtype == given.dtype:
            return array
    return field_values(static, value, static.space.rank)


def _check_known(graph: Graph, values: Mapping[str, object], known: Collection[str], side: str) -> None:
    for name in values:
        if name not in known:
            of = f" among its {side}" if side else ""
            parts = {each.plain: each.given_as for each in interface_of(graph).inputs}
            names = {parts.get(each, each) for each in known}
            raise FieldError(
                f"{graph.name} has no {name!r}{of}", advice=f"Use one of: {', '.join(sorted(names)) or 'none'}."
            )


def _extents(graph: Graph, arrays: Mapping[str, Array], given: Given) -> tuple[int, ...]:
    """The length of each axis; where targets and sources are one set, both have the one that all arrays agree on."""
    found: dict[str, tuple[str, int]] = {}
    interface = interface_of(graph)
    one_set = given.targets is None and interface.of_pairs
    for each in interface.inputs:
        array = arrays[each.static.name]
        for axis, length in zip(each.static.space.axes, array.shape, strict=False):
            side = "" if one_set else axis.name
            name, known = found.setdefault(side, (each.given_as, length))
            if known != length:
                raise _unequal(f"{each.given_as} has {length} elements", f"{name} has {known}", axis, one_set)
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


def stacked_vectors(interface: Interface, results: dict[str, Any]) -> dict[str, Any]:
    """The results, those of a vector as one array (dim, n) where its components have one type."""
    for name, members in interface.groups.items():
        parts = [results[static.name] for static in members if static.name in results]
        if parts and len({str(part.dtype) for part in parts}) == 1:
            places = list(results)
            first = places.index(members[0].name)
            stacked = {**{each: results[each] for each in places[:first]}, name: np.stack(parts)}
            rest = {each: results[each] for each in places[first + len(parts) :]}
            results = {**stacked, **rest}
    return results
