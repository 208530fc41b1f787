"""The exact states themselves, and the orders at which the hydrodynamics solver reaches them."""

import numpy as np
import pytest

from workbench.solvers import hydro
from workbench.solvers.exact_riemann import SOD_LEFT, SOD_RIGHT, solve_riemann
from workbench.solvers.gas_states import coaxial, entropy_wave, oblique, sod, sound_wave


def centres(cells, dim):
    return np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dim, indexing="ij")


def error(state, cells, dim=1, end=1.0, **options):
    """L1 error of density at t = `end`."""
    places = centres(cells, dim)
    start = hydro.conserved(*(state(*places, 0.0)))
    machine = hydro.machine(dim=dim, **options)
    widths = {f"dx{axis}": 1 / cells for axis in range(dim)}
    simulation = machine.simulate(**start, **widths, backend="openmp").run(until=end, time="time")
    return np.abs(simulation.density - state(*places, end)[0]).mean()


@pytest.mark.parametrize(("reconstruction", "order"), [(hydro.minmod, 1.85), (hydro.mc, 1.95), (hydro.weno_z, 1.95)])
def test_sound_wave_order(reconstruction, order):
    coarse, fine = (error(sound_wave, n, reconstruction=reconstruction) for n in (512, 1024))
    print(reconstruction.__name__, coarse, fine, np.log2(coarse / fine))
    assert np.log2(coarse / fine) >= order


@pytest.mark.parametrize(
    ("state", "reconstruction", "least"),
    [(entropy_wave, hydro.minmod, 1.75), (entropy_wave, hydro.mc, 1.85), (sound_wave, hydro.mc, 1.85)],
)
def test_oblique_waves_with_exact_gas_outside(state, reconstruction, least):
    flow = oblique(state)
    options = {"boundary": flow, "reconstruction": reconstruction}
    coarse, fine = (error(flow, n, dim=2, end=0.5, **options) for n in (32, 64))
    print(state.__name__, coarse, fine, np.log2(coarse / fine))
    assert np.log2(coarse / fine) >= least


def test_sound_wave_is_the_papers_to_first_order():
    x = np.linspace(0, 1, 50)
    density, (velocity,), pressure = sound_wave(x, 0.0, 1e-6)
    wave = 1e-6 * np.sin(2 * np.pi * x)
    np.testing.assert_allclose(density, 1.4 * (1 + wave), atol=1e-11)
    np.testing.assert_allclose(velocity, wave, atol=1e-11)
    np.testing.assert_allclose(pressure, 1 + 1.4 * wave, atol=1e-11)


def test_placing():
    x = np.linspace(0, 1, 7)
    density, velocity, _ = coaxial(entropy_wave, 3)(x, x, x, 0.25)
    np.testing.assert_array_equal(density, entropy_wave(x, 0.25)[0])
    assert velocity == (1.0, 0.0, 0.0)
    turned = oblique(entropy_wave, 90.0)(x, 2 * x, 0.25)
    np.testing.assert_allclose(turned[0], entropy_wave(2 * x, 0.25)[0], atol=1e-12)
    np.testing.assert_allclose(turned[1], (0.0, 1.0), atol=1e-12)


def test_sod_is_the_exact_riemann_solution_from_its_start_on():
    x = (np.arange(64) + 0.5) / 64
    density, (velocity,), pressure = sod(x, 0.0)
    np.testing.assert_array_equal(density, np.where(x < 0.5, 1.0, 0.125))
    np.testing.assert_array_equal(velocity, 0.0 * x)
    np.testing.assert_array_equal(pressure, np.where(x < 0.5, 1.0, 0.1))
    wanted = solve_riemann(SOD_LEFT, SOD_RIGHT, (x - 0.5) / 0.125)
    density, (velocity,), pressure = sod(x, 0.125)
    for got, exact in zip((density, velocity, pressure), wanted, strict=True):
        np.testing.assert_array_equal(got, exact)


def test_oblique_sod_with_exact_gas_outside():
    flow = oblique(sod)
    coarse, fine = (error(flow, n, dim=2, end=0.125, boundary=flow) for n in (32, 64))
    print("oblique Sod", coarse, fine, np.log2(coarse / fine))
    assert fine < 0.012
    assert np.log2(coarse / fine) >= 0.7
