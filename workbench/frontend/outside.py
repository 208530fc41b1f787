"""Outside: an extended value at cells anywhere, by the rules of its sides, as formulas (semantics §4).

A relative read finds ghost cells in memory; an index that is computed may lie anywhere, so it is moved by arithmetic.
Value rules come first, the lower axis before the others; then each axis maps its index into the domain, which may lead
beyond its other side, to another value rule. What no rule takes inside is left there, and the Gather finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.errors import TraceError
from workbench.frontend.operations import apply, where
from workbench.frontend.promotion import cast_term, spread
from workbench.frontend.trace import Operand, Term, Trace
from workbench.graph import (
    Arith,
    Axis,
    Broadcast,
    Extend,
    Fixed,
    Imm,
    LoadIndex,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Replicate,
    SideRule,
    Space,
    Undefined,
    Wall,
)
from workbench.graph.rewrite import copy
from workbench.graph.side_rules import ValueRule
from workbench.graph.types import I64

Reflecting = Reflect | Mirror | Wall

_Make = Callable[[Operand], Operand]
"""What a rule makes of the value at the cell to which it leads."""


@dataclass(slots=True)
class Outside:
    """One Extend, the term `extended`, that is read at cells given by index values in `space`."""

    trace: Trace
    extended: Term
    space: Space

    def follow(self, cells: Sequence[Operand]) -> Term:
        """The value at the cells, one index for each axis."""
        indices, makes = list(cells), list[_Make]()
        decided: Operand = False
        for axis in range(len(indices)):
            decided = self._take_values(axis, indices, makes, decided)
        if any(self._is_mixed(axis) for axis in range(len(indices))):
            decided = self._move_one_by_one(indices, makes, decided)
        found = self._mapped(indices, decided)
        for make in reversed(makes):  # the highest axis first, so that the lowest one has the last word
            found = make(found)
        assert isinstance(found, Term)
        return spread(found, self.space)

    def _take_values(self, axis: int, indices: list[Operand], makes: list[_Make], decided: Operand) -> Operand:
        """What an axis' value rules make of cells outside; `indices` go to the cells that they need.

        makes: gets what the rules do. decided: where a value is known without any cell; returned with what these rules
        decide. Of two sides one that reflects comes first, as it may lead beyond the other one.
        """
        n = self._size(axis)
        sides = zip((-1, 1), self._sides[axis], strict=True)
        for side, rule in sorted(sides, key=lambda each: not isinstance(each[1], Fixed)):
            if not isinstance(rule, ValueRule):
                continue
            own = indices[axis]
            is_out = apply("less", own, 0) if side < 0 else apply("greater_equal", own, n)
            match rule:
                case Prescribed(operand):
                    makes.append(_chosen(is_out, self._boundary_value(operand, indices)))
                    decided = _either(decided, is_out)
                case Fixed(operand):
                    makes.append(_reflected_about(is_out, self._boundary_value(operand, indices)))
                    indices[axis] = where(is_out, _reflected(own, n, side, Reflect()), own)
                case Neumann(operand):
                    last: Operand = 0 if side < 0 else apply("subtract", n, 1)
                    steps = self._typed(apply("subtract", own, last))
                    makes.append(_added(is_out, apply("multiply", steps, self._boundary_value(operand, indices))))
                    indices[axis] = where(is_out, last, own)
        return decided

    def _is_mixed(self, axis: int) -> bool:
        """Whether a side reflects, beyond which may lie the other one, with a rule for values."""
        low, high = self._sides[axis]
        return any(
            isinstance(one, Reflecting) and isinstance(other, ValueRule) for one, other in ((low, high), (high, low))
        )

    def _move_one_by_one(self, indices: list[Operand], makes: list[_Make], decided: Operand) -> Operand:
        """Move the indices inside by the index maps, axis by axis, and take values where a reflection leads beyond."""
        for axis, (low, high) in enumerate(self._sides):
            n, is_mixed = self._size(axis), self._is_mixed(axis)
            image = _image(indices[axis], n, low, high)
            indices[axis] = image.cell
            makes.append(_signed(image))
            if is_mixed:
                decided = self._take_values(axis, indices, makes, decided)
        return decided

    @property
    def _sides(self) -> tuple[tuple[SideRule, SideRule], ...]:
        instruction = self.extended.node.instruction
        assert isinstance(instruction, Extend)
        return instruction.sides

    def _size(self, axis: int) -> Term:
        own = self.extended.space.axes[axis]
        names = self.trace.axis_names
        number = names.index(own.name) if names else self.trace.space.axes.index(own)
        return self.trace.emit(lambda pool: pool.size(number))

    def _typed(self, steps: Operand) -> Operand:
        return cast_term(steps, self.extended.type) if isinstance(steps, Term) else steps

    def _mapped(self, indices: Sequence[Operand], decided: Operand) -> Operand:
        """The cell that the index maps lead to, with its sign; any cell where a value rule has decided."""
        is_negative: Operand = False
        is_zero: Operand = False
        numbers = []
        for axis, (low, high) in enumerate(self._sides):
            image = _image(indices[axis], self._size(axis), low, high)
            is_negative, is_zero = _differ(is_negative, image.is_negative), _either(is_zero, image.is_zero)
            cell = image.cell if decided is False else where(decided, 0, image.cell)
            assert isinstance(cell, Term)
            numbers.append(spread(cast_term(cell, I64), self.space).index)
        source = self.extended.node.operands[0]
        found: Operand = self.trace.emit(lambda pool: pool.gather(source, numbers))
        return _signed(_Image(0, is_negative, is_zero))(found)

    def _boundary_value(self, operand: int, cells: Sequence[Operand]) -> Term:
        """The operand of a value rule, made of indices and Globals alone, at these cells."""
        root = self.extended.node.operands[operand]
        by_axis = {axis: self._in_space(cell) for axis, cell in zip(self.extended.space.axes, cells, strict=True)}
        return Term(self.trace, self._moved(root, by_axis, {}))

    def _in_space(self, cell: Operand) -> int:
        assert isinstance(cell, Term)
        return spread(cell, self.space).index

    def _moved(self, index: int, cells: dict[Axis, int], made: dict[int, int]) -> int:
        pool = self.trace.pool
        node = pool.node(index)
        if node.is_global or index in made:
            return made.get(index, index)
        assert node.space is not None
        match node.instruction:
            case LoadIndex(axis):
                result = cells[node.space.axes[axis]]
            case Imm(value):
                result = pool.imm(value, node.value_type, self.space)
            case Broadcast():
                result = pool.broadcast(node.operands[0], self.space)
            case Replicate():
                result = self._moved(node.operands[0], cells, made)
            case Arith():
                operands = tuple(self._moved(each, cells, made) for each in node.operands)
                result = copy(pool, replace(node, space=self.space), operands)
            case _:
                raise TraceError(
                    f"{self.trace.text_here('gather')}: a boundary value depends on more than indices and numbers",
                    advice="Compute boundary values from indices, sizes, params and scalars only.",
                )
        made[index] = result
        return result


@dataclass(frozen=True, slots=True)
class _Image:
    """The cell of the domain that an index stands for along one axis, and what its value is multiplied by."""

    cell: Operand
    is_negative: Operand = False
    is_zero: Operand = False


def _chosen(is_out: Operand, value: Operand) -> _Make:
    return lambda found: where(is_out, value, found)


def _reflected_about(is_out: Operand, value: Operand) -> _Make:
    return lambda found: where(is_out, apply("subtract", apply("add", value, value), found), found)


def _added(is_out: Operand, value: Operand) -> _Make:
    return lambda found: where(is_out, apply("add", found, value), found)


def _signed(image: _Image) -> _Make:
    def make(found: Operand) -> Operand:
        if image.is_zero is not False:
            found = where(image.is_zero, 0, found)
        return found if image.is_negative is False else where(image.is_negative, apply("negative", found), found)

    return make


def _image(i: Operand, n: Operand, low: SideRule, high: SideRule) -> _Image:
    """Where index maps lead an index along an axis of n cells; what they do not take inside stays outside."""
    match low, high:
        case Periodic(sign), Periodic():
            rounds = apply("remainder", apply("floor_divide", i, n), 2)
            return _Image(apply("remainder", i, n), apply("equal", rounds, 1) if sign < 0 else False)
        case ((Reflect() | Mirror() | Wall()), (Reflect() | Mirror() | Wall())):
            return _between(i, n, low, high)
        case _:
            pass
    image = _Image(i)
    for side, rule in ((-1, low), (1, high)):
        if isinstance(rule, Reflecting):
            image = _once(image.cell, n, side, rule)
    for side, rule in ((-1, low), (1, high)):
        match rule:
            case Outflow():
                last: Operand = 0 if side < 0 else apply("subtract", n, 1)
                cell = apply("maximum" if side < 0 else "minimum", image.cell, last)
                image = _Image(cell, image.is_negative, image.is_zero)
            case Reflect() | Mirror() | Wall():  # done above
                pass
            case Undefined() | Periodic() | Prescribed() | Fixed() | Neumann():  # not moved along this axis
                pass
    return image


def _once(i: Operand, n: Operand, side: int, rule: Reflecting) -> _Image:
    """One reflection, where the other side reflects nothing."""
    is_out = apply("less", i, 0) if side < 0 else apply("greater_equal", i, n)
    image = _reflected(i, n, side, rule)
    if isinstance(rule, Mirror):  # the only cell is its own image
        image = where(apply("equal", n, 1), 0, image)
    cell = where(is_out, image, i)
    is_negative: Operand = is_out if rule.sign < 0 else False
    if not isinstance(rule, Wall) or side < 0:
        return _Image(cell, is_negative)
    is_face = apply("equal", i, n)  # the face on the wall has no partner
    if rule.sign > 0:
        return _Image(where(is_face, apply("subtract", n, 1), cell))
    past = apply("greater", i, n)
    return _Image(where(is_face, 0, cell), past, is_face)


def _between(i: Operand, n: Operand, low: Reflecting, high: Reflecting) -> _Image:
    """Between two sides that reflect: the period of two reflections, in whose second half a cell has one more.

    A cell on which a mirror acts is its own image there: it is reached with one reflection fewer from the other side.
    """
    far = _reflected(0, n, 1, high)
    period = apply("add", far, 1) if isinstance(low, Reflect) else far
    place, rounds = apply("remainder", i, period), apply("floor_divide", i, period)
    is_negative: Operand = apply("equal", apply("remainder", rounds, 2), 1) if low.sign != high.sign else False
    cell = where(apply("greater_equal", place, n), apply("subtract", far, place), place)
    if low.sign < 0 and not isinstance(low, Reflect):
        on_mirror = apply("logical_and", apply("equal", place, 0), apply("greater", i, 0))
        is_negative = _differ(is_negative, on_mirror)
    at = apply("subtract", n, 1) if isinstance(high, Mirror) else n
    if high.sign < 0:
        is_negative = _differ(is_negative, apply("greater", place, at))
    if high.sign < 0 and not isinstance(high, Reflect):
        on_mirror = apply("logical_and", apply("equal", place, at), apply("less", i, 0))
        is_negative = _differ(is_negative, on_mirror)
    elif high.sign < 0:
        is_negative = _differ(is_negative, apply("equal", place, n))
    if isinstance(high, Wall):  # the face on the wall
        is_face = apply("equal", place, n)
        return _Image(where(is_face, apply("subtract", n, 1), cell), is_negative, is_face if high.sign < 0 else False)
    if isinstance(low, Mirror) or isinstance(high, Mirror):  # the only cell
        is_only = apply("equal", n, 1)
        cell = where(is_only, 0, cell)
        if low.sign < 0 or high.sign < 0:
            alone = _differ(_of_only(i, -1, low, high), _of_only(i, 1, high, low))
            is_negative = where(is_only, alone, is_negative)
    return _Image(cell, is_negative)


def _of_only(i: Operand, side: int, here: Reflecting, there: Reflecting) -> Operand:
    """Whether an index beyond a side of one cell changes its sign: a mirror ends the way, a face may lead on."""
    distance = apply("multiply", i, side)
    once: Operand = apply("greater", distance, 0) if here.sign < 0 else False
    if isinstance(here, Mirror) or there.sign > 0:
        return once
    return _differ(once, apply("greater", distance, 1))


def _reflected(i: Operand, n: Operand, side: int, rule: SideRule) -> Operand:
    """The image of an index beyond a side."""
    if side < 0:
        return apply("subtract", -1 if isinstance(rule, Reflect) else 0, i)
    twice = apply("multiply", n, 2)
    beyond = {Reflect: 1, Mirror: 2}.get(type(rule), 0)
    return apply("subtract", apply("subtract", twice, beyond) if beyond else twice, i)


def _either(a: Operand, b: Operand) -> Operand:
    return b if a is False else a if b is False else apply("logical_or", a, b)


def _differ(a: Operand, b: Operand) -> Operand:
    """Whether one of two conditions holds alone; False is one that never does."""
    return b if a is False else a if b is False else apply("not_equal", a, b)
