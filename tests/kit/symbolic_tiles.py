"""Tiles of several steps on symbols: boxes of tiles in random legal orders, compared with one step after the other.

Who wrote a ghost cell last is kept beside its term: the image of a cell of the domain and what a loop computes there
are often the same term, as on periodic axes, and a loop that reads one of them must not find the other.
"""

import copy
import itertools
from functools import cache

from tests.kit.symbolic import Machine, Spaces, domain_of, ghost
from workbench.graph import Extend, Undefined
from workbench.planning.schedules.diamond import ALL, lattice, wave, windows_of_planes


class TiledMachine(Machine):
    """Arrays and Globals of one simulation, a number of plain steps of which run in tiles."""

    def run_tiles(self, name, tiling, depth, width, chunk, window=0):
        """Run `depth` steps in tiles and one after the other; AssertionError where anything differs afterwards.

        window: its planes or tiles along axis 0, 0 for one window of all.
        Returns how many tiles there were, 0 if the extents have no room for any.
        """
        each, self.tiling = self.plan.kernel(name), tiling
        axis = tiling.roles.index("diamond")
        tiles = lattice(self.extents[axis], tiling.slopes[axis], width, depth * tiling.levels, tiling.rings[axis])
        if tiles is None:
            return 0
        right, self.outside = copy.copy(self), {id(array): {} for array in self.arrays}
        right.arrays = [dict(array) for array in self.arrays]
        right.globals = list(self.globals)
        for _ in range(depth):
            for launch in each.plain.launches:
                getattr(right, launch.kind)(each.kernel, each.plain, launch.members)
            right.globals = right.advanced(each)
            right.arrays = [right.arrays[s] for s in each.plain.rotation]
        for fill, slot in tiling.before:
            self.fill_slot(each, fill, self.arrays, slot)
        self.turns, self.ahead = [self.arrays], [self.globals]
        for _ in range(depth):
            self.turns.append([self.turns[-1][s] for s in each.plain.rotation])
            self.globals = self.advanced(each)
            self.ahead.append(self.globals)
        count = 0
        of_planes = tiling.roles[0] == "wave"
        for part in self.windows(tiles, window):
            for band in tiles.bands():
                chosen = tiles.tiles_in(band, ALL if of_planes else part)
                count += len(chosen)
                planes = part if of_planes else ALL
                self.run_band(each, [self.parts(tiles, band, t, chunk, planes) for t in chosen])
        self.arrays, self.globals = self.turns[depth], self.ahead[depth]
        del self.outside  # steps one after the other do not keep it
        for slot, field in enumerate(self.plan.graph.fields):
            for cell in domain_of(self.extents):
                assert self.arrays[slot][cell] == right.arrays[slot][cell], f"{field.name} is wrong at {cell}"
        assert self.globals == right.globals
        self.refresh()
        return count

    def advanced(self, each):
        """The Globals of the next step."""
        numbers = {s.slot: self.number(each.kernel, s.node) for s in each.plain.scalar_stores}
        return [numbers.get(slot, old) for slot, old in enumerate(self.globals)]

    def fill_slot(self, each, fill, arrays, slot, box=None):
        """Ghost cells of one array by the rules of a fill; with a box those that come from its cells."""
        fill, array = each.plain.fills[fill], arrays[slot]
        node = each.kernel.nodes[fill.node]
        sides, extents = node.instruction.sides, Spaces(each.kernel, self.extents).extents_of(fill.node)

        def inside(cell):
            return array.get(cell, "garbage")

        def operand(number, cell):
            return self.formula(each.kernel, {}, node.operands[number], cell, True)

        for cell, homes in ghosts_of(sides, extents, fill.margins):
            if box is None or all(low <= home < high for home, (low, high) in zip(homes, box, strict=True)):
                array[cell] = ghost(self.terms, sides, cell, extents, inside, operand)
                self.outside[id(array)][cell] = "image"

    def windows(self, tiles, size):
        tiling = self.tiling
        if tiling.roles[0] == "wave":
            return windows_of_planes(self.extents[0], tiling.slopes[0], tiles.depth, size, tiling.rings[0])
        return tiles.windows(size)

    def parts(self, tiles, band, tile, chunk, window):
        """The boxes of one tile in their order, with their levels; one whose rows are empty at a level is left out."""
        roles, tiling = self.tiling.roles, self.tiling
        axis, swept = (roles.index(role) if role in roles else None for role in ("diamond", "wave"))
        levels = tiles.levels(band)
        if swept is None:
            sweep = wave(1, 0, 1, levels)
        else:
            sweep = wave(self.extents[swept], tiling.slopes[swept], chunk, levels, tiling.rings[swept], window)
        for level, part in sweep:
            for rows in tiles.parts_of(band, tile, level):
                box = [(0, n) for n in self.extents]
                box[axis] = rows
                if swept is not None:
                    box[swept] = part
                yield level, box

    def run_band(self, each, waiting):
        """Tiles of a band side by side: whichever has its turn does its next box, cells in random order."""
        levels = [launch.members for launch in each.plain.launches if launch.kind == "subkernel"]
        while waiting:
            tile = self.rng.choice(waiting)
            number, box = next(tile, (None, None))
            if number is None:
                waiting.remove(tile)
                continue
            step, level = divmod(number, self.tiling.levels)
            self.arrays, self.globals = self.turns[step], self.ahead[step]
            launch = self.tiling.loops[level]
            for member in levels[launch] if launch >= 0 else ():
                self.loop(each, member, box)
            for update in self.tiling.updates:
                if update.level == level:
                    self.globals = self.ahead[step + update.ahead]
                    self.fill_slot(each, update.fill, self.turns[step], update.slot, box)

    def loop(self, each, member, box):
        loop, grown = each.plain.subkernels[member], box
        if member not in self.tiling.bare:
            grown = self.with_outside(each, member, box)
        self.subkernel(each.kernel, each.plain, (member,), grown)
        for cell in itertools.product(*(range(*pair) for pair in grown)):
            if not self.is_inside(cell):
                for home in loop.outputs:
                    self.outside[id(self.arrays[home.slot])][cell] = "computed"

    def is_inside(self, cell):
        return all(0 <= i < n for i, n in zip(cell, self.extents, strict=True))

    def formula(self, kernel, homes, index, cell, compute):
        """As it is, but a read outside finds what was written for it: the image of a cell, or a computed value."""
        if hasattr(self, "outside") and index in homes and not compute and not self.is_inside(cell):
            found = self.outside[id(self.arrays[homes[index]])].get(cell, "nothing")
            assert found == self.needed(kernel, index), f"node {index} finds at {cell} what is {found}"
        return super().formula(kernel, homes, index, cell, compute)

    def needed(self, kernel, index):
        """Who must have written the ghost cells of a node that is read there."""
        loops = self.plan.kernel(kernel.name).plain.subkernels
        makers = [n for n, loop in enumerate(loops) if any(home.node == index for home in loop.outputs)]
        is_extended = isinstance(kernel.nodes[index].instruction, Extend)
        return "image" if is_extended or set(makers) <= set(self.tiling.bare) else "computed"

    def with_outside(self, each, member, box):
        """The box with what a loop computes outside the domain next to it."""
        margins = each.plain.subkernels[member].margins
        return [
            (low - below * (low == 0), high + above * (high == n))
            for (low, high), (below, above), n in zip(box, margins, self.extents, strict=True)
        ]


@cache
def ghosts_of(sides, extents, margins):
    """The ghost cells that a fill writes, each with the cell of the domain that it comes from."""
    found = []
    for cell in domain_of(extents, margins):
        outside = [(k, 0 if i < 0 else 1) for k, i in enumerate(cell) if not 0 <= i < extents[k]]
        if outside and not any(isinstance(sides[k][side], Undefined) for k, side in outside):
            found.append((cell, tuple(home_of(sides[k], i, extents[k]) for k, i in enumerate(cell))))
    return found


def home_of(rules, i, n):
    """The index in the domain that the value at an index of one axis comes from; the nearest one where none does."""
    cells = []

    def inside(cell):
        cells.append(cell[0])

    ghost(lambda *parts: None, (rules,), (i,), (n,), inside, lambda number, cell: None)
    return cells[0] if cells else min(max(i, 0), n - 1)
