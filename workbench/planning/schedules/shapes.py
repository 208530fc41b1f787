"""Shapes: parts of the dependency graph that are executed as a whole, and how many values cross their border.

A schedule is a way to cut the graph of all updates into shapes (Levchenko, Perepelkina and Zakirov, Computation 4
(2016) 29). Here vertices are updates of a cell by the loops of one level, edges are values: those that a shape reads
and others make, each once, and those that it makes and others read. Values are those of a cell at a time, so that in
exact arithmetic of sets the formulas of the paper come out, for any plan and any shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.planning.kernel_plan import KernelPlan, Step
from workbench.planning.reads import emission_in
from workbench.planning.schedules.diamond import Lattice

Cell = tuple[int, ...]
_NEVER = -1  # levels back to a value that no step changes
_ALWAYS = -1 << 30  # its level


@dataclass(frozen=True, slots=True)
class Shape:
    """The cells that are done at each level, from the first on, along the axes that are cut; other axes are whole.

    period: cells after which equal shapes stand beside it along each cut axis, done with it and counted with it; 0 for
    none.
    """

    name: str
    axes: tuple[int, ...]
    tiers: tuple[frozenset[Cell], ...]
    period: Cell = ()

    @property
    def vertices(self) -> int:
        """Updates, of a cell along the cut axes."""
        return sum(map(len, self.tiers))

    @property
    def widest(self) -> int:
        """Cells of the largest tier: those that can be done at the same time."""
        return max(map(len, self.tiers), default=0)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Of one shape: vertices inside, values that come in and values that others read."""

    vertices: int
    loads: int
    stores: int

    @property
    def locality(self) -> float:
        """Vertices for each value that crosses the border."""
        return self.vertices / (self.loads + self.stores)


@dataclass(frozen=True, slots=True)
class Use:
    """A loop at one level reads what was stored `back` levels before as value `value` of that level, at an offset."""

    back: int
    value: int
    offset: Cell


def uses_of(kernel: KernelPlan) -> tuple[tuple[Use, ...], ...]:
    """Return what the loops of each level of a plain step read; levels are launches of loops, counted through the step.

    Arrays that change places are followed to the loop that stored them, some steps before if need be.
    """
    step = kernel.plain
    levels = [launch.members for launch in step.launches if launch.kind == "subkernel"]
    outputs = [[home.slot for member in members for home in step.subkernels[member].outputs] for members in levels]
    uses = []
    for level, members in enumerate(levels):
        found = dict.fromkeys(
            Use(*_maker(step, outputs, level, slot), offset)
            for member in members
            for slot, offset in _slots_read(kernel, step, member)
        )
        uses.append(tuple(found))
    return tuple(uses)


def _slots_read(kernel: KernelPlan, step: Step, member: int) -> Iterator[tuple[int, Cell]]:
    """Slots and offsets of all reads of a loop."""
    loop = step.subkernels[member]
    slots = {read.node: read.slot for read in loop.reads}
    for node, offset in emission_in(kernel, step, loop).reads:
        if node in slots:
            yield slots[node], tuple(offset)


def _maker(step: Step, outputs: Sequence[Sequence[int]], level: int, slot: int) -> tuple[int, int]:
    """Levels back to the loop that stored what `slot` holds at this level, and which of its values that is."""
    for steps in range(len(step.rotation) + 1):
        last = level if steps == 0 else len(outputs)
        for before in range(last - 1, -1, -1):
            if slot in outputs[before]:
                return steps * len(outputs) + level - before, outputs[before].index(slot)
        slot = step.rotation[slot]
    return _NEVER, slot


def crossing(uses: Sequence[Sequence[Use]], shape: Shape) -> Crossing:
    """Count the values that cross the border of a shape, each once; it begins at the first level of a step.

    With a period, what several of the shapes beside each other read counts once.
    """
    period = shape.period or (0,) * len(shape.axes)

    def at(cell: Cell, offset: Cell, sign: int = 1) -> Cell:
        moved = (c + sign * o for c, o in zip(cell, offset, strict=True))
        return tuple(c % p if p else c for c, p in zip(moved, period, strict=True))

    origin = (0,) * len(shape.axes)
    tiers = [frozenset(at(cell, origin) for cell in tier) for tier in shape.tiers]
    nothing: frozenset[Cell] = frozenset()
    loads: set[tuple[int, int, Cell]] = set()
    readers: dict[tuple[int, int], set[tuple[int, Cell]]] = {}  # (level, value) -> (levels later, offset)
    for level, reads in enumerate(uses):
        for use in reads:
            offset = tuple(use.offset[axis] for axis in shape.axes)
            if use.back != _NEVER:
                readers.setdefault(((level - use.back) % len(uses), use.value), set()).add((use.back, offset))
            for number in range(level, len(tiers), len(uses)):
                maker = _ALWAYS if use.back == _NEVER else number - use.back
                inside = tiers[maker] if maker >= 0 else nothing
                sources = {at(cell, offset) for cell in tiers[number]}
                loads.update((maker, use.value, cell) for cell in sources - inside)
    stores = 0
    for number, tier in enumerate(tiers):
        for (level, _), later in readers.items():
            if level == number % len(uses):
                after = [(tiers[number + back] if number + back < len(tiers) else nothing, o) for back, o in later]
                stores += sum(any(at(cell, o, -1) not in them for them, o in after) for cell in tier)
    return Crossing(sum(map(len, tiers)), len(loads), stores)


def diamond_base(radius: int, shift: int = 0) -> frozenset[Cell]:
    """The paper's diamond in two dimensions: 2 radius² cells, rows of 2 (radius - |y|), moved by `shift`."""
    rows = range(1 - radius, radius)
    return frozenset((x + shift, y) for y in rows for x in range(abs(y) - radius, radius - abs(y)))


def tower(axes: tuple[int, int], slope: int, size: int, height: int, *, row: bool = False) -> Shape:
    """DiamondTorre: a diamond of `size` (the paper's DTS) times the slope that leans along the first axis with time.

    height: its levels (Nt). row: with its neighbours along the second axis, 2 size slope cells apart.
    """
    radius = size * slope
    tiers = tuple(diamond_base(radius, slope * level) for level in range(height))
    name = "row of towers" if row else "tower" if height > 1 else "diamond"
    return Shape(name, axes, tiers, (0, 2 * radius) if row else ())


def lattice_tile(axis: int, lattice: Lattice) -> Shape:
    """A whole tile of a lattice in one axis and time: an even one away from the ends."""
    first, last = lattice.levels(0)
    band, tile = (0, 1) if lattice.spaces > 1 else (0, 0)
    rows = (lattice.rows_of(band, tile, level) for level in range(first, last))
    return Shape("tile", (axis,), tuple(frozenset((row,) for row in range(*each)) for each in rows))
