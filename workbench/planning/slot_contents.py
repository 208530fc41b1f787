"""Slot contents: follow which value every slot holds through a step, and find reads of something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.graph import Extend, Load, value_name
from workbench.planning.axes import along, axes_of, in_frame, loop_margins
from workbench.planning.fields import end_fields
from workbench.planning.kernel_plan import Fill, KernelPlan, Launch, Step, Subkernel
from workbench.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class _Content:
    """The value on the domain (a node, or -1 - f for field f that is not loaded) and the Extend whose ghosts follow."""

    base: int | None
    ring: int | None = None


def misread_slots(plan: Plan, kernel: KernelPlan, step: Step) -> Iterator[str]:
    """Yield a sentence for each read, and each field at the end, that does not find its value in its slot.

    Also for two members of one launch of which one writes what the other reads or writes, and for a sub-kernel that
    writes what it reads at another cell.
    """
    follower = _Follower(plan, kernel, step)
    for launch in step.launches:
        yield from follower.conflicts(launch)
        for member in launch.members:
            if launch.kind == "fill":
                yield from follower.fill(step.fills[member])
            elif launch.kind == "subkernel":
                yield from follower.subkernel(step.subkernels[member])
        follower.settle()
    yield from follower.end()


class _Follower:
    """The contents of all slots so far."""

    def __init__(self, plan: Plan, kernel: KernelPlan, step: Step) -> None:
        self.plan, self.kernel, self.step = plan, kernel.kernel, step
        self.filled = {f.node for f in step.fills}
        loads = {name: node for name, node in kernel.kernel.loads()}
        self.contents = [_Content(None) for _ in plan.slots]
        for slot, field in enumerate(plan.graph.arrays):
            self.contents[slot] = _Content(loads.get(field.name, -1 - slot))
        self.pending: dict[int, _Content] = {}

    def settle(self) -> None:
        """What the launch wrote becomes visible."""
        for slot, content in self.pending.items():
            self.contents[slot] = content
        self.pending = {}

    def conflicts(self, launch: Launch) -> Iterator[str]:
        if launch.kind == "finisher":
            return
        touches = [self._fill_touches(self.step.fills[m]) for m in launch.members if launch.kind == "fill"]
        if launch.kind == "subkernel":
            touches = [self._loop_touches(self.step.subkernels[m]) for m in launch.members]
        for number, (_, written) in enumerate(touches):
            for other, (read, also) in enumerate(touches):
                shared = written & (read | also) if number != other else frozenset()
                if shared:
                    yield f"slot {min(shared)} is written by one member of a launch and used by another"

    def _fill_touches(self, fill: Fill) -> tuple[frozenset[int], frozenset[int]]:
        # In place only ghost cells are written, which no other fill reads: rules look at the domain.
        written = () if fill.source == fill.target else (fill.target,)
        return frozenset({fill.source}), frozenset(written)

    def _loop_touches(self, subkernel: Subkernel) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(h.slot for h in subkernel.reads), frozenset(h.slot for h in subkernel.outputs)

    def fill(self, fill: Fill) -> Iterator[str]:
        operand = self.kernel.nodes[fill.node].operands[0]
        if self.contents[fill.source].base != operand:
            yield f"the fill of {self._name(fill.node)} finds something else in slot {fill.source}"
        if fill.source == fill.target:
            self.pending[fill.target] = _Content(operand, fill.node)
        else:
            self.pending[fill.target] = _Content(fill.node)

    def subkernel(self, subkernel: Subkernel) -> Iterator[str]:
        distant: set[int] = set()
        dim = self.kernel.space.rank
        outside = in_frame(loop_margins(subkernel, dim), subkernel.axes, dim)
        for read in subkernel.reads:  # that they are all, with these boxes, is a check of its own
            own = along(outside, axes_of(self.kernel.nodes[read.node].space, self.kernel.space))
            beyond = any(map(any, own)) and not read.anywhere  # computed places are in the domain
            is_outside = beyond or any(map(any, read.box))
            if not self._holds(read.slot, read.node, is_outside):
                yield f"{subkernel.name} does not find {self._name(read.node)} in slot {read.slot}"
            if not read.is_at_cell:
                distant.add(read.slot)
        written = [h.slot for h in subkernel.outputs]
        if len(set(written)) != len(written):
            yield f"{subkernel.name} writes two values into one slot"
        for slot in sorted(distant & set(written)):
            yield f"{subkernel.name} overwrites slot {slot}, which other cells still read"
        for home in subkernel.outputs:
            self.pending[home.slot] = _Content(home.node)

    def end(self) -> Iterator[str]:
        for end in end_fields(self.plan.graph, self.kernel):
            slot = self.plan.graph.arrays.index(self.plan.graph.static(end.field))
            source = self.step.rotation[slot]
            loads = dict(self.kernel.loads())
            wanted = end.node if end.way != "keep" else loads.get(end.field, -1 - slot)
            if not 0 <= source < len(self.contents) or self.contents[source].base != wanted:
                yield f"field {end.field} takes slot {source}, which holds something else"

    def _holds(self, slot: int, node: int, is_outside: bool) -> bool:
        content = self.contents[slot]
        instruction = self.kernel.nodes[node].instruction
        if isinstance(instruction, Extend):
            operand = self.kernel.nodes[node].operands[0]
            if node not in self.filled:
                return content.base == operand and not is_outside
            return content in (_Content(operand, node), _Content(node))
        if isinstance(instruction, Load):  # along other axes it is the same array
            return content.base == dict(self.kernel.loads())[instruction.name]
        return content.base == node and (content.ring is None or not is_outside)

    def _name(self, node: int) -> str:
        return value_name(self.kernel, node)
