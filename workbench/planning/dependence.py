"""Dependence: which loops and fills of this step and of later ones must follow which, and at which cells.

A step's phases are its fills and loops in launch order. A level is a launch of loops, counted through the step; a fill
belongs to the level of the loops that follow it, because it prepares ghost cells for them. Reads, outputs, slots and
rotation alone decide: an array that is used again for another value makes anti and output dependences.

Only the nearest dependences are listed: from a write to the reads before the next write of the array (flow) and to that
write (output), from a read to the next write (anti). All others follow from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.planning.kernel_plan import Box, Margins, Step
from workbench.planning.reach import no_margins

DependenceKind = Literal["flow", "anti", "output"]


@dataclass(frozen=True, slots=True)
class StepPart:
    """A fill or a loop: number `member` of the step's fills or sub-kernels.

    margins: where a loop computes, how far outside a fill with a level of its own writes; of other fills none.
    """

    kind: Literal["fill", "loop"]
    member: int
    level: int
    margins: Margins = ()


@dataclass(frozen=True, slots=True)
class Dependence:
    """The sink must follow the source, `steps` steps and `gap` levels later.

    box: the sink at cell x needs the source done at all cells x + o with o in the box; None where a boundary rule says
    which cells belong together.
    """

    kind: DependenceKind
    source: StepPart
    sink: StepPart
    steps: int
    gap: int
    slot: int  # of the array at the source, as numbered at the start of the source's step
    box: Box | None


@dataclass(frozen=True, slots=True)
class Dependences:
    """All nearest dependences between the phases of a step and of the steps behind it; `levels` of one step."""

    phases: tuple[StepPart, ...]
    levels: int
    found: tuple[Dependence, ...]

    def slopes(self, dim: int) -> tuple[int, ...]:
        """Cells per level and axis by which the border of a tile must lean so that nothing outside is needed too early.

        The largest of ceil(reach / gap), over all dependences between levels (both directions of an axis alike). What
        is computed outside the domain counts with the cell of the domain next to it, and so reaches further inside. A
        fill with a level of its own counts with the cells that its values come from: none is further from who reads or
        computes a ghost cell than it reaches outside.
        """
        fills = [phase.margins for phase in self.phases if phase.kind == "fill"]
        slopes = [max((max(margins[k]) for margins in fills), default=0) for k in range(dim)]
        for each in self.found:
            if each.box is not None and each.gap > 0:
                outside = [max(map(max, pairs)) for pairs in zip(each.source.margins, each.sink.margins, strict=True)]
                reach = [max(-least, largest) + o for (least, largest), o in zip(each.box, outside, strict=True)]
                slopes = [max(s, -(-r // each.gap)) for s, r in zip(slopes, reach, strict=True)]
        return tuple(slopes)


def dependences_of(step: Step, dim: int, apart: Collection[int] = (), bare: Collection[int] = ()) -> Dependences:
    """Return the dependences of a step that is repeated; loops run apart, not as chains.

    apart: fills that have a level of their own, before the loops that follow them. bare: loops that compute nothing
    outside the domain.
    """
    return _Search(step, dim, apart, bare).run()


def orbit(rotation: Sequence[int], slot: int) -> tuple[int, ...]:
    """Return where the array in `slot` lies at the start of each step, from this one on until it is back.

    After a step slot s holds what was in slot rotation[s].
    """
    goes_to = {source: target for target, source in enumerate(rotation)}
    slots = [slot]
    while (following := goes_to[slots[-1]]) != slot:
        slots.append(following)
    return tuple(slots)


@dataclass(frozen=True, slots=True)
class _Use:
    """What a phase does with a slot: reads at the offsets of `box`, or writes all cells of the domain or outside."""

    slot: int
    writes: bool
    box: Box | None
    inside: bool = True  # whether cells of the domain are touched


class _Search:
    """The phases of a step, their uses of slots, and the walk from each use to those that must follow it."""

    def __init__(self, step: Step, dim: int, apart: Collection[int], bare: Collection[int]) -> None:
        self.step, self.cell = step, ((0, 0),) * dim
        self.phases: list[StepPart] = []
        self.uses: list[tuple[_Use, ...]] = []  # of each phase, reads first
        self.levels = 0
        for launch in step.launches:
            members = sorted(launch.members, key=lambda member: member not in apart)
            for number, member in enumerate(members):
                if launch.kind == "fill":
                    margins = step.fills[member].margins if member in apart else no_margins(dim)
                    self._add(StepPart("fill", member, self.levels, margins), self._fill_uses(member))
                    # One level for all of a launch that have one.
                    self.levels += member in apart and (number + 1 == len(members) or members[number + 1] not in apart)
                elif launch.kind == "subkernel":
                    margins = no_margins(dim) if member in bare else step.subkernels[member].margins
                    self._add(StepPart("loop", member, self.levels, margins), self._loop_uses(member))
            self.levels += launch.kind == "subkernel"

    def run(self) -> Dependences:
        found = [each for number, uses in enumerate(self.uses) for use in uses for each in self._after(number, use)]
        return Dependences(tuple(self.phases), self.levels, tuple(found))

    def _add(self, phase: StepPart, uses: tuple[_Use, ...]) -> None:
        self.phases.append(phase)
        self.uses.append(uses)

    def _loop_uses(self, member: int) -> tuple[_Use, ...]:
        loop = self.step.subkernels[member]
        reads = [_Use(read.slot, False, read.box) for read in loop.reads]
        return (*reads, *(_Use(home.slot, True, self.cell) for home in loop.outputs))

    def _fill_uses(self, member: int) -> tuple[_Use, ...]:
        fill = self.step.fills[member]
        by_rule = _Use(fill.source, False, None)
        if fill.source == fill.target:
            return by_rule, _Use(fill.target, True, None, inside=False)
        return by_rule, _Use(fill.source, False, self.cell), _Use(fill.target, True, self.cell)

    def _after(self, number: int, source: _Use) -> Iterator[Dependence]:
        """The dependences that start at one use, up to the next write of the array's domain."""
        slots = orbit(self.step.rotation, source.slot)
        for steps in range(len(slots) + 1):
            slot = slots[steps % len(slots)]
            for other in range(len(self.phases)):
                if steps == 0 and other < number:
                    continue
                for sink in self.uses[other]:
                    if sink.slot != slot or (steps, other) == (0, number):
                        continue
                    if source.writes or sink.writes:
                        yield self._dependence(number, source, other, sink, steps)
                if (steps, other) == (0, number) and source.writes:
                    continue  # its own write is no later one
                if any(use.slot == slot and use.writes and use.inside for use in self.uses[other]):
                    return

    def _dependence(self, number: int, source: _Use, other: int, sink: _Use, steps: int) -> Dependence:
        first, second = self.phases[number], self.phases[other]
        gap = steps * self.levels + second.level - first.level
        if source.writes and sink.writes:
            kind: DependenceKind = "output"
            box = None if source.box is None or sink.box is None else self.cell
        elif source.writes:
            kind = "flow"
            box = None if source.box is None else sink.box
        else:
            kind = "anti"
            box = None if source.box is None or sink.box is None else tuple((-high, -low) for low, high in source.box)
        return Dependence(kind, first, second, steps, gap, source.slot, box)
