"""Total: a result of pairs while its cell is traced; what pairs contribute is reduced when the cell has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import NoReturn

from workbench.amounts import counted
from workbench.errors import TraceError
from workbench.frontend.combination import Combination
from workbench.frontend.offsets import whole_or_none
from workbench.frontend.operations import apply, check_storable, where
from workbench.frontend.promotion import cast_term, constant, convert, spread
from workbench.frontend.records import Record, is_record, leaves_of, packed, unpacked
from workbench.frontend.short_range import fold_near
from workbench.frontend.tensors import Tensor
from workbench.frontend.trace import Operand, Term, Trace, current_trace, text_here
from workbench.frontend.tree_walk import Far, sums_by_tree
from workbench.frontend.value import operand, wrap
from workbench.graph import Axis, Region, Space, Span, StorageType
from workbench.graph.fused_sums import fused_sum
from workbench.graph.instructions import traits_of
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import BOOL

PAIRS = Space((Axis("i", NamedExtent("targets"), "array"), Axis("j", NamedExtent("sources"), "array")))
TARGETS, SOURCES = PAIRS.without((1,)), PAIRS.without((0,))


@dataclass(frozen=True, slots=True)
class Reduced:
    """How a total is reduced. names: of its components, which are the results; one where record is None.

    written: how the text calls it where that is not its name: a[0].
    """

    names: tuple[str, ...]
    types: tuple[StorageType, ...]
    function: object
    operator: str | Region
    record: Record | None = None
    written: str = ""

    @property
    def including(self) -> str:
        """How a pair's contribution is written, for advice."""
        return self.included_in("t" if self.record is not None else self.written or self.names[0])

    def included_in(self, variable: str) -> str:
        """The same for a total that is called so."""
        if self.operator == "sum":
            return f"{variable} += value"
        value = "value" if self.record is None else f"({', '.join(self.names)})"
        return f"{variable}.include({value})"


Near = tuple[Operand, tuple[tuple[Term, Term], ...]]
"""A cutoff, and the positions of target and source, one pair a dimension."""


@dataclass(slots=True)
class TotalState:
    """A total while its cell is traced: where it was declared, its cutoff or tree, what one pair contributes.

    variables: the names that the text gave it before anything was contributed, each in its module or function. fused:
    its one contribution is the two factors of a product, as a record.
    """

    reduced: Reduced
    span: Span
    near: Near | None
    far: Far | None = None
    contributions: list[Term] = field(default_factory=list)
    fused: bool = False
    variables: set[tuple[CodeType, str]] = field(default_factory=set)


