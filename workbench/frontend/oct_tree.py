"""An oct-tree over particles: the particles of each node, what follows a node in a walk, how far it must be to act.

Particles are sorted by the Morton numbers of their cells. The tree is the binary radix tree of the sorted numbers
(Karras 2012), whose nodes are the cubes of an oct-tree, their halves and quarters. A node has the number of the place
behind which its two parts meet (Apetrei 2014). Its particles are those whose numbers begin with the bits that it has in
common: two binary searches find the first and the last one, all nodes at once. Each node then tells the place where it
begins, or the node before whose split it ends, that it is there; so nothing is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from workbench.frontend.node_moments import at, choose, least, moments_of, most
from workbench.frontend.regions import last_sent
from workbench.frontend.sorting import sorted_by
from workbench.frontend.trace import Trace
from workbench.frontend.value import Value, binary, term_of, unary, wrap
from workbench.frontend.while_loops import while_loop
from workbench.frontend.whole_numbers import popcount
from workbench.graph import Space
from workbench.graph.types import DD, F64, I64

BITS = {1: 52, 2: 31, 3: 21}
"""Bits of the number of a particle's cell along each axis, by how many axes there are."""
FEW = 16
"""So many particles, or fewer, are no node: they act one by one."""
_LARGEST = 2**63 - 1
_LOW = 2**32 - 1
"""Of two numbers that share an i64, the bits of the second one."""


def corners(dim: int) -> tuple[tuple[int, ...], ...]:
    """The unit points t of a node, which acts by points at centre + L t; the mean of t is 0 and that of t t^T is 1."""
    return tuple(product((1, -1), repeat=dim))


@dataclass(frozen=True, slots=True)
class Cube:
    """The common cube of the sources: its lowest corner and its width, which are numbers, f64 or dd."""

    lows: tuple[Value, ...]
    width: Value

    def units(self, x: Value, axis: int) -> Value:
        """Positions along an axis in units of the width, f64: 0 to 1 inside."""
        return (_wide(x) - self.lows[axis]).astype("f64") / self.width

    def position(self, unit: Value, axis: int) -> Value:
        """The position of a place in the cube, of the type of the lowest corner."""
        found = unit * self.width
        return self.lows[axis] + (found.astype("dd") if term_of(self.lows[axis]).type == DD else found)

    def keys(self, units: Sequence[Value]) -> Value:
        """The Morton number of each place's cell: the bits of all axes in turn, those of the first axis highest."""
        first, *others = (_spread(cell_of(unit, len(units)), len(units)) for unit in units)
        for other in others:
            first = (first << 1) | other
        return first


@dataclass(frozen=True, slots=True)
class OctTree:
    """The tree, as arrays along the sources' axis. What has a value for each node has it at the node's number.

    order: the number of the source at each place. positions, weights: at each place, f64 or dd. root: where a walk
    begins. centres: of nodes, in units of the cube. radius2: the squared distance from its centre beyond which a node
    acts. links: what follows a node that does not act, and one that does, as `pair`. factors: of each node's
    covariance, the lower triangle row by row, in units of the cube. point_weight: of each point by which a node acts.
    runs: what follows the particles that act together from a place on, and how many they are, as `pair`.

    What follows is a number: a particle's place, n plus a node's number, or 2 n at the end of the walk.
    """

    cube: Cube
    order: Value
    positions: tuple[Value, ...]
    weights: Value
    root: Value
    centres: tuple[Value, ...]
    radius2: Value
    links: Value
    factors: tuple[Value, ...]
    point_weight: Value
    runs: Value


