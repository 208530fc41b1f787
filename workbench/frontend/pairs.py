"""Pairs: what happens between element i of the targets and element j of the sources, summed over the sources.

The language of the precision-aware interaction compiler's slides: the user writes what one pair contributes, and how
data move is the workbench's business. A cell of pairs has two axes, i and j; its kernel `main` runs once at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import NoReturn

from workbench.errors import TraceError
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.combination import Combination, reduction_of
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import check_storable, parse_type
from workbench.frontend.promotion import cast_term, constant, number_type, spread
from workbench.frontend.records import Record, is_record, leaves_of, packed, unpacked
from workbench.frontend.regions import region_of
from workbench.frontend.short_range import fold_near, one_length
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand
from workbench.graph import OPERATORS, REDUCTIONS, Axis, Region, Space, Span, Static, StorageType
from workbench.graph.operators import accepts
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import BOOL, DD

PAIRS = Space((Axis("i", NamedExtent("targets"), "array"), Axis("j", NamedExtent("sources"), "array")))
TARGETS, SOURCES = PAIRS.without((1,)), PAIRS.without((0,))
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


@dataclass(frozen=True, slots=True)
class _Reduced:
    """How a total is reduced. names: of its components, which are the results; one where record is None."""

    names: tuple[str, ...]
    types: tuple[StorageType, ...]
    function: object
    operator: str | Region
    record: Record | None = None

    @property
    def including(self) -> str:
        """How a pair's contribution is written, for advice."""
        if self.operator == "sum":
            return f"{self.names[0]} += value"
        return f"{self.names[0]}.include(value)" if self.record is None else f"t.include(({', '.join(self.names)}))"


_Near = tuple[Operand, tuple[tuple[Term, Term], ...]]
"""A cutoff, and the positions of target and source, one pair a dimension."""


@dataclass(slots=True)
class _State:
    """A total while its cell is traced: where it was declared, its cutoff if it has one, what one pair contributes."""

    reduced: _Reduced
    span: Span
    near: _Near | None
    contributions: list[Term] = field(default_factory=list)


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
        trace.totals[each.names[0]] = _State(each, trace.here(), near)
    return FieldTuple(map(Total, reduced), "totals")


def _by_name(trace: Trace, names: tuple[str, ...], reduce: object, dtype: object, identity: object) -> list[_Reduced]:
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
    return [_Reduced((each,), (type_,), reduce, name) for each in names]


def _by_function(
    trace: Trace, names: tuple[str, ...], function: FunctionType, dtype: object, identity: object
) -> list[_Reduced]:
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
        return [_Reduced((each,), types, function, operator) for each in names]
    if len(numbers) != len(names) or len(numbers) == 1:
        raise TraceError(
            f"totals: identity={identity!r} has {_count(len(numbers), 'component')} for {_count(len(names), 'name')}",
            advice='Name each component: totals("distance number", reduce=nearer, identity=(inf, -1)).',
        )
    record = Record(_types(trace, numbers, dtype), rebuild)
    return [_Reduced(names, record.types, function, region_of(trace, function, record, identity), record)]


def _types(trace: Trace, numbers: Sequence[object], dtype: object) -> tuple[StorageType, ...]:
    """The type of each component: what was asked for, else that of its identity."""
    asked = list(dtype) if isinstance(dtype, tuple | list) else [dtype] * len(numbers)
    if len(asked) != len(numbers):
        raise TraceError(
            f"totals: dtype={dtype!r} for {_count(len(numbers), 'component')}", advice="Give a type for each of them."
        )
    types = tuple(
        number_type(trace, number) if each is None else parse_type(each)  # type: ignore[arg-type]  # looked at before
        for number, each in zip(numbers, asked, strict=True)
    )
    if DD in types and len(types) > 1:
        raise TraceError("totals: a component of a record is dd", advice="Combine values of type dd by themselves.")
    return types


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _near(trace: Trace, cutoff: object, positions: object) -> _Near | None:
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