class Total:
    """A result while its cell is traced: `t += value`, `t -= value`, `t.include(value)`; complete at its end."""

    def __init__(self, reduced: Reduced) -> None:
        self._reduced = reduced

    def __iadd__(self, value: object) -> Total:
        self._need_sum("+= adds")
        self.include(value)
        return self

    def __isub__(self, value: object) -> Total:
        self._need_sum("-= subtracts")
        (given,) = self._parts(value, text_here(self.name))
        term = operand(given)
        counts = isinstance(term, Term) and term.type == BOOL
        self.include(wrap(where(term, -1, 0)) if counts else -given)  # type: ignore[operator]  # a number or a value
        return self

    def _need_sum(self, what: str) -> None:
        reduced = self._reduced
        if reduced.operator != "sum":
            how = f"the {reduced.operator} over all sources"
            if isinstance(reduced.function, FunctionType):
                how = f"reduced by {reduced.function.__name__}"
            raise TraceError(f"{self.name} {what}, but {self.name} is {how}", advice=f"Write {reduced.including}.")

    def include(self, value: object) -> None:
        """Take what each pair contributes into the reduction: a value, or of a total of records a tuple of values."""
        trace = current_trace(".include")
        reduced, text = self._reduced, trace.text_here()
        given = [operand(each) for each in self._parts(value, text)]
        state = _state(trace, reduced)
        if state.near is None and state.far is None and not any(_has_source(each) for each in given):
            if any(_is_reduced(trace, each) for each in given):
                raise TraceError(
                    f"{text}: what is contributed to {self.name} is reduced over the sources already",
                    advice=f"Leave that out: {self._reduced.including} reduces over all sources by itself.",
                )
            raise TraceError(
                f"{text}: what is contributed to {self.name} depends on no source",
                advice="Compute with a value of sources(...), or add the value to the result after the call.",
            )
        parts = []
        names = (reduced.written,) if reduced.written else reduced.names
        for each, name, type_ in zip(given, names, reduced.types, strict=True):
            if isinstance(each, Term):
                if reduced.operator == "sum" and each.type == BOOL:  # counts 1 where it holds, as in NumPy
                    each = cast_term(each, type_)
                check_storable(trace, name, type_, each.type, written=name)
                parts.append(spread(cast_term(each, type_), PAIRS))
            else:
                parts.append(constant(trace, each, type_, PAIRS))
        if state.fused:
            raise TraceError(
                f"{text}: {self.name} takes a fused product, which is its one contribution",
                advice=f"Write one {self.name} = fma(a, b, {self.name}), or {self.name} += value for all of them.",
            )
        state.contributions.append(packed(trace, parts))

    def include_product(self, a: object, b: object) -> Total:
        """Take a * b, rounded together with the sum: t = fma(a, b, t). Of dd the product is rounded by itself."""
        self._need_sum("= fma(...) adds")
        (type_,), trace = self._reduced.types, current_trace("fma")
        factors = [operand(a), operand(b)]
        product, state = apply("multiply", *factors), _state(trace, self._reduced)
        if state.far is not None:
            raise TraceError(f"{self.name} is summed by a tree, not fused", advice=f"Write {self.name} += a * b.")
        if type_.is_record:
            wide = [cast_term(each, type_) if isinstance(each, Term) else each for each in factors]
            self.include(wrap(apply("multiply", *wide)))
            return self
        if not type_.is_float:
            raise TraceError(f"{self.name} is {type_}, but fma computes floats", advice=f"Write {self.name} += a * b.")
        self.include(wrap(product))  # which refuses what is no contribution
        if len(state.contributions) > 1:
            raise TraceError(
                f"{trace.text_here(self.name)}: {self.name} takes several contributions, of which one is fused",
                advice=f"Contribute once: {self.name} = fma(a, b, {self.name}), or {self.name} += fma(a, b, value).",
            )
        parts = [convert(trace, each, type_, PAIRS) for each in factors]
        state.contributions, state.fused = [packed(trace, parts)], True
        return self

    def _parts(self, value: object, text: str) -> list[object]:
        """The components of a contribution. Raises TraceError if they are not as many as those of the total."""
        reduced, (found, _) = self._reduced, leaves_of(value)
        if len(found) == len(reduced.names) and is_record(value) == (reduced.record is not None):
            return found
        has = f"a record of {', '.join(reduced.names)}" if reduced.record is not None else "one number for each target"
        advice = f"Write {reduced.including}"
        if reduced.record is None:
            advice += f', or declare a total of records: totals("{self.name} ...", reduce=function, identity=(...))'
        given = counted(len(found), "value") if is_record(value) else "one value"
        raise TraceError(f"{text}: {self.name} is {has}, but is given {given}", advice=f"{advice}.")

    def explained(self) -> TraceError:
        """The error for the total where a value is meant."""
        return _read(self.name, self._reduced.including)

    def _refuse(self, *arguments: object) -> NoReturn:
        raise self.explained()

    next = property(_refuse, _refuse)
    at = astype = property(_refuse)

    @property
    def name(self) -> str:
        """The name of the result, of a total of records the names."""
        return self._reduced.written or ", ".join(self._reduced.names)

    @property
    def is_record(self) -> bool:
        """Whether it has several results, the components of a record."""
        return self._reduced.record is not None

    def __repr__(self) -> str:
        return f"<total {self.name}>"


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_UNARY = ("neg", "pos", "abs", "invert", "bool", "float", "int", "iter", "len")
_OTHERS = ("lt", "le", "gt", "ge", "eq", "ne", "getitem", "array_ufunc", "array_function", *_UNARY)
_IN_PLACE = [name for name in _BINARY if name not in ("add", "sub")]
for _name in (*_BINARY, *_OTHERS, *(f"r{name}" for name in _BINARY), *(f"i{name}" for name in _IN_PLACE)):
    setattr(Total, f"__{_name}__", Total._refuse)


