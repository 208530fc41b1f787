"""WENO-Z and PPM: the order of their face values, their limits, and that nothing overshoots."""

import numpy as np
import pytest

from workbench import language as cell
from workbench.machine import stencil
from workbench.solvers import hydro


def faces(reconstruction, values):
    """(lower, upper) face values of every cell of a periodic line."""

    @stencil(1, name="faces", boundary="periodic")
    def machine():
        u, lower, upper = cell.fields("u lower upper")
        lower.next, upper.next = reconstruction(u, 0)
        u.next = u

    simulation = machine.simulate(u=values, lower=0.0, upper=0.0, backend="reference").run(1)
    return simulation.lower, simulation.upper


def face_error(reconstruction, cells):
    """Largest error at upper faces for cell means of sin 2 pi x, away from the extrema."""
    edges = np.arange(cells + 1) / cells
    means = -np.diff(np.cos(2 * np.pi * edges)) / (2 * np.pi) * cells
    error = np.abs(faces(reconstruction, means)[1] - np.sin(2 * np.pi * edges[1:]))
    away = np.abs(np.cos(2 * np.pi * (edges[1:] - 0.5 / cells))) > 0.4
    return error[away].max()


@pytest.mark.parametrize(("reconstruction", "order"), [(hydro.ppm, 4), (hydro.weno_z, 5), (hydro.mc, 2)])
def test_order_of_the_faces(reconstruction, order):
    coarse, fine = (face_error(reconstruction, n) for n in (64, 128))
    print(reconstruction.__name__, coarse, fine, np.log2(coarse / fine))
    assert abs(np.log2(coarse / fine) - order) < 0.15


def test_ppm_faces_stay_between_the_neighbours():
    values = np.random.default_rng(3).choice([0.0, 1.0, 1.1, 5.0], 60) + np.linspace(0, 1, 60)
    lower, upper = faces(hydro.ppm, values)
    before, after = np.roll(values, 1), np.roll(values, -1)
    for face, neighbour in ((lower, before), (upper, after)):
        assert (face >= np.minimum(values, neighbour) - 1e-14).all()
        assert (face <= np.maximum(values, neighbour) + 1e-14).all()
    assert (lower != upper).sum() > 10


def test_ppm_parabola_is_monotone():
    values = np.random.default_rng(5).normal(size=200)
    lower, upper = faces(hydro.ppm, values)
    width, curvature = upper - lower, 6 * (values - 0.5 * (lower + upper))
    assert (np.abs(curvature) <= np.abs(width) + 1e-12).all()


def test_reflected_data_give_reflected_faces():
    values = np.random.default_rng(7).normal(size=40)
    for reconstruction in (hydro.ppm, hydro.weno_z):
        lower, upper = faces(reconstruction, values)
        mirrored_lower, mirrored_upper = faces(reconstruction, values[::-1].copy())
        np.testing.assert_allclose(mirrored_upper[::-1], lower, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(mirrored_lower[::-1], upper, rtol=1e-13, atol=1e-15)
