"""Snapshots of several values are of the same whole step, also while a run goes on."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError
from workbench.run.snapshots import take_snapshot, take_snapshots

TWO = """
x, v = particles("x v", dim=2)
twice = 2 * x
x.next, v.next = twice - x + 1.0, v + 1.0
"""


@pytest.fixture
def sim():
    with wb.trace(TWO, name="two").simulate(x=np.zeros((2, 64)), v=np.zeros((2, 64)), backend="reference") as made:
        yield made


def test_values_of_one_look_are_of_one_step(sim):
    sim.start()
    for _ in range(50):
        x, v1, twice = take_snapshots(sim, ("x", "v1", "twice0"))
        assert x.steps == v1.steps == twice.steps
        np.testing.assert_array_equal(x.values, np.full((2, 64), x.steps))
        np.testing.assert_array_equal(v1.values, np.full(64, x.steps))
        np.testing.assert_array_equal(twice.values, np.full(64, 2 * x.steps))
    sim.stop()
    assert sim.steps > 0


def test_one_name_is_one_snapshot(sim):
    assert take_snapshot(sim, "v0").values.shape == (64,)
    with pytest.raises(FieldError, match="nothing called 'y'"):
        take_snapshots(sim, ("x", "y"))
