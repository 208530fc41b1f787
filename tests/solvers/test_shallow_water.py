"""Shallow water: the dam break of Stoker and Ritter, lakes at rest, conservation, order, the same bits everywhere."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from tests.kit.proofs import combinations
from workbench.errors import StencilError
from workbench.solvers import shallow_water
from workbench.solvers.exact_dam_break import WaterState, solve_dam_break

G = 9.81


def centres(cells):
    return (np.arange(cells) + 0.5) / cells


def dam_break(cells, left, right, end, **options):
    """L1 error of depth at t = `end`, and the simulation; the dam stands at 0.5."""
    x = centres(cells)
    simulation = shallow_water.machine(1, boundary="outflow", **options).simulate(
        depth=np.where(x < 0.5, left.depth, right.depth),
        momentum0=np.where(x < 0.5, left.depth * left.velocity, right.depth * right.velocity),
        bed=0.0,
        dx0=1 / cells,
        backend="openmp",
    )
    simulation.run(until=end, time="time")
    exact, velocity = solve_dam_break(left, right, (x - 0.5) / end)
    return np.abs(simulation.depth - exact).mean(), simulation, exact, velocity


# Stoker (1957): depth h and velocity u between the waves satisfy these for pools at rest of depths 1 and 0.1.
def test_exact_solution_satisfies_stokers_equations():
    depth, velocity = (a[0] for a in solve_dam_break(WaterState(1.0), WaterState(0.1), [0.5]))
    assert velocity == pytest.approx(2 * (np.sqrt(G) - np.sqrt(G * depth)))
    shock = depth * velocity / (depth - 0.1)  # mass through the shock
    assert 0.1 * shock**2 == pytest.approx(0.5 * G * (depth + 0.1) * depth * 0.1 / 0.1, rel=1e-9)
    speed = np.array([shock - 1e-9, shock + 1e-9, -np.sqrt(G) - 1e-9])
    np.testing.assert_allclose(solve_dam_break(WaterState(1.0), WaterState(0.1), speed)[0], [depth, 0.1, 1.0])


def test_exact_solution_over_a_dry_bed_is_ritters():
    s = np.linspace(-4, 7, 45)
    depth, velocity = solve_dam_break(WaterState(1.0), WaterState(0.0), s)
    c = np.sqrt(G)
    inside = (s > -c) & (s < 2 * c)
    np.testing.assert_allclose(depth[inside], (2 * c - s[inside]) ** 2 / (9 * G), atol=1e-12)
    np.testing.assert_allclose(velocity[inside], 2 / 3 * (c + s[inside]), atol=1e-12)
    mirrored, backwards = solve_dam_break(WaterState(0.0), WaterState(1.0), -s)
    np.testing.assert_allclose(mirrored, depth, atol=1e-15)
    np.testing.assert_allclose(backwards, -velocity, atol=1e-15)
    parted, _ = solve_dam_break(WaterState(1.0, -10.0), WaterState(1.0, 10.0), [-20.0, 0.0, 20.0])
    np.testing.assert_array_equal(parted, [1.0, 0.0, 1.0])
    for bad in (WaterState(-1.0), WaterState(np.nan), WaterState(np.inf), WaterState(1.0, np.nan)):
        with pytest.raises(StencilError, match="no water has the state WaterState"):
            solve_dam_break(bad, WaterState(1.0), 0.0)
        with pytest.raises(StencilError, match="no water has the state WaterState"):
            solve_dam_break(WaterState(1.0), bad, 0.0)
    for gravity in (0.0, -9.81, np.nan):
        with pytest.raises(StencilError, match="moves no water"):
            solve_dam_break(WaterState(1.0), WaterState(0.5), 0.0, gravity)


@pytest.mark.parametrize(
    ("left", "right", "least"),
    [
        (WaterState(1.0), WaterState(0.1), 0.85),
        (WaterState(1.0), WaterState(0.0), 0.8),
        (WaterState(0.3, -1.0), WaterState(0.5, 1.5), 0.75),
        (WaterState(0.4, 1.0), WaterState(0.6, -1.0), 0.85),
    ],
)
def test_dam_break_converges_to_the_exact_solution(left, right, least):
    (coarse, *_), (fine, simulation, exact, velocity) = (dam_break(n, left, right, 0.07) for n in (200, 800))
    print(left, right, coarse, fine, 0.5 * np.log2(coarse / fine))
    assert 0.5 * np.log2(coarse / fine) >= least
    assert fine < 2e-3
    assert simulation.depth.min() >= 0
    wet = exact > 0.02
    assert np.abs(simulation.momentum0 - exact * velocity)[wet].mean() < 5e-3


def simple_wave(x, time):
    """u(x, t) = f(x - (c0 + 3/2 u) t), c = c0 + u / 2: a wave to the right before it breaks; depth and velocity."""
    u, c0 = np.zeros_like(x), np.sqrt(G)
    for _ in range(200):
        u = 0.2 * np.sin(2 * np.pi * (x - (c0 + 1.5 * u) * time))
    return (c0 + 0.5 * u) ** 2 / G, u


def test_order_on_a_smooth_wave():
    def error(cells, order):
        x = centres(cells)
        depth, velocity = simple_wave(x, 0.0)
        machine = shallow_water.machine(1, order, boundary="periodic")
        simulation = machine.simulate(
            depth=depth, momentum0=depth * velocity, bed=0.0, dx0=1 / cells, backend="openmp"
        ).run(until=0.3, time="time")
        return np.abs(simulation.depth - simple_wave(x, 0.3)[0]).mean()

    first, second = (np.log2(error(128, order) / error(256, order)) for order in (1, 2))
    print(first, second)
    assert first > 0.8
    assert second > 1.85


def bumpy(dim, cells):
    """A bed with an island that rises above the level 0.8, and the lake around it."""
    x = np.meshgrid(*[centres(cells)] * dim, indexing="ij")
    bed = 1.1 * np.exp(-20 * sum((a - 0.6) ** 2 for a in x)) + 0.1 * np.sin(9 * x[0])
    depth = np.maximum(0.8 - bed, 0.0)
    assert 0 < np.count_nonzero(depth == 0) < depth.size / 2
    return {"bed": bed, "depth": depth, "momentum": 0.0}


@pytest.mark.parametrize(
    ("boundary", "dim"),
    combinations(lambda b, d: d == 1 or b == "reflect", ["reflect", "periodic", "outflow"], [1, 2]),
)
def test_a_lake_with_an_island_stays_at_rest(dim, boundary):
    cells = {1: 64, 2: 24}[dim]
    start = bumpy(dim, cells)
    if boundary == "periodic":
        start["bed"] = start["bed"] - 0.1 * np.sin(9 * np.meshgrid(*[centres(cells)] * dim, indexing="ij")[0])
        start["depth"] = np.maximum(0.8 - start["bed"], 0.0)
    widths = {f"dx{a}": 1 / cells for a in range(dim)}
    machine = shallow_water.machine(dim, boundary=boundary)
    simulation = machine.simulate(**start, **widths, backend="openmp").run(200)
    np.testing.assert_allclose(simulation.depth, start["depth"], atol=1e-13)
    np.testing.assert_allclose(simulation.momentum, 0.0, atol=1e-13)


def splash(dim, cells, seed=0):
    generator = np.random.default_rng(seed)
    shape = (cells, cells + 3)[:dim]
    return {
        "depth": 1 + 0.5 * generator.random(shape),
        "momentum": generator.standard_normal((dim, *shape)),
        "bed": np.zeros(shape),
    }


@pytest.mark.parametrize("dim", [1, 2])
def test_volume_and_momentum_are_kept(dim):
    start = splash(dim, 20)
    simulation = shallow_water.machine(dim, boundary="periodic").simulate(**start, backend="openmp").run(50)
    assert np.sum(simulation.depth) == pytest.approx(np.sum(start["depth"]), rel=1e-14)
    assert simulation.volume == pytest.approx(np.sum(start["depth"]), rel=1e-14)
    for a in range(dim):
        assert np.sum(simulation.momentum[a]) == pytest.approx(np.sum(start["momentum"][a]), abs=1e-11)


@pytest.mark.parametrize("dim", [1, 2])
def test_water_in_a_basin_runs_up_the_shore_and_keeps_its_volume(dim):
    start = bumpy(dim, 32)
    start["depth"] = np.where(start["bed"] < 0.3, start["depth"] + 0.3, start["depth"])
    widths = {f"dx{a}": 1 / 32 for a in range(dim)}
    simulation = shallow_water.machine(dim).simulate(**start, **widths, backend="openmp").run(300)
    assert simulation.depth.min() >= 0
    assert np.sum(simulation.depth) == pytest.approx(np.sum(start["depth"]), rel=1e-13)
    assert np.any((simulation.depth > 1e-3) & (start["depth"] == 0))
    assert np.isfinite(simulation.momentum).all()


def test_a_dam_across_the_plane_is_the_one_on_the_line():
    """To the bit, with one length of the step for both: that of the plane counts the other axis too, so cfl is less."""
    x, fixed_step = centres(24), {"cfl": 1e9, "until": 0.004}
    start = {"depth": np.where(x < 0.5, 1.0, 0.2), "bed": 0.1 * x}
    line = shallow_water.machine(1).simulate(**start, momentum0=0.0, dx0=1 / 24, **fixed_step, backend="openmp").run(1)
    for axis in (0, 1):
        turned = {name: np.moveaxis(np.broadcast_to(a, (5, 24)), -1, axis) for name, a in start.items()}
        plane = shallow_water.machine(2).simulate(
            **turned, momentum=0.0, dx0=1 / 24, dx1=1 / 24, **fixed_step, backend="openmp"
        )
        plane.run(1)
        for name, twin in (("depth", "depth"), (f"momentum{axis}", "momentum0")):
            wanted = np.moveaxis(np.broadcast_to(line[twin], (5, 24)), -1, axis)
            assert_same_bits(plane[name], np.ascontiguousarray(wanted), name)
        assert np.all(plane[f"momentum{1 - axis}"] == 0)
    assert len(np.unique(line.depth)) > 5


def test_more_runs_off_a_peak_than_there_is():
    """A film of water on a steep peak: no NaN, no water lost, what fell below 0 is counted."""
    bed = np.zeros(9)
    bed[4] = 5.0
    machine = shallow_water.machine(1)
    simulation = machine.simulate(depth=1e-3, momentum0=0.0, bed=bed, cfl=3.0, backend="reference")
    counted = sum(simulation.run(1).floored for _ in range(20))
    assert counted > 0
    assert np.isfinite(simulation.depth).all()
    assert np.sum(simulation.depth) == pytest.approx(9e-3, rel=1e-13)


@pytest.mark.parametrize("backend", [b for b in backends_here() if b != "reference"])
@pytest.mark.parametrize("dim", [1, 2])
def test_backends_compute_the_reference_to_the_bit(dim, backend):
    start = splash(dim, 9)
    start["depth"][:3] = 0.0
    start["momentum"][..., :3] = 0.0
    start["bed"] = 0.1 * np.random.default_rng(1).random(start["depth"].shape)
    one, other = (shallow_water.machine(dim).simulate(**start, backend=b).run(3) for b in ("reference", backend))
    for name, value in one.to_dict().items():
        assert_same_bits(np.asarray(other[name]), np.asarray(value), name)
    assert len(np.unique(one.depth)) > one.depth.size / 2
