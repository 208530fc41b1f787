"""Pairs: what happens between element i of the targets and element j of the sources, summed over the sources.

The language of the precision-aware interaction compiler's slides: the user writes what one pair contributes, and how
data move is the workbench's business. A cell of pairs has two axes, i and j; its kernel `main` runs once at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import cast

from workbench.amounts import counted
from workbench.errors import TraceError
from workbench.frontend.called import begin_called, names_of
from workbench.frontend.combination import reduction_of
from workbench.frontend.componentwise import component_name
from workbench.frontend.dimension import let_vectors_have
from workbench.frontend.field_tuple import FieldTuple
from workbench.frontend.operations import parse_type
from workbench.frontend.promotion import number_type
from workbench.frontend.records import Record, is_record, leaves_of
from workbench.frontend.regions import region_of
from workbench.frontend.short_range import one_length
from workbench.frontend.tensors import MOST_COMPONENTS, Tensor
from workbench.frontend.total import PAIRS, SOURCES, TARGETS, Near, Reduced, Total, TotalState, TotalVector
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.tree_walk import Far, need_dimensions, opening_angle
from workbench.frontend.value import Value
from workbench.graph import OPERATORS, REDUCTIONS, Static, StorageType
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, DD

SOURCE = ".source"
"""Ends the names of the sources' arrays, because a name may be declared on both sides."""


def targets(names: str, dtype: object = None, dim: int | None = None) -> tuple[Value, ...]:
    """Declare what each target i has: x, y = targets("x y"). Always a tuple; arrays are given at the call.

    dtype: as of a field. dim: components of a vector, x, v = targets("x v", dim=3), one number a target without it; its
    array is (dim, n). A name that is declared among the sources too is given once where targets and sources are one
    set: gravity(x=x, m=m).
    """
    return _declare("targets", names, dtype, dim, "")


def sources(names: str, dtype: object = None, dim: int | None = None) -> tuple[Value, ...]:
    """Declare what each source j has: xj, mj = sources("x m"). Always a tuple; arrays are given at the call.

    dtype, dim: as of targets.
    """
    return _declare("sources", names, dtype, dim, SOURCE)


def totals(  # noqa: PLR0913  # each of what limits pairs has a default
    names: str,
    dtype: object = None,
    reduce: object = "sum",
    cutoff: object = None,
    positions: str = "",
    *,
    tree: object = None,
    weights: str = "",
    identity: object = None,
    dim: int | None = None,
) -> tuple[Total | TotalVector, ...]:
    """Declare results, one number for each target: ax, ay = totals("ax ay"). Always a tuple.

    `ax += value` adds what each pair contributes, i = j included; of a condition it counts the pairs. reduce: "sum", or
    "max", "min", "product", "any" or "all", whose totals take t.include(value), or a Python function of two elements,
    which must be associative, with its identity: the element that leaves the other one unchanged. If that is a tuple,
    the names are the components of one total of records: near, = totals("distance number", reduce=nearer,
    identity=(inf, -1)) takes near.include((d, j)).
    dtype: default the machine's float type, bool for "any" and "all", with a function what its identity has; a tuple
    for a record. cutoff: a length; pairs that are farther apart contribute nothing, and the time grows as the number of
    near pairs; `n += 1` counts them. positions: the names, declared on both sides, of what the distance is of:
    totals("rho", cutoff=2 * h, positions="x y"). tree: an opening angle, a number or param; far sources act together,
    by an oct-tree with moments up to the second, and the time grows as n log n: totals("ax ay", tree=0.5,
    positions="x y", weights="m"), where a contribution is a multiple of m and reads nothing else of a source than its
    position. dim: components of each total: a, = totals("a", dim=3) takes a += m * d of vectors or tuples, and a[0] +=
    value; its result is an array (dim, n).
    """
    return _totals("totals", names, dtype, reduce, (cutoff, tree, positions, weights), identity, dim)


