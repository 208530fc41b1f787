"""Why an oblique sound wave is rough at cfl = 1/d: there the step neither damps nor amplifies a chequerboard.

A limiter sees extremes only in a chequerboard and takes it to first order, where each axis multiplies it by
-2 cfl per step: the midpoint rule gives 1 + z + z²/2 with z = -2 d cfl, which is 1 at d cfl = 1 and 0.82 at 0.9. Every
kink that minmod leaves in an oblique wave then stays; clipped extremes have no part in it.

WENO-Z takes shorter steps for another reason: it damps short waves so little that the midpoint rule lets noise grow.
"""

import numpy as np
import pytest

from workbench.solvers import hydro
from workbench.solvers.gas_states import oblique, sound_wave


def chequerboard(dim, cells):
    return (-1.0) ** np.indices((cells,) * dim).sum(axis=0)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("part", [1.0, 0.9])
def test_a_chequerboard_stays_at_the_limit_and_is_damped_below(dim, part):
    """Of pressure, entropy unchanged, so that it is sound; per step the factor is the midpoint rule's."""
    steps, sign = 5, chequerboard(dim, 6)
    amplitude = 1e-6
    start = hydro.conserved(1.4 * (1 + amplitude * sign), (0.0,) * dim, 1 + 1.4 * amplitude * sign)
    simulation = hydro.machine(dim=dim).simulate(**start, cfl=part / dim, backend="openmp").run(steps)
    left = np.mean((simulation.density - 1.4) * sign) / (1.4 * amplitude)
    z = -2 * part
    assert left == pytest.approx((1 + z + z**2 / 2) ** steps, rel=1e-3)


def oblique_error(cells, reconstruction, cfl):
    """Error of density over the wave's amplitude at t = 0.5, and the part of it that is a chequerboard."""
    x, y = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * 2, indexing="ij")
    flow = oblique(sound_wave)
    machine = hydro.machine(dim=2, reconstruction=reconstruction, boundary=flow)
    simulation = machine.simulate(
        **hydro.conserved(*flow(x, y, 0.0)), dx0=1 / cells, dx1=1 / cells, cfl=cfl, backend="openmp"
    ).run(until=0.5, time="time")
    error = (simulation.density - flow(x, y, 0.5)[0]) / 1.4e-5
    rough = error[1:, 1:] - error[1:, :-1] - error[:-1, 1:] + error[:-1, :-1]  # 4 times a chequerboard's amplitude
    return np.abs(error).mean(), np.abs(rough).mean() / 4


def test_below_the_limit_minmod_has_its_order_and_no_chequerboard():
    coarse, _ = oblique_error(32, hydro.minmod, 0.45)
    fine, rough = oblique_error(64, hydro.minmod, 0.45)
    at_limit, rough_at_limit = oblique_error(64, hydro.minmod, 0.5)
    print(coarse, fine, np.log2(coarse / fine), rough / fine, at_limit, rough_at_limit / at_limit)
    assert np.log2(coarse / fine) > 1.65
    assert rough < 0.4 * fine
    assert at_limit > 1.3 * fine
    assert rough_at_limit > 0.5 * at_limit


def noise_left(dim, cells, steps, **options):
    """How much of small noise in density and pressure of gas at rest is left after some steps, in the energy."""
    generator, shape = np.random.default_rng(1), (cells,) * dim
    density, pressure = (value + 1e-6 * generator.standard_normal(shape) for value in (1.4, 1.0))
    start = hydro.conserved(density, (0.0,) * dim, pressure)
    machine = hydro.machine(dim, reconstruction=hydro.weno_z)
    simulation = machine.simulate(**start, **options, backend="openmp").run(steps)
    return np.std(simulation.energy) / np.std(start["energy"])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_noise_does_not_grow_with_weno_z_at_its_default_step(dim):
    assert noise_left(dim, {1: 64, 2: 16, 3: 8}[dim], 1000) < 0.5


def test_noise_grows_with_weno_z_at_longer_steps_and_that_is_warned_of():
    with pytest.warns(UserWarning, match="cfl"):
        assert noise_left(2, 16, 1000, cfl=0.5) > 10
    with pytest.warns(UserWarning, match=r"cfl=0\.5 is above 0\.2: unstable in 2 dimensions"):
        hydro.machine(2, reconstruction=hydro.weno_z, cfl=0.5)
