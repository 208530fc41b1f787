"""Rolling ghosts: which boundary rules may be applied inside a chain, to values that live in buffers only.

A ghost cell comes from one cell of the domain at most. Where that lies near it, it is in the same buffer, and the ghost
cell is written right after it. Along a ring it lies at the other end: there the loop that makes the value computes the
image once more, which gives the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from workbench.graph import Extend, Kernel, LoadIndex, Periodic
from workbench.graph.side_rules import VALUE_RULES, maps_nearby
from workbench.planning.kernel_plan import Box, Launch

_LONGEST_REACH = 16  # cells; what reaches farther would fill buffers and stacks with ghost cells


class RollingGhosts:
    """The fills of a step that a chain may do: operand -> Extend in `extend_of`, the other way in `operand_of`.

    fills: the Extend nodes by the members of launches of fills; reads: what each loop reads, with boxes of offsets;
    wanted: False for no fill at all.
    """

    def __init__(
        self, kernel: Kernel, fills: Mapping[int, int], reads: Iterable[Mapping[int, Box]], wanted: bool
    ) -> None:
        self.kernel, self.fills = kernel, fills if wanted else {}
        extends = kernel.extends() if wanted else {}
        self._reach = dict.fromkeys(extends, 0)  # by Extend
        for boxes in reads if extends else ():
            for node in boxes.keys() & self._reach.keys():
                self._reach[node] = max(self._reach[node], *(abs(offset) for pair in boxes[node] for offset in pair))
        times, filled = Counter(extends.values()), set(self.fills.values())
        self.extend_of = {
            operand: node
            for node, operand in extends.items()
            if node in filled and times[operand] == 1 and self._is_suitable(node)
        }
        self.operand_of = {node: operand for operand, node in self.extend_of.items()}

    def same_as(self, other: RollingGhosts) -> bool:
        """Whether those of another allocation may be done alike: where the reach of one differs, a reader does too."""
        return self.extend_of == other.extend_of

    def operand(self, fill: int) -> int:
        """What a fill of the step extends."""
        return self.kernel.nodes[self.fills[fill]].operands[0]

    def may_roll(self, launch: Launch) -> bool:
        """Whether all members of a launch of fills may be done in a chain."""
        return all(self.fills.get(member) in self.operand_of for member in launch.members)

    def fills_in(self, launches: Sequence[Launch]) -> tuple[int, ...]:
        """The numbers of the fills of these launches."""
        return tuple(member for launch in launches if launch.kind == "fill" for member in launch.members)

    def alike(self, fills: Sequence[int]) -> bool:
        """Whether fills have rings along the same axes."""
        return len({rings_of(self.kernel, self.fills[fill]) for fill in fills}) <= 1

    def rings_of(self, operand: int) -> tuple[bool, ...]:
        """For each axis whether an extended value is periodic along it."""
        return rings_of(self.kernel, self.extend_of[operand])

    def reach_of(self, operand: int) -> int:
        """How far outside an extended value is read at most."""
        return self._reach[self.extend_of[operand]]

    def _is_suitable(self, node: int) -> bool:
        """Whether a buffer has all that the rules need, wherever a block is cut.

        A value rule is applied where the ghost cell lies (semantics §4), so at a corner outside of a ring it would see
        another index along the ring than the image does. Indices along other axes are the same for both.
        """
        instruction = self.kernel.nodes[node].instruction
        assert isinstance(instruction, Extend)
        rules = [rule for pair in instruction.sides for rule in pair]
        if not all(maps_nearby(rule) or rule == Periodic() for rule in rules):
            return False
        if any(isinstance(rule, VALUE_RULES) for rule in rules):
            rings = {axis for axis, ring in enumerate(rings_of(self.kernel, node)) if ring}
            if not rings.isdisjoint(self._known_indices(self.kernel.nodes[node].operands[1:])):
                return False
        return self._is_near(node)

    def _is_near(self, node: int) -> bool:
        return self._reach.get(node, 0) <= _LONGEST_REACH

    def _known_indices(self, nodes: Sequence[int]) -> set[int]:
        """The axes whose index any of these values depends on."""
        waiting, seen = list(nodes), set[int]()
        while waiting:
            index = waiting.pop()
            if index not in seen:
                seen.add(index)
                waiting.extend(self.kernel.nodes[index].operands)
        found = (self.kernel.nodes[index].instruction for index in seen)
        return {instruction.axis for instruction in found if isinstance(instruction, LoadIndex)}


def rings_of(kernel: Kernel, extend: int) -> tuple[bool, ...]:
    """Return for each axis whether the rules of an Extend are periodic along it."""
    instruction = kernel.nodes[extend].instruction
    assert isinstance(instruction, Extend)
    return tuple(isinstance(below, Periodic) for below, _ in instruction.sides)
