"""Positions: how values of a function of arrays meet, whose axes go by position as in NumPy.

A value has some of the program's axes, in any order; a position may also be of one element that is the same
everywhere, as `x[:, None]` makes. Positions count from the last one: an operand of fewer axes is the same along the
first ones of the others. Where an array meets itself along another axis, one of the two is read along a copy of its
axis: x[:, None] - x[None, :] has the axes i and i2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import TraceError
from workbench.frontend.axis_numbers import own_positions
from workbench.frontend.axis_table import (
    AnyOrigin,
    AxesMetError,
    AxisTable,
    Meeting,
    OnlyElement,
    Origin,
    View,
    followed,
)
from workbench.frontend.computed_lengths import computed_origin
from workbench.frontend.equal_ranks import need_equal_ranks, of_rank
from workbench.frontend.foreign_calls import ForeignCalls
from workbench.frontend.formulas import contains
from workbench.frontend.promotion import cast_term, constant, number_type, spread
from workbench.frontend.readings import Access, Order, Reading
from workbench.frontend.renaming import Rename, Target, is_stored, renamed
from workbench.frontend.selections import Selected
from workbench.frontend.trace import Operand, Term, Trace
from workbench.frontend.value import operand
from workbench.graph import (
    OPERATORS,
    REDUCTIONS,
    Axis,
    Gather,
    Load,
    LoadSize,
    Node,
    Region,
    Space,
    Static,
    StorageType,
)
from workbench.graph.operators import accepts
from workbench.graph.types import BOOL, I64

_MOST_RENAMED = 500
"""Values that are made along other axes in an attempt that counts for nothing, before the next one begins."""

_Cuts = tuple[tuple[View, ...], ...]


@dataclass(slots=True)
class FunctionPositions:
    """The axes of one attempt to trace a function of arrays; `wrap` makes the values that the function works with."""

    trace: Trace
    table: AxisTable
    make: Callable[[Term], object]
    readings: dict[str, Reading] = field(default_factory=dict)
    accesses: set[Access] = field(default_factory=set)
    selections: dict[str, Selected] = field(default_factory=dict)  # by the names of what later programs read
    foreign: ForeignCalls = field(default_factory=ForeignCalls)
    _by_axes: dict[tuple[str, Order, _Cuts, tuple[AnyOrigin, ...]], str] = field(default_factory=dict)
    _renamed: int = 0  # values made along other axes since lengths were joined

    def wrap(self, term: Term) -> object:
        """The value that the user holds."""
        return self.make(term if term.order is not None else term.in_order(()))

    def argument(self, name: str, type_: StorageType, lengths: Sequence[int]) -> Term:
        """Declare an argument that is an array of these lengths."""
        return self.read(name, type_, self.table.axes(lengths), ((),) * len(lengths))

    def meet(self, operands: Sequence[Operand]) -> tuple[list[Operand], Order]:
        """The operands along axes that agree at each position, counted from the last, and these axes.

        Two lengths that are found to be one let the body run again.
        """
        rank = max((len(order_of(o)) for o in operands if isinstance(o, Term)), default=0)
        operands = [of_rank(o, rank) if isinstance(o, Term) and o.order else o for o in operands]
        terms = [o for o in operands if isinstance(o, Term) and o.order]
        if any(map(self._differ, zip(*map(order_of, terms), strict=True))):
            operands = [self._without_ones(o, terms) if isinstance(o, Term) else o for o in operands]
            terms = [o for o in operands if isinstance(o, Term) and o.order]
        order: list[Axis | None] = []
        for position in range(rank):
            order.append(self._agreed(terms, position, order))
        met = [o if not isinstance(o, Term) else self.along(o, order) for o in operands]
        return met, tuple(order)

    def _differ(self, along: Sequence[Axis | None]) -> bool:
        """Whether not all axes at a position are of one length, as far as is known."""
        return len({self.table.length_of(axis) for axis in along if axis is not None}) > 1

    def _without_ones(self, term: Term, others: Sequence[Term]) -> Term:
        """The value along axes of None where it has one element and others have more, or may have, as in NumPy."""
        gone: dict[Axis, Target] = {}
        for position, axis in enumerate(order_of(term)):
            along = [order_of(other)[position] for other in others]
            if axis is None or not self._differ(along):
                continue
            longer = [each for each in along if each is not None and not self.table.is_one_at_most(each)]
            if longer and self.table.is_one_at_most(axis):
                gone[axis] = self._gone(axis, None if contains(term, self._is_computed) else longer[0])
        return self.rename(term, gone)

    def _gone(self, axis: Axis, longer: Axis | None = None) -> Target:
        """What is left of an axis of one element; a call checks that it has one, or none as the longer one."""
        if not self.table.is_one(axis):
            origin, meeting = self.table.origin(axis), Meeting(self.trace.here().line, self.trace.text_here())
            if longer is None:
                self.table.element(origin, meeting)
            else:
                self.table.only[OnlyElement(origin, self.table.origin(longer), meeting)] = None
        return Target(None, (0, 1, 1))

    def without_ones(self, term: Term) -> Term:
        """The value along axes of None where it has one element, but for one that has no other axes."""
        axes = [axis for axis in order_of(term) if axis is not None]
        ones = [axis for axis in axes if self.table.is_one_at_most(axis)]
        return term if len(ones) == len(axes) else self.rename(term, {axis: self._gone(axis) for axis in ones})

    def wider(self, held: Term, made: Operand) -> tuple[Space, Order]:
        """The axes of what is now `held` and now `made`, those of `held` where it has them."""
        if order_of(held) and isinstance(made, Term) and order_of(made):
            need_equal_ranks([held, made])
        found, order = self.meet([held, made])[1], list(order_of(held))
        order += [None] * (len(found) - len(order))
        for position, axis in enumerate(found):
            if order[position] is None and axis is not None:
                order[position] = self.free(axis, order)
        return self.space(order), tuple(order)

    def _agreed(self, terms: Sequence[Term], position: int, taken: Sequence[Axis | None]) -> Axis | None:
        """The axis of a result at a position: that of an operand that is expensive to read otherwise, if free."""
        found = [(axis, term) for term in terms if (axis := order_of(term)[position]) is not None]
        if not found:
            return None
        first = found[0][0]
        for axis, _ in found:
            if not self.table.same_length(first, axis):
                self.join(self.table.length_of(first), self.table.length_of(axis), self.trace.text_here())
        axes = [axis for axis, _ in found]
        is_settled = axes.count(first) == len(axes)  # as a rule; to look through all formulas is long then
        expensive = [] if is_settled else [axis for axis, term in found if contains(term, self._is_expensive)]
        for axis in [*expensive, *axes]:
            if axis not in taken:
                return axis
        return self.free(first, taken)

    def join(self, a: int, b: int, text: str) -> None:
        """Let two lengths be one, by their numbers in the table; text: what says so in this line."""
        self.table.join(a, b, Meeting(self.trace.here().line, text))

    def free(self, axis: Axis, taken: Sequence[Axis | None]) -> Axis:
        """The first copy of an axis that is not taken."""
        length, copy = self.table.length_of(axis), 0
        while (found := self.table.axis(length, copy)) in taken:
            copy += 1
        self.widen(found)
        return found

    def widen(self, axis: Axis) -> None:
        """Let the program have the axis."""
        known = self.trace.space.axes
        if axis not in known:
            self.trace.widen(Space(tuple(sorted((*known, axis), key=self.table.place))))

    def _is_expensive(self, node: Node) -> bool:
        """Whether a value is read from its array, along whatever axes; an argument is not, which NumPy may turn."""
        return is_stored(node) or (isinstance(node.instruction, Load) and not self._is_read(node.instruction.name))

    def _is_computed(self, node: Node) -> bool:
        """Whether a value is read from an array that the program makes, where an element must be there."""
        return isinstance(node.instruction, Gather) or self._is_expensive(node)

    def _is_read(self, static: str) -> bool:
        return static in self.readings or static in self.trace.stand_ins

    def along(self, term: Term, order: Sequence[Axis | None]) -> Term:
        """The value along these axes by position, which are of its lengths."""
        own = order_of(term)
        pairs = zip(own, order, strict=False)
        return self.rename(term, {a: Target(b) for a, b in pairs if a is not None and b is not None and a != b})

    def rename(self, term: Term, axes: Mapping[Axis, Target]) -> Term:
        """The value along other axes of equal lengths, or along slices of its own.

        Where lengths were joined, an attempt only looks for others, and each formula is made again along axes that will
        be one: AxesMetError after some hundred values, as the next attempt is cheaper.
        """
        if not axes:
            return term
        rename = Rename(self.trace, self.only, self.table.place, self._load, self.size)
        index = renamed(rename, term.index, dict(axes))
        if self.table.is_stale:
            self._renamed += len(rename.made)
            if self._renamed > _MOST_RENAMED:
                raise AxesMetError
        return Term(self.trace, index, tuple(axes[a].axis if a in axes else a for a in order_of(term)))  # type: ignore[index]  # None is not in it

    def _load(self, static: str, axes: Mapping[Axis, Target]) -> int | None:
        """The node that reads an argument along other axes; None for what a loop over arrays carries."""
        if not self._is_read(static):
            return None
        if static in self.trace.stand_ins:
            return self.trace.stand_ins[static]({axis: target.axis or self.only() for axis, target in axes.items()})
        known = self.readings[static]
        own = dict(zip(known.positions, self.trace.statics[static].space.axes, strict=True))
        along, cuts = [], []
        for position, chain in enumerate(known.cuts):
            axis = own.get(position)
            target = Target(None) if axis is None else axes.get(axis, Target(axis))
            along.append(target.axis)
            cuts.append(chain if target.cut is None else followed(chain, target.cut))
        if not any(along):
            along[0] = self.only()
        type_ = self.trace.statics[static].type
        return self.read(known.argument, type_, tuple(along), tuple(cuts), known.shape).index

    def read(
        self,
        argument: str,
        type_: StorageType,
        along: Order,
        cuts: _Cuts,
        shape: tuple[AnyOrigin, ...] = (),
    ) -> Term:
        """The argument with these axes by position; each way to read it is a static, axes in the program's order.

        None is for a position of one element, whose axis is gone.
        """
        name = self._by_axes.get((argument, along, cuts, shape))
        if name is None:
            found = {axis: position for position, axis in enumerate(along) if axis is not None}
            space = self.space(along)
            name = self._name(argument, along, any(cuts) or bool(shape))
            for axis in space.axes:
                self.widen(axis)
            positions = tuple(found[axis] for axis in space.axes)
            self.trace.declare(Static(name, "field", type_, space, span=self.trace.here()))
            self.readings[name] = Reading(name, argument, positions, cuts, shape)
            self._by_axes[argument, along, cuts, shape] = name
        return self.trace.emit(lambda pool: pool.load(name)).in_order(along)

    def only(self) -> Axis:
        """The axis of a value that is one element along no axis by position, as an array needs one."""
        found = self.table.axis(self.table.length(Origin("", 1)))
        self.widen(found)
        return found

    def _name(self, argument: str, along: Order, is_part: bool) -> str:
        """A name for a way to read an argument; the first one is that of the argument."""
        if argument not in self.trace.statics:
            return argument
        made = f"{argument}.{'_'.join(axis.name for axis in along if axis is not None)}"
        if is_part:
            made = f"{argument}.part{1 + sum(name.startswith(f'{argument}.part') for name in self.readings)}"
        return made

    def reduce(self, name: str, term: Term, axis: object) -> Term:
        """np.sum and its kin: integers below 64 bits and conditions are added and multiplied in i64, as in NumPy."""
        order = order_of(term)
        numbers = tuple(range(len(order))) if axis is None else own_positions(term, axis, name)
        if name in ("sum", "product") and (term.type == BOOL or (term.type.is_integer and term.type.bits < 64)):
            term = cast_term(term, I64)
        if not accepts(OPERATORS[REDUCTIONS[name].operator], term.type):
            raise TraceError(
                f"{self.trace.text_here()}: {name} does not take {term.type}",
                advice="Compare first: np.any(x > 0)."
                if name in ("any", "all")
                else f'Write np.{"any" if name == "max" else "all"}(x), or cast it: x.astype("i64").',
            )
        return self.fold(name, term, numbers)

    def fold_axes(self, operator: str | Region, term: Term, axis: object, in_any_order: bool) -> Term:
        """The fold by a reduction's name or a function. What needs the order of elements keeps an axis of one element.

        Over all axes 16 lanes take elements in turn; where an axis is kept, each takes its elements in order.
        """
        numbers = own_positions(term, axis, "fold")
        if not in_any_order and len(numbers) == len(order_of(term)):
            space = Space(tuple(sorted({*term.space.axes, self.only()}, key=self.table.place)))
            term = spread(term, space).in_order(term.order)
        return self.fold(operator, term, numbers)

    def note_access(self, array: Order, cells: Order) -> None:
        """Note what the line reads at computed places, or sends to, for errors of a call."""
        self.accesses.add(Access(self.trace.here().line, array, cells))

    def own_axis(self, term: Term, axis: object, what: str) -> tuple[Term, int]:
        """The value, and among its axes in the program's order the number of the one axis that is named.

        An axis that None made is one of one element there.
        """
        numbers = own_positions(term, axis, what)
        if len(numbers) > 1:
            raise TraceError(f"{what} over the axes {axis!r}", advice="Name one axis.")
        if order_of(term)[numbers[0]] is None:
            term = self.with_own_axes(term)
        found = order_of(term)[numbers[0]]
        assert found is not None
        return term, term.space.axes.index(found)

    def with_own_axes(self, term: Term) -> Term:
        """The array along its axes by position alone, of which those that None made are axes of one element."""
        order = list(order_of(term))
        for number, axis in enumerate(order):
            if axis is None:
                order[number] = self.free(self.only(), order)
        return spread(term, self.space(order)).in_order(tuple(order))

    def apart(self, term: Term, other: Term) -> Term:
        """`other` along axes that the value does not have."""
        taken: list[Axis | None] = [*term.space.axes, *order_of(other)]
        axes = {axis: Target(self.free(axis, taken)) for axis in order_of(other) if axis in term.space.axes and axis}
        return self.rename(other, axes)

    def generate(self, shape: Sequence[object], f: Callable[..., object]) -> Term:
        """The array of what the function gives for the indices along axes of these lengths."""
        return self.generate_along([self.length_of(each) for each in shape], f)

    def generate_along(self, lengths: Sequence[int], f: Callable[..., object]) -> Term:
        """The same for lengths by their numbers in the table."""
        axes = self.table.axes(lengths)
        indices = []
        for position, axis in enumerate(axes):
            self.widen(axis)
            index = self.trace.emit(lambda pool, axis=axis: pool.index(0, Space((axis,))))  # type: ignore[misc]  # bound now
            indices.append(index.in_order(tuple(axis if k == position else None for k in range(len(axes)))))
        made = operand(f(*map(self.wrap, indices)))
        if not isinstance(made, Term):
            return constant(self.trace, made, number_type(self.trace, made), self.space(axes)).in_order(axes)
        if order_of(made):
            need_equal_ranks([made, *indices])
        (met, *_), order = self.meet([made, *indices])
        assert isinstance(met, Term)
        if len(order) != len(axes):
            raise TraceError(
                f"generate over {len(axes)} axes is given a value of {len(order)}", advice="Give one value an element."
            )
        return spread(met, self.space(order)).in_order(order)

    def space(self, order: Sequence[Axis | None]) -> Space:
        """The space of these axes, in the program's order."""
        return Space(tuple(sorted({axis for axis in order if axis is not None}, key=self.table.place)))

    def length_of(self, given: object) -> int:
        """The length that a whole number is, or that of an array's axis."""
        made = operand(given)
        if isinstance(made, Term):
            origin = self.computed(made)
            if origin is None:
                raise TraceError(
                    f"{self.trace.text_here('this shape')}: a length is computed, or a number given at the call",
                    advice="Use lengths of arrays, x.shape[0], whole numbers, and what + - * // make of them. A number "
                    "that is given in a tuple is known: f(x, (5,)).",
                )
            instruction = made.node.instruction
            return self._size(instruction.axis) if isinstance(instruction, LoadSize) else self.table.length(origin)
        if isinstance(made, bool) or not isinstance(made, int) or made < 0:
            raise TraceError(f"{made!r} is no length", advice="Give a whole number from 0.")
        return self.table.length(Origin("", made))

    def computed(self, term: Term) -> AnyOrigin | None:
        """Where the length comes from that a whole number is; None where it depends on more than lengths."""
        return computed_origin(term, lambda axis: self.table.origins[self._size(axis)])

    def size(self, origin: AnyOrigin) -> int:
        """The node of the length that comes from there."""
        axis = self.table.axis(self.table.length(origin))
        self.widen(axis)
        return self.trace.pool.size(self.trace.axis_names.index(axis.name))

    def _size(self, axis: int) -> int:
        """The length, by its number in the table, of the axis of that number among the names of axes."""
        name = self.trace.axis_names[axis]
        return self.table.length_of(next(each for each in self.trace.space.axes if each.name == name))

    def fold(self, name: str | Region, term: Term, positions: Sequence[int]) -> Term:
        """The fold over these positions, in the order of the program's axes."""
        order = order_of(term)
        over = {axis for k in positions if (axis := order[k]) is not None}
        left = tuple(axis for k, axis in enumerate(order) if k not in positions)
        if not over:
            return Term(self.trace, term.index, left)
        inner, numbers = term.index, [k for k, axis in enumerate(term.space.axes) if axis in over]
        return self.trace.emit(lambda pool: pool.fold(name, inner, numbers)).in_order(left)


def order_of(term: Term) -> Order:
    """The axes of a value by position."""
    return term.order or ()
