"""The exact Riemann solution against Toro's table 4.2 and the jump conditions."""

import numpy as np
import pytest

from workbench.errors import StencilError
from workbench.solvers.exact_riemann import SOD_LEFT, SOD_RIGHT, Gas, solve_riemann, star_region

TORO = (  # left, right, p*, u* (tables 4.1 and 4.2)
    (SOD_LEFT, SOD_RIGHT, 0.30313, 0.92745),
    (Gas(1.0, -2.0, 0.4), Gas(1.0, 2.0, 0.4), 0.00189, 0.0),
    (Gas(1.0, 0.0, 1000.0), Gas(1.0, 0.0, 0.01), 460.894, 19.5975),
    (Gas(1.0, 0.0, 0.01), Gas(1.0, 0.0, 100.0), 46.0950, -6.19633),
    (Gas(5.99924, 19.5975, 460.894), Gas(5.99242, -6.19633, 46.0950), 1691.64, 8.68975),
)


@pytest.mark.parametrize(("left", "right", "pressure", "velocity"), TORO)
def test_star_region(left, right, pressure, velocity):
    found = star_region(left, right)
    assert found[0] == pytest.approx(pressure, rel=1e-4, abs=1e-5)
    assert found[1] == pytest.approx(velocity, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("left", "right", "pressure", "velocity"), TORO)
def test_far_away_nothing_has_happened_and_waves_are_continuous_or_jumps(left, right, pressure, velocity):
    density, flow, force = solve_riemann(left, right, [-1e3, 1e3])
    assert (density[0], flow[0], force[0]) == (left.density, left.velocity, left.pressure)
    assert (density[1], flow[1], force[1]) == (right.density, right.velocity, right.pressure)


def test_conserves_mass_momentum_and_energy():
    edge, cells = 3.0, 200_000
    speed = (np.arange(cells) + 0.5) / cells * 2 * edge - edge
    density, flow, force = solve_riemann(SOD_LEFT, SOD_RIGHT, speed)
    width = 2 * edge / cells
    assert np.sum(density) * width == pytest.approx(edge * 1.125, abs=1e-4)
    assert np.sum(density * flow) * width == pytest.approx(1.0 - 0.1, abs=1e-4)  # the pressure difference, times 1
    assert np.sum(force / 0.4 + 0.5 * density * flow**2) * width == pytest.approx(edge * 1.1 / 0.4, abs=1e-4)


def test_mirror_image():
    speed = np.linspace(-2, 2, 101)
    there = solve_riemann(SOD_LEFT, SOD_RIGHT, speed)
    back = solve_riemann(SOD_RIGHT, SOD_LEFT, -speed)
    for a, b, sign in zip(there, back, (1, -1, 1), strict=True):
        np.testing.assert_allclose(a, sign * b, atol=1e-12)


def test_refusals():
    with pytest.raises(StencilError, match="vacuum"):
        star_region(Gas(1, -20, 0.4), Gas(1, 20, 0.4))
    for bad in (Gas(0, 0, 1), Gas(1, 0, -1), Gas(np.nan, 0, 1), Gas(1, np.inf, 1), Gas(1, 0, np.inf)):
        with pytest.raises(StencilError, match=r"the left state of the Riemann problem is Gas.*\n.*positive"):
            solve_riemann(bad, SOD_RIGHT, 0.0)
        with pytest.raises(StencilError, match="the right state"):
            solve_riemann(SOD_LEFT, bad, 0.0)
    for gamma in (1.0, 0.5, np.nan, np.inf):
        with pytest.raises(StencilError, match="an ideal gas has more than 1"):
            solve_riemann(SOD_LEFT, SOD_RIGHT, 0.0, gamma)
