"""Tiles of several steps on symbols: boxes of tiles in random legal orders, compared with one step after the other."""

import copy

from tests.planning.symbolic import Machine, domain_of
from workbench.planning.dependence import orbit
from workbench.planning.schedules.diamond import lattice, wave


class TiledMachine(Machine):
    """Arrays and Globals of one simulation, a number of plain steps of which run in tiles."""

    def run_tiles(self, name, tiling, depth, width, chunk):
        """Run `depth` steps in tiles and one after the other; AssertionError where an array differs afterwards.

        Returns how many tiles there were, 0 if the extents have no room for any.
        """
        each = self.plan.kernel(name)
        axis, swept = (tiling.roles.index(role) if role in tiling.roles else None for role in ("diamond", "wave"))
        tiles = lattice(self.extents[axis], tiling.slopes[axis], width, depth)
        if tiles is None:
            return 0
        right = copy.copy(self)
        right.arrays = [dict(array) for array in self.arrays]
        right.globals = list(self.globals)
        for _ in range(depth):
            for launch in each.plain.launches:
                getattr(right, launch.kind)(each.kernel, each.plain, launch.members)
            right.arrays = [right.arrays[s] for s in each.plain.rotation]
        levels = [self.arrays]
        self.fill_all(each)
        for _ in range(depth):
            levels.append([levels[-1][s] for s in each.plain.rotation])
        count = 0
        for band in tiles.bands():
            count += tiles.tiles(band)
            parts = [self.parts(tiles, band, t, axis, swept, tiling, chunk) for t in range(tiles.tiles(band))]
            self.run_band(each, levels, parts)
        self.arrays = levels[depth]
        for slot, field in enumerate(self.plan.graph.fields):
            for cell in domain_of(self.extents):
                assert self.arrays[slot][cell] == right.arrays[slot][cell], f"{field.name} is wrong at {cell}"
        self.refresh()
        return count

    def fill_all(self, each):
        """Ghost cells that never change, in all arrays that will need them."""
        for fill in each.plain.fills:
            for slot in orbit(each.plain.rotation, fill.target):
                moved = copy.copy(self)
                moved.arrays = list(self.arrays)
                moved.arrays[fill.source] = moved.arrays[fill.target] = self.arrays[slot]
                moved.fill(each.kernel, each.plain, (each.plain.fills.index(fill),))

    def parts(self, tiles, band, tile, axis, swept, tiling, chunk):
        """The boxes of one tile in their order, with their levels; one whose rows are empty at a level is left out."""
        levels = tiles.levels(band)
        planes, skew = (1, 0) if swept is None else (self.extents[swept], tiling.slopes[swept])
        for level, part in wave(planes, skew, chunk if swept is not None else 1, levels):
            low, high = tiles.rows_of(band, tile, level)
            box = [(0, n) for n in self.extents]
            box[axis] = (low, high)
            if swept is not None:
                box[swept] = part
            if low < high:
                yield level, box

    def run_band(self, each, levels, waiting):
        """Tiles of a band side by side: whichever has its turn does its next box, cells in random order."""
        while waiting:
            tile = self.rng.choice(waiting)
            level, box = next(tile, (None, None))
            if level is None:
                waiting.remove(tile)
                continue
            self.arrays = levels[level]
            for launch in each.plain.launches:
                if launch.kind == "subkernel":
                    self.subkernel(each.kernel, each.plain, launch.members, box)
