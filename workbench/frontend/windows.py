"""Windows: each element of an array from its neighbours (a stencil); a boundary rule says what lies outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index as whole
from typing import NoReturn

from workbench.errors import TraceError
from workbench.frontend.boundaries import NO_RULE, Rule, extend_term, one_rule
from workbench.frontend.elements import is_array, parts_of
from workbench.frontend.operations import apply, where
from workbench.frontend.outside import Outside
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.promotion import convert, spread
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Axis, Space


def windows(f: Callable[..., object], xs: object, boundary: object = None) -> Value:
    """The array of f(w), where w[0] is an element and w[-1], w[+1] are its neighbours; w[0, -1] with two axes.

    xs: an array, or a tuple of arrays, for which f takes one window each. boundary: the rule outside the array,
    "outflow", "periodic", "reflect", "mirror", constant(value) or another rule of fields, one for all axes or a tuple
    with one for each, which may be a pair of both sides. Without a rule a read outside is an error at the call. Any
    offset may be read; a computed array is stored first. An axis that None made, as in x[None], has one element.
    """
    trace = current_trace("windows")
    if not callable(f):
        text = trace.text_here("windows")
        raise TraceError(f"{text}: no function is given", advice="Write windows(lambda w: w[+1] - w[-1], xs).")
    given: list[Operand] = [operand(each) for each in (xs if isinstance(xs, tuple | list) else (xs,))]
    order: tuple[Axis | None, ...] | None = None
    if trace.positions is not None:
        given, order = trace.positions.meet(given)
    seen = [_Window(trace, term, boundary) for term in _arrays(trace, given)]
    made = operand(f(*seen))
    first = seen[0].term
    if not isinstance(made, Term):
        made = convert(trace, made, first.type, first.space)
    elif not made.is_local:
        made = spread(made, first.space)
    return wrap(made if made.order else made.in_order(order))


def _arrays(trace: Trace, given: Sequence[Operand]) -> list[Term]:
    """The arrays that windows are read from, each with all its axes: those that None made have one element."""
    found: list[Term] = []
    for each in given:
        if not isinstance(each, Term) or not each.is_local or not (each.order or is_array(each.space)):
            text = trace.text_here("windows")
            raise TraceError(f"{text}: no array is given", advice="Give an array; of a field write u[+1].")
        found.append(each)
    made = {number for each in found for number, axis in enumerate(order_of(each)) if axis is None}
    if not made or not isinstance(trace.positions, FunctionPositions):
        return found
    if any(order_of(each)[number] is not None for each in found for number in made):
        text = trace.text_here("windows")
        raise TraceError(
            f"{text}: None made an axis of one element, along which another array has more",
            advice="Give arrays of one shape: replicate(xs, n, axis) repeats elements along a new axis.",
        )
    return [trace.positions.with_own_axes(each) for each in found]


@dataclass(frozen=True, slots=True)
class _Window:
    """The neighbourhood of an element while the function is traced."""

    trace: Trace
    term: Term
    boundary: object

    def _refuse(self, *arguments: object, **options: object) -> NoReturn:
        del arguments, options
        raise TraceError(
            f"{self.trace.text_here('a window')}: a window is no array",
            advice="Read the neighbours that you need: w[-1] + w[0] + w[+1].",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __pow__ = __abs__ = __iter__ = __len__ = __bool__ = _refuse
    __array__ = __array_ufunc__ = __array_function__ = __getattr__ = _refuse

    def __getitem__(self, key: object) -> Value:
        """The neighbour at these offsets, one for each axis."""
        axes = order_of(self.term) or self.term.space.axes
        parts = parts_of(key)
        try:
            offsets = tuple(whole(part) for part in parts if not isinstance(part, bool))  # type: ignore[arg-type]  # refused
        except TypeError:
            offsets = ()
        if len(offsets) != len(axes) or len(parts) != len(axes):
            text = self.trace.text_here("a window")
            raise TraceError(
                f"{text} is no neighbour in an array of {len(axes)} ax{'i' if len(axes) == 1 else 'e'}s",
                advice=f"Give a whole number for each axis: w[{', '.join(['-1'] + ['0'] * (len(axes) - 1))}].",
            )
        if not any(offsets):
            return wrap(self.term)
        return wrap(_neighbour(self.trace, self.term, dict(zip(axes, offsets, strict=True)), self._rules(len(axes))))  # type: ignore[arg-type]  # None is not in it

    def _rules(self, rank: int) -> _Sides:
        """The rule of both sides of each axis."""
        given = self.boundary
        each = given if isinstance(given, tuple | list) else (given,) * rank
        if len(each) != rank:
            raise TraceError(f"windows is given {len(each)} rules for {rank} axes", advice="Give one for each axis.")
        return tuple(_pair(rule) for rule in each)


_Sides = tuple[tuple[Rule, Rule], ...]


def _pair(given: object) -> tuple[Rule, Rule]:
    sides = tuple(given) if isinstance(given, tuple | list) else (given, given)
    rules = [NO_RULE if rule is None else one_rule(rule, "windows") for rule in sides]
    if len(rules) != 2 or [rule.kind for rule in rules].count("periodic") == 1:
        raise TraceError(
            f"windows is given {given!r} for one axis",
            advice='Give one rule, or one for each side; "periodic" is both.',
        )
    return rules[0], rules[1]


def _neighbour(trace: Trace, term: Term, offsets: Mapping[Axis, int], sides: _Sides) -> Term:
    """The neighbour at these offsets."""
    own = dict(zip(offsets, sides, strict=True))
    if all(low is high or str(low) == str(high) == low.kind for low, high in sides) and all(
        low.kind in _WRITTEN and low.sign == 1 for low, _ in sides
    ):
        return _mapped(trace, term, offsets, {axis: low for axis, (low, _) in own.items()})
    space = term.space
    cells: list[Operand] = []
    for number, axis in enumerate(space.axes):
        index = trace.emit(lambda pool, number=number: pool.index(number, space))  # type: ignore[misc]  # bound now
        cells.append(apply("add", index, offsets.get(axis, 0)))
    extended = extend_term(trace, term, tuple(own.get(axis, (NO_RULE, NO_RULE)) for axis in space.axes))
    return Outside(trace, extended, space).follow(cells).in_order(term.order)


_WRITTEN = ("undefined", "outflow", "periodic", "reflect", "mirror", "constant")
"""Rules that need no division in a cell, as the offset is known."""


def _mapped(trace: Trace, term: Term, offsets: Mapping[Axis, int], own: Mapping[Axis, Rule]) -> Term:
    """The neighbour; where several axes lie outside, a constant of any of them holds, the first one first."""
    space = term.space
    places: dict[Axis, int] = {}
    outside: list[tuple[Operand, Operand]] = []
    for number, axis in enumerate(space.axes):
        index = trace.emit(lambda pool, number=number: pool.index(number, space))  # type: ignore[misc]  # bound now
        place, beyond = _placed(trace, index, offsets.get(axis, 0), own.get(axis, NO_RULE), axis)
        places[axis] = spread(place, space).index
        if beyond is not None:
            outside.append((beyond, _constant(trace, own[axis], term)))
    if isinstance(trace.positions, FunctionPositions):
        trace.positions.note_access(order_of(term), order_of(term))
    found: Operand = trace.emit(lambda pool: pool.gather(term.index, [places[axis] for axis in space.axes]))
    for beyond, value in reversed(outside):
        found = where(beyond, value, found)
    assert isinstance(found, Term)
    return found.in_order(term.order)


def _placed(trace: Trace, index: Term, offset: int, rule: Rule, axis: Axis) -> tuple[Term, Operand | None]:
    """The index that is read along an axis, and with a constant where that holds instead."""
    if offset == 0:
        return index, None
    size = trace.emit(lambda pool: pool.size(trace.axis_names.index(axis.extent.name)))  # type: ignore[union-attr]  # arrays have named extents
    last = apply("subtract", size, 1)
    moved = apply("add", index, offset)
    beyond: Operand | None = None
    match rule.kind:
        case "outflow" | "constant":
            if rule.kind == "constant":
                beyond = apply("less", moved, 0) if offset < 0 else apply("greater", moved, last)
            moved = apply("maximum", moved, 0) if offset < 0 else apply("minimum", moved, last)
        case "periodic":
            moved = _wrapped(index, offset, size)
        case "reflect":
            period = apply("multiply", size, 2)
            moved = _wrapped(index, offset, period)
            moved = where(apply("less", moved, size), moved, apply("subtract", apply("subtract", period, 1), moved))
        case "mirror":
            period = apply("maximum", apply("multiply", last, 2), 1)
            moved = _wrapped(index, offset, period)
            moved = where(apply("less", moved, size), moved, apply("subtract", period, moved))
        case "undefined":
            pass
        case "analytic" | "fixed" | "neumann":
            raise AssertionError(rule)  # not in _WRITTEN
    assert isinstance(moved, Term)
    return moved, beyond


def _wrapped(index: Operand, offset: int, period: Operand) -> Operand:
    """(index + offset) mod period for an index below it, with one division of numbers and none a cell."""
    moved = apply("add", index, apply("remainder", offset, period))
    return where(apply("less", moved, period), moved, apply("subtract", moved, period))


def _constant(trace: Trace, rule: Rule, term: Term) -> Operand:
    value = rule.value
    assert isinstance(value, Term | bool | int | float)
    return convert(trace, value, term.type, Space(()))
