"""Memory: which slot holds which array when; arrays of dead values are used again, and fields rotate."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain
from math import inf

from workbench.graph import Extend, Graph, Kernel, StorageType, value_name
from workbench.planning.axes import axes_of
from workbench.planning.draft import KernelDraft, StepDraft
from workbench.planning.fields import FieldEnd
from workbench.planning.kernel_plan import Axes, Fill, Home
from workbench.planning.reach import no_margins

_Kind = tuple[str, Axes]


def _kind_of(type_: StorageType, axes: Axes) -> _Kind:
    """What arrays have in common that fit into each other's slots."""
    return type_.name, axes


class SlotPool:
    """The slots of a simulation, shared by all kernels and steps. Slots 0 .. fields-1 are the fields.

    Arrays of different types or axes never share a slot, so that generated code may take a slot's type for known.
    """

    def __init__(self, graph: Graph) -> None:
        self.types = [f.type for f in graph.arrays]
        self.axes = [axes_of(f.space, graph.space) for f in graph.arrays]
        self.fields = [f.name for f in graph.arrays]
        self.labels: list[list[str]] = [[f.name] for f in graph.arrays]

    def kind(self, slot: int) -> _Kind:
        """That of the arrays that fit into a slot."""
        return _kind_of(self.types[slot], self.axes[slot])

    def add(self, type_: StorageType, axes: Axes) -> int:
        """One more slot, for such arrays."""
        self.types.append(type_)
        self.axes.append(axes)
        self.labels.append([])
        return len(self.types) - 1


_CALLED = "main"
"""The kernel of a program that runs once at each call."""


