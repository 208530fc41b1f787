"""The hydrodynamics solver: exact solutions, conservation, symmetry, dimensions, backends."""

import numpy as np
import pytest

from tests.kit.bits import differences
from tests.kit.capabilities import backends_here
from tests.kit.proofs import combinations
from tests.kit.random_choices import random_choices
from workbench.errors import RunError, StencilError
from workbench.planning import Meaning
from workbench.solvers import hydro
from workbench.solvers.exact_riemann import SOD_LEFT, SOD_RIGHT, solve_riemann

RIEMANN = (hydro.hllc, hydro.hlle, hydro.rusanov)
RECONSTRUCTIONS = (hydro.minmod, hydro.mc, hydro.ppm, hydro.weno_z, hydro.constant)


def centres(cells):
    return (np.arange(cells) + 0.5) / cells


def widths(dim, cells):
    return {f"dx{axis}": 1 / cells for axis in range(dim)}


def smooth(dim, cells):
    """A smooth periodic state that varies along every axis, all velocities nonzero."""
    places = np.meshgrid(*[2 * np.pi * centres(cells)] * dim, indexing="ij")
    total = sum(places)
    density = 2 + np.sin(total) * 0.5
    velocity = tuple(0.3 * np.cos(place + axis) for axis, place in enumerate(places))
    return hydro.conserved(density, velocity, 1 + 0.2 * np.cos(total + 1))


def along(axis, dim, cells, transverse):
    """A shock tube along one axis of a dim-dimensional box; `transverse` is the velocity across it."""
    shape = [1] * dim
    shape[axis] = cells
    left = np.reshape(np.abs(centres(cells) - 0.5) < 0.25, shape) & np.ones((cells,) * dim, bool)
    velocity = [np.where(left, 0.1, -0.1) if a == axis else transverse for a in range(dim)]
    return hydro.conserved(np.where(left, 1.0, 0.125), tuple(velocity), np.where(left, 1.0, 0.1))


def run(machine, start, steps, cells, dim, backend, **values):
    simulation = machine.simulate(**start, **widths(dim, cells), backend=backend, **values)
    return simulation.run(steps)


def sod_error(cells, **options):
    x = centres(cells)
    machine = hydro.machine(dim=1, boundary="outflow", **options)
    start = hydro.conserved(np.where(x < 0.5, 1, 0.125), (0.0,), np.where(x < 0.5, 1, 0.1))
    simulation = machine.simulate(**start, dx0=1 / cells, backend="openmp").run(until=0.125, time="time")
    assert simulation.time == 0.125
    exact = solve_riemann(SOD_LEFT, SOD_RIGHT, (x - 0.5) / 0.125)
    return np.abs(simulation.density - exact[0]).mean()


def one_of_both_is_the_default(reconstruction, riemann):
    return reconstruction is hydro.mc or riemann is hydro.hllc


@pytest.mark.parametrize(
    ("reconstruction", "riemann"),
    combinations(one_of_both_is_the_default, [hydro.minmod, hydro.mc, hydro.ppm, hydro.weno_z], RIEMANN),
)
def test_sod_converges_to_the_exact_solution(riemann, reconstruction):
    coarse, fine = (sod_error(n, riemann=riemann, reconstruction=reconstruction) for n in (128, 256))
    assert fine < 0.005
    assert np.log2(coarse / fine) >= 0.8