class TotalVector:
    """Totals under one name: `a += d` or `a -= d` of a vector or tuple takes its components, `a[0]` is one total."""

    def __init__(self, name: str, parts: Sequence[Total]) -> None:
        self.name, self._parts = name, tuple(parts)

    def __iadd__(self, value: object) -> TotalVector:
        for part, each in zip(self._parts, self._components(value), strict=True):
            part += each  # the total, which takes it
        return self

    def __isub__(self, value: object) -> TotalVector:
        for part, each in zip(self._parts, self._components(value), strict=True):
            part -= each  # the total, which takes it
        return self

    def include_product(self, a: object, b: object) -> TotalVector:
        """Take the components of a product, of which one factor may be a number for all: t = fma(a, d, t)."""
        for k, part in enumerate(self._parts):
            part.include_product(*(each if _is_number(each) else self._components(each)[k] for each in (a, b)))
        return self

    def include(self, value: object) -> None:
        """Take the components of what each pair contributes into the reductions."""
        for part, each in zip(self._parts, self._components(value), strict=True):
            part.include(each)

    def _components(self, value: object) -> list[object]:
        dim = len(self._parts)
        if isinstance(value, Tensor) and value.rank == 1 and value.dim == dim:
            return [value.component((a,)) for a in range(dim)]
        if isinstance(value, tuple | list) and len(value) == dim:
            return list(value)
        given = "one value"
        if isinstance(value, Tensor | tuple | list):
            given = getattr(value, "kind", counted(len(value), "component"))
        raise TraceError(
            f"{text_here(self.name)}: {self.name} has {counted(dim, 'component')}, but is given {given}",
            advice=f"Contribute a vector or a tuple of {dim}, or to one component: {self.name}[0] += value.",
        )

    def __getitem__(self, key: object) -> Total:
        number = whole_or_none(key)
        if number is None:
            raise TraceError(
                f"{text_here(self.name)}: which total it is depends on the pair",
                advice=f"Write for k in range({len(self._parts)}): {self.name}[k] += where(index == k, value, 0).",
            )
        if not 0 <= number < len(self._parts):
            raise TraceError(
                f"{text_here(self.name)}: {self.name} has components 0 to {len(self._parts) - 1}, not {number}",
                advice="Use one of them, or declare it with a larger dim.",
            )
        return self._parts[number]

    def __setitem__(self, key: object, value: object) -> None:
        """Take back what `a[0] += value` gives. Raises TraceError for another value."""
        kept = self[key]
        if kept is not value:
            raise TraceError(
                f"{text_here(self.name)} is a total, and no other value takes its place",
                advice=f"Write {kept._reduced.included_in(f'{self.name}[{key}]')}.",
            )

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Total]:
        return iter(self._parts)

    def explained(self) -> TraceError:
        """The error for the totals where a value is meant."""
        return _read(self.name, self._parts[0]._reduced.included_in(self.name))

    def _refuse(self, *arguments: object) -> NoReturn:
        raise self.explained()

    next = property(_refuse, _refuse)
    at = astype = property(_refuse)

    def __repr__(self) -> str:
        return f"<totals {self.name}, {len(self._parts)} components>"


for _name in (
    *_BINARY,
    *(f"r{name}" for name in _BINARY),
    *(f"i{name}" for name in _IN_PLACE),
    *(name for name in _OTHERS if name not in ("getitem", "iter", "len")),
):
    setattr(TotalVector, f"__{_name}__", TotalVector._refuse)


def _has_source(given: Operand) -> bool:
    """Whether the value depends on the source of a pair."""
    return isinstance(given, Term) and set(SOURCES.axes) <= set(given.space.axes)


