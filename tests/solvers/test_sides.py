"""Boundaries that hold values: each field of a solver has its own."""

import re

import numpy as np
import pytest

from tests.kit.proofs import combinations
from workbench.errors import StencilError
from workbench.language import analytic, constant, fixed, neumann
from workbench.solvers import gray_scott, shallow_water, wave

CELLS = 24
WIDTHS = {"dx0": 1 / CELLS, "dx1": 1 / CELLS}


def between_walls(boundary, order, dim, **start):
    machine = wave.machine(dim, order, boundary=boundary)
    widths = {f"dx{axis}": 1 / CELLS for axis in range(dim)}
    return machine.simulate(**start, **widths, shape=(CELLS,) * dim, cfl=0.9, backend="openmp")


RESTING = [fixed(1.0), constant(1.0), {"x": fixed(1.0), "y": "reflect"}, analytic(lambda *i: 1.0)]


@pytest.mark.parametrize(
    ("rule", "dim", "order"),
    combinations(lambda r, d, o: d == 1 or o == 2 or isinstance(r, dict), RESTING, [1, 2], [2, 4, 8]),
)
def test_what_the_walls_hold_stays_at_rest(rule, dim, order):
    if dim == 1 and isinstance(rule, dict):
        rule = {"x": rule["x"]}
    simulation = between_walls(rule, order, dim, u=1.0, v=0.0).run(50)
    assert (simulation.u == 1).all()
    assert (simulation.v == 0).all()


@pytest.mark.parametrize("order", [2, 4, 8])
def test_a_slope_that_the_walls_hold_stays_at_rest(order):
    line = (np.arange(CELLS) + 0.5) / 2  # halves, so that no difference is rounded
    simulation = between_walls(neumann(12.0, 1 / CELLS), order, 1, u=line, v=0.0).run(50)
    assert (simulation.u == line).all()


@pytest.mark.parametrize("order", [4, 8])
def test_waves_between_walls_at_1_are_those_between_walls_at_0(order):
    hump = np.exp(-50 * ((np.arange(CELLS) + 0.5) / CELLS - 0.4) ** 2)
    above = between_walls(fixed(1.0), order, 1, u=1 + hump, v=0.0).run(2000)
    plain = between_walls(fixed(0.0), order, 1, u=hump, v=0.0).run(2000)
    np.testing.assert_allclose(above.u - 1, plain.u, atol=1e-11)  # round-off of 2000 steps
    np.testing.assert_allclose(above.v, plain.v, atol=1e-9)


@pytest.mark.parametrize("order", [2, 4, 8])
def test_energy_survives_hundreds_of_reflections(order):
    """Mean energy over a while early and late; that of one step swings with the phase of the wave."""
    x = (np.arange(CELLS) + 0.5) / CELLS
    simulation = between_walls(fixed(1.0), order, 1, u=1 + np.sin(np.pi * x), v=0.0)

    def mean_energy():
        energies = []
        for _ in range(60):
            simulation.run(1)
            ghosts = np.concatenate(([2 - simulation.u[0]], simulation.u, [2 - simulation.u[-1]]))
            slopes = np.diff(ghosts) * CELLS
            slopes[[0, -1]] *= 0.5**0.5  # half of these lies outside
            energies.append(0.5 * (np.sum(simulation.v**2) + np.sum(slopes**2)))
        return np.mean(energies)

    early = mean_energy()
    simulation.run(20_000)
    assert mean_energy() == pytest.approx(early, rel=0.01)  # the swings are not sampled alike


@pytest.mark.parametrize("solver", [gray_scott, shallow_water])
@pytest.mark.parametrize("rule", [fixed(1.0), constant(0.5), neumann(1.0, 1.0), analytic(lambda i: 1.0)])
def test_a_value_for_all_fields_is_refused(solver, rule):
    for boundary in (rule, {"x-": rule, "x+": "outflow"}):
        with pytest.raises(
            StencilError, match=f"^boundary {re.escape(str(rule))} would hold for .* alike\nWrite bound"
        ):
            solver.machine(1, boundary=boundary)


@pytest.mark.parametrize(("solver", "names"), [(gray_scott, ("u", "v")), (shallow_water, ("depth", "momentum", "bed"))])
def test_zero_or_a_map_of_cells_is_good_for_all_fields(solver, names):
    for rule in ("reflect", "outflow", constant(0.0), {"x-": "outflow", "x+": fixed(0.0)}):
        machine = solver.machine(1, boundary=rule)
        assert machine.graph == solver.machine(1, boundary=dict.fromkeys(names, rule)).graph


def test_a_boundary_for_some_fields_only_is_refused():
    with pytest.raises(StencilError, match=r"^boundary has 'depth'\nGive one for each of depth, momentum, bed"):
        shallow_water.machine(1, boundary={"depth": "outflow"})
    with pytest.raises(StencilError, match=r"^boundary has 'u', 'x'"):
        gray_scott.machine(1, boundary={"u": "outflow", "x": "reflect"})


def test_a_gel_fed_from_the_side_takes_each_concentration():
    boundary = {"u": fixed(1.0), "v": {"x-": fixed(0.25), "x+": "outflow"}}
    simulation = gray_scott.machine(1, boundary=boundary).simulate(
        u=1.0, v=0.0, shape=8, feed=0.0, kill=0.0, diffusion_u=0.0, backend="reference"
    )
    simulation.run(1)
    assert simulation.v[0] > 0
    assert (simulation.v[2:] == 0).all()


def test_a_river_takes_depth_and_flow_at_its_head():
    head = {"depth": constant(2.0), "momentum": constant(1.0), "bed": constant(0.0)}
    boundary = {name: {"x-": rule, "x+": "outflow"} for name, rule in head.items()}
    simulation = shallow_water.machine(1, boundary=boundary).simulate(
        depth=2.0, momentum0=1.0, bed=0.0, shape=8, backend="reference"
    )
    simulation.run(20)
    np.testing.assert_allclose(simulation.depth, 2.0, rtol=1e-13)  # round-off
    np.testing.assert_allclose(simulation["momentum0"], 1.0, rtol=1e-13)
