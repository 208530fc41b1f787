"""Towers on symbols: each array cell says after how many steps its value is; towers of a stage run in random turns."""

import random


class Towers:
    """Two arrays whose cells hold numbers of steps, before, while and after towers run over them.

    A tower's registers hold what it loaded or computed. What it reads must be after as many steps as the level needs,
    whoever else runs at the same time; one that stores nothing and reads nothing wrong is right.
    """

    def __init__(self, torre, offsets, older, seed):
        self.torre, self.offsets, self.older = torre, offsets, older
        self.rng = random.Random(seed)
        self.around = tuple((max([-o[k] for o in offsets]), max([o[k] for o in offsets])) for k in (0, 1))
        domain = [(x, y) for x in range(torre.rows) for y in range(torre.columns)]
        self.arrays = [dict.fromkeys(domain, 0), dict.fromkeys(domain, -1)]
        self.computed = dict.fromkeys((cell, t) for cell in domain for t in range(torre.levels))

    def run(self):
        """Run all stages; AssertionError for what is read at a wrong time, and for cells left out or done twice."""
        stages = list(self.torre.stages())
        for number, stage in enumerate(stages):
            waiting = [self.levels(number, stage, stage.first + k) for k in range(stage.towers)]
            while waiting:
                tower = self.rng.choice(waiting)
                if next(tower, None) is None:
                    waiting.remove(tower)
        assert None not in self.computed.values(), "a cell was left out"
        last = self.torre.levels
        for array, steps in ((self.arrays[0], last), (self.arrays[1], last - 1)):
            assert set(array.values()) == {steps}, "an array is not up to date"
        return len(stages), sum(stage.towers for stage in stages)

    def load(self, level, cell):
        """The value after `level` steps, as far as memory has it; outside of the domain nothing ever changes."""
        home = self.torre.home(cell)
        return self.arrays[level % 2].get(home, level)

    def levels(self, number, stage, p):
        """The levels of one tower; between two of its cells others may run."""
        torre, sweep, reach = self.torre, stage.sweep, self.torre.reach
        tower, width = torre.tower(stage.number, p), torre.width
        cover = [(a, b) for a in range(width + 2 * reach) for b in range(width + 2 * reach) if (a + b) % 2 == 0]
        tier = [(a, b) for a, b in cover if a < width and b < width]
        beside = [cell for cell in cover if cell not in tier]
        first, end = torre.span(sweep, tower)

        def loaded(level, cells):
            found = {}
            for a, b in cells:
                if torre.covers(sweep, tower, level, a, b, self.around):
                    found[a, b] = self.load(level, torre.cell(tower, level - 1, a, b))
            return found

        registers = loaded(first, cover)
        before = {}
        for a, b in tier if self.older else ():
            if torre.computes(sweep, tower, first, a, b):
                before[a + 2 * reach, b + 2 * reach] = self.load(first - 1, torre.cell(tower, first, a, b))
        for level in range(first, end):
            following = loaded(level + 1, beside)
            yield True
            for a, b in tier:
                if not torre.computes(sweep, tower, level, a, b):
                    following |= loaded(level + 1, [(a, b)])
                    continue
                for dx, dy in self.offsets:
                    found = registers.get((a + reach + dx + dy, b + reach + dx - dy))
                    assert found == level, f"{found} instead of {level} is read beside {(a, b)}"
                if self.older:
                    found = before.get((a + 2 * reach, b + 2 * reach))
                    assert found == level - 1, f"{found} instead of {level - 1} is read at {(a, b)}"
                cell = torre.home(torre.cell(tower, level, a, b))
                assert self.computed[cell, level] is None, "a cell is done twice"
                self.computed[cell, level] = number
                following[a, b] = level + 1
                if torre.stores(sweep, tower, level, a, b):
                    self.arrays[(level + 1) % 2][cell] = level + 1
                yield True
            registers, before = following, registers
