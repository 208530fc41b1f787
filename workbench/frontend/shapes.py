"""Shapes: the same elements along other axes: reshape, replicate, and what meets where lengths differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.errors import TraceError
from workbench.frontend.axis_table import AnyOrigin, LeastOrigin, Origin, ProductOrigin, QuotientOrigin
from workbench.frontend.equal_ranks import need_equal_ranks
from workbench.frontend.places import read_at
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import meeting_space, spread
from workbench.frontend.renaming import Target, is_stored
from workbench.frontend.subscripts import sliced
from workbench.frontend.trace import Operand, Term, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Arith, Axis, Broadcast, Imm, Load, Space
from workbench.graph.rewrite import copy
from workbench.graph.types import I64


def replicate(xs: object, length: object = None, axis: object = 0) -> Value:
    """Repeat an array along one further axis; the copies are not stored.

    In a function of arrays axis is the number that the new axis gets and length a whole number or that of an array; in
    a cell axis is its name, and its length that of the arrays which have it.
    """
    trace = current_trace("replicate")
    given, positions = operand(xs), trace.positions
    text = trace.text_here("replicate")
    if not isinstance(positions, FunctionPositions):
        number = trace.need_axis(axis, text)
        if length is not None:
            raise TraceError(f"{text}: a length is given", advice="Name the axis alone; an array has its length.")
        along = Space((trace.space.axes[number],))
        if not isinstance(given, Term):
            raise TraceError(f"{text}: {given!r} is one number", advice="Leave replicate out.")
        if set(along.axes) & set(given.space.axes):
            raise TraceError(f"{text}: the value has the axis {axis}", advice="Name an axis that it does not have.")
        index = trace.emit(lambda pool: pool.index(0, along))
        return wrap(spread(given, meeting_space(trace, [given, index])))
    if not isinstance(given, Term):
        raise TraceError(f"{text}: {given!r} is one number", advice="Write generate(n, lambda i: number).")
    order = order_of(given)
    if isinstance(axis, bool) or not isinstance(axis, int) or not -len(order) - 1 <= axis <= len(order):
        raise TraceError(
            f"{text}: axis {axis!r} of {len(order) + 1} axes", advice=f"Give a number from 0 to {len(order)}."
        )
    place = axis % (len(order) + 1)
    if length is None:
        return wrap(given.in_order((*order[:place], None, *order[place:])))
    new = positions.table.axis(positions.length_of(length))
    new = positions.free(new, [*order, *given.space.axes])
    found = (*order[:place], new, *order[place:])
    return wrap(spread(given, positions.space([*given.space.axes, new])).in_order(found))


def zip_with(f: Callable[..., object], *xs: object) -> Value:
    """The array of f(x, y, ...) over the elements of all arrays at equal indices, as long as the shortest array.

    In a function of arrays each axis has the smallest of their lengths, and one made by None has one element; operators
    need equal ones. In a cell axes of the same name have the same length, and the result has the axes of all arrays.
    """
    trace = current_trace("zip_with")
    if not callable(f):
        raise TraceError(f"{trace.text_here('zip_with')}: no function is given", advice="Write zip_with(f, xs, ys).")
    given = [operand(each) for each in xs]
    if isinstance(trace.positions, FunctionPositions):
        given = _shortened(trace.positions, given)
    return wrap(operand(f(*map(wrap, given))))


def _shortened(positions: FunctionPositions, operands: Sequence[Operand]) -> list[Operand]:
    """The operands, of each axis as many elements as the shortest one has."""
    terms = [each for each in operands if isinstance(each, Term) and order_of(each)]
    if not terms:
        return list(operands)
    need_equal_ranks(terms)
    table, cuts = positions.table, [dict[Axis, Target]() for _ in terms]
    for along in zip(*map(order_of, terms), strict=True):
        if not any(along):
            continue
        found = {positions.length_of(1) if axis is None else table.length_of(axis) for axis in along}
        if len(found) < 2:
            continue
        origin = LeastOrigin(tuple(table.origins[number] for number in sorted(found)))
        least = table.axis(table.length(origin))
        for term, axis, own in zip(terms, along, cuts, strict=True):
            if axis is not None:
                taken = [*term.space.axes, *(target.axis for target in own.values())]
                own[axis] = Target(positions.free(least, taken), origin)
    made = iter(_along(positions, term, own) for term, own in zip(terms, cuts, strict=True))
    return [next(made) if isinstance(each, Term) and order_of(each) else each for each in operands]


def _along(positions: FunctionPositions, term: Term, cuts: dict[Axis, Target]) -> Term:
    order = tuple(cuts[axis].axis if axis in cuts else axis for axis in order_of(term))
    return sliced(positions, term, cuts).in_order(order)


def reshape(positions: FunctionPositions, term: Term, shape: Sequence[object]) -> Term:
    """The elements, the last axis fastest, along axes of these lengths; one may be -1. Raises TraceError.

    An argument is seen so as it is; a formula is that formula of arguments; what is stored is read from its array.
    """
    text, table = positions.trace.text_here("reshape"), positions.table
    order = order_of(term)
    if not shape or sum(map(_is_left, shape)) > 1:
        raise TraceError(f"{text}: the shape is {tuple(shape)!r}", advice="Give a length for each axis, one may be -1.")
    whole = tuple(table.origin(axis) for axis in order if axis is not None)
    rest = tuple(_origin(positions, each) for each in shape if not _is_left(each))
    left = whole[0] if len(whole) == 1 and not rest else QuotientOrigin(whole, rest)
    # In the order of the shape, which is then that of the program's axes: rows of new arrays lie in memory.
    numbers = [table.length(left) if _is_left(each) else positions.length_of(each) for each in shape]
    origins = tuple(table.origins[each] for each in numbers)
    for place in reversed(range(len(numbers) - 1)):
        one = origins[place]
        if not (isinstance(one, Origin) and one.argument) and numbers[place] != numbers[place + 1]:
            table.put_before(numbers[place], numbers[place + 1])  # which an argument may have had before
    if origins != whole and rest:
        before, after = table.length(ProductOrigin(whole)), table.length(ProductOrigin(origins))
        if before != after:
            positions.join(before, after, text)
    axes = table.axes(numbers)
    for axis in axes:
        positions.widen(axis)
    found = _of_arguments(positions, term, axes)
    return (_at_places(positions, term, axes) if found is None else found).in_order(axes)


def _is_left(length: object) -> bool:
    """Whether it stands for the elements that the other lengths leave."""
    return isinstance(length, int) and length == -1


def _origin(positions: FunctionPositions, length: object) -> AnyOrigin:
    """Where a given length comes from; a number that no array has yet gets no axis before its turn."""
    if type(length) is int and length >= 0 and Origin("", length) not in positions.table.origins:
        return Origin("", length)
    return positions.table.origins[positions.length_of(length)]


def _of_arguments(positions: FunctionPositions, term: Term, axes: tuple[Axis, ...]) -> Term | None:
    """The formula of reshaped arguments; None where something else makes the value, or an argument along other axes."""
    pool, own = positions.trace.pool, tuple(axis for axis in order_of(term) if axis is not None)
    origins, space = tuple(positions.table.origin(axis) for axis in axes), positions.space(axes)
    made: dict[int, int] = {}
    for index in pool.needed([term.index]):
        node = pool.node(index)
        if not node.is_local:
            made[index] = index
            continue
        match node.instruction:
            case Load(name) if (known := positions.readings.get(name)) is not None and not any(known.cuts):
                assert node.space is not None
                by_position = dict(zip(known.positions, node.space.axes, strict=True))
                if tuple(by_position[k] for k in range(len(known.positions))) != own:
                    return None
                made[index] = positions.read(known.argument, node.value_type, axes, ((),) * len(axes), origins).index
            case Broadcast():
                made[index] = pool.broadcast(node.operands[0], space)
            case Imm() | Arith() if not is_stored(node):
                made[index] = copy(pool, replace(node, space=space), tuple(made[o] for o in node.operands))
            case _:
                return None
    return Term(positions.trace, made[term.index])


def _at_places(positions: FunctionPositions, term: Term, axes: tuple[Axis, ...]) -> Term:
    """The elements at the places where they stand among all, counted along the new axes."""
    trace, space = positions.trace, positions.space(axes)
    pool = trace.pool

    def size(axis: Axis) -> int:
        length = positions.table.axis(positions.table.length_of(axis))
        positions.widen(length)
        return pool.broadcast(pool.size(trace.axis_names.index(length.name)), space)

    place = pool.index(space.axes.index(axes[0]), space)
    for axis in axes[1:]:
        along = pool.index(space.axes.index(axis), space)
        place = pool.arith("add", pool.arith("multiply", place, size(axis)), along)
    own = [axis for axis in order_of(term) if axis is not None]
    indices = {axis: pool.imm(0, I64, space) for axis in term.space.axes if axis not in own}  # of one element
    for axis in reversed(own[1:]):
        indices[axis] = pool.arith("remainder", place, size(axis))
        place = pool.arith("floor_divide", place, size(axis))
    if own:
        indices[own[0]] = place
        return read_at(trace, term, indices, space, is_inside=True)
    return spread(term, space)
