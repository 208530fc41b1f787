"""Pairs: what happens between element i of the targets and element j of the sources, summed over the sources.

The language of the precision-aware interaction compiler's slides: the user writes what one pair contributes, and how
data move is the workbench's business. A cell of pairs has two axes, i and j; its kernel `main` runs once at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from workbench.errors import TraceError
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.combination import reduction_of
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.promotion import number_type
from workbench.frontend.records import Record, is_record, leaves_of
from workbench.frontend.regions import region_of
from workbench.frontend.short_range import one_length
from workbench.frontend.total import PAIRS, SOURCES, TARGETS, Near, Reduced, Total, TotalState, counted
from workbench.frontend.trace import Trace, current_trace
from workbench.frontend.value import Value
from workbench.graph import OPERATORS, REDUCTIONS, Space, Static, StorageType
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, DD

SOURCE = ".source"
"""Ends the names of the sources' arrays, because a name may be declared on both sides."""


def targets(names: str, dtype: object = None) -> tuple[Value, ...]:
    """Declare what each target i has: x, y = targets("x y"). Always a tuple; arrays are given at the call.

    dtype: as of a field. A name that is declared among the sources too is given once where targets and sources are one
    set: gravity(x=x, m=m).
    """
    return _declare("targets", names, dtype, TARGETS, "")


def sources(names: str, dtype: object = None) -> tuple[Value, ...]:
    """Declare what each source j has: xj, mj = sources("x m"). Always a tuple; arrays are given at the call."""
    return _declare("sources", names, dtype, SOURCES, SOURCE)


def totals(
    names: str,
    dtype: object = None,
    reduce: object = "sum",
    cutoff: object = None,
    positions: str = "",
    *,
    identity: object = None,
) -> tuple[Total, ...]:
    """Declare results, one number for each target: ax, ay = totals("ax ay"). Always a tuple.

    `ax += value` adds what each pair contributes, i = j included. reduce: "sum", or "max", "min", "product", "any" or
    "all", whose totals take t.include(value), or a Python function of two elements, which must be associative, with its
    identity: the element that leaves the other one unchanged. If that is a tuple, the names are the components of one
    total of records: near, = totals("distance number", reduce=nearer, identity=(inf, -1)) takes near.include((d, j)).
    dtype: default the machine's float type, bool for "any" and "all", with a function what its identity has; a tuple
    for a record. cutoff: a length; pairs that are farther apart contribute nothing, and the time grows as the number of
    near pairs. positions: the names, declared on both sides, of what the distance is of: totals("rho", cutoff=2 * h,
    positions="x y").
    """
    trace = _pairs("totals")
    near = _near(trace, cutoff, positions)
    found = tuple(names_of("totals", names, 'ax, ay = totals("ax ay")'))
    if isinstance(reduce, FunctionType) and reduction_of(reduce) is None:
        reduced = _by_function(trace, found, reduce, dtype, identity)
    else:
        reduced = _by_name(trace, found, reduce, dtype, identity)
    for each in reduced:
        for name, type_ in zip(each.names, each.types, strict=True):
            trace.declare(Static(name, "field", type_, TARGETS, span=trace.here()), "a total")
        trace.totals[each.names[0]] = TotalState(each, trace.here(), near)
    return FieldTuple(map(Total, reduced), "totals")


def _by_name(trace: Trace, names: tuple[str, ...], reduce: object, dtype: object, identity: object) -> list[Reduced]:
    """A total for each name, reduced by an operator that has a name."""
    name = reduce if isinstance(reduce, str) else reduction_of(reduce)
    if name not in REDUCTIONS:
        raise TraceError(
            f"totals: reduce={reduce!r} is no reduction",
            advice=f"Use one of {', '.join(REDUCTIONS)}, or a Python function of two elements.",
        )
    if identity is not None:
        raise TraceError(f'totals: reduce="{name}" has an identity of its own', advice="Leave identity= out.")
    row = OPERATORS[REDUCTIONS[name].operator]
    type_ = (BOOL if row.kinds == "bool" else trace.float_type) if dtype is None else parse_type(dtype)
    if not accepts(row, type_):
        raise TraceError(f"totals: {name} does not take {type_}", advice="Leave dtype out, or choose another one.")
    return [Reduced((each,), (type_,), reduce, name) for each in names]


