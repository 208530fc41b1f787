"""Ghost cells in tiles: when they are written, so that each is there before it is read and not before its last reader.

Every ghost cell comes from one cell of the domain at most (semantics §4): tiles write it right after that cell, in the
level that makes the array's values, with the Globals of the step whose fill it is. A ghost cell of a value rule counts
with the cell of the domain next to it. So ghost cells belong to the tile of their cell, whatever the rule.

What is in an array when tiles begin has its ghost cells written before. Values that no scalar changes last: they are
written before tiles only, if nothing else writes the ghost cells of the arrays that take turns.

Three things stand in the way of writing them right after their cells: what a loop computes outside the domain, in the
same array, may be read later (or its own ghost cells in place); two fills may have unlike ghost cells in one array; and
values outside may change while those inside stay. Such fills get a level of their own, where a step has them: after the
last reader of what was there before, and before the first one of what they write.

What is computed outside the domain of formulas that are periodic along all axes is the image of what is computed
inside. There tiles compute nothing outside (such loops are bare): they write images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Imm,
    Kernel,
    Load,
    LoadSize,
    Periodic,
    Prescribed,
    Shift,
    SideRule,
    Undefined,
)
from workbench.planning.dependence import orbit
from workbench.planning.kernel_plan import Home, Margins, Step
from workbench.planning.reach import union
from workbench.planning.tiled import GhostUpdate

# What does not know in which cell it is, but for what it reads.
_ALIKE = (Arith, Broadcast, Imm, Load, LoadSize, Shift)


@dataclass(frozen=True, slots=True)
class GhostPlan:
    """Which (fill, slot) are written before tiles begin, and which after levels.

    loops: for each level of a step the number of its launch of loops, -1 for a level of ghost cells alone. apart: the
    fills that have such a level. bare: sub-kernels that compute nothing outside the domain in tiles.
    """

    before: tuple[tuple[int, int], ...]
    updates: tuple[GhostUpdate, ...]
    loops: tuple[int, ...]
    apart: tuple[int, ...]
    bare: tuple[int, ...]


def ghost_plan(kernel: Kernel, step: Step) -> GhostPlan:
    """Return when tiles write the ghost cells of fills, each of which has one array as source and target."""
    return _Search(kernel, step).run()


def sides_of(kernel: Kernel, node: int) -> tuple[tuple[SideRule, SideRule], ...]:
    """Return the boundary rules of an Extend node."""
    instruction = kernel.nodes[node].instruction
    assert isinstance(instruction, Extend)
    return instruction.sides


def _repeats(sides: tuple[tuple[SideRule, SideRule], ...]) -> bool:
    return all(isinstance(rule, Periodic) and rule.sign == 1 for pair in sides for rule in pair)


@dataclass(frozen=True, slots=True)
class _Life:
    """The arrays that hold the values of a fill when tiles begin, and where later values are made, if they are.

    stays: the values are in their array for a whole step before that of the fill, so they must not change in time.
    """

    before: tuple[int, ...]
    made: GhostUpdate | None
    stays: bool


class _Search:
    """What each fill of a step needs, and where two of them meet."""

    def __init__(self, kernel: Kernel, step: Step) -> None:
        self.kernel, self.step = kernel, step
        self.levels = [launch.members for launch in step.launches if launch.kind == "subkernel"]
        self.lives = [self._life(number) for number in range(len(step.fills))]
        self.images: dict[int, tuple[GhostUpdate, ...]] = {}  # of bare loops
        for level, members in enumerate(self.levels):
            for member in members:
                images = self._images(level, member)
                if images:
                    self.images[member] = images

    def run(self) -> GhostPlan:
        apart = self._apart()
        fills = [number for number in range(len(self.lives)) if number not in apart]
        lasting = [number for number in fills if self._lasts(number)]
        before: dict[tuple[int, int], None] = {}
        for number in fills:
            slots = self._orbit(number) if number in lasting else self.lives[number].before
            before |= {(number, slot): None for slot in slots}
        updates = [life.made for n in fills if n not in lasting and (life := self.lives[n]).made is not None]
        updates += [image for images in self.images.values() for image in images]
        updates = [u for n, u in enumerate(updates) if not self._covered(u, updates[:n])]
        loops: list[int] = []
        waiting: list[GhostUpdate] = []
        for level in range(len(self.levels)):
            own = [number for number in apart if self._level_of(number) == level]
            waiting += [GhostUpdate(number, len(loops), self.step.fills[number].target, 0) for number in own]
            loops += [-1, level] if own else [level]
        numbered = (replace(update, level=loops.index(update.level)) for update in updates)
        return GhostPlan(tuple(before), (*numbered, *waiting), tuple(loops), apart, tuple(self.images))

    def _apart(self) -> tuple[int, ...]:
        """The fills that must have a level of their own, with all that share arrays with them."""
        fills = range(len(self.lives))
        found = {n for n in fills if (self.lives[n].stays and self._changes(n)) or self._is_computed(n)}
        for one, other in combinations(fills, 2):
            if self._clash(self.lives[one], self.lives[other]) and (not self._alike(one, other) or self._changes(one)):
                found |= {one, other}
        turned = {slot for number in found for slot in self._orbit(number)}
        return tuple(number for number in fills if self.step.fills[number].target in turned)

    def _is_computed(self, number: int) -> bool:
        """Whether the array's ghost cells would be written by this fill where a loop computes them."""
        made = self.lives[number].made
        if made is None:
            return False
        outside = [m for m in self.levels[made.level] if any(map(any, self.step.subkernels[m].margins))]
        outside = [m for m in outside if any(home.slot == made.slot for home in self.step.subkernels[m].outputs)]
        return any(m not in self.images for m in outside) or (bool(outside) and not self._is_periodic(number))

    def _images(self, level: int, member: int) -> tuple[GhostUpdate, ...]:
        """The ghost cells that a loop computes, as images of the cells that it computes inside; () if they are none."""
        loop = self.step.subkernels[member]
        if not any(map(any, loop.margins)):
            return ()
        found = []
        for home in loop.outputs:
            fill = self._filling(home, loop.margins)
            if fill is None or not self._shifts(home.node):
                return ()
            found.append(GhostUpdate(fill, level, home.slot, 0))
        return tuple(found)

    def _filling(self, home: Home, margins: Margins) -> int | None:
        """A periodic fill of the same type that reaches as far at least."""
        nodes, fills = self.kernel.nodes, self.step.fills
        for number, fill in enumerate(fills):
            wide = len(fill.margins) == len(margins) and union(fill.margins, margins) == fill.margins
            if wide and nodes[fill.node].value_type == nodes[home.node].value_type and self._is_periodic(number):
                return number
        return None

    def _is_periodic(self, number: int) -> bool:
        return _repeats(sides_of(self.kernel, self.step.fills[number].node))

    def _shifts(self, node: int) -> bool:
        """Whether a value is the same formula of the same numbers a whole domain further on, along each axis."""
        waiting = [node]
        for index in waiting:
            instruction = self.kernel.nodes[index].instruction
            if isinstance(instruction, Extend):
                if not _repeats(instruction.sides):
                    return False
            elif not isinstance(instruction, _ALIKE):
                return False
            waiting.extend(o for o in self.kernel.nodes[index].operands if o not in waiting)
        return True

    def _covered(self, update: GhostUpdate, others: list[GhostUpdate]) -> bool:
        """Whether another one of the same array, which is alike then, writes as many ghost cells at least."""
        fills = self.step.fills
        return any(
            (other.level, other.slot) == (update.level, update.slot)
            and union(fills[other.fill].margins, fills[update.fill].margins) == fills[other.fill].margins
            for other in others
        )

    def _life(self, number: int) -> _Life:
        slot, level = self.step.fills[number].target, self._level_of(number)
        for earlier in reversed(range(level)):
            if self._writes(earlier, slot):
                return _Life((), GhostUpdate(number, earlier, slot, 0), stays=False)
        before: list[int] = []
        for ahead in range(1, len(self._orbit(number)) + 1):
            before.append(slot)
            slot = self.step.rotation[slot]
            for last in reversed(range(len(self.levels))):
                if self._writes(last, slot):
                    return _Life(tuple(before), GhostUpdate(number, last, slot, 1), stays=ahead > 1)
        return _Life(tuple(before), None, stays=True)

    def _level_of(self, number: int) -> int:
        """The level of the loops that follow a fill."""
        level = 0
        for launch in self.step.launches:
            if launch.kind == "fill" and number in launch.members:
                break
            level += launch.kind == "subkernel"
        return level

    def _writes(self, level: int, slot: int) -> bool:
        return any(home.slot == slot for member in self.levels[level] for home in self.step.subkernels[member].outputs)

    def _orbit(self, number: int) -> tuple[int, ...]:
        return orbit(self.step.rotation, self.step.fills[number].target)

    def _changes(self, number: int) -> bool:
        """Whether a scalar that each step changes decides the values outside."""
        stored = {name for name, _ in self.kernel.stores()}
        waiting = list(self.kernel.nodes[self.step.fills[number].node].operands[1:])
        for index in waiting:
            instruction = self.kernel.nodes[index].instruction
            if isinstance(instruction, Load) and instruction.name in stored:
                return True
            waiting.extend(o for o in self.kernel.nodes[index].operands if o not in waiting)
        return False

    def _lasts(self, number: int) -> bool:
        sides = sides_of(self.kernel, self.step.fills[number].node)
        given = all(isinstance(rule, Prescribed | Undefined) for pair in sides for rule in pair)
        if not given or self._changes(number):
            return False
        slots = set(self._orbit(number))
        if any(slots & set(self._orbit(o)) and not self._alike(number, o) for o in range(len(self.lives))):
            return False
        outside = (loop for loop in self.step.subkernels if any(map(any, loop.margins)))
        return not slots & {home.slot for loop in outside for home in loop.outputs}

    def _alike(self, one: int, other: int) -> bool:
        """Whether two fills give the same ghost cells to the same array, however many."""
        return self._rule(one) == self._rule(other)

    def _rule(self, number: int) -> object:
        node = self.step.fills[number].node
        keys = self.kernel.keys()
        return sides_of(self.kernel, node), tuple(keys[operand] for operand in self.kernel.nodes[node].operands[1:])

    def _clash(self, one: _Life, other: _Life) -> bool:
        if set(one.before) & set(other.before):
            return True
        if one.made is None or other.made is None:
            return False
        return (one.made.level, one.made.slot) == (other.made.level, other.made.slot)
