"""Simulations with a field that has some of the program's axes only: given, set, saved, read, verified."""

import numpy as np
import pytest

from tests.kit.spaced_programs import fields_of_few_axes
from workbench.errors import ShapeError
from workbench.planning import Choices
from workbench.run.creation import create_simulation, restore_simulation
from workbench.run.verification import verify

CELLS = np.linspace(-1, 1, 4 * 5 * 6).reshape(4, 5, 6)
LINE = np.linspace(0, 1, 5)


def started(line=LINE, u=CELLS, shape=None):
    return create_simulation(fields_of_few_axes(), Choices(), {"u": u, "line": line}, shape, backend="reference")


def test_it_is_given_as_an_array_or_as_a_number_in_every_cell():
    assert np.array_equal(started()["line"], LINE)
    assert np.array_equal(started(0.5)["line"], np.full(5, 0.5))
    assert np.array_equal(started(u=0.25, shape=(4, 5, 6))["line"], LINE)


def test_it_is_set_and_an_array_of_another_shape_is_refused():
    sim = started()
    sim["line"] = LINE[::-1]
    assert np.array_equal(sim["line"], LINE[::-1])
    with pytest.raises(ShapeError, match=r"line was given shape \(6,\), but in this simulation it has shape \(5,\)"):
        sim["line"] = np.ones(6)
    with pytest.raises(ShapeError, match=r"line was given shape \(4,\), but in this simulation it has shape \(5,\)"):
        started(np.ones(4))
    with pytest.raises(ShapeError, match=r"line was given 3 axes .* but line has 1 axis"):
        started(CELLS)


def test_a_checkpoint_has_it(tmp_path):
    sim = started()
    sim.run(2)
    sim.save(tmp_path / "state.npz")
    other = restore_simulation(fields_of_few_axes(), Choices(), tmp_path / "state.npz", backend="reference")
    assert np.array_equal(other["line"], sim["line"])
    assert np.array_equal(other["u"], sim["u"])


def test_a_data_set_names_its_axis():
    data = started().to_xarray()
    assert (data["u"].dims, data["line"].dims) == (("x", "y", "z"), ("y",))


def test_backends_agree_on_it():
    assert verify(fields_of_few_axes(), Choices(), {}, None, 3).passed