class Total:
    """A result while its cell is traced: `t += value` or `t.include(value)`; it is complete when the cell ends."""

    def __init__(self, reduced: _Reduced) -> None:
        self._reduced = reduced

    def __iadd__(self, value: object) -> Total:
        reduced = self._reduced
        if reduced.operator != "sum":
            how = f"the {reduced.operator} over all sources"
            if isinstance(reduced.function, FunctionType):
                how = f"reduced by {reduced.function.__name__}"
            raise TraceError(f"{self.name} += adds, but {self.name} is {how}", advice=f"Write {reduced.including}.")
        self.include(value)
        return self

    def include(self, value: object) -> None:
        """Take what each pair contributes into the reduction: a value, or of a total of records a tuple of values."""
        trace = current_trace(".include")
        reduced, text = self._reduced, trace.text_here()
        given = [operand(each) for each in self._parts(value, text)]
        if not any(isinstance(each, Term) and set(SOURCES.axes) <= set(each.space.axes) for each in given):
            raise TraceError(
                f"{text}: what is contributed to {self.name} depends on no source",
                advice="Compute with a value of sources(...), or add the value to the result after the call.",
            )
        parts = []
        for each, name, type_ in zip(given, reduced.names, reduced.types, strict=True):
            if isinstance(each, Term):
                check_storable(trace, name, type_, each.type, written=name)
                parts.append(spread(cast_term(each, type_), PAIRS))
            else:
                parts.append(constant(trace, each, type_, PAIRS))
        state = trace.totals[reduced.names[0]]
        assert isinstance(state, _State)
        state.contributions.append(packed(trace, parts))

    def _parts(self, value: object, text: str) -> list[object]:
        """The components of a contribution. Raises TraceError if they are not as many as those of the total."""
        reduced, (found, _) = self._reduced, leaves_of(value)
        if len(found) == len(reduced.names) and is_record(value) == (reduced.record is not None):
            return found
        has = f"a record of {', '.join(reduced.names)}" if reduced.record is not None else "one number for each target"
        advice = f"Write {reduced.including}"
        if reduced.record is None:
            advice += f', or declare a total of records: totals("{self.name} ...", reduce=function, identity=(...))'
        given = _count(len(found), "value") if is_record(value) else "one value"
        raise TraceError(f"{text}: {self.name} is {has}, but is given {given}", advice=f"{advice}.")

    def explained(self) -> TraceError:
        """The error for the total where a value is meant."""
        return TraceError(
            f"{self.name} is read, but it is complete only after all sources, when the cell has ended",
            advice=f"Compute with {self.name} after the call, or write {self._reduced.including}.",
        )

    def _refuse(self, *arguments: object) -> NoReturn:
        raise self.explained()

    next = property(_refuse, _refuse)
    at = astype = property(_refuse)

    @property
    def name(self) -> str:
        """The name of the result, of a total of records the names."""
        return ", ".join(self._reduced.names)

    @property
    def is_record(self) -> bool:
        """Whether it has several results, the components of a record."""
        return self._reduced.record is not None

    def __repr__(self) -> str:
        return f"<total {self.name}>"


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_UNARY = ("neg", "pos", "abs", "invert", "bool", "float", "int", "iter", "len")
_OTHERS = ("lt", "le", "gt", "ge", "eq", "ne", "getitem", "array_ufunc", "array_function", *_UNARY)
_IN_PLACE = [name for name in _BINARY if name != "add"]
for _name in (*_BINARY, *_OTHERS, *(f"r{name}" for name in _BINARY), *(f"i{name}" for name in _IN_PLACE)):
    setattr(Total, f"__{_name}__", Total._refuse)


def finish_totals(trace: Trace) -> None:
    """Store every total in the kernel: contributions of one pair are added first, then folded over the sources."""
    if trace.space == PAIRS and not trace.totals:
        error = TraceError(
            "the cell declares targets or sources, but no result", advice='Declare one: ax, ay = totals("ax ay").'
        )
        raise trace.source.mark(error, next(iter(trace.statics.values())).span)
    for state in trace.totals.values():
        assert isinstance(state, _State)
        reduced = state.reduced
        if not state.contributions:
            called = ", ".join(reduced.names)
            error = TraceError(
                f"nothing is contributed to the total {called}",
                advice=f"Write {reduced.including}, or remove {called}.",
            )
            raise trace.source.mark(error, state.span)
        combined = Combination(reduced.function, reduced.operator, state.contributions[0], reduced.record)
        pair = state.contributions[0]
        for further in state.contributions[1:]:
            pair = combined.together(pair, further)
        if state.near is None:
            folded = Term(trace, trace.pool.fold(combined.operator, pair.index, (1,)))
        else:
            folded = fold_near(trace, replace(combined, given=pair), state.near[1], state.near[0])
        for span in trace.pool.node(pair.index).spans[:1]:
            trace.pool.annotate(folded.index, span=span)
        for name, part in zip(reduced.names, unpacked(folded, len(reduced.names)), strict=True):
            trace.kernel.stores[name] = (part, state.span)


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
