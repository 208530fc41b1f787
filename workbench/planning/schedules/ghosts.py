"""Ghost cells in tiles: when they are written, so that each is there before it is read and not before its last reader.

Every ghost cell comes from one cell of the domain at most (semantics §5): tiles write it right after that cell, in the
level that makes the array's values, with the Globals of the step whose fill it is. A ghost cell of a value rule counts
with the cell of the domain next to it. So ghost cells belong to the tile of their cell, whatever the rule.

What is in an array when tiles begin has its ghost cells written before. Values that no scalar changes last: they are
written before tiles only, if nothing else writes the ghost cells of the arrays that take turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from workbench.graph import Extend, Kernel, Load, SideRule, Undefined, Value
from workbench.planning.dependence import orbit
from workbench.planning.plan import Step
from workbench.planning.reach import union
from workbench.planning.tiled import GhostUpdate


@dataclass(frozen=True, slots=True)
class GhostPlan:
    """Which (fill, slot) are written before tiles begin, and which after levels.

    unlike: two fills whose ghost cells would be needed in one array at one time. late: a fill whose values change in
    time while those of its array stay. Tiles can do neither.
    """

    before: tuple[tuple[int, int], ...] = ()
    updates: tuple[GhostUpdate, ...] = ()
    unlike: tuple[int, int] | None = None
    late: int | None = None


def ghost_plan(kernel: Kernel, step: Step) -> GhostPlan:
    """Return when tiles write the ghost cells of fills, each of which has one array as source and target."""
    return _Search(kernel, step).run()


def sides_of(kernel: Kernel, node: int) -> tuple[tuple[SideRule, SideRule], ...]:
    """Return the boundary rules of an Extend node."""
    instruction = kernel.nodes[node].instruction
    assert isinstance(instruction, Extend)
    return instruction.sides


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

    def run(self) -> GhostPlan:
        fills = range(len(self.lives))
        for number in fills:
            if self.lives[number].stays and self._changes(number):
                return GhostPlan(late=number)
        for one, other in combinations(fills, 2):
            if not self._meet(self.lives[one], self.lives[other]):
                continue
            if not self._alike(one, other):
                return GhostPlan(unlike=(one, other))
            if self._changes(one):  # and is needed as it was in one step and in another
                return GhostPlan(late=one)
        lasting = [number for number in fills if self._lasts(number)]
        before: dict[tuple[int, int], None] = {}
        for number in fills:
            slots = self._orbit(number) if number in lasting else self.lives[number].before
            before |= {(number, slot): None for slot in slots}
        updates = [life.made for n, life in enumerate(self.lives) if n not in lasting and life.made is not None]
        return GhostPlan(tuple(before), tuple(u for n, u in enumerate(updates) if not self._covered(u, updates[:n])))

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
        if not all(isinstance(rule, Value | Undefined) for pair in sides for rule in pair) or self._changes(number):
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

    def _meet(self, one: _Life, other: _Life) -> bool:
        if set(one.before) & set(other.before):
            return True
        if one.made is None or other.made is None:
            return False
        return (one.made.level, one.made.slot) == (other.made.level, other.made.slot)
