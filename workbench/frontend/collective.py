"""Collective: a Python function of arrays to a graph, and how a call's values become its statics and results.

A function is traced for one combination of ranks and types. Arrays become fields over axes by position, numbers params;
what else it is given is known while it is traced.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
from workbench.frontend.cell import Traced, closure_of, trace_called
from workbench.frontend.foreign_calls import ForeignCall
from workbench.frontend.held_arrays import HeldArrays
from workbench.frontend.lowering import make_graph
from workbench.frontend.positions import FunctionPositions
from workbench.frontend.readings import Access, Reading
from workbench.frontend.returned import Rebuild, Result, store_results
from workbench.frontend.selections import Selected
from workbench.frontend.sequences import Known, Part, parts_of, zero_of
from workbench.frontend.structures import names_of, rebuilt
from workbench.frontend.trace import Trace
from workbench.frontend.whole_powers import whole_power
from workbench.graph import GLOBAL, Graph, Static, StorageType


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

    exact: the value with its types, because True == 1 == 1.0; it alone is compared, as a data class may have no hash.
    """

    value: object = field(compare=False)
    exact: object


@dataclass(frozen=True, slots=True)
class TupleKind:
    """A tuple of arguments, arrays among them; kind: what the function sees, a tuple or another structure."""

    items: tuple[Kind, ...]
    kind: type = tuple


