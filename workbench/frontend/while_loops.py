"""Loops over whole arrays: a body that may read neighbours and reduce, and one condition for all cells.

The body is traced on placeholders: Loads of inner statics, which keep what a loop carries from one turn to the next.
A loop becomes two kernels that run before the one where it stands (graph.While): `begin` stores the first values,
`turn` the next ones, and both whether there is another turn. What the loop ends with is in the same inner statics.
A loop in the body of another one runs before each turn of that one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.errors import TraceError
from workbench.frontend.boundaries import extend_term, parse_sides
from workbench.frontend.carried import carried
from workbench.frontend.keeping import is_expensive, is_worth_keeping
from workbench.frontend.loops import carried_types, next_values
from workbench.frontend.promotion import Order, convert, meeting_space, number_of, without_ones
from workbench.frontend.trace import KernelState, Operand, Term, Trace, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph import (
    GLOBAL,
    Extend,
    Load,
    Reduce,
    Space,
    Static,
    StorageType,
    While,
)
from workbench.graph.types import BOOL

_MOST_ROUNDS = 4
"""Times that a body is traced until each value has the axes that its body gives it; two are the most so far."""


def while_loop(
    condition: Callable[..., object],
    body: Callable[..., object],
    start: object,
    *,
    at_most: object,
    at_most_ok: object = False,
) -> Any:  # noqa: ANN401  # as the start: one value or a tuple
    """Repeat `body` while a condition on whole arrays holds; returns the values of the last iteration.

    condition: a function of the values that gives one condition for all cells, checked before each iteration: lambda p,
    r: reduce_max(abs(r)) > 1e-6. body: a function from the values to the next ones, as many as `start` has. It may read
    neighbours and reduce; in a function of arrays it may do all that such a function does, with unchanged lengths.
    start: one value or a tuple, of which each may be a record (a tuple, named tuple or data class of values); in each
    iteration a field continues outside the domain by its own boundary rule.
    at_most: the largest number of iterations, a whole number. If the condition still holds then, the run ends with an
    error; with at_most_ok=True it goes on with the last values. All iterations are part of one step. The body may
    have a while_loop of its own, which begins anew in each iteration.
    """
    trace = current_trace("while_loop")
    no_condition(trace, "a while_loop")
    given = carried("while_loop", start)
    starts = [without_ones(own_value(operand(each))) for each in given.values]
    if not starts:
        raise TraceError(
            "while_loop carries no value", advice="Give a value or a tuple of values as its third argument."
        )
    for what, function in (("condition", condition), ("body", body)):
        if not callable(function):
            raise TraceError(
                f"while_loop is given {function!r} as its {what}", advice="Give a function: lambda p: 0.5 * p."
            )
    most = _most_turns(at_most)
    if not isinstance(at_most_ok, bool):
        raise TraceError(f"at_most_ok is {at_most_ok!r}", advice="Give True or False.")
    draft = _Draft(trace, carried_types(trace, starts), given.names(body))
    values = list(map(wrap, draft.traced(starts, given.condition(condition), given.body(body))))
    draft.keep_values()
    draft.finish(most, at_most_ok)
    return given.result(values)


def once_if(
    trace: Trace, going: Operand, names: Sequence[str], body: Callable[..., list[object]], starts: Sequence[Operand]
) -> list[Term]:
    """What a function makes of these values if a condition for all cells holds, else these values: a turn or none."""

    def turned(_: object, *values: object) -> tuple[object, ...]:
        return False, *body(*values)

    given = [going, *starts]
    draft = _Draft(trace, carried_types(trace, given), (f"goes{trace.loop_number + 1}", *names))
    _, *held = draft.traced(given, lambda going, *_: going, turned)
    for part in draft.parts:
        part.in_branch = True
    draft.finish(1, at_most_ok=False)
    return held


def no_condition(trace: Trace, what: str) -> None:
    """Raise TraceError if the condition of a while_loop is being traced, where no loop or branch can stand."""
    if trace.asking:
        raise TraceError(
            f"{what} stands in the condition of a while_loop",
            advice="Write it in the body, carry what the condition needs of it, and compare that.",
        )


def _most_turns(most: object) -> int:
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise TraceError(
            f"at_most={most!r} of while_loop is no number of iterations",
            advice="Give a whole number, such as at_most=500.",
        )
    return most


def own_value(given: Operand) -> Operand:
    """A value of a function of arrays, so that x[3] is the number that it seems to be."""
    return number_of(given) if isinstance(given, Term) else given


_Along = tuple[Space, Order]
"""The axes of a value, and in a function of arrays their order by position, None in a cell."""


def _along(trace: Trace, start: Operand) -> _Along:
    """The axes of a first value."""
    order = None if trace.positions is None else () if not isinstance(start, Term) else start.order or ()
    return meeting_space(trace, [start]), order


def _wider(trace: Trace, held: Term, made: Operand) -> _Along:
    """The axes that a value needs that is carried as `held` and becomes `made`."""
    if trace.positions is None:
        return meeting_space(trace, [held, made]), None
    return trace.positions.wider(held, made)


def _converted(trace: Trace, given: Operand, type_: StorageType, space: Space, order: Order) -> Term:
    """The operand in this type, along these axes."""
    if trace.positions is not None and isinstance(given, Term) and order is not None:
        given = trace.positions.along(given, order)
    return convert(trace, given, type_, space).in_order(order)


@dataclass(frozen=True, slots=True)
class _Carried:
    """A value that the loop carries: its inner static, and its first value, with its outside."""

    static: Static
    first: Term

    def continued(self, term: Term) -> Term:
        """Another value of the loop, with the outside of the first one."""
        node = self.first.node
        if not isinstance(node.instruction, Extend):
            return term
        sides, given = node.instruction.sides, node.operands[1:]
        return term.trace.emit(lambda pool: pool.extend(term.index, sides, given)).in_order(term.order)


class _Draft:
    """A loop while it is traced."""

    def __init__(self, trace: Trace, types: tuple[StorageType, ...], names: tuple[str, ...]) -> None:
        self.trace, self.types, self.names = trace, types, names
        trace.loop_number += 1
        self.number, self.place = trace.loop_number, len(trace.loops)
        self.before = len(trace.pool)
        self.home = trace.turning or trace.kernel
        span = trace.here()
        self.span = span
        self.begin = KernelState(f"{self.home.name}_begin_{self.number}", span)
        self.turn = KernelState(f"{self.home.name}_turn_{self.number}", span)

    def traced(
        self, starts: Sequence[Operand], condition: Callable[..., object], body: Callable[..., object]
    ) -> list[Term]:
        """Trace condition and body, note what both kernels store, and return the values that the loop ends with."""
        trace, along = self.trace, [_along(self.trace, each) for each in starts]
        known = set(trace.statics)
        for number in range(_MOST_ROUNDS):
            del trace.loops[self.place :]  # of a round before, whose values had other axes
            trace.statics = {name: s for name, s in trace.statics.items() if name in known or not s.inner}
            carried = [self._carried(k, each, along[k], number) for k, each in enumerate(starts)]
            held = [self._held(name, each) for name, each in zip(self.names, carried, strict=True)]
            given = next_values(trace, "while_loop", self.names, self.types, self._called(body, held, self.turn))
            made = list(map(own_value, given))
            wider = [_wider(trace, holder, each) for holder, each in zip(held, made, strict=True)]
            if wider == along:
                break
            along = wider
        else:
            raise TraceError("the body of while_loop changes the axes of its values", advice="Keep them.")
        going = self._static("while", BOOL, GLOBAL, 0)
        nexts = [
            _converted(trace, each, one.static.type, one.static.space, one.first.order)
            for each, one in zip(made, carried, strict=True)
        ]
        first = self._condition(condition, [one.first for one in carried])
        again = self._condition(condition, [one.continued(term) for one, term in zip(carried, nexts, strict=True)])
        for one, term in zip(carried, nexts, strict=True):
            trace.declare(one.static, "a value of a while_loop")
            self.begin.stores[one.static.name] = (one.first, self.span)
            self.turn.stores[one.static.name] = (term, self.span)
        trace.declare(going, "the condition of a while_loop")
        self.begin.stores[going.name] = (first, self.span)
        self.turn.stores[going.name] = (again, self.span)
        return held

    @property
    def parts(self) -> list[KernelState]:
        """A turn, and the parts of the loops in it."""
        return [self.turn, *(part for _, *both in self.trace.loops[self.place :] for part in both)]

    def finish(self, most: int, at_most_ok: bool) -> None:
        """Add the loop to the trace, before those in its body."""
        names = self.home.name, self.begin.name, self.turn.name, self._name("while", 0)
        loop = While(*names, most, at_most_ok, self.span)
        self.trace.loops.insert(self.place, (loop, self.begin, self.turn))

    def keep_values(self) -> None:
        """Let `begin` keep what was made before the loop, so that no turn makes it again, here or in a loop inside.

        Numbers that reductions made; in a function of arrays also arrays that cost more to compute than to read. None
        of what only a branch inside needs.
        """
        pool, inside, parts = self.trace.pool, self.trace.loops[self.place :], self.parts
        carried = {name for begin in (self.begin, *(begin for _, begin, _ in inside)) for name in begin.stores}
        needed = pool.needed(term.index for part in parts if not part.in_branch for term, _ in part.stores.values())
        turning, reduced = set[int](), set[int]()
        for index in needed:
            node = pool.node(index)
            loaded = node.instruction.name if isinstance(node.instruction, Load) else ""
            if loaded in carried or turning.intersection(node.operands):
                turning.add(index)
            elif isinstance(node.instruction, Reduce) or reduced.intersection(node.operands):
                reduced.add(index)
        border = dict.fromkeys(
            operand
            for index in needed
            for operand in pool.node(index).operands
            if operand in reduced and pool.node(operand).is_global
            if index in turning or not pool.node(index).is_global
        )
        read = {o for index in needed if index >= self.before for o in pool.node(index).operands if o < self.before}
        for count, index in enumerate((*border, *self._expensive(sorted(read))), 1):
            node = pool.node(index)
            assert node.space is not None
            kept = self._static("while", node.value_type, node.space, count)
            self.trace.declare(kept, "a value before a while_loop")
            self.begin.stores[kept.name] = (Term(self.trace, index), self.span)
            for _, begin, turn in inside:
                if index in turn.kept:
                    del begin.stores[turn.kept[index]], self.trace.statics[turn.kept[index]]
            for part in parts:
                part.kept[index] = kept.name

    def _expensive(self, indices: Sequence[int]) -> list[int]:
        """The arrays, among these and what they are made of, that are better read than computed in each turn.

        Each is no larger than an array that it is made of.
        """
        found, waiting = [], list(indices) if self.trace.positions is not None else []
        seen = set(waiting)
        while waiting:
            term = Term(self.trace, waiting.pop())
            if not term.is_local or not is_expensive(term):
                continue
            if is_worth_keeping(term):
                found.append(term.index)
                continue
            waiting += [o for o in term.node.operands if o not in seen]
            seen.update(term.node.operands)
        return sorted(found)

    def _name(self, what: str, count: int) -> str:
        return f"{what}_{self.home.name}_{self.number}" + (f"_{count}" if count else "")

    def _static(self, what: str, type_: StorageType, space: Space, count: int) -> Static:
        role: Literal["scalar", "field"] = "scalar" if space.is_global else "field"
        static = Static(self._name(what, count), role, type_, space, span=self.span, inner=True)
        if static.name not in self.trace.statics:
            self.trace.pool.declare(static)
        return static

    def _carried(self, number: int, start: Operand, along: _Along, count: int) -> _Carried:
        """A value that is carried, along these axes; what has no rule outside takes the cell's default."""
        trace, (space, order) = self.trace, along
        static = self._static(self.names[number], self.types[number], space, count)
        first = _converted(trace, start, static.type, space, order)
        if not space.is_global and space == trace.grid and not isinstance(first.node.instruction, Extend):
            first = extend_term(trace, first, parse_sides(trace, None, f"{self.names[number]} of while_loop"))
        return _Carried(static, first)

    def _held(self, name: str, carried: _Carried) -> Term:
        """What the body is given for a value, and what the loop ends with."""
        loaded = self.trace.emit(lambda pool: pool.load(carried.static.name)).in_order(carried.first.order)
        self.trace.pool.annotate(loaded.index, name=name)
        return carried.continued(loaded)

    def _condition(self, condition: Callable[..., object], values: Sequence[Term]) -> Term:
        """Whether there is another turn, from these values. One number for all cells."""
        goes = own_value(operand(self._called(condition, values, None)))
        if not isinstance(goes, Term) or goes.type != BOOL:
            shown = goes.type if isinstance(goes, Term) else repr(goes)
            raise TraceError(
                f"the condition of while_loop gives {shown}", advice="Compare: lambda r: reduce_max(abs(r)) > 1e-6."
            )
        if goes.is_local:
            raise TraceError(
                "the condition of while_loop has a value in each cell, but one condition ends the loop for all cells",
                advice=f"Reduce it: {'reduce_any' if self.trace.positions is None else 'np.any'}(condition), or use "
                "iterate, where each cell has a loop of its own.",
            )
        return goes

    def _called(self, function: Callable[..., object], values: Sequence[Term], turn: KernelState | None) -> object:
        """What a function of the loop gives: its body in an iteration, its condition in none. It stores nothing."""
        trace, before = self.trace, dict(self.trace.kernel.stores)
        outside = trace.turning, trace.asking
        trace.turning, trace.asking = turn, turn is None
        try:
            made = function(*(wrap(value) for value in values))
        finally:
            trace.turning, trace.asking = outside
        written = [name for name in trace.kernel.stores if name not in before]
        if written:
            raise TraceError(
                f"{written[0]}.next is assigned inside of a while_loop",
                advice=f"Carry the value, and assign {written[0]}.next after the loop.",
            )
        return made
