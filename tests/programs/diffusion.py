"""Diffusion with three sub-steps in one step, in one to four dimensions from the same text."""

import numpy as np

TEXT = """\
u = field("u", boundary={"x-": "reflect", "x+": "outflow"} | {axis: "periodic" for axis in ["y", "z", "3"][: dim - 1]})
k = param("k", 0.125)
stage = u
for _ in range(3):
    around = sum(stage.at(+1, axis) + stage.at(-1, axis) - 2 * stage for axis in axes)
    stage = stage + k * around
u.next = stage
total = scalar("total")
total.next = reduce_sum(u)
"""
STEPS = 3
_SHAPES = {"diffusion_1d": (19,), "diffusion_2d": (9, 14), "diffusion_3d": (5, 6, 11), "diffusion_4d": (4, 3, 5, 7)}


def programs():
    return tuple((name, TEXT, STEPS, lambda shape=shape: start(shape), check) for name, shape in _SHAPES.items())


def start(shape):
    cells = np.zeros(shape)
    cells[tuple(n // 2 for n in shape)] = 1.0
    cells[(0,) * len(shape)] = 0.25
    return {"u": cells}


def check(simulation):
    u = simulation.u
    assert u.min() >= 0  # maximum principle: k * 2 * dim <= 1
    assert u.max() < 1
    # The reflecting side keeps what is there. Later sub-steps read values that continue by their formula beyond the
    # zero-gradient side, where something comes in from outside.
    assert 1.0 < u.sum() < 1.5
