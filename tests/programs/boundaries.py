"""One program for each boundary rule: both neighbours at distance 1 and 3 on a line of five cells."""

import numpy as np

_TEXT = """\
u = field("u", boundary={rule})
seen = field("seen")
seen.next = u[-3] + 100 * u[-1] + 10000 * u[+1] + 1000000 * u[+3]
u.next = u
"""
U = np.array([1.0, 2.0, 3.0, 5.0, 8.0])
# What lies outside: cells -3, -2, -1 and 5, 6, 7.
RULES = {
    "periodic": ('"periodic"', [3, 5, 8], [1, 2, 3]),
    "antiperiodic": ("periodic(sign=-1)", [-3, -5, -8], [-1, -2, -3]),
    "outflow": ('"outflow"', [1, 1, 1], [8, 8, 8]),
    "reflect": ('"reflect"', [3, 2, 1], [8, 5, 3]),
    "reflect_odd": ("reflect(sign=-1)", [-3, -2, -1], [-8, -5, -3]),
    "mirror": ('"mirror"', [5, 3, 2], [5, 3, 2]),
    "constant": ("constant(7)", [7, 7, 7], [7, 7, 7]),
    "fixed": ("fixed(4)", [5, 6, 7], [0, 3, 5]),
    "neumann": ("neumann(2, 0.5)", [-2, -1, 0], [9, 10, 11]),
    "analytic": ("analytic(lambda i: astype(10 * i + 1, float))", [-29, -19, -9], [51, 61, 71]),
    "sides": ('{"x-": "outflow", "x+": fixed(4)}', [1, 1, 1], [0, 3, 5]),
}


def programs():
    return tuple(
        (f"boundary_{name}", _TEXT.format(rule=rule), 1, _start, lambda s, low=low, high=high: _check(s, low, high))
        for name, (rule, low, high) in RULES.items()
    )


def _start():
    return {"u": U, "seen": 0.0}


def _check(simulation, low, high):
    line = np.concatenate([low, U, high])
    expected = line[0:5] + 100 * line[2:7] + 10000 * line[4:9] + 1000000 * line[6:11]
    assert np.array_equal(simulation.seen, expected)
