"""Regions: a Python function of two elements as the operator of a fold, traced into a small graph of its own."""

from __future__ import annotations

from collections.abc import Callable

from workbench.frontend.records import Record
from workbench.frontend.trace import Trace, enter_trace
from workbench.frontend.value import Value
from workbench.graph import GLOBAL, KernelBuilder, Node, Region, Static, StorageType
from workbench.graph.instructions import Parameter
from workbench.graph.rewrite import copy


def region_of(
    trace: Trace,
    function: Callable[..., object],
    kind: StorageType | Record,
    identity: object | None,
    names: tuple[str, str] = ("left", "right"),
) -> Region:
    """The function of two elements, numbers of a type or records, as a region. TraceError if it gives something else.

    It sees its two arguments and Python's numbers; the type of what it gives is that of the elements. `identity` is
    the element that leaves the other argument unchanged, None where none is needed; names: of the arguments.
    """
    text = trace.text_here("fold" if identity is not None else "scatter")
    record = kind if isinstance(kind, Record) else Record((kind,), lambda parts: parts[0])
    type_ = record.type
    inner = Trace(trace.name, 1, True, trace.float_type, trace.source)
    inner.tree, inner.operator_of, inner.whole_power = trace.tree, text, trace.whole_power
    inner.begin_called(GLOBAL)
    for name in names:
        inner.declare(Static(name, "param", type_, GLOBAL, default=0))
    leave = enter_trace(inner)
    try:
        given = [inner.emit(lambda pool, name=name: pool.load(name)) for name in names]  # type: ignore[misc]  # bound now
        if len(record.types) == 1:
            result = record.result(inner, function(*map(Value, given, names)), text)
        else:
            result = record.result(inner, function(*map(record.wrapped, given)), text)
    finally:
        leave()
    exact = None if identity is None else record.numbers(trace, identity, text)
    return Region(tuple(Parameter(name, type_) for name in names), _nodes(inner, result.index), exact)


def last_sent(trace: Trace, kind: StorageType | Record) -> Region:
    """The operator of a Scatter that keeps what comes last."""
    return region_of(trace, lambda new, _: new, kind, None, ("new", "old"))


def _nodes(trace: Trace, root: int) -> tuple[Node, ...]:
    """What the root needs, itself last."""
    builder = KernelBuilder(GLOBAL, tuple(trace.statics.values()))
    places: dict[int, int] = {}
    for index in trace.pool.needed([root]):
        node = trace.pool.node(index)
        places[index] = copy(builder, node, tuple(places[o] for o in node.operands))
        for name in node.names:
            builder.annotate(places[index], name=name)
    return builder.finish("").nodes