def entropy_error(cells, **options):
    x = centres(cells)
    machine = hydro.machine(dim=1, **options)
    start = hydro.conserved(2 + np.sin(2 * np.pi * x), (1.0,), 1.0)
    simulation = machine.simulate(**start, dx0=1 / cells, backend="openmp").run(until=1.0, time="time")
    gas = hydro.primitive(simulation.density, simulation.momentum, simulation.energy)
    np.testing.assert_allclose(gas["velocity"], 1.0, atol=1e-12)
    np.testing.assert_allclose(gas["pressure"], 1.0, atol=1e-12)
    return np.abs(simulation.density - start["density"]).mean()


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({"reconstruction": hydro.minmod}, 1.9),
        ({"reconstruction": hydro.mc}, 1.95),
        ({"reconstruction": hydro.weno_z}, 1.95),
        ({"reconstruction": hydro.ppm, "cfl": 0.3}, 1.95),
        ({"order": 1}, 0.9),
        ({"reconstruction": hydro.mc, "riemann": hydro.hlle}, 1.95),
        ({"reconstruction": hydro.mc, "riemann": hydro.rusanov}, 1.95),
    ],
)
def test_entropy_wave_order(options, order):
    coarse, fine = (entropy_error(n, **options) for n in (512, 1024))
    print(options, coarse, fine, np.log2(coarse / fine))
    assert np.log2(coarse / fine) >= order


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_conserves_mass_momentum_and_energy(dim):
    cells = {1: 64, 2: 24, 3: 10}[dim]
    start = smooth(dim, cells)
    simulation = run(hydro.machine(dim=dim), start, 20, cells, dim, "openmp")
    scale = {"density": start["density"].sum(), "energy": start["energy"].sum()}
    for name in ("density", "energy", *(f"momentum{a}" for a in range(dim))):
        change = abs(np.sum(simulation[name]) - np.sum(start[name]))
        assert change <= 1e-13 * scale.get(name, scale["density"])
        assert len(differences(simulation[name], start[name])) > cells // 2  # it moved all the same


def test_coaxial_flow_is_its_own_transpose_to_the_bit():
    cells = 20
    machine = hydro.machine(dim=2)
    one = run(machine, along(0, 2, cells, 0.3), 8, cells, 2, "openmp")
    other = run(machine, along(1, 2, cells, 0.3), 8, cells, 2, "openmp")
    for name, twin in (("density", "density"), ("energy", "energy"), ("momentum0", "momentum1")):
        assert len(differences(one[name], np.ascontiguousarray(other[twin].T))) == 0
        assert len(differences(other[name], np.ascontiguousarray(one[twin].T))) == 0


def test_one_dimensional_flow_is_the_same_in_every_dimension_to_the_bit():
    cells, steps = 16, 8
    line = run(hydro.machine(dim=1), along(0, 1, cells, 0.0), steps, cells, 1, "openmp", cfl=0.3)
    for dim in (2, 3):
        for axis in range(dim):
            box = run(hydro.machine(dim=dim), along(axis, dim, cells, 0.0), steps, cells, dim, "openmp", cfl=0.3)
            assert box.time == line.time
            for name in ("density", f"momentum{axis}", "energy"):
                wanted = np.moveaxis(
                    np.broadcast_to(line[name.rstrip("0123") + "0" * ("mom" in name)], box.shape), -1, axis
                )
                assert len(differences(box[name], np.ascontiguousarray(wanted))) == 0
    assert len(np.unique(line.density)) > 4


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_openmp_is_the_reference_to_the_bit(dim):
    cells = {1: 50, 2: 18, 3: 7}[dim]
    machine = hydro.machine(dim=dim)
    for start in (smooth(dim, cells), along(dim - 1, dim, cells, 0.2)):
        one, other = (run(machine, start, 4, cells, dim, backend) for backend in ("reference", "openmp"))
        assert_same(one, other)


@pytest.mark.parametrize("dim", [1, 2])
def test_simulated_device_is_the_reference_to_the_bit(dim):
    cells = {1: 21, 2: 7}[dim]
    start, machine = smooth(dim, cells), hydro.machine(dim=dim)
    assert_same(*(run(machine, start, 2, cells, dim, backend) for backend in ("reference", "cuda-sim")))


def assert_same(one, other):
    for name, value in one.to_dict().items():
        assert len(differences(np.asarray(value), np.asarray(other[name]))) == 0, name


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_random_plans_change_no_bit(seed):
    cells, dim = 26, 1
    machine = hydro.machine(dim=dim)
    choices, _ = random_choices(machine.graph, seed)
    assert choices.meaning == Meaning()  # with this seed
    genome = machine.with_choices(choices).genome
    assert genome != machine.genome
    start = smooth(dim, cells)
    one = run(machine, start, 4, cells, dim, "reference")
    assert_same(one, run(machine.with_genome(genome), start, 4, cells, dim, "openmp"))


def test_what_is_stored_changes_no_bit():
    dim, cells = 1, 14
    start = smooth(dim, cells)
    one = run(hydro.machine(dim=dim), start, 3, cells, dim, "reference")
    kernels = set()
    for stored in ((), ("riemann",), ("interpolation", "riemann"), ("primitives", "stage"), ("riemann", "stage")):
        machine = hydro.machine(dim=dim, manifest=stored)
        kernels.add(len(machine.plan().subkernels))
        assert_same(one, run(machine, start, 3, cells, dim, "openmp"))
    assert len(kernels) > 3


