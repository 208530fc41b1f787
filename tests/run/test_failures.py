"""What a simulation refuses: each case by the text of its error and the advice that ends it."""

import numpy as np
import pytest

import workbench as wb
from tests.programs.wave import TEXT as WAVE
from workbench.errors import StencilError

MACHINES = {
    "wave": wb.trace(WAVE, name="wave"),
    "plane": wb.trace('u = field("u", boundary="periodic")\nu.next = u[+1, 0]', name="plane"),
    "twice": wb.trace(
        'u = field("u", boundary="outflow")\nw = extend(u, reflect())\nu.next = u[+1] + w[-1]', name="twice"
    ),
    "bytes": wb.trace('b = field("b", dtype="u8")\nb.next = b', name="bytes"),
    "mask": wb.trace('m = field("m", dtype="bool")\nm.next = m', name="mask"),
    "single": wb.trace('f = field("f", dtype="f32")\nf.next = f', name="single"),
    "counter": wb.trace('u = field("u")\nn = scalar("n", dtype="i64")\nn.next = n + 1\nu.next = u', name="counter"),
}
U = np.zeros(8)

# machine, arguments of simulate, what the text says, how it ends
CREATION = {
    "missing field": ("wave", {"u": U}, "needs a value for field v", "Pass v= an array or a number."),
    "missing fields": ("wave", {"shape": 8}, "needs a value for fields u, v", "Pass u=, v= an array or a number."),
    "unknown name": ("wave", {"u": U, "v": U, "w": U}, "wave has no 'w'", "Use one of u, v, energy, c."),
    "near name": ("wave", {"u": U, "v": U, "enrgy": 1}, "Did you mean 'energy'?", "Use one of u, v, energy, c."),
    "no shape": ("wave", {"u": 0, "v": 0}, "its shape is unknown", "Pass shape=(256,)."),
    "shapes that differ": ("wave", {"u": U, "v": np.zeros(9)}, "v has shape (9,), but u is (8,)", "the same shape."),
    "shape and array": ("wave", {"u": U, "v": U, "shape": 9}, "u has shape (8,), but shape is (9,)", "same shape."),
    "axes": ("wave", {"u": np.zeros((2, 4)), "v": U}, "2 axes (shape (2, 4)), but the machine has 1 axis", "cell."),
    "axes of shape": ("plane", {"u": 0, "shape": 9}, "shape=(9,) has 1 extent, but plane has 2", "Pass 2."),
    "empty": ("wave", {"u": np.zeros(0), "v": np.zeros(0)}, "extent below 1", "at least one cell."),
    "zero extent": ("plane", {"u": 0, "shape": (8, 0)}, "shape=(8, 0) has an extent below 1", "at least one cell."),
    "negative extent": ("wave", {"u": 0, "v": 0, "shape": -3}, "shape=(-3,) has an extent below 1", "one cell."),
    "shape in words": ("wave", {"u": 0, "v": 0, "shape": "big"}, "shape='big' is no tuple", "shape=(256, 256), and"),
    "extent with fraction": ("wave", {"u": 0, "v": 0, "shape": 8.5}, "shape=8.5 is no tuple", "shape=(256, 256), and"),
    "too large": ("plane", {"u": 0, "shape": (10**7, 10**7)}, "needs 1.6 PB (2 arrays)", "smaller shape"),
    "absurd": ("plane", {"u": 0, "shape": (10**30, 10**30)}, "plane with shape (1000", "smaller shape"),
    "complex": ("wave", {"u": U * 1j, "v": U}, "u was given complex values, but holds f64", "as two fields."),
    "text": ("wave", {"u": "sin", "v": U}, "u was given text, but holds f64", "an array of numbers."),
    "function": ("wave", {"u": np.sin, "v": U}, "u was given a function, but holds f64", "a kernel init in the cell."),
    "objects": ("wave", {"u": np.array([None] * 8), "v": U}, "u was given Python objects", "an array of numbers."),
    "ragged": ("wave", {"u": [[1], [1, 2]], "v": U}, "u was given a list that is no array", "equal length."),
    "masked": ("wave", {"u": np.ma.masked_equal([1, 2], 2), "v": U}, "1 masked cells", "value.filled(0.0)."),
    "float to int": ("bytes", {"b": np.ones(4)}, "b holds u8, but was given float64 values", "with dtype=float."),
    "float to bool": ("mask", {"m": np.ones(4)}, "m holds bool, but was given float64", "with dtype=float."),
    "beyond u8": ("bytes", {"b": np.array([1, 256])}, "from 0 to 255, but was given 256", "a wider dtype."),
    "below u8": ("bytes", {"b": np.array([-1, 2])}, "from 0 to 255, but was given -1", "a wider dtype."),
    "beyond bool": ("mask", {"m": np.array([0, 2])}, "from 0 to 1, but was given 2", "a wider dtype."),
    "beyond f32": ("single", {"f": np.array([1e300])}, "f holds f32, but was given 1e+300", "a wider dtype."),
    "whole number beyond f32": (
        "single",
        {"f": 2**200, "shape": 3},
        "f holds f32, but was given 1.6069",
        "a wider dtype.",
    ),
    "array for param": ("wave", {"u": U, "v": U, "c": U}, "c is a param: one number", "declare c as a field."),
    "float for counter": ("counter", {"u": U, "n": 0.5}, "n holds i64, but was given float64", "dtype=float."),
    "beyond i64": ("counter", {"u": U, "n": 2**70}, "but was given 1180591620717411303424", "a wider dtype."),
    "beyond f64": ("wave", {"u": U, "v": U, "c": 10**400}, "was given a whole number of 1329 bits", "a wider dtype."),
    "backend": ("wave", {"u": U, "v": U, "backend": "opnemp"}, "there is no backend 'opnemp'", "reference"),
    "threads": ("wave", {"u": U, "v": U, "threads": -1}, "threads=-1 is no number of threads", "0 for all"),
    "many threads": ("wave", {"u": U, "v": U, "threads": 100_000}, "threads=100000 is more than the", "Pass 0 for all"),
    "threads in words": ("wave", {"u": U, "v": U, "threads": "all"}, "threads='all' is no number", "0 for all"),
    "arithmetic": ("wave", {"u": U, "v": U, "arithmetic": "fast"}, "arithmetic='fast' is unknown", "only one"),
    "schedule": (
        "wave",
        {"u": U, "v": U, "schedule": "spiral"},
        "schedule is 'spiral'",
        "Use one of auto, stepwise, diamond, diamondtorre.",
    ),
    "tiles": ("twice", {"u": U, "schedule": "diamond"}, "u is extended in two ways", "stepwise"),
}


