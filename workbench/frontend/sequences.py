"""Sequences: a function of arrays that selects elements is several programs, between which lengths become known.

A value belongs to the first program in which all that it is made of is known: what no selected array enters to the
first one, what is made of arrays that this one selects to the second one, and so on. Natives of foreign functions are
called between programs too: their results belong behind what they are given. All are cut out of one trace. What
a program needs of those before it is kept there if it costs more to compute than to read, and else computed again of
the arguments; so is what only a branch needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.frontend.axis_table import AnyOrigin
from workbench.frontend.foreign_calls import ForeignCall
from workbench.frontend.keeping import is_expensive, is_worth_keeping
from workbench.frontend.positions import FunctionPositions
from workbench.frontend.selections import Selected, origins_of, selected_in
from workbench.frontend.trace import KernelState, Term, Trace
from workbench.graph import GLOBAL, Axis, Load, LoadSize, Loop, Space, Span, Static, StorageType, While
from workbench.graph.instructions import traits_of
from workbench.graph.types import BOOL

_Family = list[tuple[While, KernelState, KernelState]]
"""A loop over whole arrays with those in its body."""


@dataclass(slots=True)
class Part:
    """One program of a sequence: its kernel, the loops before it, and what it is given of the programs before.

    kept: by the node of a value of an earlier program the static that has it here and there. statics, space: of its
    graph. selections: those whose elements it finds. lengths: the numbers of selected elements that it counts. calls:
    of natives, before it runs. orders: of what it stores for natives the axes by position (`ForeignArgument.order`).
    """

    main: KernelState
    loops: _Family = field(default_factory=list)
    kept: dict[int, str] = field(default_factory=dict)
    statics: dict[str, Static] = field(default_factory=dict)
    space: Space = GLOBAL
    selections: list[Selected] = field(default_factory=list)
    lengths: dict[str, Selected] = field(default_factory=dict)
    calls: list[ForeignCall] = field(default_factory=list)
    orders: dict[str, tuple[int | None, ...]] = field(default_factory=dict)

    @property
    def states(self) -> list[KernelState]:
        """All kernels."""
        return [self.main, *(state for _, *both in self.loops for state in both)]


Known = Callable[[AnyOrigin], "int | None"]
"""The number of the first program that knows a length; None for one that no program finds."""


def parts_of(
    positions: FunctionPositions, as_made: Collection[str], returned: Collection[str]
) -> tuple[list[Part], Known]:
    """The programs of a traced function, in order, and when lengths are known; one if nothing becomes known in between.

    as_made: the results that are returned with their axes in the program's order. returned: names of selections that
    are results.
    """
    trace = positions.trace
    if not positions.selections and not positions.foreign.calls:
        whole = Part(trace.kernel, trace.loops)
        _use(trace, whole, {})
        return [whole], lambda _: 0
    division = _Division(positions, returned)
    return division.parts(as_made), division.known_in


class _Division:
    """In which program each value is computed."""

    def __init__(self, positions: FunctionPositions, returned: Collection[str]) -> None:
        self._positions, self._trace, self._pool = positions, positions.trace, positions.trace.pool
        self._lengths: dict[str, Selected] = {}  # by the name of the length the first selection that has it
        for each in positions.selections.values():
            self._lengths.setdefault(each.length.name, each)
        self._families = self._families_of(self._trace.loops)
        self._home = {name: n for n, family in enumerate(self._families) for _, b, _ in family for name in b.stores}
        self._members: dict[Axis, tuple[AnyOrigin, ...]] = {}
        self._used: dict[str, Selected] = {name: positions.selections[name] for name in returned}
        self._counted: dict[str, Selected] = {each.length.name: each for each in self._used.values()}
        self._turning: set[int] = set()  # the families that run
        self._called: dict[str, ForeignCall] = {}  # those whose results are used, by the name of the first one
        self._found = self._closure()
        self._levels, self._family_levels = dict[int, int](), dict.fromkeys(self._turning, 0)
        while True:  # a loop is in the program of the last value that it needs, and all that it carries with it
            self._levels = self._levelled()
            found = {n: max(self._levels[i] for i in self._roots_of(n)) for n in self._turning}
            if found == self._family_levels:
                break
            self._family_levels = found

    @staticmethod
    def _families_of(loops: _Family) -> list[_Family]:
        families: list[_Family] = []
        for each in loops:
            turns = {turn.name for _, _, turn in families[-1]} if families else set()
            if each[0].before in turns:
                families[-1].append(each)
            else:
                families.append([each])
        return families

    def _roots_of(self, family: int) -> list[int]:
        states = [state for _, *both in self._families[family] for state in both]
        return [term.index for state in states for term, _ in state.stores.values()]

    def _closure(self) -> list[int]:
        """All nodes that results need, those of earlier programs too; notes what is selected, counted and turned."""
        waiting = [term.index for term, _ in self._trace.kernel.stores.values()]
        for each in self._used.values():
            waiting += [each.elements.index, each.count.index]
        found = set[int]()
        while waiting:
            index = waiting.pop()
            if index in found:
                continue
            found.add(index)
            node = self._pool.node(index)
            waiting += node.operands
            for axis in self._axes(index):
                waiting += map(self._count, self._unknown(axis))
            name = node.instruction.name if isinstance(node.instruction, Load) else ""
            selection = self._selection(name)
            if selection is not None:
                self._used[selection.name] = selection
                waiting += [selection.elements.index, self._count(selection)]
            elif (call := self._call(name)) is not None:
                self._called[call.results[0].name] = call
                waiting += [each.term.index for each in call.arguments if each.term is not None]
                waiting += [self._count(length) for each in call.arguments for length in self._selected(each.length)]
            elif name in self._home and self._home[name] not in self._turning:
                self._turning.add(self._home[name])
                waiting += self._roots_of(self._home[name])
        return sorted(found)

    def _count(self, selection: Selected) -> int:
        """The node that counts the selected elements, of which the number is needed from now on."""
        self._counted[selection.length.name] = selection
        return selection.count.index

    def _selection(self, static: str) -> Selected | None:
        reading = self._positions.readings.get(static)
        return None if reading is None else self._positions.selections.get(reading.argument)

    def _call(self, static: str) -> ForeignCall | None:
        """The call of a native whose result is read."""
        reading = self._positions.readings.get(static)
        return self._positions.foreign.of(static if reading is None else reading.argument)

    def _axes(self, index: int) -> Iterable[Axis]:
        node = self._pool.node(index)
        if isinstance(node.instruction, LoadSize):
            name = self._trace.axis_names[node.instruction.axis]
            return (next(axis for axis in self._trace.space.axes if axis.name == name),)
        return node.space.axes if node.space is not None else ()

    def _origins(self, axis: Axis) -> tuple[AnyOrigin, ...]:
        """See `origins_of`."""
        if axis not in self._members:
            self._members[axis] = origins_of(self._positions.table, axis)
        return self._members[axis]

    def _unknown(self, axis: Axis) -> list[Selected]:
        """The selections whose numbers of elements say the length of an axis, or must equal it."""
        return [each for origin in self._origins(axis) for each in self._selected(origin)]

    def _selected(self, origin: AnyOrigin | None) -> list[Selected]:
        """The selections whose numbers of elements a length is made of."""
        lengths = () if origin is None else selected_in(origin)
        return [self._lengths[each.name] for each in lengths if each.name in self._lengths]

    def known_in(self, origin: AnyOrigin) -> int | None:
        """See `Known`."""
        found = 0
        for each in selected_in(origin):
            selection = self._counted.get(each.name)
            level = None if selection is None else self._levels.get(selection.count.index)
            if level is None:
                return None
            found = max(found, level + 1)
        return found

    def _levelled(self) -> dict[int, int]:
        """The program of each node, for the present ones of the loops."""
        made: dict[int, int] = {}
        before = self._levels
        self._levels = made
        for index in self._found:
            node = self._pool.node(index)
            level = max((made[each] for each in node.operands), default=0)
            name = node.instruction.name if isinstance(node.instruction, Load) else ""
            selection = self._selection(name)
            if selection is not None:
                level = max(made[selection.elements.index], made[selection.count.index]) + 1
            elif (call := self._call(name)) is not None:
                level = self._call_level(call)
            elif name in self._home:
                level = self._family_levels[self._home[name]]
            made[index] = max([level, *map(self._known_along, self._axes(index))])
        self._levels = before
        return made

    def _known_along(self, axis: Axis) -> int:
        """The first program that knows the length of an axis."""
        known = [each for origin in self._origins(axis) if (each := self.known_in(origin)) is not None]
        return min(known, default=0)

    def _call_level(self, call: ForeignCall) -> int:
        """The program before which a native is called: after those that store what it is given."""
        given = [(each.term.index, each.is_whole) for each in call.arguments if each.term is not None]
        ready = [self._levels[index] + (not is_whole) for index, is_whole in given]
        ready += [self.known_in(each.length) or 0 for each in call.arguments if each.length is not None]
        return max([0, *ready, *(self._known_along(axis) for each in call.results for axis in each.axes)])

    def parts(self, as_made: Collection[str]) -> list[Part]:
        """The programs, each with what it stores: its results, what it selects, and what later ones need."""
        trace, levels = self._trace, self._levels
        selected = {name: max(levels[s.elements.index], levels[s.count.index]) for name, s in self._used.items()}
        results = trace.kernel.stores
        last = max([levels[term.index] for term, _ in results.values()] + [level for level in selected.values()])
        span = trace.kernel.span
        parts = [Part(KernelState(trace.kernel.name, span)) for _ in range(last + 1)]
        for name, stored in results.items():
            parts[levels[stored[0].index]].main.stores[name] = stored
        for selection in self._used.values():
            part = parts[selected[selection.name]]
            part.selections.append(selection)
            part.main.stores[selection.name] = (selection.elements, Span(selection.length.line))
        for name, selection in self._counted.items():
            part = parts[levels[selection.count.index]]
            part.lengths[name] = selection
            part.main.stores[name] = (selection.count, Span(selection.length.line))
        self._store_for_calls(parts)
        for number in sorted(self._turning):
            parts[self._family_levels[number]].loops += self._families[number]
        shared = {
            (levels[term.index], term.index): name
            for name, (term, _) in results.items()
            if name in as_made or not term.is_local
        }
        for number in reversed(range(len(parts))):
            for index in self._crossing(parts[number], number):
                level = levels[index]
                if (level, index) not in shared:
                    name = shared[level, index] = self._name(index, shared.values())
                    parts[level].main.stores[name] = (Term(trace, index), span)
                parts[number].kept[index] = shared[level, index]
        for part in parts:
            _use(trace, part, {name: self._found_static(name, *stored) for name, stored in part.main.stores.items()})
            if part.space.is_global and (
                part.calls or len(parts) > 1
            ):  # numbers of natives alone: it runs along one element
                part.space = Space((self._positions.only(),))
        return parts

    def _store_for_calls(self, parts: Sequence[Part]) -> None:
        """Give each native to the program before which it is called, and what it is given to those that make it."""
        for call in self._called.values():
            parts[self._call_level(call)].calls.append(call)
            for each in call.arguments:
                if each.term is not None and not each.is_whole:
                    part = parts[self._levels[each.term.index]]
                    part.main.stores[each.name] = (each.term, Span(call.line))
                    part.orders[each.name] = each.order

    def _crossing(self, part: Part, number: int) -> list[int]:
        """The values of earlier programs that a program is given."""
        found: dict[int, None] = {}
        for state in part.states:
            waiting = [term.index for term, _ in state.stores.values()]
            seen = set(waiting)
            while waiting:
                index = waiting.pop()
                if index in state.kept:
                    continue
                if self._levels[index] < number and self._crosses(index, state.in_branch):
                    found[index] = None
                    continue
                operands = set(self._pool.node(index).operands) - seen
                seen |= operands
                waiting += operands
        return sorted(found)

    def _crosses(self, index: int, in_branch: bool) -> bool:
        """Whether a value of an earlier program is read from there, and not computed again."""
        node = self._pool.node(index)
        if node.value_type.is_pair:
            return False
        if isinstance(node.instruction, Load):
            return node.instruction.name in self._home
        if in_branch:
            return False
        if not node.is_local:
            return traits_of(node.instruction).is_reduction or isinstance(node.instruction, Loop)
        term = Term(self._trace, index)
        return is_expensive(term) and is_worth_keeping(term)

    def _name(self, index: int, taken: Collection[str]) -> str:
        """A name for what is kept: that of its variable, if no static has it."""
        used = {*self._trace.statics, *taken, *self._used, *self._counted}
        named = [name for name in reversed(self._pool.node(index).names) if name not in used]
        number = len(taken) + 1
        while not named and f"kept{number}" in used:
            number += 1
        return named[0] if named else f"kept{number}"

    def _found_static(self, name: str, term: Term, span: Span) -> Static:
        """The static that a program stores."""
        known = self._trace.statics.get(name)
        if known is not None and name not in self._used:
            return known
        if term.is_local:
            return Static(name, "field", term.type, term.space, span=span)
        return Static(name, "scalar", term.type, GLOBAL, default=zero_of(term.type), span=span)


def zero_of(type_: StorageType) -> bool | int | float:
    """The zero of a type, which a scalar holds before it is set."""
    return False if type_ == BOOL else 0.0 if type_.is_float else 0


def _use(trace: Trace, part: Part, stored: Mapping[str, Static]) -> None:
    """Give a program the statics and axes that it needs; stored: what it stores in place of statics of the trace.

    An array of which only the length is read, along a copy of its axis, is left out.
    """
    needed = set[int]()
    for state in part.states:
        kept = {**part.kept, **state.kept} if stored else {}
        roots = [term.index for term, _ in state.stores.values()]
        needed |= set(trace.pool.needed(roots, lambda i: () if i in kept else trace.pool.node(i).operands))  # noqa: B023
    nodes = [trace.pool.node(index) for index in sorted(needed)]
    inside = {name for state in part.states[1:] for name in state.stores}
    read = {
        node.instruction.name
        for index, node in zip(sorted(needed), nodes, strict=True)
        if isinstance(node.instruction, Load) and index not in part.kept
    }
    axes = {axis for node in nodes if node.space is not None for axis in node.space.axes}
    sizes = {trace.axis_names[node.instruction.axis] for node in nodes if isinstance(node.instruction, LoadSize)}
    own = set(part.main.stores) | inside
    found = {name: static for name, static in trace.statics.items() if name in read or name in own}
    found.update(stored)
    for index, name in part.kept.items():
        node = trace.pool.node(index)
        if index in needed:
            assert node.space is not None
            role = "field" if node.is_local else "param"
            default = None if node.is_local else zero_of(node.value_type)
            found[name] = Static(name, role, node.value_type, node.space, default=default)  # type: ignore[arg-type]  # mypy widens the literal
    part.statics = found
    part.space = Space(tuple(axis for axis in trace.space.axes if axis in axes or axis.name in sizes))