@pytest.mark.parametrize(
    ("reconstruction", "riemann"), combinations(one_of_both_is_the_default, RECONSTRUCTIONS, RIEMANN)
)
def test_components_can_be_swapped_and_keep_a_uniform_flow(riemann, reconstruction):
    machine = hydro.machine(dim=2, riemann=riemann, reconstruction=reconstruction)
    start = hydro.conserved(np.full((6, 5), 2.0), (0.5, -0.25), 1.0)
    simulation = run(machine, start, 5, 6, 2, "reference")
    for name in ("density", "momentum0", "momentum1", "energy"):
        np.testing.assert_allclose(simulation[name], start[name], rtol=1e-14)


def test_a_function_of_ones_own_is_a_reconstruction():
    def upwind_line(variable, axis):
        slope = 0.5 * (variable.at(+1, axis) - variable.at(-1, axis))
        return variable - 0.5 * slope, variable + 0.5 * slope

    assert entropy_error(64, reconstruction=upwind_line) < 0.5 * entropy_error(64)


def test_walls_reflect_and_keep_mass_and_energy():
    cells = 20
    machine = hydro.machine(dim=2, boundary="reflect")
    start = along(0, 2, cells, 0.4)
    simulation = run(machine, start, 30, cells, 2, "openmp")
    for name in ("density", "energy"):
        assert np.sum(simulation[name]) == pytest.approx(np.sum(start[name]), rel=1e-13)
    assert abs(np.sum(simulation.momentum1)) < 0.9 * abs(np.sum(start["momentum1"]))  # the walls took some