Kind = ArrayKind | NumberKind | StaticKind | TupleKind


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A native that is called before a program. given: leaves of its arguments, lengths, or constants of the trace.

    made: the names of the values that it returns, their types, and the lengths of their axes.
    """

    call: ForeignCall
    given: tuple[str | AnyOrigin | StaticKind, ...]
    made: tuple[tuple[str, StorageType, tuple[AnyOrigin, ...]], ...]


@dataclass(frozen=True, slots=True)
class Length:
    """The extent of an axis of the program, and the lengths that must equal it with the place that says so."""

    origin: AnyOrigin
    equal: tuple[tuple[AnyOrigin, Meeting], ...]


@dataclass(frozen=True, slots=True)
class TracedFunction:
    """A program of a function for one combination of ranks and types: as a rule it is all of the function.

    leaves: where the values of the graph's arrays and params are found among the arguments: ("xs",), ("state", 0).
    readings: the graph's arrays and what they are read from. lengths: one an axis of the graph. sizes: numbers of
    elements that must be equal, for what is reshaped. only: slices of one element that met longer axes. accesses: what
    lines read at computed places.

    In a sequence a program has further arguments, what those before it have made (`value_names`). counted: the leaves
    that are lengths. finds: the numbers of selected elements that it counts. cuts: of arrays that it makes and that
    have more elements than are selected, the numbers that say how many are. Both go by the names of values. calls: of
    natives, before it runs.
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
    counted: frozenset[str] = frozenset()
    finds: tuple[str, ...] = ()
    cuts: tuple[tuple[str, str], ...] = ()
    calls: tuple[TracedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedSequence:
    """The programs of a function, run one after the other because lengths become known between them; or only one.

    returned: the values that `rebuild` makes the function's results of, and whether they are selected elements, which
    lie in a larger array. Of one program that selects nothing they are its results. natives: the backends for which
    functions that it calls have a native. held: arrays that no argument gives, by the names of theirs.
    """

    programs: tuple[TracedFunction, ...]
    returned: tuple[tuple[str, bool], ...]
    rebuild: Rebuild
    natives: frozenset[str]
    held: Mapping[str, np.ndarray] = field(compare=False)

    @property
    def is_plain(self) -> bool:
        """Whether it is one program, whose results are those of the function."""
        return len(self.programs) == 1 and not self.programs[0].cuts and not self.programs[0].calls


def value_name(number: int, static: str) -> str:
    """What a result of a program of that number is called among the arguments of later ones; no argument is."""
    return f"{number}:{static}"


def value_names(sequence: TracedSequence) -> tuple[str, ...]:
    """Further arguments: what the function holds, and what natives and programs make for those that come later."""
    names = [*sequence.held]
    for number, program in enumerate(sequence.programs):
        names += [name for each in program.calls for name, *_ in each.made]
        names += [value_name(number, each.static) for each in program.results]
    return tuple(names)


@dataclass(slots=True)
class _Body:
    """What one attempt to trace a function has made."""

    positions: FunctionPositions
    leaves: _Leaves
    held: Mapping[str, np.ndarray]
    parts: list[Part]
    known: Known
    graphs: list[Graph]  # of all parts but the first
    returned: list[Result | Selected]
    rebuild: Rebuild


def trace_collective(
    function: FunctionType, kinds: Mapping[str, Kind], *, name: str, dtype: object, backend: str = ""
) -> TracedSequence:
    """Trace the function for arguments of these kinds. Raises TraceError whose line is the user's.

    backend: whose natives are called in the place of what they compute; of "" none.
    """
    table = AxisTable()
    ended: list[_Body] = []

    def call(trace: Trace, defined: Callable[..., object]) -> None:
        begin_called(trace, name, GLOBAL)
        table.is_stale = False
        trace.whole_power = whole_power
        positions = trace.positions = FunctionPositions(trace, table, ArrayValue)
        positions.foreign.backend = backend
        held = HeldArrays(positions, ChainMap(closure_of(function), function.__globals__))
        trace.held_array = held.term
        leaves: _Leaves = {}
        given = {key: _argument(positions, key, kind, (key,), leaves) for key, kind in kinds.items()}
        results: list[Result | Selected] = []
        try:
            rebuild = store_results(positions, defined(**given), "result", results)
        except Exception as error:
            if table.is_stale:  # it may be wrong because of that
                raise AxesMetError from error
            raise
        if table.is_stale:
            raise AxesMetError
        if not results:
            raise TraceError(f"{name} returns no array", advice="Return what it computes from its arrays.")
        kept = [each for each in results if isinstance(each, Result)]
        as_made = {each.static for each in kept if each.axes == tuple(range(trace.statics[each.static].space.rank))}
        parts, known = parts_of(positions, as_made, [each.name for each in results if isinstance(each, Selected)])
        graphs: list[Graph] = []
        for number in reversed(range(len(parts))):  # of the first one the graph is made when the trace has ended
            _take(trace, parts[number], name if len(parts) == 1 else f"{name}_{number + 1}")
            if number:
                graphs.insert(0, make_graph(trace))
        ended.append(_Body(positions, {**leaves, **held.leaves}, held.found, parts, known, graphs, results, rebuild))

    try:
        traced = trace_called(function, call, name=name, dtype=dtype)
    except TraceError as error:
        raise error.located(function.__code__.co_firstlineno) from None  # what is wrong with the function as a whole
    return _sequence(ended[-1], traced)


def _take(trace: Trace, part: Part, name: str) -> None:
    """Let the trace be one program of a sequence, called so."""
    trace.name = name
    if part.space.is_global:
        raise TraceError(f"{name} computes with no array", advice="Give it an array; numbers alone need no machine.")
    trace.kernels, trace.kernel, trace.loops = [part.main], part.main, part.loops
    trace.statics, trace.space = part.statics, part.space
    for state in part.states:
        state.kept = {**part.kept, **state.kept}


def _sequence(body: _Body, traced: Traced) -> TracedSequence:
    """The programs of a function, each with what it needs of its arguments and of those before it."""
    parts = body.parts
    programs, home = [], {name: k for k, part in enumerate(parts) for name in part.main.stores}
    for number, graph in enumerate((traced.graph, *body.graphs)):
        made = traced if len(parts) == 1 else _traced(body, number, graph, traced)
        programs.append(_program(body, number, home, made))
    by_name = {each.static: each for each in body.returned if isinstance(each, Result)}
    returned = tuple(
        (value_name(home[name], name), name not in by_name)
        for each in body.returned
        for name in [each.static if isinstance(each, Result) else each.name]
    )
    return TracedSequence(tuple(programs), returned, body.rebuild, frozenset(body.positions.foreign.natives), body.held)


def _traced(body: _Body, number: int, graph: Graph, traced: Traced) -> Traced:
    """What a card says about one program of several, with the precision of the values that it has."""
    names = {static.name for static in graph.statics}
    names |= {name for kernel in graph.kernels for node in kernel.nodes for name in node.names}
    precision = tuple(pair for pair in traced.precision if pair[0] in names)
    return replace(traced, graph=replace(graph, part=_part_text(body, number)), precision=precision)


def _part_text(body: _Body, number: int) -> str:
    """Which program of a sequence it is, and the lengths that are known before it or when it has run."""
    table, said = body.positions.table, f"program {number + 1} of {len(body.parts)}"
    here = body.parts[number]
    for verb, parts in (("with", body.parts[:number]), ("finds", [here])):
        origins = [each.length for part in parts for each in part.lengths.values()]
        axes = [(table.axis(table.length(origin)), origin) for origin in origins]
        lengths = {table.length_of(axis) for axis in here.space.axes}
        named = [f"{a.name}, the length of {o}" for a, o in axes if verb == "finds" or table.length_of(a) in lengths]
        said += f"; {verb} {' and '.join(named)}" if named else ""
    return said + "".join(f"; reads what {each.name} returns in line {each.line}" for each in here.calls)


def _program(body: _Body, number: int, home: Mapping[str, int], traced: Traced) -> TracedFunction:
    part, table, graph = body.parts[number], body.positions.table, traced.graph
    before = [name for each in body.parts[:number] for name in each.main.stores]
    paths: _Leaves = {name: (value_name(home[name], name),) for name in before}
    called = [call for each in body.parts[: number + 1] for call in each.calls]
    paths |= {result.name: (_NATIVE.format(result.name),) for call in called for result in call.results}
    counted = frozenset(name for each in body.parts[:number] for name in each.lengths)
    kernels = {name for kernel in graph.kernels for name, _ in kernel.loads()}
    read = {static.name for static in graph.statics if static.name in kernels}
    shown = {name: each.text for name, each in body.positions.selections.items()}
    shown |= {result.name: call.text for call in called for result in call.results}
    readings = [
        replace(each, shown=shown.get(each.argument, ""))
        for each in body.positions.readings.values()
        if each.static in read
    ]
    for name in part.kept.values():
        if name in read and part.statics[name].role == "field":
            rank = part.statics[name].space.rank
            readings.append(Reading(name, name, tuple(range(rank)), ((),) * rank))

    def is_known(origin: AnyOrigin) -> bool:
        level = body.known(origin)
        return level is not None and level <= number

    axes = [table.length_of(axis) for axis in graph.space.axes]
    one = table.length(Origin("", 1))  # which many an axis must have that is gone
    checked = [
        each
        for each, origin in enumerate(table.origins)
        if table.root(each) == each and each not in axes and (isinstance(origin, ProductOrigin) or each == one)
    ]
    by_name = {each.static: each for each in body.returned if isinstance(each, Result)}
    results = [
        by_name.get(name) or Result(name, part.orders.get(name, tuple(range(part.statics[name].space.rank))))
        for name in part.main.stores
    ]
    is_alone = len(body.parts) == 1 and not part.selections and not part.calls
    own = {name: value_name(number, name) for name in part.main.stores}
    return TracedFunction(
        traced,
        {**body.leaves, **paths},
        tuple(readings),
        tuple(results),
        body.rebuild if is_alone else list,
        tuple(_length(table, each, is_known) for each in axes),
        tuple(_length(table, each, is_known) for each in checked if is_known(table.origins[each])),
        tuple(each for each in body.positions.table.only if is_known(each.cut) and is_known(each.other)),
        tuple(body.positions.accesses),
        counted,
        tuple(own[name] for name in part.lengths),
        tuple((own[each.name], value_name(home[each.length.name], each.length.name)) for each in part.selections),
        tuple(_call(table, each) for each in part.calls),
    )


def _call(table: AxisTable, call: ForeignCall) -> TracedCall:
    given = tuple(
        each.name if each.term is not None else each.length or StaticKind(each.constant, None)
        for each in call.arguments
    )
    made = ((_NATIVE.format(each.name), each.type, tuple(map(table.origin, each.axes))) for each in call.results)
    return TracedCall(call, given, tuple(made))


_Leaves = dict[str, tuple[str, *tuple[int, ...]]]
_NATIVE = "native:{}"  # what a result of a native is called among the arguments of programs; no argument is


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
            default = zero_of(type_)
            positions.trace.declare(Static(name, "param", type_, GLOBAL, default=default))
            return positions.wrap(positions.trace.emit(lambda pool: pool.load(name)))
        case ArrayKind(type_, rank):
            leaves[name] = path
            lengths = [positions.table.length(Origin(name, number)) for number in range(rank)]
            return positions.wrap(positions.argument(name, type_, lengths))


def _length(table: AxisTable, number: int, is_known: Callable[[AnyOrigin], bool]) -> Length:
    """The length of that number, and those that were joined to it, of all that are known."""
    joined = [other for other in range(len(table.origins)) if other != number and table.root(other) == number]
    first, *others = (each for each in (number, *joined) if is_known(table.origins[each]))
    return Length(table.origins[first], tuple((table.origins[each], table.meetings[each]) for each in others))