def _by_function(
    trace: Trace, names: tuple[str, ...], function: FunctionType, dtype: object, identity: object
) -> list[Reduced]:
    """A total for each name, by a function of two numbers, or one of all names, by a function of two records."""
    if identity is None:
        raise TraceError(
            f"totals: no identity is given for {function.__name__}",
            advice="Write identity=..., the element that leaves the other one unchanged: 0 of a sum, 1 of a product.",
        )
    numbers, rebuild = leaves_of(identity)
    if not all(isinstance(number, int | float) for number in numbers):
        raise TraceError(f"totals: identity={identity!r} is not known here", advice="Give numbers: identity=(inf, -1).")
    if not is_record(identity):
        types = _types(trace, (numbers[0],), dtype)
        operator = region_of(trace, function, types[0], identity)
        return [Reduced((each,), types, function, operator) for each in names]
    if len(numbers) != len(names) or len(numbers) == 1:
        raise TraceError(
            f"totals: identity={identity!r} has {counted(len(numbers), 'component')} for {counted(len(names), 'name')}",
            advice='Name each component: totals("distance number", reduce=nearer, identity=(inf, -1)).',
        )
    record = Record(_types(trace, numbers, dtype), rebuild)
    return [Reduced(names, record.types, function, region_of(trace, function, record, identity), record)]


def _types(trace: Trace, numbers: Sequence[object], dtype: object) -> tuple[StorageType, ...]:
    """The type of each component: what was asked for, else that of its identity."""
    asked = list(dtype) if isinstance(dtype, tuple | list) else [dtype] * len(numbers)
    if len(asked) != len(numbers):
        raise TraceError(
            f"totals: dtype={dtype!r} for {counted(len(numbers), 'component')}", advice="Give a type for each of them."
        )
    types = tuple(
        number_type(trace, number) if each is None else parse_type(each)  # type: ignore[arg-type]  # looked at before
        for number, each in zip(numbers, asked, strict=True)
    )
    if DD in types and len(types) > 1:
        raise TraceError("totals: a component of a record is dd", advice="Combine values of type dd by themselves.")
    return types


def _near(trace: Trace, cutoff: object, positions: object) -> Near | None:
    """The cutoff and the positions of both sides. Raises TraceError where only one is given, or one is unknown."""
    if cutoff is None and not positions:
        return None
    if cutoff is None or not positions:
        missing = "cutoff" if cutoff is None else "positions"
        raise TraceError(
            f"totals: {missing}= is missing", advice='Give both: totals("rho", cutoff=2 * h, positions="x y").'
        )
    length, pairs = one_length("totals", cutoff), []
    for name in names_of("totals", positions, 'totals("rho", cutoff=2 * h, positions="x y")'):
        sides = [trace.statics.get(each) for each in (name, f"{name}{SOURCE}")]
        if any(side is None or not side.type.is_float for side in sides) or sides[0].space != TARGETS:  # type: ignore[union-attr]
            raise TraceError(
                f"totals: the position {name} is not declared on both sides, as a float",
                advice=f'Declare targets("{name}") and sources("{name}") above the totals.',
            )
        own, other = (trace.emit(lambda pool, n=n: pool.load(n)) for n in (name, f"{name}{SOURCE}"))  # type: ignore[misc]  # bound now
        pairs.append((own, other))
    return length, tuple(pairs)


def _declare(what: str, names: object, dtype: object, space: Space, suffix: str) -> FieldTuple[Value]:
    trace = _pairs(what)
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    made = []
    for name in names_of(what, names, f'x, y = {what}("x y")'):
        trace.declare(Static(f"{name}{suffix}", "field", type_, space, span=trace.here()), f"one of the {what}")
        full = f"{name}{suffix}"
        made.append(Value(trace.emit(lambda pool, full=full: pool.load(full))))  # type: ignore[misc]  # bound now
    return FieldTuple(made, what)


def _pairs(what: str) -> Trace:
    """The trace, now one of pairs."""
    trace = current_trace(what)
    if trace.space != PAIRS:
        begin_called(trace, what, PAIRS)
    return trace
