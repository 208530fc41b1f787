"""A machine with a kernel `init`, a counter that adds up and a param that init reads."""

import numpy as np

TEXT = """\
u = field("u", boundary="outflow")
mark = field("mark", dtype="i32")
t = scalar("t", default=1.0)
height = param("height", 3.0)
edge = size(0) // 2

@kernel
def init():
    u.next = where(index(0) < edge, height, 0.5)
    mark.next = astype(index(0), "i32")

u.next = minimum(u[-1], u)
t.next = t + 0.25
mark.next = mark + 1
"""
STEPS = 4


def start():
    return {"shape": (10,), "height": 2.0}


def check(simulation):
    assert np.array_equal(simulation.u, [2, 2, 2, 2, 2, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert np.array_equal(simulation.mark, np.arange(10) + STEPS)
    assert simulation.t == 1.0 + 0.25 * STEPS