def _totals(
    what: str,
    names: str,
    dtype: object,
    reduce: object,
    limits: tuple[object, object, str, str],
    identity: object,
    dim: int | None,
) -> tuple[Total | TotalVector, ...]:
    """The same; `what` is the word that the text uses, totals or total."""
    trace = _pairs(what)
    cutoff, tree, positions, weights = limits
    far = _far(trace, what, tree, positions, weights)
    if far is not None and cutoff is not None:
        raise TraceError(f"{what}: tree= and cutoff= are both given", advice="Give one of them.")
    near = _near(trace, what, cutoff, positions) if far is None else None
    found = tuple(names_of(what, names, 'ax, ay = totals("ax ay")'))
    count = _components(what, dim)
    if count and is_record(identity):
        raise TraceError(f"{what}: dim={dim} of a total of records", advice="Name each component, without dim=.")
    places = [(name, (a,)) for name in found for a in range(count)] if count else [(name, ()) for name in found]
    stored = tuple(component_name(*place) for place in places)
    if isinstance(reduce, FunctionType) and reduction_of(reduce) is None:
        reduced = _by_function(trace, what, stored, reduce, dtype, identity)
    else:
        reduced = _by_name(trace, what, stored, reduce, dtype, identity)
    for each in reduced if far is not None else ():
        if each.operator != "sum" or not each.types[0].is_float:
            raise TraceError(
                f"{what}: a tree adds floats, but {each.names[0]} is the {each.operator} of {each.types[0]}"
                if isinstance(each.operator, str)
                else f"{what}: a tree adds floats, but {each.names[0]} is reduced by a function",
                advice="Leave reduce= and dtype= out, or tree=.",
            )
    groups = {name: (group, index) for name, (group, index) in zip(stored, places, strict=True) if index}
    made: list[Total] = []
    for each in reduced:
        for name, type_ in zip(each.names, each.types, strict=True):
            group, index = groups.get(name, ("", ()))
            static = Static(name, "field", type_, TARGETS, group=group, component=index, span=trace.here())
            trace.declare(static, "a total")
            each = replace(each, written=f"{group}[{index[0]}]") if index else each
        trace.totals[each.names[0]] = TotalState(each, trace.here(), near, far)
        made.append(Total(each))
    if count:
        vectors = [TotalVector(name, made[k * count : (k + 1) * count]) for k, name in enumerate(found)]
        return FieldTuple[Total | TotalVector](vectors, "totals")
    return FieldTuple[Total | TotalVector](made, "totals")


def total(  # noqa: PLR0913  # as totals
    name: str,
    dtype: object = None,
    reduce: object = "sum",
    cutoff: object = None,
    positions: str = "",
    *,
    tree: object = None,
    weights: str = "",
    identity: object = None,
    dim: int | None = None,
) -> Total | TotalVector:
    """Declare one result, as totals does: near = total("near", reduce="min").

    A total of records is one too, with a name for each component: near = total("distance number", reduce=nearer,
    identity=(inf, -1)).
    """
    _pairs("total")
    names = names_of("total", name, 'near = total("near", reduce="min")')
    found = _totals("total", name, dtype, reduce, (cutoff, tree, positions, weights), identity, dim)
    if len(found) != 1:
        raise TraceError(
            f"total: {name!r} are names of {counted(len(found), 'total')}",
            advice=f'Write {", ".join(names)} = totals("{name}").',
        )
    return found[0]


def _components(what: str, dim: object) -> int:
    """How many components a total has that is a vector, 0 for one number."""
    if dim is None:
        return 0
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= MOST_COMPONENTS:
        raise TraceError(
            f"{what}: no total has dim={dim!r}", advice=f"Give dim as a number from 1 to {MOST_COMPONENTS}."
        )
    return dim


def _by_name(
    trace: Trace, what: str, names: tuple[str, ...], reduce: object, dtype: object, identity: object
) -> list[Reduced]:
    """A total for each name, reduced by an operator that has a name."""
    name = reduce if isinstance(reduce, str) else reduction_of(reduce)
    if name not in REDUCTIONS:
        raise TraceError(
            f"{what}: reduce={reduce!r} is no reduction",
            advice=f"Use one of {', '.join(REDUCTIONS)}, or a Python function of two elements.",
        )
    if identity is not None:
        raise TraceError(f'{what}: reduce="{name}" has an identity of its own', advice="Leave identity= out.")
    row = OPERATORS[REDUCTIONS[name].operator]
    type_ = (BOOL if row.kinds == "bool" else trace.float_type) if dtype is None else parse_type(dtype)
    if not accepts(row, type_):
        raise TraceError(f"{what}: {name} does not take {type_}", advice="Leave dtype out, or choose another one.")
    return [Reduced((each,), (type_,), reduce, name) for each in names]


def _by_function(
    trace: Trace, what: str, names: tuple[str, ...], function: FunctionType, dtype: object, identity: object
) -> list[Reduced]:
    """A total for each name, by a function of two numbers, or one of all names, by a function of two records."""
    if identity is None:
        raise TraceError(
            f"{what}: no identity is given for {function.__name__}",
            advice="Write identity=..., the element that leaves the other one unchanged: 0 of a sum, 1 of a product.",
        )
    numbers, rebuild = leaves_of(identity)
    if not all(isinstance(number, int | float) for number in numbers):
        raise TraceError(f"{what}: identity={identity!r} is not known here", advice="Give numbers: identity=(inf, -1).")
    if not is_record(identity):
        types = _types(trace, what, (numbers[0],), dtype)
        operator = region_of(trace, function, types[0], identity)
        return [Reduced((each,), types, function, operator) for each in names]
    if len(numbers) != len(names) or len(numbers) == 1:
        raise TraceError(
            f"{what}: identity={identity!r} has {counted(len(numbers), 'component')} for {counted(len(names), 'name')}",
            advice='Name each component: totals("distance number", reduce=nearer, identity=(inf, -1)).',
        )
    record = Record(_types(trace, what, numbers, dtype), rebuild)
    return [Reduced(names, record.types, function, region_of(trace, function, record, identity), record)]


