"""Collective: a Python function of arrays to a graph, and how a call's values become its statics and results.

A function is traced for one combination of ranks and types. Arrays become fields over axes by position, numbers params;
what else it is given is known while it is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.array_value import ArrayValue
from workbench.frontend.axis_table import (
    AnyOrigin,
    AxesMetError,
    AxisTable,
    Meeting,
    OnlyElement,
    Origin,
    ProductOrigin,
)
from workbench.frontend.called import begin_called
from workbench.frontend.cell import Traced, trace_called
from workbench.frontend.compression import Compressed
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import constant, number_type
from workbench.frontend.readings import Access, Reading
from workbench.frontend.structures import names_of, rebuilt, stands_for_fields, structured
from workbench.frontend.trace import Term, Trace
from workbench.frontend.value import Value, operand
from workbench.frontend.whole_powers import whole_power
from workbench.graph import GLOBAL, Load, LoadSize, Space, Static, StorageType
from workbench.graph.types import BOOL


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """An argument that is an array of this type and rank."""

    type: StorageType
    rank: int


@dataclass(frozen=True, slots=True)
class NumberKind:
    """An argument that is a number: a param of this type, which may differ from call to call."""

    type: StorageType


@dataclass(frozen=True, slots=True)
class StaticKind:
    """An argument that is known while the function is traced: bool, str, None, or a tuple of such and of numbers.

    exact: the value with its types, because True == 1 == 1.0.
    """

    value: object
    exact: object


@dataclass(frozen=True, slots=True)
class TupleKind:
    """A tuple of arguments, arrays among them; kind: what the function sees, a tuple or another structure."""

    items: tuple[Kind, ...]
    kind: type = tuple


Kind = ArrayKind | NumberKind | StaticKind | TupleKind


@dataclass(frozen=True, slots=True)
class Result:
    """One returned array: its static, and for each of its axes the static's axis, None for one of one element."""

    static: str
    axes: tuple[int | None, ...]


Rebuild = Callable[[Sequence[object]], object]
"""From the results, in order, to what the function returns."""


@dataclass(frozen=True, slots=True)
class Length:
    """The extent of an axis of the program, and the lengths that must equal it with the place that says so."""

    origin: AnyOrigin
    equal: tuple[tuple[AnyOrigin, Meeting], ...]


@dataclass(frozen=True, slots=True)
class TracedFunction:
    """A function for one combination of ranks and types.

    leaves: where the values of the graph's arrays and params are found among the arguments: ("xs",), ("state", 0).
    readings: the graph's arrays and what they are read from. lengths: one an axis of the graph. sizes: numbers of
    elements that must be equal, for what is reshaped. only: slices of one element that met longer axes. accesses: what
    lines read at computed places.
    """

    traced: Traced
    leaves: Mapping[str, tuple[str, *tuple[int, ...]]]
    readings: tuple[Reading, ...]
    results: tuple[Result, ...]
    rebuild: Rebuild
    lengths: tuple[Length, ...]
    sizes: tuple[Length, ...]
    only: tuple[OnlyElement, ...]
    accesses: tuple[Access, ...]


def trace_collective(function: FunctionType, kinds: Mapping[str, Kind], *, name: str, dtype: object) -> TracedFunction:
    """Trace the function for arguments of these kinds. Raises TraceError whose line is the user's."""
    table = AxisTable()
    ended: list[tuple[FunctionPositions, _Leaves, tuple[Result, ...], Rebuild]] = []

    def call(trace: Trace, defined: Callable[..., object]) -> None:
        begin_called(trace, name, GLOBAL)
        table.is_stale = False
        trace.whole_power = whole_power
        positions = trace.positions = FunctionPositions(trace, table, ArrayValue)
        leaves: _Leaves = {}
        given = {key: _argument(positions, key, kind, (key,), leaves) for key, kind in kinds.items()}
        results: list[Result] = []
        try:
            rebuild = _store(positions, defined(**given), "result", results)
        except Exception as error:
            if table.is_stale:  # it may be wrong because of that
                raise AxesMetError from error
            raise
        if table.is_stale:
            raise AxesMetError
        if not results:
            raise TraceError(f"{name} returns no array", advice="Return what it computes from its arrays.")
        _drop_unused(trace)
        ended.append((positions, leaves, tuple(results), rebuild))

    try:
        traced = trace_called(function, call, name=name, dtype=dtype)
    except TraceError as error:
        raise error.located(function.__code__.co_firstlineno) from None  # what is wrong with the function as a whole
    positions, leaves, results, rebuild = ended[-1]
    kept = {static.name for static in traced.graph.statics}
    readings = tuple(reading for reading in positions.readings.values() if reading.static in kept)
    lengths = tuple(_length(table, table.length_of(axis)) for axis in traced.graph.space.axes)
    axes = {table.length_of(axis) for axis in traced.graph.space.axes}
    one = table.length(Origin("", 1))  # which many an axis must have that is gone
    checked = [
        number
        for number, origin in enumerate(table.origins)
        if table.root(number) == number and number not in axes and (isinstance(origin, ProductOrigin) or number == one)
    ]
    sizes = tuple(_length(table, number) for number in checked)
    only, accesses = tuple(table.only), tuple(positions.accesses)
    return TracedFunction(traced, leaves, readings, results, rebuild, lengths, sizes, only, accesses)


