"""A vector of particles as a picture: each particle counts in its square, the view stays where it is."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError
from workbench.views.field.crowd import SIDE

DRIFT = """
x, v = particles("x v", dim=3, unit="m")
half = x + 0.5 * v
x.next = half + 0.5 * v
"""


@pytest.fixture
def sim():
    draw = np.random.default_rng(0)
    made = wb.trace(DRIFT, name="drift").simulate(
        x=draw.normal(2.0, 1.0, (3, 5000)), v=np.full((3, 5000), 0.25), backend="reference"
    )
    yield made
    made.close()


def counted_by_hand(places, axes):
    """NumPy's own histogram over the view's squares."""
    edges = []
    for axis in axes:
        half = (axis.last - axis.first) / (SIDE - 1) / 2
        edges.append(np.linspace(axis.first - half, axis.last + half, SIDE + 1))
    return np.histogram2d(places[0], places[1], bins=edges)[0]


def test_each_particle_counts_in_its_square(sim):
    view = sim.view("x")
    seen = view.summary
    axes = (seen.across, seen.up)
    assert [(axis.name, axis.unit) for axis in axes] == [("x0", "m"), ("x1", "m")]
    assert seen.unit == "particles"
    expected = counted_by_hand(sim.x, axes)
    assert 4000 < expected.sum() <= 5000
    np.testing.assert_array_equal(seen.values[::-1].T, expected)  # row 0 is on top
    assert view.png.startswith(b"\x89PNG")


def test_the_view_stays_while_particles_go(sim):
    view = sim.view("x")
    axes = (view.summary.across, view.summary.up)
    sim.run(4)
    assert view.png
    seen = view.summary
    assert (seen.across, seen.up) == axes
    assert seen.step == 4
    np.testing.assert_array_equal(seen.values[::-1].T, counted_by_hand(sim.x, axes))


def test_computed_vectors_have_the_picture_too(sim):
    assert sim.view("half").summary.across.name == "half0"
    assert sim.view("v").summary.maximum == 5000  # all in one place


def test_a_place_that_is_no_number_is_said(sim):
    view = sim.view("x")
    x = sim.x.copy()
    x[1, 7] = np.nan
    sim["x"] = x
    assert view.png
    assert "NaN at step 0" in str(view)


def test_other_values_have_views_of_their_own(sim):
    view = sim.view("x")
    assert view._looking.names == ("x",)
    with pytest.raises(FieldError, match="this view counts particles by x"):
        view._looking.switch("x0")
    assert "x0" in sim.view("x0")._looking.names