def _types(trace: Trace, what: str, numbers: Sequence[object], dtype: object) -> tuple[StorageType, ...]:
    """The type of each component: what was asked for, else that of its identity."""
    asked = list(dtype) if isinstance(dtype, tuple | list) else [dtype] * len(numbers)
    if len(asked) != len(numbers):
        raise TraceError(
            f"{what}: dtype={dtype!r} for {counted(len(numbers), 'component')}", advice="Give a type for each of them."
        )
    types = tuple(
        number_type(trace, number) if each is None else parse_type(each)  # type: ignore[arg-type]  # looked at before
        for number, each in zip(numbers, asked, strict=True)
    )
    if DD in types and len(types) > 1:
        raise TraceError(f"{what}: a component of a record is dd", advice="Combine values of type dd by themselves.")
    return types


def _near(trace: Trace, what: str, cutoff: object, positions: object) -> Near | None:
    """The cutoff and the positions of both sides. Raises TraceError where only one is given, or one is unknown."""
    example = f'{what}("rho", cutoff=2 * h, positions="x y")'
    if cutoff is None and not positions:
        return None
    if cutoff is None or not positions:
        missing = "cutoff" if cutoff is None else "positions"
        raise TraceError(f"{what}: {missing}= is missing", advice=f"Give both: {example}.")
    return one_length(what, cutoff), _places(trace, what, positions, example)


def _far(trace: Trace, what: str, tree: object, positions: object, weights: object) -> Far | None:
    """The opening angle, the positions of both sides and the weight of the sources. Raises TraceError as `_near`."""
    if tree is None and not weights:
        return None
    example = f'{what}("ax ay", tree=0.5, positions="x y", weights="m")'
    for missing, given in (("tree", tree is not None), ("positions", positions), ("weights", weights)):
        if not given:
            raise TraceError(f"{what}: {missing}= is missing", advice=f"Give all three: {example}.")
    theta, places = opening_angle(what, tree), _places(trace, what, positions, example)
    need_dimensions(what, len(places))
    name, *others = names_of(what, weights, example)
    static = trace.statics.get(f"{name}{SOURCE}")
    if others or static is None or not static.type.is_float:
        raise TraceError(
            f"{what}: the weight {weights} is not one that is declared of the sources, as a float",
            advice=f'Declare sources("{name}") above {what}(...).',
        )
    weight = trace.emit(lambda pool: pool.load(f"{name}{SOURCE}"))
    own, other = zip(*places, strict=True)
    return Far(theta, own, other, weight, (*other, weight))


def _places(trace: Trace, what: str, positions: object, example: str) -> tuple[tuple[Term, Term], ...]:
    """The positions of target and source, one pair a dimension. Raises TraceError where one is unknown."""
    pairs: list[tuple[Term, Term]] = []
    given = names_of(what, positions, example)
    grouped = {name: [s.name for s in trace.statics.values() if s.group == name] for name in given}
    for name in (part for each in given for part in grouped[each] or [each]):
        sides = [trace.statics.get(each) for each in (name, f"{name}{SOURCE}")]
        if any(side is None or not side.type.is_float for side in sides) or sides[0].space != TARGETS:  # type: ignore[union-attr]
            raise TraceError(
                f"{what}: the position {name} is not declared on both sides, as a float",
                advice=f'Declare targets("{name}") and sources("{name}") above {what}(...).',
            )
        own, other = (trace.emit(lambda pool, n=n: pool.load(n)) for n in (name, f"{name}{SOURCE}"))  # type: ignore[misc]  # bound now
        pairs.append((own, other))
    return tuple(pairs)


def _declare(what: str, names: object, dtype: object, dim: int | None, suffix: str) -> FieldTuple[Value]:
    trace = _pairs(what)
    type_ = trace.float_type if dtype is None else parse_type(dtype)
    if dim is not None:
        let_vectors_have(trace, what, dim)

    def part(name: str, index: tuple[int, ...]) -> Value:
        full, group = f"{component_name(name, index)}{suffix}", f"{name}{suffix}" if index else ""
        _need_new(trace, what, name, full)
        static = Static(
            full, "field", type_, SOURCES if suffix else TARGETS, group=group, component=index, span=trace.here()
        )
        trace.declare(static, f"one of the {what}")
        return Value(trace.emit(lambda pool: pool.load(full)))

    def made(name: str) -> Value | Tensor:
        return (
            part(name, ()) if dim is None else Tensor({(a,): part(name, (a,)) for a in range(dim)}, dim, 1, False, name)
        )

    found = names_of(what, names, f'x, y = {what}("x y")')
    return FieldTuple((cast(Value, made(name)) for name in found), what)


def _need_new(trace: Trace, what: str, name: str, full: str) -> None:
    """Refuse a second set of elements: a cell knows pairs, no triples."""
    other = trace.statics.get(full)
    if other is not None and trace.kinds[full] == f"one of the {what}":
        raise TraceError(
            f"{what}: {name} is declared already, in line {other.span.line}: a pair has one target and one source",
            advice="Give it another name. A function of arrays sums over triples: x[:, None, None] - x[:, None].",
        )


def _pairs(what: str) -> Trace:
    """The trace, now one of pairs."""
    trace = current_trace(what)
    if trace.space != PAIRS:
        begin_called(trace, what, PAIRS)
    return trace
