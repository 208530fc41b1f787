"""Conway's Life on a cyclic grid of bytes: Gosper's gun makes one glider every 30 generations."""

import numpy as np

TEXT = """\
alive = field("alive", dtype="u8", boundary="periodic")
around = sum(alive[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1)) - alive
alive.next = astype((around == 3) | ((around == 2) & (alive == 1)), "u8")
"""
STEPS = 60
GUN = """\
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""


def start():
    gun = np.array([[c == "O" for c in line] for line in GUN.split()], np.uint8)
    cells = np.zeros((80, 48), np.uint8)
    cells[2 : 2 + gun.shape[1], 2 : 2 + gun.shape[0]] = gun.T
    return {"alive": cells}


def check(simulation):
    first, now = start()["alive"], simulation.alive
    assert first.sum() == 36
    assert now.sum() == 36 + 2 * 5  # two gliders of five cells
    assert np.array_equal(now[2:24, 2:11], first[2:24, 2:11])  # left part of the gun, where no glider has been
