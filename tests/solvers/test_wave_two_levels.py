"""The wave on two levels of time: a spherical wave, ends of runs, stability, tiles."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.errors import StencilError
from workbench.language import constant, fixed
from workbench.solvers import wave

SPEED, WIDTH, END = 1.5, 0.11, 0.04


def spherical_wave(radius, time):
    """A hump exp(-(r / w)²) at rest at time 0: r u runs in and out as on a line (d'Alembert)."""

    def running(s):
        return s * np.exp(-((s / WIDTH) ** 2))

    return (running(radius - SPEED * time) + running(radius + SPEED * time)) / (2 * radius)


def spherical_error(order, cells):
    """Largest error in a box that the wave does not reach; the step shrinks so that both errors have one order."""
    x = (np.arange(cells) + 0.5) / cells - 0.5
    radius = np.sqrt(sum(a**2 for a in np.meshgrid(x, x, x, indexing="ij", sparse=True)))
    first = 0.001 * (36 / cells) ** (order / 2)
    start = {"u": spherical_wave(radius, 0.0), "before": spherical_wave(radius, -first), "dt": first, "c": SPEED}
    machine = wave.machine(3, order, time_order=2, boundary=constant(0.0))
    widths = {f"dx{axis}": 1 / cells for axis in range(3)}
    simulation = machine.simulate(**start, **widths, cfl=0.9 * (16 / cells) ** (order / 2 - 1), backend="openmp")
    simulation.run(until=END, time="time")
    assert simulation.time == END
    return np.abs(simulation.u - spherical_wave(radius, END)).max()


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_spherical_wave_has_its_order(order):
    coarse, fine = (spherical_error(order, cells) for cells in (36, 54))
    found = np.log(coarse / fine) / np.log(54 / 36)
    print(f"order {order}: errors {coarse:.2e} and {fine:.2e}, order {found:.2f}")
    assert found > 0.9 * order


def standing(cells, time):
    return np.cos(2 * np.pi * time) * np.sin(2 * np.pi * (np.arange(cells) + 0.5) / cells)


def on_a_line(cells, **options):
    machine = wave.machine(1, 4, time_order=2)
    return machine.simulate(u=standing(cells, 0.0), dx0=1 / cells, cfl=0.8, **{"before": 0.0, **options})


def test_runs_that_end_between_steps_keep_the_order():
    def error(cells):
        simulation = on_a_line(cells, backend="reference")
        for end in (0.13, 0.31, 0.44, 0.7):
            simulation.run(until=end, time="time")
            assert simulation.time == end
        return np.abs(simulation.u - standing(cells, 0.7)).max()

    assert np.log2(error(64) / error(256)) / 2 == pytest.approx(2, abs=0.1)


def test_equal_steps_are_the_plain_recursion():
    cells, steps = 40, 50
    simulation = on_a_line(cells, backend="reference").run(1)
    before, u, step = standing(cells, 0.0), np.array(simulation.u), simulation.dt
    for _ in range(steps):
        bend = sum(float(w) * np.roll(u, -k) for k, w in wave.coefficients(2, 4).items()) * cells**2
        before, u = u, 2 * u - before + step**2 * bend
    np.testing.assert_allclose(simulation.run(steps).u, u, atol=1e-12)  # round-off
    np.testing.assert_allclose(simulation.before, before, atol=1e-12)


def test_steps_go_on_after_an_end_that_was_given():
    simulation = on_a_line(32, backend="reference", until=0.1).run(40)
    assert simulation.time > 0.5
    assert np.abs(simulation.u - standing(32, simulation.time)).max() < 0.02


@pytest.mark.parametrize("order", [2, 4, 8])
def test_noise_stays_up_to_a_courant_number_of_1_and_grows_above(order):
    noise = np.random.default_rng(0).normal(size=32)

    def largest(courant):
        machine = wave.machine(1, order, time_order=2)
        simulation = machine.simulate(u=noise - noise.mean(), before=0.0, dx0=1 / 32, cfl=courant, backend="openmp")
        return np.abs(simulation.run(2000).u).max()

    assert largest(0.99) < 40
    with pytest.warns(Warning, match="cfl"):
        assert largest(1.01) > 1e6


@pytest.mark.parametrize(("dim", "order"), [(1, 8), (2, 4), (3, 2)])
def test_tiles_compute_the_same_bits(dim, order):
    shape = (64, 40, 24)[-dim:]
    start = {"u": np.random.default_rng(dim).random(shape), "before": 0.0, "threads": 2, "backend": "openmp"}
    sides = {"x": "periodic", "y": fixed(0.0), "z": "reflect"}
    boundary = {axis: sides[axis] for axis in "xyz"[:dim]}
    machine = wave.machine(dim, order, time_order=2, boundary=boundary, dtype="f32")
    runs = []
    for schedule in ("stepwise", "diamond"):
        simulation = machine.simulate(**start, schedule=schedule).run(23)
        simulation.run(until=simulation.time + 3.3, time="time")
        runs.append({name: simulation[name] for name in ("u", "before", "time", "dt")})
    for name in runs[0]:
        assert_same_bits(runs[1][name], runs[0][name], name)


@pytest.mark.parametrize("time_order", [0, 1, 4, True, "2"])
def test_other_orders_in_time_are_refused(time_order):
    with pytest.raises(StencilError, match=f"time_order={time_order!r} is unknown\nUse 6, as in space, or 2"):
        wave.machine(1, 6, time_order=time_order)
    assert wave.machine(1, 6, time_order=6).graph == wave.machine(1, 6).graph
