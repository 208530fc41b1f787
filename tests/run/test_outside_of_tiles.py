"""Values computed outside of the domain: tiles refuse them where ghost cells share their array, else they keep bits.

Ghost cells of the next step must not come before the last reader of what was computed there, nor be what it is made
of.
"""

import itertools

import numpy as np
import pytest

from workbench.errors import PlanError
from workbench.machine import trace

RULES = ('"periodic"', '"mirror"', '"outflow"', "constant(0.5)", "fixed(0.25)", "periodic(sign=-1)")
SHARED = {
    "in place": "u1 = u + 0.1 * v\nv1 = v + 0.1 * (u1[+1] - 2 * u1 + u1[-1])\nu.next, v.next = u1, v1",
    "stored": ("a = v + 0.1 * (u[+1] - 2 * u + u[-1])\nmanifest(a)\nu.next = u + 0.1 * (a[+1] - a[-1])\nv.next = a"),
}
APART = {
    "stages": (
        "a = u + 0.1 * (u[+1] - 2 * u + u[-1])\nmanifest(a)\nu.next = a + 0.1 * (a[+1] - 2 * a + a[-1])\nv.next = v"
    ),
    "beside": (
        "a = 0.3 * (u[+1] - u[-1]) + v\nmanifest(a)\nu.next = u + 0.1 * (a[+1] - a[-1])\nv.next = 0.5 * v + 0.1 * a"
    ),
}


def machine(form, rule):
    return trace(f'u, v = fields("u v", boundary={rule})\n{form}', 1, name="outside")


@pytest.mark.parametrize(("form", "rule"), [*itertools.product(SHARED, RULES)])
def test_an_array_of_both_is_refused(form, rule):
    with pytest.raises(PlanError, match="is computed outside of the domain, in an array whose ghost cells change"):
        machine(SHARED[form], rule).with_choices(schedule="diamond").plan("openmp")


@pytest.mark.parametrize(("form", "rule"), [*itertools.product(APART, RULES[:3]), ("beside", RULES[4])])
def test_arrays_of_their_own_keep_every_bit(form, rule):
    draw = np.random.default_rng(1)
    start = {"u": draw.normal(size=300), "v": draw.normal(size=300)}
    found = []
    for schedule, threads in (("stepwise", 1), ("diamond", 1), ("diamond", 2)):
        with machine(APART[form], rule).simulate(**start, schedule=schedule, threads=threads, backend="openmp") as sim:
            sim.run(1)  # alone, for nobody knows yet how long one takes
            sim.run(41)
            found.append(sim.to_dict())
    for other in found[1:]:
        assert all(np.array_equal(other[name], found[0][name]) for name in start)


def test_the_wave_of_the_course_keeps_its_energy_on_a_large_grid():
    """Under "auto", at a size at which a program that can be tiled is."""
    text = (
        'u, v = fields("u v", boundary="periodic")\nu1 = u + 0.1 * v\n'
        "v1 = v + 0.1 * (u1[+1] - 2 * u1 + u1[-1])\nu.next, v.next = u1, v1"
    )
    x = np.linspace(0, 2 * np.pi, 1 << 20, endpoint=False)
    runs = []
    for schedule in ("auto", "stepwise"):
        with trace(text, 1, name="wave").simulate(u=np.sin(x), v=np.cos(3 * x), schedule=schedule) as sim:
            runs.append(sim.run(1).run(40).to_dict())
    assert all(np.array_equal(runs[0][name], runs[1][name]) for name in "uv")