def oct_tree(trace: Trace, positions: Sequence[Value], weights: Value, theta: Value | float) -> OctTree:
    """Return the tree over particles along one axis. theta: the opening angle."""
    dim, space = len(positions), term_of(positions[0]).space
    n, index = size_along(trace, space), numbers_along(trace, space)
    cube = _cube(positions)
    key = cube.keys([cube.units(x, axis) for axis, x in enumerate(positions)])
    keys, order = map(wrap, sorted_by(trace, term_of(key), dim * BITS[dim]))
    unlike = choose(index + 1 < n, keys ^ at(keys, least(index + 1, n - 1)), _LARGEST)
    own = _filled(unlike)  # the bits that a node's particles do not have in common
    order, unlike, own, begin, behind = _ranges(trace, n, keys, order, unlike, own)
    end = behind - 1
    xs, ws = tuple(at(_wide(x), order) for x in positions), at(_wide(weights), order)
    units = [cube.units(x, axis) for axis, x in enumerate(xs)]
    is_node = (index + 1 < n) & (unlike > 0) & (behind - begin > FEW)
    is_root = (begin == 0) & (behind == n)
    # The one of both neighbours whose number has more bits in common with the node's is on the other side of the split.
    is_second = (begin > 0) & (at(unlike, most(begin - 1, 0)) < at(unlike, end))
    entry = _sent(trace, index, index + n, begin, is_node & (is_second | is_root))
    first_part = _sent(trace, begin, index + n, end, is_node & ~(is_second | is_root))
    skip = choose(behind < n, at(entry, least(behind, n - 1)), 2 * n)
    found = trace.emit(lambda pool: pool.reduce("max", term_of(choose(is_node & is_root, index + n, 0)).index))
    moments = moments_of(units, ws, begin, end)
    radius2 = _radius2(units, popcount(own), begin, moments.centres, theta)
    return OctTree(
        cube,
        order,
        xs,
        ws,
        choose(n > 0, most(wrap(found), 0), 2 * n),
        moments.centres,
        choose(moments.are_mixed, float("inf"), radius2),
        pair(first_part, skip),
        moments.factors,
        (moments.weight / len(corners(dim))).astype(term_of(ws).type),
        _runs(trace, n, index, entry, len(corners(dim))),
    )


def size_along(trace: Trace, space: Space) -> Value:
    """How many elements there are along the one axis."""
    number = trace.axis_names.index(space.axes[0].name)
    return wrap(trace.emit(lambda pool: pool.size(number)))


def numbers_along(trace: Trace, space: Space) -> Value:
    """The number of each element along the one axis."""
    return wrap(trace.emit(lambda pool: pool.index(0, space)))


def cell_of(unit: Value, dim: int) -> Value:
    """The number of the cell along an axis; outside of the cube the nearest one, 0 for what is no number."""
    cells = 2 ** BITS[dim]
    return least(most((unit * float(cells)).astype("i64"), 0), cells - 1)


def pair(first: Value, second: Value) -> Value:
    """Two numbers below 2**31 as one."""
    return (first << 32) | second


def both(numbers: Value) -> tuple[Value, Value]:
    """The two numbers of `pair`."""
    return numbers >> 32, numbers & _LOW


def _cube(positions: Sequence[Value]) -> Cube:
    lows = tuple(_reduced(_wide(x), "min") for x in positions)
    widths = [(_reduced(_wide(x), "max") - low).astype("f64") for x, low in zip(positions, lows, strict=True)]
    width = widths[0]
    for other in widths[1:]:
        width = most(width, other)
    return Cube(lows, choose(width > 0, width, 1.0))