@dataclass(slots=True)
class _Array:
    """A value's array over one step: when it is last needed and by whom."""

    node: int  # for messages and labels; -1 for a field that the kernel does not load
    last: float
    readers: set[tuple[int, bool]] = field(default_factory=set)  # (sub-kernel at `last`, at the same cell only?)
    slot: int = -1

    def use(self, launch: int, subkernel: int = -1, same_cell: bool = False) -> None:
        if launch > self.last:
            self.last, self.readers = launch, set()
        if launch == self.last:
            self.readers.add((subkernel, same_cell))


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the arrays of one step are. outputs[g]: what group g stores; ends[f]: the slot that field f is at last."""

    homes: tuple[Home, ...]
    fills: tuple[Fill, ...]
    outputs: tuple[tuple[Home, ...], ...]
    ends: tuple[int, ...]


def place_arrays(each: KernelDraft, step: StepDraft, pool: SlotPool) -> Memory:
    """Give every stored value of a step a slot, adding slots to the pool only when none is free.

    A slot is free for a value if the array in it has been read for the last time in an earlier launch; or in the very
    sub-kernel that writes the value, if that reads it at the same cell only and nothing else in the launch does. The
    launches of a chain count as one for what its members read.
    """
    return _Placement(each, step, pool).run()


def rotation_of(ends: Sequence[int], pool: SlotPool) -> tuple[int, ...]:
    """Return the permutation after a step: fields as given, other slots stay where they can."""
    left = dict.fromkeys(sorted(set(range(len(pool.types))) - set(ends)))
    rotation = list(ends)
    for slot in range(len(ends), len(pool.types)):
        chosen = slot
        if slot not in left:
            same = [s for s in left if (pool.types[s], pool.axes[s]) == (pool.types[slot], pool.axes[slot])]
            chosen = next((s for s in same if s < len(ends)), same[0] if same else -1)
        rotation.append(chosen)
        del left[chosen]
    return tuple(rotation)


def aliased_extends(kernel: Kernel, step: StepDraft) -> tuple[frozenset[int], frozenset[int]]:
    """Return the Extends that share their operand's array, and those that have ghost cells to fill.

    An Extend without ghosts is its operand. One Extend with ghosts may put them round its operand if no loop reads
    the operand's own outside; a second one, with other rules, needs a copy.
    """
    aliases: set[int] = set()
    filled: set[int] = set()
    ringed: set[int] = set()
    for index in sorted(step.live):
        node = kernel.nodes[index]
        if not isinstance(node.instruction, Extend):
            continue
        nothing = no_margins(len(step.margins[index]))
        operand = node.operands[0]
        if step.margins[index] == nothing:
            aliases.add(index)
            continue
        filled.add(index)
        if step.margins[operand] == nothing and operand not in ringed:
            aliases.add(index)
            ringed.add(operand)
    return frozenset(aliases), frozenset(filled)


class _Placement:
    """The state of one placement."""

    def __init__(self, each: KernelDraft, step: StepDraft, pool: SlotPool) -> None:
        self.kernel, self.field_ends, self.step, self.pool = each.kernel, each.ends, step, pool
        self.aliases, self.filled = aliased_extends(each.kernel, step)
        self.arrays: dict[int, _Array] = {}  # by node
        self.copies: dict[str, _Array] = {}  # by field that takes the copy
        self.occupant: dict[int, _Array] = {}
        self.needed: list[tuple[float, int]] = []  # a heap of slots, by the launches that need them last
        self.due: dict[_Kind, list[tuple[bool, int]]] = {}  # those that no later launch needs, those of fields last
        self.last_launch = {m.subkernel: c.launches[1] - 1 for c in step.chains for m in c.members}
        self.rolling = {v.node for c in step.chains for v in c.rolling}
        self.spans = {n: (c.launches[0], c.launches[1] - 1) for c in step.chains for n in range(*c.launches)}
        self.made: dict[int, int] = {}  # the launch that makes the array of a node

    def run(self) -> Memory:
        self._begin()
        self._find_lives()
        self.needed = [(array.last, slot) for slot, array in self.occupant.items()]
        heapify(self.needed)
        outputs: list[list[Home]] = [[] for _ in self.step.groups]
        fills: list[Fill] = []
        for number, launch in enumerate(self.step.order.launches):
            match launch.kind:
                case "fill":
                    fills.extend(self._place_fill(number, self.step.order.fills[m]) for m in launch.members)
                case "subkernel":
                    for member in launch.members:
                        outputs[member].extend(self._place_outputs(number, member))
                case "finisher":
                    pass
        homes = tuple(Home(node, array.slot) for node, array in sorted(self.arrays.items()) if node in self.step.live)
        return Memory(homes, tuple(fills), tuple(map(tuple, outputs)), tuple(self._end(e) for e in self.field_ends))

    def _begin(self) -> None:
        loads = [pair for pair in self.kernel.loads() if pair[1] in self.step.live]
        for slot, name in enumerate(self.pool.fields):
            array = self.occupant[slot] = _Array(dict(loads).get(name, -1), -1, slot=slot)
            self.arrays |= {node: array for loaded, node in loads if loaded == name}  # along other axes the same array
        for slot in range(len(self.pool.fields), len(self.pool.types)):
            self.occupant[slot] = _Array(-1, -1, slot=slot)
        for slot, end in enumerate(self.field_ends):
            if end.way == "keep":
                self.occupant[slot].last = inf

    def _find_lives(self) -> None:
        for number, launch in enumerate(self.step.order.launches):
            for member in launch.members:
                if launch.kind == "fill":
                    self._live_fill(number, self.step.order.fills[member])
                elif launch.kind == "subkernel":
                    self._live_group(number, member)
        for end in self.field_ends:
            if end.way in ("rotate", "home") and end.node is not None:
                self.arrays[end.node].last = inf

    def _live_fill(self, number: int, extend: int) -> None:
        operand = self.kernel.nodes[extend].operands[0]
        self.arrays[operand].use(number)
        if extend in self.aliases:
            self.arrays[extend] = self.arrays[operand]
        else:
            self.arrays[extend] = _Array(extend, number)

    def _live_group(self, number: int, member: int) -> None:
        group = self.step.groups[member]
        offsets: dict[int, bool] = {}
        in_frame = not (group.axes or group.takes)  # all others write no array that they read
        anywhere = self.step.emissions[member].anywhere
        for node, offset in self.step.emissions[member].reads:
            offsets[node] = offsets.get(node, in_frame) and not any(offset) and node not in anywhere
        for node, same_cell in offsets.items():
            self._array_of(node).use(self.last_launch.get(member, number), member, same_cell)
        for node in group.manifest:
            self.arrays[node] = _Array(node, number)
            self.made[node] = number
        for end in self.field_ends:
            if end.way == "copy" and end.node in group.roots:
                self.copies[end.field] = _Array(end.node, inf)

    def _array_of(self, node: int) -> _Array:
        """The array of a stored node; an Extend without ghosts joins its operand's on first sight."""
        if node not in self.arrays:
            self.arrays[node] = self.arrays[self.kernel.nodes[node].operands[0]]
        return self.arrays[node]

    def _place_fill(self, number: int, extend: int) -> Fill:
        array = self.arrays[extend]
        if extend not in self.aliases:
            self._take(array, number, subkernel=None, preferred=None)
        source = self.arrays[self.kernel.nodes[extend].operands[0]].slot
        return Fill(extend, source, array.slot, self.step.margins[extend])

    def _place_outputs(self, number: int, member: int) -> Iterable[Home]:
        preferred_of = {e.node: s for s, e in enumerate(self.field_ends) if e.way == "home"}
        for node in self.step.groups[member].manifest:
            # Where a rolling value's slot is left alone, other members may still read what is in it.
            writer = None if node in self.rolling else member
            self._take(self.arrays[node], number, writer, preferred_of.get(node))
            yield Home(node, self.arrays[node].slot)
        for slot, end in enumerate(self.field_ends):
            if end.way == "copy" and end.node is not None and end.node in self.step.groups[member].roots:
                self._take(self.copies[end.field], number, member, slot)
                yield Home(end.node, self.copies[end.field].slot)

    def _take(self, array: _Array, number: int, subkernel: int | None, preferred: int | None) -> None:
        """Find a slot for an array that is written in launch `number`, if possible the preferred one."""
        node, kernel = self.kernel.nodes[array.node], self.kernel
        type_, axes = node.value_type, axes_of(node.space, kernel.space)
        candidates = self._due(number, _kind_of(type_, axes))
        if preferred is not None:
            candidates = chain((preferred,), candidates)
        free = (s for s in candidates if self._is_free(s, number, subkernel) and self._may_hold(s, array))
        slot = next(free, None)
        if slot is None:
            slot = self.pool.add(type_, axes)
        array.slot = slot
        self._put(array)
        name = value_name(kernel, array.node)
        if name not in self.pool.labels[slot]:
            self.pool.labels[slot].append(name)

    def _due(self, number: int, kind: _Kind) -> Iterable[int]:
        """The slots of a kind that no launch after `number` or after its chain needs, the only ones that may be free.

        Those of fields come last, so that temporaries leave fields alone.
        """
        last = self.spans.get(number, (number, number))[1]
        while self.needed and self.needed[0][0] <= last:
            slot = heappop(self.needed)[1]
            insort(self.due.setdefault(self.pool.kind(slot), []), (slot < len(self.pool.fields), slot))
        return (slot for _, slot in self.due.get(kind, ()))

    def _put(self, array: _Array) -> None:
        due, place = self.due.get(self.pool.kind(array.slot), []), (array.slot < len(self.pool.fields), array.slot)
        at = bisect_left(due, place)
        if due[at : at + 1] == [place]:
            del due[at]
        self.occupant[array.slot] = array
        heappush(self.needed, (array.last, array.slot))

    def _is_free(self, slot: int, number: int, subkernel: int | None) -> bool:
        old = self.occupant[slot]
        first, last = self.spans.get(number, (number, number))
        in_place = old.last == last and subkernel is not None and old.readers == {(subkernel, True)}
        return old.last < first or in_place

    def _may_hold(self, slot: int, array: _Array) -> bool:
        """Whether a program that runs once can still make a result in its own array, which a call lends it.

        Else arrays would rotate, and a call would copy all of them.
        """
        if slot >= len(self.pool.fields) or self.kernel.name != _CALLED:
            return True
        end = self.field_ends[slot]
        if end.way != "home" or end.node is None or end.node == array.node:
            return True
        return array.last < self.made.get(end.node, -1)

    def _end(self, end: FieldEnd) -> int:
        match end.way:
            case "keep":
                return self.pool.fields.index(end.field)
            case "copy":
                return self.copies[end.field].slot
            case "rotate" | "home":
                assert end.node is not None
                return self.arrays[end.node].slot