_Leaves = dict[str, tuple[str, *tuple[int, ...]]]


def _argument(
    positions: FunctionPositions, name: str, kind: Kind, path: tuple[str, *tuple[int, ...]], leaves: _Leaves
) -> object:
    """What the function is given for an argument while it is traced."""
    match kind:
        case StaticKind(value, _):
            return value
        case TupleKind(items, made):
            names = names_of(made, name, len(items))
            parts = [
                _argument(positions, each, item, (*path, place), leaves)
                for place, (each, item) in enumerate(zip(names, items, strict=True))
            ]
            return rebuilt(made, parts)
        case NumberKind(type_):
            leaves[name] = path
            default = False if type_ == BOOL else 0.0 if type_.is_float else 0
            positions.trace.declare(Static(name, "param", type_, GLOBAL, default=default))
            return positions.wrap(positions.trace.emit(lambda pool: pool.load(name)))
        case ArrayKind(type_, rank):
            leaves[name] = path
            lengths = [positions.table.length(Origin(name, number)) for number in range(rank)]
            return positions.wrap(positions.argument(name, type_, lengths))


def _store(positions: FunctionPositions, value: object, name: str, results: list[Result]) -> Rebuild:
    """Declare what is returned as results of the graph; the answer puts them together again."""
    if isinstance(value, Mapping):
        parts = {key: _store(positions, part, f"{name}_{key}", results) for key, part in value.items()}
        return lambda found: {key: rebuild(found) for key, rebuild in parts.items()}
    if isinstance(value, tuple | list):
        items = [_store(positions, part, f"{name}{place}", results) for place, part in enumerate(value)]
        if stands_for_fields(value):
            return lambda found: structured(value, [rebuild(found) for rebuild in items])
        return lambda found: rebuilt(type(value), [rebuild(found) for rebuild in items])
    if is_dataclass(value) and not isinstance(value, type | Value | Compressed):
        names = [each.name for each in fields(value) if each.init]
        items = [_store(positions, getattr(value, each), f"{name}_{each}", results) for each in names]
        return lambda found: rebuilt(type(value), [rebuild(found) for rebuild in items])
    if isinstance(value, Compressed):
        elements = _store(positions, value.elements, name, results)
        count = _store(positions, value.count, f"{name}_length", results)
        return lambda found: elements(found)[: int(count(found))].copy()  # type: ignore[index, call-overload]  # arrays
    if value is None or isinstance(value, str):
        return lambda found: value
    if not isinstance(value, Value | bool | int | float):
        what, advice = (
            f"{type(value).__name__}, which is no array",
            "Return arrays, numbers, or a tuple or mapping of them.",
        )
        if isinstance(value, np.ndarray):
            what = f"an array of NumPy (shape {value.shape}), which was made while the function was traced"
            advice = "Return what is computed of the arguments; generate(shape, f) makes an array of indices."
        raise TraceError(f"{positions.trace.name} returns {what}", advice=advice)
    place = len(results)
    results.append(_result(positions.trace, value, name))
    return lambda found: found[place]


def _result(trace: Trace, value: object, name: str) -> Result:
    given = operand(value)
    if not isinstance(given, Term):
        given = constant(trace, given, number_type(trace, given), GLOBAL)
    named = [each for each in given.node.names if each not in trace.statics]
    static = next(reversed(named), name if name not in trace.statics else f"{name}_")
    role = "field" if given.is_local else "scalar"
    zero = 0.0 if given.type.is_record else given.type.numpy.type(0).item()
    default = None if given.is_local else zero
    trace.declare(Static(static, role, given.type, given.space, default=default, span=trace.here()))  # type: ignore[arg-type]  # mypy widens the literal
    trace.store(static, given)
    own = given.space.axes
    return Result(static, tuple(None if axis is None else own.index(axis) for axis in order_of(given)))


def _drop_unused(trace: Trace) -> None:
    """Leave out the arrays and axes that no result needs: an array that is read along a copy of its axis alone."""
    states = [trace.kernel, *(part for _, *parts in trace.loops for part in parts)]
    needed = trace.pool.needed(term.index for state in states for term, _ in state.stores.values())
    nodes = [trace.pool.node(index) for index in needed]
    read = {node.instruction.name for node in nodes if isinstance(node.instruction, Load)}
    axes = {axis for node in nodes if node.space is not None for axis in node.space.axes}
    sizes = {trace.axis_names[node.instruction.axis] for node in nodes if isinstance(node.instruction, LoadSize)}
    stored = {name for state in states for name in state.stores}
    trace.statics = {name: static for name, static in trace.statics.items() if name in read or name in stored}
    trace.space = Space(tuple(axis for axis in trace.space.axes if axis in axes or axis.name in sizes))
    if trace.space.is_global:
        raise TraceError(
            f"{trace.name} computes with no array", advice="Give it an array; numbers alone need no machine."
        )


def _length(table: AxisTable, number: int) -> Length:
    """The length of that number, and those that were joined to it."""
    others = [other for other in range(len(table.origins)) if other != number and table.root(other) == number]
    return Length(table.origins[number], tuple((table.origins[other], table.meetings[other]) for other in others))