def _ranges(trace: Trace, n: Value, keys: Value, order: Value, unlike: Value, own: Value) -> list[Value]:
    """Order, unlike and own, and the place where each node's particles begin and the one behind them.

    These are how many keys are below the node's, and how many are not above what it may have at most. The other values
    go through the loop, so that they are not made again behind it.
    """
    space = term_of(keys).space
    zero = wrap(trace.emit(lambda pool: pool.imm(0, I64, space)))

    def turn(
        step: Value, keys: Value, low: Value, high: Value, begin: Value, behind: Value, kept: tuple[Value, ...]
    ) -> object:
        found = []
        for bound, place in ((low, begin), (high, behind)):
            further = place + step
            is_inside = further <= n
            is_reached = is_inside & (at(keys, choose(is_inside, further - 1, 0)) <= bound)
            found.append(choose(is_reached, further, place))
        return step >> 1, keys, low, high, *found, kept

    step = (_filled(n) + 1) >> 1  # the largest power of two that is not above n
    start = (step, keys, (keys & ~own) - 1, keys | own, zero, zero, (order, unlike, own))
    _, _, _, _, begin, behind, kept = while_loop(lambda step, *_: step > 0, turn, start, at_most=64)
    return [*kept, begin, behind]


def _runs(trace: Trace, n: Value, index: Value, entry: Value, together: int) -> Value:
    """What follows the particles that act together from each place on, `together` or as many as come before a node."""
    nodes = term_of(choose(entry != index, index, n))
    scanned = trace.emit(lambda pool: pool.scan("min", nodes.index, 0, reverse=True, exclusive=True))
    node = least(wrap(scanned), n)  # where the next node is entered
    follows = choose(node < n, at(entry, least(node, n - 1)), 2 * n)
    return pair(choose(index + together < node, index + together, follows), least(node - index, together))


def _radius2(
    units: Sequence[Value], free: Value, begin: Value, centres: Sequence[Value], theta: Value | float
) -> Value:
    """The squared distance from its centre beyond which a node acts: there its side is seen under less than theta.

    The distance is the one from the middle of its cell at least (Barnes 1994), and a target lies outside of the cell.
    The side of a half or quarter of a cube is the root mean square of its sides. free: how many bits differ.
    """
    dim, squares, apart = len(units), [], []
    for axis, unit in enumerate(units):
        bits = (free + axis) // dim
        low = (cell_of(at(unit, begin), dim) >> bits) << bits
        side = (1 << bits).astype("f64") * 2.0 ** -BITS[dim]
        off = centres[axis] - (low.astype("f64") * 2.0 ** -BITS[dim] + 0.5 * side)
        squares.append(side * side)
        apart.append(off * off)
    diagonal2 = total_of(squares)
    side = unary("sqrt", diagonal2 / float(dim))
    seen = (
        binary("divide", side, most(theta, 0.0))
        if isinstance(theta, Value)
        else side * (1 / theta if theta else float("inf"))
    )
    radius = unary("sqrt", total_of(apart)) + most(seen, 0.5 * unary("sqrt", diagonal2))
    return radius * radius


def total_of(parts: Sequence[Value]) -> Value:
    """The sum, one after the other."""
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found


def _filled(number: Value) -> Value:
    """The number with all bits below its highest one."""
    for shift in (1, 2, 4, 8, 16, 32):
        number = number | (number >> shift)
    return number


def _spread(cell: Value, dim: int) -> Value:
    """The bits of a number with dim - 1 zeros between two of them."""
    for step in (32, 16, 8, 4, 2, 1) if dim > 1 else ():
        if step < BITS[dim]:
            mask = sum(1 << (k // step * step * dim + k % step) for k in range(BITS[dim]))
            cell = (cell | (cell << step * (dim - 1))) & mask
    return cell


def _sent(trace: Trace, defaults: Value, values: Value, places: Value, condition: Value) -> Value:
    """What is sent to places where a condition holds, elsewhere the defaults."""
    keep, given = last_sent(trace, I64), [term_of(each).index for each in (defaults, values, places, condition)]
    return wrap(trace.emit(lambda pool: pool.scatter(keep, given[0], given[1], [given[2]], given[3])))


def _wide(x: Value) -> Value:
    return x if term_of(x).type == DD else x.astype(F64)


def _reduced(x: Value, name: str) -> Value:
    term = term_of(x)
    return wrap(term.trace.emit(lambda pool: pool.reduce(name, term.index)))
