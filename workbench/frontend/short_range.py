"""Short range: what sources within a cutoff contribute to each target, in a time that grows as their number does.

A contribution is the formula of a pair. It is made again with sources in the order of their cells, and folded over the
parts of this list that lie near a target: first along each part, then part by part (semantics §3).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import TraceError
from workbench.frontend.cell_lists import CellLists, cell_lists
from workbench.frontend.combination import Combination, chosen
from workbench.frontend.operations import apply
from workbench.frontend.tensors import Tensor
from workbench.frontend.trace import Operand, Term, Trace
from workbench.frontend.value import Value, operand, term_of
from workbench.graph import (
    Arith,
    Axis,
    Broadcast,
    Gather,
    Hint,
    Imm,
    KernelBuilder,
    LoadIndex,
    Loop,
    Node,
    Replicate,
    Space,
)
from workbench.graph.instructions import operands_in_cell, with_operands
from workbench.graph.rewrite import copy


def fold_near(trace: Trace, combined: Combination, positions: Sequence[tuple[Term, Term]], cutoff: Operand) -> Term:
    """Return what pairs' values combine to over the sources not farther than the cutoff from each target.

    combined: values along the targets' axis and that of the sources behind it. positions: of target and source, one a
    dimension.
    """
    pair = combined.given
    target, source = pair.space.axes
    lists = _lists(trace, positions, cutoff)
    square: Operand = 0
    for own, other in positions:
        apart = apply("subtract", other, own)
        square = apply("add", square, apply("multiply", apart, apart))
    is_near = apply("less_equal", square, apply("multiply", cutoff, cutoff))
    assert isinstance(is_near, Term)
    near = chosen(combined, is_near, pair, is_identity=False)
    value = _in_order(trace, near, source, lists.order)
    result: Term | None = None
    for part in lists.parts:
        folded = trace.emit(
            lambda pool, part=part: pool.segments(combined.operator, value, part.begin.index, part.length.index)  # type: ignore[misc]
        )
        result = folded if result is None else combined.together(result, folded)
    assert result is not None  # there is one part at least
    assert result.space.axes == (target,)
    return result


def _lists(trace: Trace, positions: Sequence[tuple[Term, Term]], cutoff: Operand) -> CellLists:
    """The lists for these positions, which all sums within one cutoff share."""
    key = (*(term.index for pair in positions for term in pair), cutoff.index if isinstance(cutoff, Term) else cutoff)
    if key not in trace.cell_lists:
        trace.cell_lists[key] = cell_lists(trace, [a for a, _ in positions], [b for _, b in positions], cutoff)
    found = trace.cell_lists[key]
    assert isinstance(found, CellLists)
    return found


def one_length(what: str, cutoff: object) -> Operand:
    """The cutoff as an operand. Raises TraceError for what is not one number."""
    if isinstance(cutoff, int | float) and not isinstance(cutoff, bool) and cutoff > 0:
        return float(cutoff)
    given = operand(cutoff) if isinstance(cutoff, Value) else None
    if isinstance(given, Term) and not given.is_local and given.type.is_float:
        return given
    shown = f"a value along {given.space.axis_names}" if isinstance(given, Term) and given.is_local else repr(cutoff)
    raise TraceError(
        f"{what}: the cutoff is {shown}, not one length",
        advice="Give a positive number, a param, or the largest length: reduce_max(2 * h).",
    )


def vector_of(what: str, positions: object) -> list[Value]:
    """The components of positions that are given as values. Raises TraceError for what is none."""
    given: Sequence[object]
    if isinstance(positions, Tensor) and positions.rank == 1:
        given = [positions[k] for k in range(positions.dim)]
    else:
        given = list(positions) if isinstance(positions, tuple | list) else [positions]
    found = [part for part in given if isinstance(part, Value) and term_of(part).type.is_float]
    if not found or len(found) < len(given):
        raise TraceError(f"{what}: positions={positions!r}", advice="Give the targets' positions: positions=(x, y).")
    return found


def _in_order(trace: Trace, pair: Term, source: Axis, order: Term) -> int:
    """The node of the formula with sources in another order; `order` numbers them."""
    made: dict[int, int] = {}
    for index in trace.pool.needed([pair.index], lambda index: _moving(trace.pool.node(index), source)):
        node = trace.pool.node(index)
        made[index] = _moved(trace, index, made, source, order) if _has(node, source) else index
        for name in node.names if _has(node, source) else ():
            trace.pool.annotate(made[index], name=name)
    return made[pair.index]


def _has(node: Node, source: Axis) -> bool:
    return node.space is not None and source in node.space.axes


def _moving(node: Node, source: Axis) -> tuple[int, ...]:
    """The operands that are needed in the new order too: not those of what sources have by themselves, nor arrays."""
    is_moving = isinstance(node.instruction, Gather) or (_has(node, source) and node.space != Space((source,)))
    return operands_in_cell(node) if is_moving else ()


def _moved(trace: Trace, index: int, made: dict[int, int], source: Axis, order: Term) -> int:
    """A value of sources, or of pairs, with the sources in their new order."""
    node, space = trace.pool.node(index), Space((source,))
    operands = tuple(made[operand] for operand in _moving(node, source))

    def build(pool: KernelBuilder) -> int:
        match node.instruction:
            case Imm() | Broadcast():
                return index
            case LoadIndex(axis) if node.space is not None:
                moves = node.space.axes[axis] == source
                return pool.replicate(order.index, node.space) if moves else index
            case Gather():
                found = pool.gather(node.operands[0], operands)
            case _ if node.space == space:
                found = pool.gather(index, [order.index])
            case Arith() | Loop() | Replicate():
                return copy(pool, node, with_operands(node, made.__getitem__))
            case _:
                called = node.names[0] if node.names else "a value"
                raise TraceError(
                    f"{trace.text_here()}: {called} of each pair is stored, which a cutoff is to avoid",
                    advice="Contribute a formula of targets and sources.",
                )
        if node.space == space:  # computed once a source, not again for each pair
            pool.annotate(found, hint=Hint("manifest"))
        return found

    return trace.emit(build).index
