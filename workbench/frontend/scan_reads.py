"""Reads of scans: what stands before each element of a scanned array, and what all elements combine to."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.combination import Combination, chosen
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.subscripts import subscript
from workbench.frontend.trace import Operand, Term, Trace
from workbench.graph import Axis, KernelBuilder, Space
from workbench.graph.spaces import NamedExtent
from workbench.graph.types import I64


def before(whole: Term, combined: Combination, axis: int, *, reverse: bool, heads: Term | None = None) -> Term:
    """The exclusive scan, read from the inclusive one: the element before each, the identity where there is none.

    axis: among the value's own. heads: where else nothing stands before, a condition in the same space.
    """
    trace, space = whole.trace, whole.space
    place = trace.emit(lambda pool: pool.index(axis, space))
    begins = _at_border(trace, space, axis, first=not reverse)
    if heads is not None:
        begins = trace.emit(lambda pool: pool.arith("logical_or", begins.index, heads.index))

    def neighbour(pool: KernelBuilder) -> int:
        step = pool.arith("add" if reverse else "subtract", place.index, pool.imm(1, I64, space))
        inside = pool.arith("select", begins.index, place.index, step)
        return pool.gather(whole.index, [inside if k == axis else pool.index(k, space) for k in range(space.rank)])

    found = trace.emit(neighbour)
    return chosen(combined, begins, found, is_identity=True).in_order(whole.order)


def last(whole: Term, combined: Combination, axis: int, *, reverse: bool) -> Operand:
    """The last element in the order of the scan, without the axis; the identity where there is no element."""
    trace, positions = whole.trace, whole.trace.positions
    operator, own = combined.operator, whole.space.axes[axis]
    if isinstance(positions, FunctionPositions):
        number = order_of(whole).index(own)
        parts = [slice(None)] * len(order_of(whole))
        parts[number] = slice(None, 1) if reverse else slice(-1, None)
        return positions.fold_axes(operator, subscript(positions, whole, parts), number, combined.record is None)
    if combined.record is not None and whole.space.rank == 1:
        raise TraceError(
            f"{trace.text_here('scan')}: the total of all records of a cell",
            advice="Write it in a function of arrays: @wb.collective.",
        )
    ends = _at_border(trace, whole.space, axis, first=reverse)
    kept = chosen(combined, ends, whole, is_identity=False)
    return trace.emit(lambda pool: pool.fold(operator, kept.index, [axis]))


def size_of(trace: Trace, axis: Axis) -> Term:
    """The length of an axis."""
    assert isinstance(axis.extent, NamedExtent)
    number = trace.axis_names.index(axis.extent.name)
    return trace.emit(lambda pool: pool.size(number))


def _at_border(trace: Trace, space: Space, axis: int, *, first: bool) -> Term:
    """Whether an element is the first, or the last one, along an axis."""
    size = None if first else size_of(trace, space.axes[axis])

    def build(pool: KernelBuilder) -> int:
        border = pool.imm(0, I64, space)
        if size is not None:
            border = pool.broadcast(pool.arith("subtract", size.index, pool.imm(1, I64)), space)
        return pool.arith("equal", pool.index(axis, space), border)

    return trace.emit(build)