@pytest.mark.parametrize("case", CREATION)
def test_simulate_refuses(case):
    machine, values, text, advice = CREATION[case]
    with pytest.raises(StencilError) as caught:
        MACHINES[machine].simulate(**values)
    what, *_, last = str(caught.value).splitlines()
    assert text in what
    assert advice in last


def refused_later(do):
    with wb.trace(WAVE, name="wave").simulate(u=U, v=U, backend="reference") as simulation:
        before = simulation.to_dict()
        with pytest.raises((StencilError, AttributeError, ValueError)) as caught:
            do(simulation)
        assert simulation.steps == 0
        for name, value in before.items():
            assert np.array_equal(simulation[name], value)
    return str(caught.value)


def assign(simulation):
    simulation.u = U


def write_into_copy(simulation):
    simulation.u[0] = 1.0


# what is done, what the text says
LATER = {
    "set beyond f64": (lambda s: s.set(c=2**2000), "c holds f64, but was given a whole number of 2001 bits"),
    "no end": (lambda s: s.run(), "Pass a number of steps, or until=."),
    "two ends": (lambda s: s.run(10, until=1.0), "Pass until= and at_most=10."),
    "negative steps": (lambda s: s.run(-1), "steps=-1 is negative"),
    "steps with fraction": (lambda s: s.run(1.5), "steps=1.5 is no whole number"),
    "steps true": (lambda s: s.run(True), "steps=True is no whole number"),
    "no time": (lambda s: s.run(until=1.0), "has no scalar 't'"),
    "until in words": (lambda s: s.run(until="noon"), "neither a time nor a condition"),
    "until NaN": (lambda s: s.run(until=float("nan"), time="energy"), "neither a time nor a condition"),
    "condition of a field": (lambda s: s.run(until=lambda s: s.u < 1), "s.u is a field, which has one value per cell"),
    "condition and": (lambda s: s.run(until=lambda s: s.energy < 1 and s.energy > 0), "joined by &"),
    "condition chained": (lambda s: s.run(until=lambda s: 0 < s.energy < 1), "joined by &"),
    "condition of nothing": (lambda s: s.run(until=lambda s: 3), "returns 3, not a comparison"),
    "condition unknown": (lambda s: s.run(until=lambda s: s.enrgy < 3), "has no scalar 'enrgy'; its scalars: energy"),
    "condition arithmetic": (lambda s: s.run(until=lambda s: s.energy * 2 < 3), "s.energy is used in a formula"),
    "condition of two scalars": (
        lambda s: s.run(until=lambda s: s.energy < s.energy),
        "s.energy is compared with s.energy",
    ),
    "condition true": (lambda s: s.run(until=lambda s: bool(s.energy)), "s.energy is used as true or false"),
    "condition and number": (lambda s: s.run(until=lambda s: (s.energy < 1) & 2), "& joins comparisons, not 2"),
    "unknown kernel": (lambda s: s.call("inti"), "wave has no kernel 'inti'"),
    "unknown value": (lambda s: s["flux"], "wave has no 'flux'"),
    "unknown attribute": (lambda s: s.enrgy, "Did you mean 'energy'?"),
    "set unknown": (lambda s: s.set(u=1.0, k=1), "wave has no 'k'"),
    "set shape": (
        lambda s: s.set(u=1.0, v=np.zeros(9)),
        "v was given shape (9,), but in this simulation it has shape (8,)",
    ),
    "set attribute": (assign, "Use sim.set(u=...)."),
    "write into a copy": (write_into_copy, "read-only"),
    "evaluate unknown": (lambda s: s.evaluate("u2"), "computes nothing called 'u2'"),
    "record unknown": (lambda s: s.record("flux"), "wave has no 'flux'"),
    "record param": (lambda s: s.record("c"), "no step changes it"),
    "record never": (lambda s: s.record("u", every=0), "Pass every=1 or more."),
    "device of scalar": (lambda s: s.device("energy"), "energy is a scalar, not a field"),
    "save nowhere": (lambda s: s.save("/no/such/folder/run.npz"), "Choose a folder that exists"),
}


@pytest.mark.parametrize("case", LATER)
def test_simulation_refuses_and_keeps_its_state(case):
    do, text = LATER[case]
    assert text in refused_later(do)


def test_closed_simulation_says_so():
    simulation = MACHINES["wave"].simulate(u=U, v=U, backend="reference")
    simulation.close()
    simulation.close()
    with pytest.raises(StencilError, match="was closed"):
        simulation.run(1)
    assert repr(simulation) == "simulation of wave: closed at step 0"


def test_not_a_number_is_a_value():
    with MACHINES["wave"].simulate(u=np.full(8, np.nan), v=U, backend="reference") as simulation:
        assert np.isnan(simulation.run(1).u).all()


def test_integers_and_lists_become_floats():
    with MACHINES["wave"].simulate(u=[1, 2, 3], v=np.arange(3, dtype="i2"), c=2, backend="reference") as simulation:
        assert simulation.u.tolist() == [1.0, 2.0, 3.0]
        assert simulation.v.dtype == np.float64
        assert simulation.c == 2.0