def _is_reduced(trace: Trace, given: Operand) -> bool:
    """Whether the value is computed from what was reduced over sources."""
    nodes = map(trace.pool.node, trace.pool.needed([given.index]) if isinstance(given, Term) else ())
    reduced = (each for node in nodes if traits_of(node.instruction).is_reduction for each in node.operands)
    spaces = [trace.pool.node(each).space for each in reduced]
    return any(space is not None and set(SOURCES.axes) <= set(space.axes) for space in spaces)


def _is_number(value: object) -> bool:
    return not isinstance(value, Tensor | tuple | list)


def _read(name: str, including: str) -> TraceError:
    return TraceError(
        f"{name} is read, but it is complete only after all sources, when the cell has ended",
        advice=f"Compute with {name} after the call, or write {including}.",
    )


def name_total(trace: Trace, name: str, value: object) -> None:
    """Remember the variable of a total. Raises TraceError where `ax = value` gives its name to another value."""
    frame = trace.source.frame() if trace.totals else None
    if frame is None:
        return
    variable = frame.f_code, name
    totals = value._parts if isinstance(value, TotalVector) else (value,) if isinstance(value, Total) else ()
    for total in totals:
        state = _state(trace, total._reduced)
        if not state.contributions:
            state.variables.add(variable)
    if totals:
        return
    for state in map(_as_state, trace.totals.values()):
        if variable in state.variables:
            raise TraceError(
                f"{trace.text_here(name)}: {name} is a total, to which pairs contribute, and this replaces it",
                advice=f"Write {state.reduced.included_in(name)}, or choose another name for the value.",
            )


def _state(trace: Trace, reduced: Reduced) -> TotalState:
    return _as_state(trace.totals[reduced.names[0]])


def _as_state(kept: object) -> TotalState:
    """What a trace keeps of a total, whose type it does not know."""
    assert isinstance(kept, TotalState)
    return kept


def finish_totals(trace: Trace) -> None:
    """Store every total in the kernel: contributions of one pair are added first, then folded over the sources."""
    if trace.space == PAIRS and not trace.totals:
        error = TraceError(
            "the cell declares targets or sources, but no result", advice='Declare one: ax, ay = totals("ax ay").'
        )
        raise trace.source.mark(error, next(iter(trace.statics.values())).span)
    by_tree: list[tuple[TotalState, Far, Term]] = []
    for state in map(_as_state, trace.totals.values()):
        reduced = state.reduced
        if not state.contributions:
            called = reduced.written or ", ".join(reduced.names)
            error = TraceError(
                f"nothing is contributed to the total {called}",
                advice=f"Write {reduced.including}, or remove {called}.",
            )
            raise trace.source.mark(error, state.span)
        operator, record = reduced.operator, reduced.record
        if state.fused:
            operator, record = fused_sum(reduced.types[0]), Record(reduced.types * 2, tuple)
        combined = Combination(reduced.function, operator, state.contributions[0], record)
        pair = state.contributions[0]
        for further in state.contributions[1:]:
            pair = combined.together(pair, further)
        if state.far is not None:
            by_tree.append((state, state.far, pair))
            continue
        if state.near is None:
            folded = Term(trace, trace.pool.fold(combined.operator, pair.index, (1,)))
        else:
            folded = fold_near(trace, replace(combined, given=pair), state.near[1], state.near[0])
        for span in trace.pool.node(pair.index).spans[:1]:
            trace.pool.annotate(folded.index, span=span)
        parts = unpacked(folded, 2)[:1] if state.fused else unpacked(folded, len(reduced.names))
        for name, part in zip(reduced.names, parts, strict=True):
            trace.kernel.stores[name] = (part, state.span)
    sums = sums_by_tree(
        trace, [(far, state.reduced.written or state.reduced.names[0], pair) for state, far, pair in by_tree]
    )
    for (state, _, _), found in zip(by_tree, sums, strict=True):
        trace.kernel.stores[state.reduced.names[0]] = (found, state.span)
