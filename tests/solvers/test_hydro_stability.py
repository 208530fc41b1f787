"""Why an oblique sound wave is rough at cfl = 1/d: there the step neither damps nor amplifies a chequerboard.

A limiter sees extremes only in a chequerboard and takes it to first order, where each axis multiplies it by
-2 cfl per step: the midpoint rule gives 1 + z + z²/2 with z = -2 d cfl, which is 1 at d cfl = 1 and 0.82 at 0.9. Every
kink that minmod leaves in an oblique wave then stays; clipped extremes have no part in it.
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
