"""Neighbours in one number: 10000 left + 100 centre + right, on an open and on a cyclic line of 8 cells."""

import numpy as np

_TEXT = """\
seen = field("seen", dtype="i64")
i = {index}
seen.next = 10000 * i[-1] + 100 * i + i[+1]
"""
I = np.arange(8)


def programs():
    return (
        ("shift_open", _TEXT.format(index="index(0)"), 1, _start, _check_open),
        ("shift_cyclic", _TEXT.format(index='extend(index(0), "periodic")'), 1, _start, _check_cyclic),
    )


def _start():
    return {"seen": 0, "shape": 8}


def _check_open(simulation):
    assert np.array_equal(simulation.seen, 10000 * (I - 1) + 100 * I + (I + 1))


def _check_cyclic(simulation):
    assert np.array_equal(simulation.seen, 10000 * np.roll(I, 1) + 100 * I + np.roll(I, -1))
