"""Leapfrog: storing a bare load rotates buffers, over many steps and with a value that is kept two steps."""

import numpy as np

TEXT = """\
now    = field("now", boundary="periodic")
before = field("before")
oldest = field("oldest")
oldest.next = before
before.next = now
now.next = 2 * now - before + 0.25 * (now[+1] - 2 * now + now[-1])
"""
STEPS = 7


def start():
    x = np.arange(16) * (2 * np.pi / 16)
    return {"now": np.sin(x), "before": np.sin(x - 0.1), "oldest": 0.0}


def check(simulation):
    now, before, oldest = (start()[name] * np.ones(16) for name in ("now", "before", "oldest"))
    for _ in range(STEPS):
        oldest, before, now = (
            before,
            now,
            2 * now - before + 0.25 * (np.roll(now, -1) - 2 * now + np.roll(now, 1)),
        )
    assert np.array_equal(simulation.now, now)
    assert np.array_equal(simulation.before, before)
    assert np.array_equal(simulation.oldest, oldest)
