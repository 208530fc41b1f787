"""Loops of each cell or element for itself: a body and a condition in Python, traced once into a region of the graph.

The body is traced on placeholders, which are Loads of statics that no graph has, in the space where all that meets in
the loop meets. What depends on a placeholder is inside the loop; what does not is computed once, before it. Arrays that
the body reads at computed places are operands of the loop as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import TraceError
from workbench.frontend.carried import carried
from workbench.frontend.operations import check_storable
from workbench.frontend.promotion import cast_term, common_type, convert, meet, meeting_space, number_type, without_ones
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import operand, wrap
from workbench.graph import (
    GLOBAL,
    Arith,
    Axis,
    Broadcast,
    Gather,
    Imm,
    KernelBuilder,
    Load,
    Loop,
    Node,
    Region,
    Replicate,
    Space,
    Static,
    StorageType,
)
from workbench.graph.instructions import Parameter, array_places, arrays_read, operands_in_cell, traits_of
from workbench.graph.types import BOOL, I64

_MOST_ROUNDS = 4
"""Times that a body is traced until the space in which it meets what it reads is known; two are the most so far."""


def iterate(
    body: Callable[..., object], *, while_: Callable[..., object] | None = None, start: object, at_most: object
) -> Any:  # noqa: ANN401  # as the start: one value or a tuple
    """Repeat `body` while a condition holds, independently in each cell or element; returns the last values.

    body: a function from the values to the next ones, as many as `start` has. while_: a function of the same values
    that gives a condition, checked before each iteration; without it, all at_most iterations are made. at_most: the
    largest number of iterations, a whole number or an integer of the program; where it is reached, the last values are
    returned. start: one value, or a tuple, of which each may be a record: a tuple, named tuple or data class. Both
    functions may read arrays and fields from before the loop at computed places: table[i], gather(u, i, j).
    """
    return _looped("iterate", body, while_, start, at_most)


def repeat(n: object, body: Callable[..., object], start: object) -> Any:  # noqa: ANN401  # as the start
    """Apply a function n times, in each cell or element: repeat(3, lambda x: x * x, u) is u**8.

    n: a whole number, or an integer of the program, which may differ from cell to cell. start: one value, or a tuple;
    the function then takes that many arguments and returns as many values. Each may be a record, and the function may
    read arrays, as of iterate.
    """
    return _looped("repeat", body, None, start, n)


def _looped(
    what: str, body: Callable[..., object], while_: Callable[..., object] | None, start: object, most: object
) -> Any:  # noqa: ANN401  # as the start
    trace = current_trace(what)
    given = carried(what, start)
    starts = [without_ones(operand(each)) for each in given.values]
    limit = _turns(what, operand(most))
    if not starts:
        raise TraceError(f"{what} carries no value", advice="Give start=, a value or a tuple of values.")
    makers = [each for each in (body, while_) if each is not None]
    if not all(map(callable, makers)):
        raise TraceError(f"{what} is given {body!r} as its body", advice="Give a function: lambda x: 0.5 * x.")
    draft = _Draft(trace, what, carried_types(trace, starts), given.names(body), len(trace.pool))
    goes = None if while_ is None else given.condition(while_)
    met: Sequence[Operand] = [*starts, limit]
    for _ in range(_MOST_ROUNDS):
        draft.moved = False
        met, order = meet(met)
        space = meeting_space(trace, met)
        holders = [draft.placeholder(number, space).in_order(order) for number in range(len(starts))]
        made = draft.results(given.body(body), goes, holders)
        found, found_order = meet([*holders, *made])
        if meeting_space(trace, found) == space and found_order == order and not draft.moved:
            break
        met = [*starts, limit, *found]
    else:
        raise _reads_others(what, "")
    firsts = [convert(trace, o, t, space) for o, t in zip(met[: len(starts)], draft.types, strict=True)]
    bound = convert(trace, met[len(starts)], I64, space)
    inside = [convert(trace, o, t, space) for o, t in zip(found[len(starts) :], (BOOL, *draft.types), strict=True)]
    region, captured = draft.region([term.index for term in inside])
    operands = [bound.index, *(term.index for term in firsts), *captured]
    values = [
        wrap(trace.emit(lambda pool, k=k: pool.loop(region, k, operands)).in_order(order))  # type: ignore[misc]  # bound now
        for k in range(len(starts))
    ]
    return given.result(values)


def _turns(what: str, most: Operand) -> Operand:
    """The most turns. Raises TraceError for what is no whole number."""
    if isinstance(most, Term):
        if not most.type.is_integer or most.type == BOOL:
            raise TraceError(
                f"the number of iterations of {what} is {most.type}", advice='Give whole numbers: astype(n, "i64").'
            )
        return cast_term(most, I64)
    if isinstance(most, bool) or not isinstance(most, int):
        raise TraceError(
            f"{what} is given {most!r} as its number of iterations", advice="Give a whole number, such as 100."
        )
    return most


def carried_types(trace: Trace, starts: Sequence[Operand]) -> tuple[StorageType, ...]:
    """The type of each value that is carried: its own; of a Python float that of the other floats."""
    floats = [each for each in starts if isinstance(each, Term) and each.type.is_float]
    float_type = common_type(trace, floats) if floats else trace.float_type
    return tuple(
        each.type if isinstance(each, Term) else float_type if isinstance(each, float) else number_type(trace, each)
        for each in starts
    )


@dataclass(slots=True)
class _Draft:
    """A loop while its body is traced; placeholders: for each node of one which value it stands for.

    number: tells loops apart. moved: whether a placeholder was read along other axes than those it was given.
    """

    trace: Trace
    what: str
    types: tuple[StorageType, ...]
    names: tuple[str, ...]
    number: int
    placeholders: dict[int, int] = field(default_factory=dict)
    moved: bool = False

    def placeholder(self, number: int, space: Space) -> Term:
        """A value that the body is given, of the loop that is traced now."""
        name = f"loop.{self.number}.{number}.{space.axis_names}"
        self.trace.pool.declare(Static(name, "param" if space.is_global else "field", self.types[number], space))
        self.trace.stand_ins[name] = lambda axes: self._moved(number, space, axes)
        made = self.trace.emit(lambda pool: pool.load(name))
        self.trace.pool.annotate(made.index, name=self.names[number])
        self.placeholders[made.index] = number
        return made

    def _moved(self, number: int, space: Space, axes: Mapping[Axis, Axis]) -> int:
        """The placeholder along other axes: those of what it meets, which are its own when the body is traced again."""
        self.moved = True
        wanted = {axes.get(axis, axis) for axis in space.axes}
        return self.placeholder(number, Space(tuple(a for a in self.trace.space.axes if a in wanted))).index

    def results(
        self, body: Callable[..., object], while_: Callable[..., object] | None, holders: Sequence[Term]
    ) -> list[Operand]:
        """Whether there is another turn, and the next values, as the functions make them of placeholders."""
        values = [wrap(holder) for holder in holders]
        goes: Operand = True if while_ is None else operand(while_(*values))
        if (goes.type if isinstance(goes, Term) else type(goes)) not in (BOOL, bool):
            shown = goes.type if isinstance(goes, Term) else repr(goes)
            raise TraceError(f"while_ of {self.what} gives {shown}", advice="Compare: lambda x: x > 1e-6.")
        return [goes, *next_values(self.trace, self.what, self.names, self.types, body(*values))]

    def region(self, results: Sequence[int]) -> tuple[Region, list[int]]:
        """What the results need of placeholders as a region; and the values that it reads besides."""
        pool = self.trace.pool
        needed = pool.needed(results)
        turning: set[int] = set()
        for index in needed:
            if index in self.placeholders or turning.intersection(pool.node(index).operands):
                turning.add(index)
        order = [index for index in needed if index in turning or index in results]
        nodes = [pool.node(index) for index in order if index in turning]
        read = dict.fromkeys(o for node in nodes for o in operands_in_cell(node))
        captured = [o for o in [*read, *results] if o not in turning and not isinstance(pool.node(o).instruction, Imm)]
        arrays = dict.fromkeys(o for node in nodes for o in arrays_read(node) if o not in turning)
        return _Inside(self, order, list(dict.fromkeys(captured)), list(arrays)).region(results)


def next_values(
    trace: Trace, what: str, names: Sequence[str], types: Sequence[StorageType], made: object
) -> list[Operand]:
    """What the body of a loop gives, as operands: one for each value that is carried, of its kind. Else TraceError."""
    written = f"the body of {what}"
    parts = tuple(made) if isinstance(made, tuple | list) else (made,)
    if len(parts) != len(names):
        raise TraceError(
            f"{written} gives {len(parts)} value{'s' * (len(parts) != 1)} of {len(names)}",
            advice="Return the next value of each argument, in their order.",
        )
    found = [operand(part) for part in parts]
    for name, type_, each in zip(names, types, found, strict=True):
        if isinstance(each, Term):
            check_storable(trace, name, type_, each.type, written=written)
        elif (isinstance(each, float) and not type_.is_float) or (type_ == BOOL) != isinstance(each, bool):
            raise TraceError(f"{name} is {type_}, but {written} gives {each!r}", advice="Write a number of that type.")
    return found


class _Inside:
    """The body of a loop, copied out of the trace.

    captured: values from before the loop that it reads in the same cell; arrays: those of which it reads elements.
    """

    def __init__(self, draft: _Draft, order: list[int], captured: list[int], arrays: list[int]) -> None:
        self.draft, self.pool, self.order, self.captured = draft, draft.trace.pool, order, captured
        self.arrays = arrays
        taken: set[str] = set()
        before = [*captured, *arrays]
        preferred_names = [*draft.names, *(_name_before(draft.trace, index) for index in before)]
        self.parameters = []
        types = [*draft.types, *(self.pool.node(index).value_type for index in before)]
        axes = [*[0] * (len(types) - len(arrays)), *(Term(draft.trace, index).space.rank for index in arrays)]
        for preferred, type_, rank in zip(preferred_names, types, axes, strict=True):
            name, number = preferred, 1
            while name in taken:
                number += 1
                name = f"{preferred}_{number}"
            taken.add(name)
            self.parameters.append(Parameter(name, type_, rank))
        statics = [Static(p.name, "param", p.type, GLOBAL) for p in self.parameters]
        self.builder = KernelBuilder(GLOBAL, statics)
        self.places: dict[int, int] = {}

    def region(self, results: Sequence[int]) -> tuple[Region, list[int]]:
        """The region with these results, and what it reads besides; what it does not need is left out."""
        for index in self.order:
            self._place(index)
        numbers = tuple(self._place(index) for index in results)
        nodes = self.builder.finish("").nodes
        return Region(tuple(self.parameters), nodes, None, numbers), [*self.captured, *self.arrays]

    def _place(self, index: int) -> int:
        """The node inside that is one of the trace."""
        if index not in self.places:
            self.places[index] = self._made(index, self.pool.node(index))
        return self.places[index]

    def _made(self, index: int, node: Node) -> int:
        if index in self.draft.placeholders:
            return self.builder.load(self.parameters[self.draft.placeholders[index]].name)
        if isinstance(node.instruction, Imm):
            return self.builder.imm(node.instruction.value, node.value_type)
        if index in self.captured:
            return self.builder.load(self.parameters[len(self.draft.types) + self.captured.index(index)].name)
        if not set(arrays_read(node)) <= set(self.arrays):
            raise _reads_others(self.draft.what, f" ({traits_of(node.instruction).word})")
        read = array_places(node.instruction)
        operands = [self._array(o) if k in read else self._place(o) for k, o in enumerate(node.operands)]
        match node.instruction:
            case Broadcast() | Replicate():
                return operands[0]
            case Arith("cast"):
                made = self.builder.cast(operands[0], node.value_type)
            case Arith(operator):
                made = self.builder.arith(operator, *operands)
            case Loop(body, result):
                made = self.builder.loop(body, result, operands)
            case Gather():
                made = self.builder.element(operands[0], operands[1:])
                for span in node.spans:  # an index outside is an error that says where
                    self.builder.annotate(made, span=span)
            case _:
                raise _reads_others(self.draft.what, f" ({traits_of(node.instruction).word})")
        for name in node.names:
            self.builder.annotate(made, name=name)
        return made

    def _array(self, index: int) -> int:
        """The node inside that is an array from before the loop."""
        number = len(self.draft.types) + len(self.captured) + self.arrays.index(index)
        return self.builder.load(self.parameters[number].name)


def _reads_others(what: str, how: str) -> TraceError:
    return TraceError(
        f"the body of {what} reads other cells or elements of what it carries{how}",
        advice="Use while_loop, whose body may read others, or read an array that was known before the loop.",
    )


def _name_before(trace: Trace, index: int) -> str:
    """What to call a value from before the loop."""
    node = trace.pool.node(index)
    if node.names:
        return node.names[0]
    if traits_of(node.instruction).repeats:
        return _name_before(trace, node.operands[0])
    return node.instruction.name if isinstance(node.instruction, Load) else "c"
