"""Index range: whether an index lies inside of an axis by the way it is made, as min(i + 1, n - 1) does.

Bounds are linear in n, the number of elements along the axis, which is at least 1 where a loop has a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.codegen.scope import Scope
from workbench.graph import Arith, Broadcast, Imm, LoadIndex, LoadSize, Node, Replicate
from workbench.graph.spaces import Axis, Extent
from workbench.graph.types import I64

_DEEPEST = 16  # operators below an index
_LARGEST = 2**31  # of a constant: sums of some of them and of lengths do not wrap
_LARGEST_FACTOR = 2**15  # of an index: no array has 2**47 elements along an axis


@dataclass(frozen=True, slots=True)
class Bound:
    """slope * (n - 1) + value; of two bounds one is known to be larger if neither number is smaller."""

    slope: int
    value: int

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.slope + other.slope, self.value + other.value)

    def __sub__(self, other: Bound) -> Bound:
        return Bound(self.slope - other.slope, self.value - other.value)

    def times(self, number: int) -> Bound:
        """The product with a number."""
        return Bound(self.slope * number, self.value * number)

    def is_at_most(self, other: Bound) -> bool:
        """Whether it is for all n."""
        return self.slope <= other.slope and self.value <= other.value


FIRST, LAST = Bound(0, 0), Bound(1, 0)
_ONE = Bound(0, 1)
_Range = tuple[Bound | None, Bound | None]
_UNKNOWN: _Range = (None, None)


def lies_inside(scope: Scope, index: int, extent: Extent) -> bool:
    """Whether a value is an index of an axis of this extent, in each cell of the loop of a scope."""
    frame = scope.frame
    if not scope.within or frame is None:
        return False
    if not any(_has(frame.axes[axis], extent) for axis in scope.loop_axes):
        return False  # there may be no element
    low, high = _Ranges(scope, extent, {}).of(index, 0)
    return low is not None and high is not None and FIRST.is_at_most(low) and high.is_at_most(LAST)


@dataclass(slots=True)
class _Ranges:
    scope: Scope
    extent: Extent
    known: dict[int, _Range]

    def of(self, index: int, depth: int) -> _Range:
        """The least and the largest of a value, where something is known of them."""
        if index not in self.known:
            self.known[index] = self._range(self.scope.nodes[index], depth + 1) if depth < _DEEPEST else _UNKNOWN
        return self.known[index]

    def _range(self, node: Node, depth: int) -> _Range:
        match node.instruction:
            case Imm(value) if isinstance(value, int) and abs(value) < _LARGEST:
                return Bound(0, value), Bound(0, value)
            case LoadIndex(axis) if node.space is not None and _has(node.space.axes[axis], self.extent):
                return FIRST, LAST
            case LoadSize(axis) if self.scope.frame is not None:
                is_length = self.scope.frame.axes[axis].extent == self.extent
                return (LAST + _ONE, LAST + _ONE) if is_length else _UNKNOWN
            case Broadcast() | Replicate():
                return self.of(node.operands[0], depth)
            case Arith("select"):
                return self._chosen(node, depth)
            case Arith(operator) if operator in _COMBINED and node.value_type == I64:
                first, second = (self.of(operand, depth) for operand in node.operands)
                return _COMBINED[operator](first, second)
            case _:
                return _UNKNOWN

    def _chosen(self, node: Node, depth: int) -> _Range:
        """One of two values. Where the question is p < q, the first may be p, and the second p - q."""
        asked, _, no = (self.scope.nodes[operand] for operand in node.operands)
        (low, high), (other_low, other_high) = (self.of(operand, depth) for operand in node.operands[1:])
        if asked.instruction == Arith("less"):
            if asked.operands[0] == node.operands[1]:
                limit = self.of(asked.operands[1], depth)[1]
                high = _least(high, None if limit is None else limit - _ONE)
            if no.instruction == Arith("subtract") and no.operands == asked.operands:
                other_low = _most(other_low, FIRST)
        return _lower(low, other_low), _upper(high, other_high)


def _has(axis: Axis, extent: Extent) -> bool:
    return axis.kind == "array" and axis.extent == extent


def _least(one: Bound | None, other: Bound | None) -> Bound | None:
    """The better of two upper bounds of one value."""
    if one is None or other is None:
        return one or other
    return other if other.is_at_most(one) else one


def _most(one: Bound | None, other: Bound | None) -> Bound | None:
    """The better of two lower bounds of one value."""
    if one is None or other is None:
        return one or other
    return other if one.is_at_most(other) else one


def _lower(one: Bound | None, other: Bound | None) -> Bound | None:
    """A lower bound of two values."""
    if one is None or other is None:
        return None
    return Bound(min(one.slope, other.slope), min(one.value, other.value))


def _upper(one: Bound | None, other: Bound | None) -> Bound | None:
    """An upper bound of two values."""
    if one is None or other is None:
        return None
    return Bound(max(one.slope, other.slope), max(one.value, other.value))


def _sum(one: _Range, other: _Range) -> _Range:
    return _both(one[0], other[0]), _both(one[1], other[1])


def _both(one: Bound | None, other: Bound | None) -> Bound | None:
    return None if one is None or other is None else one + other


def _difference(one: _Range, other: _Range) -> _Range:
    low, high = other
    return _sum(one, (None if high is None else FIRST - high, None if low is None else FIRST - low))


def _product(one: _Range, other: _Range) -> _Range:
    """Of a number and an index: each bound of that, times the number, which is small."""
    for (low, high), (number, same) in ((one, other), (other, one)):
        if number is not None and number == same and not number.slope and abs(number.value) < _LARGEST_FACTOR:
            bounds = [None if each is None else each.times(number.value) for each in (low, high)]
            return (bounds[0], bounds[1]) if number.value >= 0 else (bounds[1], bounds[0])
    return _UNKNOWN


def _minimum(one: _Range, other: _Range) -> _Range:
    return _lower(one[0], other[0]), _least(one[1], other[1])


def _maximum(one: _Range, other: _Range) -> _Range:
    return _most(one[0], other[0]), _upper(one[1], other[1])


def _remainder(_: _Range, other: _Range) -> _Range:
    """It has the sign of the divisor."""
    low, high = other
    return (FIRST, high - _ONE) if low is not None and high is not None and _ONE.is_at_most(low) else _UNKNOWN


_COMBINED: dict[str, Callable[[_Range, _Range], _Range]] = {
    "add": _sum,
    "subtract": _difference,
    "multiply": _product,
    "minimum": _minimum,
    "maximum": _maximum,
    "remainder": _remainder,
}
