"""Regions: a Python function of two elements as the operator of a fold, traced into a small graph of its own."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import TraceError
from workbench.frontend.operations import check_storable
from workbench.frontend.promotion import cast_term, constant
from workbench.frontend.trace import Operand, Term, Trace, enter_trace
from workbench.frontend.value import Value, operand
from workbench.graph import GLOBAL, KernelBuilder, Node, Region, Static, StorageType
from workbench.graph.instructions import Parameter
from workbench.graph.rewrite import copy


def region_of(
    trace: Trace,
    function: Callable[..., object],
    type_: StorageType,
    identity: Operand | None,
    names: tuple[str, str] = ("left", "right"),
) -> Region:
    """The function of two numbers of this type as a region. Raises TraceError if it gives something else.

    It sees its two arguments and Python's numbers; the type of what it gives is that of the elements. `identity` is
    the number that leaves the other argument unchanged, None where none is needed; names: of the arguments.
    """
    text = trace.text_here("fold" if identity is not None else "scatter")
    if isinstance(identity, Term):
        raise TraceError(f"{text}: identity is computed in the program", advice="Write the number: identity=0.0.")
    inner = Trace(trace.name, 1, True, trace.float_type, trace.source)
    inner.tree = trace.tree
    inner.begin_called(GLOBAL)
    for name in names:
        inner.declare(Static(name, "param", type_, GLOBAL, default=0))
    leave = enter_trace(inner)
    try:
        made = operand(function(*(Value(inner.emit(lambda pool, name=name: pool.load(name)), name) for name in names)))  # type: ignore[misc]  # bound now
        if isinstance(made, Term):
            check_storable(inner, "the result", type_, made.type, written=text)
        result = cast_term(made, type_) if isinstance(made, Term) else constant(inner, made, type_, GLOBAL)
    finally:
        leave()
    exact = None
    if identity is not None:
        exact = getattr(constant(trace, identity, type_, GLOBAL).node.instruction, "value")  # noqa: B009  # an Imm
    return Region(tuple(Parameter(name, type_) for name in names), _nodes(inner, result.index), exact)


def last_sent(trace: Trace, type_: StorageType) -> Region:
    """The operator of a Scatter that keeps what comes last."""
    return region_of(trace, lambda new, _: new, type_, None, ("new", "old"))


def _nodes(trace: Trace, root: int) -> tuple[Node, ...]:
    """What the root needs, itself last."""
    needed, waiting = {root}, [root]
    while waiting:
        for operand_ in trace.pool.node(waiting.pop()).operands:
            if operand_ not in needed:
                needed.add(operand_)
                waiting.append(operand_)
    builder = KernelBuilder(GLOBAL, tuple(trace.statics.values()))
    places: dict[int, int] = {}
    for index in sorted(needed):
        node = trace.pool.node(index)
        places[index] = copy(builder, node, tuple(places[o] for o in node.operands))
        for name in node.names:
            builder.annotate(places[index], name=name)
    return builder.finish("").nodes
