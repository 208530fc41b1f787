"""Lifetimes: from which launch to which one every array of a step holds a value that is still read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.graph import Load, value_name
from workbench.planning.kernel_plan import Fill, KernelPlan, Launch, Step, Subkernel
from workbench.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A value in a slot. `first` and `last` are launches of the step (both included) that write or read it.

    node: -1 for a field that the kernel does not load. first = -1: it is there when the step begins;
    last = number of launches: it is still wanted when the step has ended.
    """

    slot: int
    node: int
    name: str
    first: int
    last: int


def lifetimes_of(plan: Plan, kernel: KernelPlan, step: Step) -> tuple[Lifetime, ...]:
    """Return the lives of all values in the slots of a step, by slot and then by time.

    What is in a slot but not read any more has ended; so has a field's old value after its last reader. The
    launches of a chain run together: all of them need what one of them reads or writes, rolling values apart.
    """
    follower = _Follower(plan, kernel)
    for number, launch in enumerate(step.launches):
        for slot in sorted(set(_read(step, launch))):
            follower.read(slot, number)
        for slot, node in _written(step, launch):
            follower.write(slot, node, number)
    kept = [step.rotation[slot] for slot in range(len(plan.graph.arrays))]
    return _together(step, follower.end(kept, len(step.launches)))


def _together(step: Step, lives: tuple[Lifetime, ...]) -> tuple[Lifetime, ...]:
    """The lives as chains have them; none goes into that of the value before or after it in the same slot."""
    found = []
    for number, life in enumerate(lives):
        before = lives[number - 1] if number and lives[number - 1].slot == life.slot else None
        after = next((each for each in lives[number + 1 : number + 2] if each.slot == life.slot), None)
        first, last = life.first, life.last
        for chain in step.chains:
            if any(life.node == value.node for value in chain.rolling):
                continue
            begin, end = chain.launches
            if begin <= first < end:
                first = begin if before is None else max(begin, min(first, before.last))
            if begin <= last < end:
                last = end - 1 if after is None else min(end - 1, max(last, after.first))
        found.append(replace(life, first=first, last=last))
    return tuple(found)


def live_bytes(sizes: Mapping[int, int], lives: tuple[Lifetime, ...], launch: int) -> int:
    """Return the bytes of all arrays that hold something needed during a launch; `sizes` has those of each slot."""
    return sum(sizes[slot] for slot in {life.slot for life in lives if life.first <= launch <= life.last})


def _members(step: Step, launch: Launch) -> Iterator[Fill | Subkernel]:
    for member in launch.members:
        match launch.kind:
            case "fill":
                yield step.fills[member]
            case "subkernel":
                yield step.subkernels[member]
            case "finisher":
                pass


def _read(step: Step, launch: Launch) -> Iterator[int]:
    for member in _members(step, launch):
        if isinstance(member, Fill):
            yield member.source
        else:
            yield from (home.slot for home in member.reads)


def _written(step: Step, launch: Launch) -> Iterator[tuple[int, int]]:
    """(slot, node) of every new value; ghost cells filled in place belong to the value that is there."""
    for member in _members(step, launch):
        if isinstance(member, Fill):
            if member.source != member.target:
                yield member.target, member.node
        else:
            yield from ((home.slot, home.node) for home in member.outputs)


@dataclass(slots=True)
class _Open:
    node: int
    name: str
    first: int
    last: int


class _Follower:
    """The value in each slot so far."""

    def __init__(self, plan: Plan, kernel: KernelPlan) -> None:
        self.kernel = kernel
        self.found: list[Lifetime] = []
        loads = dict(kernel.kernel.loads())
        self.open = {
            slot: _Open(loads.get(field.name, -1), field.name, -1, -1) for slot, field in enumerate(plan.graph.arrays)
        }

    def read(self, slot: int, launch: int) -> None:
        self.open[slot].last = launch

    def write(self, slot: int, node: int, launch: int) -> None:
        self._close(slot)
        self.open[slot] = _Open(node, self._name(node), launch, launch)

    def end(self, kept: list[int], launches: int) -> tuple[Lifetime, ...]:
        for slot in kept:
            self.open[slot].last = launches
        for slot in tuple(self.open):
            self._close(slot)
        return tuple(sorted(self.found, key=lambda life: (life.slot, life.first)))

    def _close(self, slot: int) -> None:
        life = self.open.pop(slot, None)
        # A field that is overwritten before it was read held nothing of interest.
        if life is not None and (life.first >= 0 or life.last >= 0):
            self.found.append(Lifetime(slot, life.node, life.name, life.first, life.last))

    def _name(self, node: int) -> str:
        """A copied Load carries the field's name."""
        kernel = self.kernel.kernel
        name = value_name(kernel, node)
        return f"copy of {name}" if isinstance(kernel.nodes[node].instruction, Load) else name
