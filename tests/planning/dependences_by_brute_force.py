"""Dependences found by following each cell of each array through many steps; reads outside the domain are left out."""

from collections import defaultdict
from itertools import product

from workbench.planning.reads import emission_in


def walk_cells(kernel, step, extents, steps):
    """(kind, source, sink, steps between) -> offsets of the source from the sink; a phase is (kind, member)."""
    walk = _Walk(step, extents)
    loops = [emission_in(kernel, step, s).reads for s in step.subkernels]
    for now in range(steps):
        for launch in step.launches:
            for member in launch.members:
                if launch.kind == "fill":
                    walk.fill(now, member)
                elif launch.kind == "subkernel":
                    walk.loop(now, member, loops[member])
        walk.arrays = [walk.arrays[source] for source in step.rotation]
    return walk.found


class _Walk:
    def __init__(self, step, extents):
        self.step, self.extents = step, extents
        self.cells = list(product(*map(range, extents)))
        self.arrays = [{} for _ in step.rotation]  # cell -> [who wrote last, who has read since]
        self.found = defaultdict(set)

    def fill(self, now, member):
        fill = self.step.fills[member]
        if fill.source != fill.target:
            for cell in self.cells:
                who = now, ("fill", member), cell
                self.read(fill.source, cell, who)
                self.write(fill.target, cell, who)

    def loop(self, now, member, reads):
        loop = self.step.subkernels[member]
        slots = {r.node: r.slot for r in loop.reads}
        for cell in self.cells:
            for node, offset in reads:
                there = tuple(c + o for c, o in zip(cell, offset, strict=True))
                if all(0 <= c < n for c, n in zip(there, self.extents, strict=True)):
                    self.read(slots[node], there, (now, ("loop", member), cell))
        for cell in self.cells:
            for home in loop.outputs:
                self.write(home.slot, cell, (now, ("loop", member), cell))

    def read(self, slot, cell, who):
        last, readers = self.arrays[slot].setdefault(cell, [None, []])
        if last is not None:
            self.note("flow", last, who)
        readers.append(who)

    def write(self, slot, cell, who):
        last, readers = self.arrays[slot].get(cell, [None, []])
        if last is not None:
            self.note("output", last, who)
        for reader in readers:
            if reader[:2] != who[:2]:
                self.note("anti", reader, who)
        self.arrays[slot][cell] = [who, []]

    def note(self, kind, source, sink):
        (before, phase, there), (now, other, here) = source, sink
        offset = tuple(a - b for a, b in zip(there, here, strict=True))
        self.found[kind, phase, other, now - before].add(offset)
