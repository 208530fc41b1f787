"""Pairs: what happens between element i of the targets and element j of the sources, summed over the sources.

The language of the precision-aware interaction compiler's slides: the user writes what one pair contributes, and how
data move is the workbench's business. A cell of pairs has two axes, i and j; its kernel `main` runs once at each call.
"""

from __future__ import annotations

from typing import NoReturn

from workbench.errors import TraceError
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import apply, check_storable, parse_type
from workbench.frontend.promotion import cast_term, spread
from workbench.frontend.short_range import fold_near, one_length
from workbench.frontend.trace import Operand, Term, TotalState, Trace, current_trace
from workbench.frontend.value import Value, operand
from workbench.graph import OPERATORS, REDUCTIONS, Axis, Space, Static
from workbench.graph.operators import accepts
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import BOOL

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


def totals(
    names: str, dtype: object = None, reduce: str = "sum", cutoff: object = None, positions: str = ""
) -> tuple[Total, ...]:
    """Declare results, one number for each target: ax, ay = totals("ax ay"). Always a tuple.

    `ax += value` adds what each pair contributes, i = j included. reduce: "sum", or "max", "min", "product", "any" or
    "all", whose totals take t.include(value). dtype: default the machine's float type, bool for "any" and "all".
    cutoff: a length; pairs that are farther apart contribute nothing, and the time grows as the number of near pairs.
    positions: the names, declared on both sides, of what the distance is of: totals("rho", cutoff=2 * h,
    positions="x y").
    """
    trace = _pairs("totals")
    if not isinstance(reduce, str) or reduce not in REDUCTIONS:
        raise TraceError(f"totals: reduce={reduce!r} is no reduction", advice=f"Use one of {', '.join(REDUCTIONS)}.")
    row = OPERATORS[REDUCTIONS[reduce].operator]
    type_ = (BOOL if row.kinds == "bool" else trace.float_type) if dtype is None else parse_type(dtype)
    if not accepts(row, type_):
        raise TraceError(f"totals: {reduce} does not take {type_}", advice="Leave dtype out, or choose another one.")
    made, near = [], _near(trace, cutoff, positions)
    for name in names_of("totals", names, 'ax, ay = totals("ax ay")'):
        trace.declare(Static(name, "field", type_, TARGETS, span=trace.here()), "a total")
        trace.totals[name] = TotalState(reduce, trace.here(), near)
        made.append(Total(name))
    return tuple(made)


def _near(trace: Trace, cutoff: object, positions: object) -> tuple[Operand, tuple[tuple[Term, Term], ...]] | None:
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

    def __init__(self, name: str) -> None:
        self._name = name

    def __iadd__(self, value: object) -> Total:
        trace = current_trace("+=")
        state = trace.totals[self._name]
        if state.reduce != "sum":
            raise TraceError(
                f"{self._name} += adds, but {self._name} is the {state.reduce} over all sources",
                advice=f"Write {self._name}.include(value).",
            )
        self.include(value)
        return self

    def include(self, value: object) -> None:
        """Take what each pair contributes into the reduction."""
        trace = current_trace(".include")
        given, text = operand(value), trace.text_here()
        if not isinstance(given, Term) or not set(SOURCES.axes) <= set(given.space.axes):
            raise TraceError(
                f"{text}: what is contributed to {self._name} depends on no source",
                advice="Compute with a value of sources(...), or add the value to the result after the call.",
            )
        state, static = trace.totals[self._name], trace.statics[self._name]
        check_storable(trace, self._name, static.type, given.type, written=self._name)
        state.contributions.append(spread(cast_term(given, static.type), PAIRS))

    def _refuse(self, *arguments: object) -> NoReturn:
        raise TraceError(
            f"{self._name} is read, but it is complete only after all sources, when the cell has ended",
            advice=f"Compute with {self._name} after the call, or write {self._name} += value.",
        )

    next = property(_refuse, _refuse)
    at = astype = property(_refuse)

    @property
    def name(self) -> str:
        """The name of the result."""
        return self._name

    def __repr__(self) -> str:
        return f"<total {self._name}>"


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
    for name, state in trace.totals.items():
        if not state.contributions:
            error = TraceError(
                f"nothing is contributed to the total {name}", advice=f"Write {name} += value, or remove {name}."
            )
            raise trace.source.mark(error, state.span)
        value: Operand = state.contributions[0]
        for further in state.contributions[1:]:
            value = apply(REDUCTIONS[state.reduce].operator, value, further)
        assert isinstance(value, Term)
        pair = value.index
        if state.near is None:
            folded = trace.pool.fold(state.reduce, pair, (1,))
        else:
            folded = fold_near(trace, state.reduce, value, state.near[1], state.near[0]).index
        for span in trace.pool.node(pair).spans[:1]:
            trace.pool.annotate(folded, span=span)
        trace.kernel.stores[name] = (Term(trace, folded), state.span)


def _declare(what: str, names: object, dtype: object, space: Space, suffix: str) -> FieldTuple:
    trace = _pairs(what)
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    made = []
    for name in names_of(what, names, f'x, y = {what}("x y")'):
        trace.declare(Static(f"{name}{suffix}", "field", type_, space, span=trace.here()), f"one of the {what}")
        full = f"{name}{suffix}"
        made.append(Value(trace.emit(lambda pool, full=full: pool.load(full))))  # type: ignore[misc]  # bound now
    return FieldTuple(made)


def _pairs(what: str) -> Trace:
    """The trace, now one of pairs."""
    trace = current_trace(what)
    if trace.space != PAIRS:
        begin_called(trace, what, PAIRS)
    return trace
