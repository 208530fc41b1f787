"""Bounds of deviation: what is promised holds if every function with a bound is off by as much as it may be."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.graph.deviation import bounds_after, bounds_after_any, largest
from workbench.graph.operators import OPERATORS
from workbench.run.verification import distance

# text after `u = field("u", boundary="reflect")`, bound of u after one step, after any number of steps
PROGRAMS = {
    "exact": ("u.next = u * 3 + u[+1]", 0, 0),
    "a function": ("u.next = cosh(0 * u)", 4, None),
    "a function of what rests": ('v = field("v")\nv.next = v\nu.next = cosh(v)', 4, 4),
    "power": ('v = field("v")\nv.next = v\nu.next = v ** (v * 0.3)', 8, 8),
    "copies": ('v = field("v")\nv.next = v\nu.next = -abs(extend(cosh(v), periodic(sign=-1)))[+1]', 4, 4),
    "a choice": ('v = field("v")\nv.next = v\nu.next = where(v > 1, cosh(v), sin(v))', 4, 4),
    "a choice by a function": ('v = field("v")\nv.next = v\nu.next = where(cosh(v * 0) > 1, v, 9.0)', None, None),
    "a difference": ("u.next = cosh(u) - 1.5", None, None),
    "a function of a function": ("u.next = cosh(cosh(u) * 5)", None, None),
    "a sum": ('v = field("v")\nv.next = v\nu.next = v * 0 + (reduce_sum(cosh(v)) - 24.7)', None, None),
    "a face": ('v = field("v")\nv.next = v\nu.next = extend(cosh(v), fixed(0.77))[+1]', None, None),
    "another kernel": ("u.next = u\n@kernel\ndef other():\n    u.next = cosh(u)", 0, 0),
}


def machine(name):
    return wb.trace(
        'u = field("u", boundary="reflect")\n' + PROGRAMS[name][0].replace('"periodic(-1)"', "periodic(-1)")
    )


def shifted(row, units):
    """The operator with results that many units in the last place larger."""

    def meaning(*operands):
        value = np.asarray(row.meaning(*operands))
        for _ in range(units):
            value = np.nextafter(value, np.inf)
        return value

    return replace(row, meaning=meaning)


def after_one_step(name):
    program, rng = machine(name), np.random.default_rng(3)
    values = {static.name: 0.9 + 0.2 * rng.random(16) for static in program.graph.statics}
    with program.simulate(backend="reference", **values) as simulation:
        return simulation.step().u


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bound_holds_if_functions_deviate_by_their_own(name, monkeypatch):
    graph = machine(name).graph
    start = {static.name: 0 for static in graph.statics}
    step = next(kernel for kernel in graph.kernels if kernel.name == "step")
    _, one, last = PROGRAMS[name]
    assert bounds_after(step, start)["u"] == one
    assert bounds_after_any(step, start)["u"] == last
    expected = after_one_step(name)
    for operator, row in OPERATORS.items():
        if row.ulp:
            monkeypatch.setitem(OPERATORS, operator, shifted(row, row.ulp))
    found = distance(after_one_step(name), expected, graph.statics[0].type)
    # Each bound is reached, and where there is none even the widest of a row is broken.
    assert found > 8 if one is None else found == one


def test_the_weakest_bound_is_the_largest():
    assert largest(()) == 0
    assert largest((0, 8, 4)) == 8
    assert largest((0, None, 4)) is None