def test_gas_outside_as_a_function_of_place_and_time():
    def wave(x, time):
        return 2 + np.sin(2 * np.pi * (x - time)), (1.0,), 1.0

    cells = 200
    x = centres(cells)
    start = hydro.conserved(wave(x, 0)[0], (1.0,), 1.0)
    machine = hydro.machine(dim=1, boundary=wave)
    simulation = machine.simulate(**start, dx0=1 / cells, backend="openmp").run(until=0.3, time="time")
    assert np.abs(simulation.density - wave(x, 0.3)[0]).mean() < 2e-3
    sides = hydro.machine(dim=1, boundary={"x-": wave, "x+": "outflow"})
    simulation = sides.simulate(**start, dx0=1 / cells, backend="openmp").run(until=0.3, time="time")
    assert np.abs(simulation.density - wave(x, 0.3)[0])[: cells // 2].mean() < 2e-3


def test_floors_are_counted():
    start = hydro.conserved(np.full(8, 1.0), (0.0,), 1.0)
    start["energy"] = start["energy"].copy()
    start["energy"][3] = -1.0
    simulation = run(hydro.machine(dim=1), start, 1, 8, 1, "reference")
    assert simulation.floored == 1
    assert np.isfinite(simulation.energy).all()


BELOW_FLOORS = {  # what one cell is given, with its gas moving or not
    "negative density": {"density": -1.0},
    "no density": {"density": 0.0},
    "next to no density": {"density": 1e-300},
    "negative energy": {"energy": -1.0},
    "no energy": {"energy": 0.0},
    "nothing at all": {"density": 0.0, "momentum0": 0.0, "energy": 0.0},
}


@pytest.mark.parametrize(
    ("velocity", "case", "backend"),
    combinations(lambda v, _, b: v != 0 or b != "reference", [0.0, 1.0], BELOW_FLOORS, backends_here()),
)
def test_gas_below_the_floors_is_counted_and_the_run_ends(case, velocity, backend):
    cells = 16
    start = hydro.conserved(np.ones(cells), (velocity,), 1.0)
    for name, value in BELOW_FLOORS[case].items():
        start[name] = np.array(start[name])
        start[name][7] = value
    simulation = hydro.machine(dim=1).simulate(**start, dx0=1 / cells, backend=backend)
    floored = simulation.record("floored")
    simulation.run(until=0.1, time="time", finite=True)
    assert simulation.time == 0.1
    assert simulation.steps < 1000
    assert floored.values[0] == 1
    for name in ("density", "energy"):
        assert np.sum(simulation[name]) == pytest.approx(np.sum(start[name]), rel=1e-9)  # thin gas is fast: large terms


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize(("name", "value"), [("density", np.nan), ("energy", np.nan), ("momentum0", 1e200)])
def test_values_that_no_floor_mends_end_the_run(name, value, backend):
    start = hydro.conserved(np.ones(8), (0.0,), 1.0)
    start[name] = np.array(start[name])
    start[name][3] = value
    simulation = hydro.machine(dim=1).simulate(**start, dx0=1 / 8, backend=backend)
    with pytest.raises(RunError, match=r"time is nan at step .* never holds"):
        simulation.run(until=0.1, time="time")


@pytest.mark.parametrize("backend", backends_here())
def test_a_speed_that_brings_the_steps_to_a_stand_ends_the_run(backend):
    start = hydro.conserved(np.ones(8), (1e14,), 1.0)
    simulation = hydro.machine(dim=1).simulate(**start, dx0=1 / 8, backend=backend)
    with pytest.raises(RunError, match=r"time >= 0\.1 is never reached; .* momentum0 is between 1e\+14 and 1e\+14"):
        simulation.run(until=0.1, time="time")


def test_single_precision():
    cells = 32
    start = smooth(1, cells)
    double = run(hydro.machine(dim=1), start, 5, cells, 1, "openmp")
    single = run(hydro.machine(dim=1, dtype="f32"), start, 5, cells, 1, "openmp")
    assert single.density.dtype == np.float32
    np.testing.assert_allclose(single.density, double.density, rtol=1e-5)


def test_conserved_and_primitive_are_inverse():
    density, velocity, pressure = np.array([1.0, 2.0]), (np.array([0.5, -3.0]), 0.25), np.array([0.1, 7.0])
    there = hydro.conserved(density, velocity, pressure, 5 / 3)
    assert set(there) == {"density", "momentum0", "momentum1", "energy", "gamma"}
    np.testing.assert_allclose(there["energy"], pressure / (2 / 3) + 0.5 * density * (velocity[0] ** 2 + 0.25**2))
    back = hydro.primitive(there["density"], (there["momentum0"], there["momentum1"]), there["energy"], 5 / 3)
    np.testing.assert_allclose(back["velocity"], [velocity[0], [0.25, 0.25]])
    np.testing.assert_allclose(back["pressure"], pressure)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_states_that_are_no_gas_are_refused(bad):
    for density, pressure, name in ((bad, 1.0, "density"), (1.0, bad, "pressure")):
        with pytest.raises(StencilError, match=rf"{name} is .* in cell \(1,\)"):
            hydro.conserved(np.array([1.0, density]), (0.0,), np.array([1.0, pressure]))
    with pytest.raises(StencilError, match="velocity0"):
        hydro.conserved(np.ones(2), (np.array([0.0, np.nan]),), 1.0)
    with pytest.raises(StencilError, match="gamma"):
        hydro.conserved(np.ones(2), (0.0,), 1.0, gamma=1.0)


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(StencilError, match="order=3"):
        hydro.machine(order=3)
    with pytest.raises(StencilError, match="'flux' cannot be stored"):
        hydro.machine(manifest=("flux",))
    with pytest.raises(StencilError, match="cfl"):
        hydro.machine(cfl=1.5)
    with pytest.warns(UserWarning, match="unstable"):
        hydro.machine(dim=3, cfl=0.6)


def test_the_core_is_short():
    from pathlib import Path

    folder = Path(hydro.__file__).parent
    assert sum(len(file.read_text().splitlines()) for file in folder.glob("*.py")) <= 500


def test_generated_code_is_shorter_than_the_papers():
    assert len(str(hydro.machine(dim=2).source("openmp")).splitlines()) < 3000


@pytest.mark.parametrize("reconstruction", RECONSTRUCTIONS)
def test_jumps_stay_finite_in_single_precision(reconstruction):
    machine = hydro.machine(dim=1, dtype="f32", reconstruction=reconstruction)
    simulation = run(machine, along(0, 1, 40, 0.0), 20, 40, 1, "reference")
    assert np.isfinite(simulation.energy).all()
    assert len(np.unique(simulation.density)) > 10
