"""Subscripts of arrays in functions: x[1:], x[::-1], x[3], x[columns], x[:, None], as NumPy has them.

A slice of a formula is the formula of slices, down to the arguments, whose slices are views. An expensive
value, and one that an array of indices asks for, is read from an array (Gather).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import EllipsisType

from workbench.errors import TraceError
from workbench.frontend.axis_table import AnyOrigin, Cut, CutOrigin, Meeting
from workbench.frontend.formulas import contains, made_of
from workbench.frontend.places import EXPENSIVE, read_at
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import cast_term, constant, meeting_space, spread
from workbench.frontend.renaming import Target, index_of
from workbench.frontend.slice_bounds import bound_of
from workbench.frontend.trace import Operand, Term
from workbench.frontend.value import Value, term_of
from workbench.graph import GLOBAL, OPERATORS, Arith, Axis, Load, Loop, Node, Space
from workbench.graph.types import BOOL, I64

_MOST_OPERATIONS = 100
"""A value of more operations is stored before it is sliced: n steps that slice what the last one made are n loops at
most, not a formula of 2**n operations."""


def subscript(positions: FunctionPositions, term: Term, parts: Sequence[object]) -> Term:
    """The array that a subscript means. Raises TraceError for what is no subscript.

    Of several arrays of indices all lie at neighbouring axes; they meet, and theirs are the result's axes there.
    """
    text, own = positions.trace.text_here("this subscript"), list(order_of(term))
    cuts: dict[Axis, Target] = {}
    order: list[Axis | None] = []
    indexed: dict[int, Term] = {}
    for part in _whole(text, parts, len(own)):
        axis = None if part is None else own.pop(0)
        if part is None or _is_whole(part) or (axis is None and _is_one_of_one(part)):
            order.append(axis)
        elif axis is None and isinstance(part, int) and part in (0, -1):
            continue  # its one element, and the axis away
        elif axis is None:
            raise TraceError(f"{text}: an axis made by None has one element", advice="Write : or 0 for it.")
        elif isinstance(part, Term):
            indexed[len(order)] = part
            order.append(axis)
        else:
            taken = [*order, *own, *term.space.axes, *(target.axis for target in cuts.values())]
            target = cuts[axis] = _cut(positions, text, axis, part, taken)
            order += [target.axis] if isinstance(part, slice) else []
    found = sliced(positions, term, cuts).in_order(tuple(order))
    return _gathered(positions, text, found, indexed) if indexed else found


def listed_place(parts: Sequence[object]) -> int | None:
    """Where a subscript has its one list of whole numbers, x[:, [0, 2]]; None for one of another kind."""
    lists = [k for k, part in enumerate(parts) if isinstance(part, list) and part and all(type(n) is int for n in part)]
    others = [part for k, part in enumerate(parts) if k not in lists]
    return lists[0] if len(lists) == 1 and all(isinstance(part, slice) for part in others) else None


def _is_whole(part: object) -> bool:
    # Not by ==, which a traced bound answers with a traced condition.
    return isinstance(part, slice) and part.start is None and part.stop is None and part.step is None


def _is_one_of_one(part: object) -> bool:
    """Whether a slice takes the one element of an axis that has no more: x[None][:1]."""
    if not isinstance(part, slice):
        return False
    if not all(each is None or type(each) is int for each in (part.start, part.stop, part.step)):
        return False
    return part.step != 0 and len(range(*part.indices(1))) == 1


def _whole(text: str, parts: Sequence[object], rank: int) -> list[slice | int | Term | None]:
    """A part for each axis, and None for new ones."""
    named = sum(part is not None and not isinstance(part, EllipsisType) for part in parts)
    dots = sum(isinstance(part, EllipsisType) for part in parts)
    if dots > 1:
        raise TraceError(f"{text} has ... {dots} times", advice="Write it once, for all axes that no part names.")
    if named > rank:
        raise TraceError(f"{text} names {named} axes of {rank}", advice="Write one part for each axis.")
    found: list[slice | int | Term | None] = []
    for part in (*parts, *(() if dots else (...,))):
        if isinstance(part, EllipsisType):
            found += [slice(None)] * (rank - named)
        elif isinstance(part, bool) or not (part is None or isinstance(part, slice | int | Term)):
            advice = "Write x[1:], x[::-1], x[3], x[:, None], or x[columns] with an array of whole numbers."
            if isinstance(part, list):
                advice = (
                    "Write an array of whole numbers, x[np.array([1, 3])], or take it apart: np.stack((x[1], x[3]))."
                )
            raise TraceError(f"{text}: {type(part).__name__} is no part of a subscript", advice=advice)
        elif isinstance(part, Term) and (not part.type.is_integer or part.type == BOOL):
            advice = "Cast an index: i.astype('i64')."
            if part.type == BOOL:
                advice = "Give the places where it holds: x[:, np.flatnonzero(condition)], or write np.where."
            raise TraceError(f"{text}: an index is {part.type}, not a whole number", advice=advice)
        else:
            found.append(part)
    return found


def _cut(
    positions: FunctionPositions, text: str, axis: Axis, part: slice | int, taken: Sequence[Axis | None]
) -> Target:
    """The axis of a slice of an axis; none for one element, which is there if the call finds it so."""
    table = positions.table
    if isinstance(part, int):
        given: tuple[object, object, object] = (part, None if part == -1 else part + 1, 1)
    else:
        step = 1 if part.step is None else part.step
        goes_on = type(step) is int and step > 0
        given = (
            bound_of(positions, axis, part.start),
            bound_of(positions, axis, part.stop, is_stop=goes_on),
            step,
        )
    if not (_is_bound(given[0]) and _is_bound(given[1]) and type(given[2]) is int and given[2] != 0):
        raise TraceError(
            f"{text}: the bounds of a slice are whole numbers that are known while the function is traced, or computed "
            "of lengths",
            advice=_advice_on_bounds(given),
        )
    cut: Cut = given  # type: ignore[assignment]  # checked
    origin = CutOrigin(table.origin(axis), cut)
    if isinstance(part, int):
        table.element(origin, Meeting(positions.trace.here().line, text))
        return Target(None, cut)
    return Target(positions.free(table.axis(table.length(origin)), taken), cut)


def _advice_on_bounds(given: tuple[object, object, object]) -> str:
    """What to write in place of a slice; where a bound is a number of the call, how that is known or a condition."""
    nodes = (term_of(bound).node.instruction for bound in given if isinstance(bound, Value))
    name = next((node.name for node in nodes if isinstance(node, Load)), "")
    if name:
        return (
            f"{name} is a number of the call, which no length depends on. Give it in a tuple, f(x, (5,)), and write "
            f"x[: {name}[0]]; or leave elements out: np.sum(np.where(generate(x.shape, lambda i: i < {name}), x, 0))."
        )
    return (
        "Write x[1:], x[:-1], x[::2], x[: n // 2] or x[k : k + n] with n = x.shape[0]. A number given in a tuple is "
        "known: f(x, (5,)). An index that is computed takes an element: x[i]."
    )


def _is_bound(given: object) -> bool:
    return given is None or type(given) is int or isinstance(given, AnyOrigin)


def sliced(positions: FunctionPositions, term: Term, cuts: Mapping[Axis, Target]) -> Term:
    """The value along slices of its axes."""
    if not cuts or not (contains(term, is_expensive) or _is_long(term)):
        return positions.rename(term, cuts)
    trace, axes = positions.trace, term.space.axes
    space = positions.space([cuts[axis].axis if axis in cuts else axis for axis in axes])
    if space.is_global:
        space = Space((positions.only(),))
    indices = [index_of(trace, axis, cuts.get(axis, Target(axis)), space, positions.size) for axis in axes]
    order = tuple(cuts[axis].axis if axis in cuts else axis for axis in order_of(term))  # type: ignore[index]  # None is not in it
    return trace.emit(lambda pool: pool.gather(term.index, indices)).in_order(order)


def _is_long(term: Term) -> bool:
    """Whether so many operations make a value in each cell that they are not done again for its slices."""
    operations = (node for node in made_of(term) if isinstance(node.instruction, Arith))
    return next(islice(operations, _MOST_OPERATIONS, None), None) is not None


def is_expensive(node: Node) -> bool:
    """Whether the operation costs more than to read its result from an array."""
    instruction = node.instruction
    is_expensive = isinstance(instruction, Arith) and OPERATORS[instruction.operator].flops >= EXPENSIVE
    return is_expensive or isinstance(instruction, Loop)


def _gathered(positions: FunctionPositions, text: str, term: Term, indexed: Mapping[int, Term]) -> Term:
    """The elements at the places that arrays of indices name."""
    trace, order = positions.trace, order_of(term)
    first, last = min(indexed), max(indexed)
    if last - first >= len(indexed):
        raise TraceError(
            f"{text}: arrays of indices stand at axes {first} and {last}, with others between them",
            advice="Transpose first, so that they are neighbours.",
        )
    given, met = positions.meet([indexed[k] for k in sorted(indexed)])
    before, after = (None,) * first, (None,) * (len(order) - last - 1)
    at: dict[Axis, Operand] = {}
    for k, axis in enumerate(order):
        if k in indexed and axis is not None:
            index = given[k - first]
            assert isinstance(index, Term)
            at[axis] = index.in_order((*before, *met, *after))
        elif axis is not None:
            place = k if k < first else k - len(indexed) + len(met)
            along = tuple(axis if p == place else None for p in range(len(order) - len(indexed) + len(met)))
            at[axis] = trace.emit(lambda pool, axis=axis: pool.index(0, Space((axis,)))).in_order(along)  # type: ignore[misc]  # bound now
    indices, final = positions.meet(list(at.values()))
    space = meeting_space(trace, indices)
    if space.is_global:
        space = Space((positions.only(),))
    by_axis = dict(zip(at, indices, strict=True))
    places: dict[Axis, int] = {}
    for axis in term.space.axes:
        named = by_axis.get(axis)
        made = cast_term(named, I64) if isinstance(named, Term) else constant(trace, 0, I64, GLOBAL)
        places[axis] = spread(made, space).index
    positions.note_access(order, final)
    return read_at(trace, term, places, space).in_order(final)
