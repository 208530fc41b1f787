"""The flows for pictures: the blast is where theory puts it, streams roll up, the jet enters, the shock reflects."""

import numpy as np
import pytest

from tests.kit.bits import differences
from workbench.errors import StencilError
from workbench.solvers import gas_flows, hydro


def finished(flow, cells, **options):
    simulation = flow.simulate(cells, backend="openmp", **options)
    simulation.run(until=flow.end, time="time")
    assert np.isfinite(simulation.energy).all()
    return simulation


def shock_radius(flow, simulation, cells):
    """The mean distance from the middle at which density falls to half of its height above 1, along axis rays."""
    density, middle = simulation.density, simulation.shape[0] // 2
    radii = []
    for axis in range(density.ndim):
        ray = np.moveaxis(density, axis, 0)[(slice(middle, None), *[middle] * (density.ndim - 1))]
        peak = int(np.argmax(ray))
        half = 0.5 * (1 + ray[peak])
        outer = peak + int(np.argmax(ray[peak:] < half))
        part = (ray[outer - 1] - half) / (ray[outer - 1] - ray[outer])
        radii.append((outer - 1 + part + 0.5) / cells)
    assert np.ptp(radii) < 1e-9
    return radii[0]


@pytest.mark.parametrize(("dim", "cells"), [(1, 400), (1, 800), (2, 80), (2, 160), (3, 40)])
def test_sedov_shock_is_where_theory_puts_it(dim, cells):
    """Within two cells on every grid: the captured shock is about that wide, and the distance shrinks as the cells."""
    flow = gas_flows.sedov(dim)
    exact = gas_flows.sedov_radius(flow.end, dim)
    simulation = finished(flow, cells)
    found = shock_radius(flow, simulation, cells)
    print(f"{dim}-D: shock at {found:.4f}, exactly {exact:.4f}, cell {1 / cells:.4f}")
    assert abs(found - exact) < 2 / cells
    assert simulation.density.max() > {1: 4.8, 2: 2.5, 3: 1.7}[dim]  # it tends to (gamma + 1) / (gamma - 1) = 6


def test_sedov_blast_is_symmetric_to_round_off():
    density = finished(gas_flows.sedov(2), 48).density
    for image in (density.T, density[::-1], density[:, ::-1]):
        np.testing.assert_allclose(image, density, rtol=1e-9)


def test_kelvin_helmholtz_grows():
    flow = gas_flows.kelvin_helmholtz()
    simulation = flow.simulate(64, backend="openmp")
    across = [np.abs(simulation.momentum1 / simulation.density).max()]
    for time in (1.0, 2.0):
        simulation.run(until=time, time="time")
        across.append(np.abs(simulation.momentum1 / simulation.density).max())
    print(across)
    assert across[0] == pytest.approx(0.01, rel=1e-2)
    assert across[1] > 5 * across[0]
    assert across[2] > 1.5 * across[1]


def test_jet_enters_through_its_nozzle_only():
    simulation = gas_flows.jet().simulate(50, backend="openmp", order=(1, 2)).run(until=0.1, time="time")
    x, y = gas_flows.jet().centres(50)
    fast = simulation.momentum0 / simulation.density > 1
    assert 0.1 < x[fast].max() < 0.6
    assert np.abs(y[fast] - 0.5).max() < 0.15
    assert simulation.density[0, 0] > 20


def test_double_mach_reflection_makes_its_jet_along_the_wall():
    flow, cells = gas_flows.double_mach_reflection(), 40
    simulation = finished(flow, cells)
    density = simulation.density
    front = np.argmax(np.cumsum(density > 2, axis=0), axis=0) / cells  # the last dense cell of each row
    exact = (1.0 + 20 * flow.end) / np.sqrt(3)  # of the incident shock at the top
    assert abs(front[-1] - exact) < 3 / cells
    assert density[:, 0].max() > 14  # behind the reflected shock; 8 behind the incident one
    assert front[0] > flow.end * 20 / np.sqrt(3)  # the Mach stem runs ahead of where the incident shock would be


@pytest.mark.parametrize("name", ["jet", "double_mach_reflection"])
def test_flows_take_other_components_and_backends(name):
    flow = getattr(gas_flows, name)()
    options = {"reconstruction": hydro.mc, "riemann": hydro.hlle}
    one, other = (flow.simulate(16, backend=b, **options).run(2) for b in ("reference", "openmp"))
    assert len(differences(one.density, other.density)) == 0


def test_boxes_that_are_too_small_are_refused():
    with pytest.raises(StencilError, match=r"\(9, 3\)"):
        gas_flows.double_mach_reflection().simulate(3)
    for cells in (8.5, "8", True):
        with pytest.raises(StencilError, match=f"cells={cells!r} is no whole number"):
            gas_flows.jet().simulate(cells)
    with pytest.raises(StencilError, match="no cell lies within"):
        gas_flows.sedov(2, radius=1e-3).simulate(16)
    with pytest.raises(StencilError, match="dim=4"):
        gas_flows.sedov(4)
