"""The small solvers: exact solutions, orders, conservation, and the reference against compiled code."""

import numpy as np
import pytest

from tests.kit.bits import differences
from tests.kit.capabilities import backends_here
from tests.kit.proofs import combinations
from workbench.backends.device_resources import subkernel_resources
from workbench.backends.nvrtc import find_compilers
from workbench.errors import StencilError
from workbench.language import constant, fixed
from workbench.solvers import advection, burgers, gray_scott, heat, life, maxwell, shallow_water, wave


def places(cells, dim):
    return np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dim, indexing="ij")


def widths(cells, dim):
    return {f"dx{axis}": 1 / cells for axis in range(dim)}


def order_of(error, sizes):
    coarse, fine = (error(n) for n in sizes)
    return np.log2(coarse / fine)


@pytest.mark.parametrize(
    ("dim", "order", "sizes"), [(1, 2, (32, 64)), (1, 4, (16, 32)), (2, 2, (16, 32)), (3, 2, (12, 24))]
)
def test_heat_decays_as_it_should(dim, order, sizes):
    def error(cells):
        mode = np.prod(np.cos(2 * np.pi * np.array(places(cells, dim))), axis=0)
        simulation = heat.machine(dim, order).simulate(u=mode, kappa=0.5, **widths(cells, dim), backend="openmp")
        simulation.run(until=0.02, time="time")
        return np.abs(simulation.u - mode * np.exp(-0.5 * dim * 4 * np.pi**2 * 0.02)).max()

    assert order_of(error, sizes) > order - 0.15


def test_heat_between_walls_of_two_temperatures_becomes_a_straight_line():
    walls = {"x-": fixed(1.0), "x+": fixed(3.0)}
    simulation = heat.machine(1, boundary=walls).simulate(u=np.zeros(8), backend="reference").run(2000)
    np.testing.assert_allclose(simulation.u, 1 + (np.arange(8) + 0.5) / 4, rtol=1e-12)  # round-off of many steps


def test_advection_carries_what_flows_in():
    machine = advection.machine(1, boundary={"x-": constant(5.0), "x+": "outflow"})
    simulation = machine.simulate(u=np.zeros(6), backend="reference").run(100)
    np.testing.assert_allclose(simulation.u, 5.0, rtol=1e-12)  # what was there has left, but for powers of a half


def test_heat_between_insulating_walls_is_kept():
    start = np.linspace(0, 1, 24).reshape(6, 4)
    simulation = heat.machine(2, boundary="reflect").simulate(u=start, backend="reference").run(1000)
    np.testing.assert_allclose(simulation.u, 0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("dim", "order", "sizes"),
    [(1, 2, (32, 64)), (1, 4, (16, 32)), (1, 6, (16, 32)), (1, 10, (12, 24)), (2, 2, (16, 32)), (2, 4, (12, 24))],
)
@pytest.mark.parametrize("name", ["u", "v"])
def test_wave_has_its_order(dim, order, sizes, name):
    def error(cells):
        phase = 2 * np.pi * sum(places(cells, dim))
        omega = 2 * np.pi * 1.5 * np.sqrt(dim)
        start = {"u": np.sin(phase), "v": -omega * np.cos(phase), "c": 1.5}
        simulation = wave.machine(dim, order).simulate(**start, **widths(cells, dim), cfl=0.9, backend="openmp")
        simulation.run(until=0.4, time="time")
        exact = {"u": np.sin(phase - omega * 0.4), "v": -omega * np.cos(phase - omega * 0.4)}
        return np.abs(simulation[name] - exact[name]).max()

    assert order_of(error, sizes) > order - 0.2


@pytest.mark.parametrize(("boundary", "shape"), [("reflect", np.cos), (fixed(0.0), np.sin)])
def test_wave_keeps_its_order_at_walls(boundary, shape):
    def error(cells):
        (x,) = places(cells, 1)
        machine = wave.machine(1, 6, boundary=boundary)
        simulation = machine.simulate(u=shape(np.pi * x), v=0.0, dx0=1 / cells, cfl=0.9, backend="openmp")
        simulation.run(until=0.7, time="time")
        return np.abs(simulation.u - np.cos(np.pi * 0.7) * shape(np.pi * x)).max()

    assert order_of(error, (8, 16)) > 5.8


@pytest.mark.parametrize("order", [2, 4, 8])
def test_no_wave_grows_up_to_a_courant_number_of_1(order):
    noise = np.random.default_rng(0).normal(size=32)
    simulation = wave.machine(1, order).simulate(u=noise - noise.mean(), v=0.0, dx0=1 / 32, cfl=0.99, backend="openmp")
    early = np.abs(simulation.run(100).u).max()  # waves that meet are higher for a moment: 3 times at most, not 10^40
    assert np.abs(simulation.run(10_000).u).max() < 3 * early


@pytest.mark.parametrize("order", [0, 3, True, 2.0])
def test_wave_refuses_orders_it_has_not(order):
    with pytest.raises(StencilError, match=f"order={order}"):
        wave.machine(1, order)


@pytest.mark.parametrize("order", [0, 3, "weird", None])
@pytest.mark.parametrize("solver", [advection, burgers, shallow_water])
def test_orders_that_there_are_not_are_refused(solver, order):
    with pytest.raises(StencilError, match=f"order={order!r} is unknown"):
        solver.machine(1, order)
    with pytest.raises(StencilError, match="reconstruction='mc' is no function"):
        solver.machine(1, reconstruction="mc")


@pytest.mark.parametrize("dim", [0, 3, 4])
def test_shallow_water_lies_on_a_line_or_a_plane(dim):
    with pytest.raises(StencilError, match=f"dim={dim}: water"):
        shallow_water.machine(dim)


@pytest.mark.parametrize(("order", "least"), [(1, 0.85), (2, 1.8)])
@pytest.mark.parametrize("velocity", [1.0, -0.5])
def test_advection_carries(order, least, velocity):
    def error(cells):
        (x,) = places(cells, 1)
        simulation = advection.machine(1, order).simulate(
            u=np.sin(2 * np.pi * x), velocity0=velocity, **widths(cells, 1), backend="openmp"
        )
        simulation.run(until=1.0, time="time")
        return np.abs(simulation.u - np.sin(2 * np.pi * (x - velocity))).mean()

    assert order_of(error, (128, 256)) > least


def test_advection_in_two_dimensions_conserves_and_makes_no_new_extremes():
    x, y = places(32, 2)
    start = np.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1, 1.0, 0.0)
    simulation = advection.machine(2).simulate(u=start, velocity1=-0.5, **widths(32, 2), backend="openmp").run(40)
    assert np.sum(simulation.u) == pytest.approx(np.sum(start), rel=1e-13)
    assert simulation.u.min() > -0.01
    assert simulation.u.max() < 1.01
    still = advection.machine(1).simulate(u=np.arange(5.0), velocity0=0.0, backend="reference").run(1)
    np.testing.assert_array_equal(still.u, np.arange(5.0))


def burgers_exact(x, time):
    """u = 1 + sin(2 pi (x - u t)) / 4 before it breaks, by fixed-point iteration."""
    u = np.ones_like(x)
    for _ in range(200):
        u = 1 + 0.25 * np.sin(2 * np.pi * (x - u * time))
    return u


@pytest.mark.parametrize(("order", "least"), [(1, 0.8), (2, 1.8)])
def test_burgers_steepens(order, least):
    def error(cells):
        (x,) = places(cells, 1)
        simulation = burgers.machine(1, order).simulate(u=burgers_exact(x, 0), **widths(cells, 1), backend="openmp")
        simulation.run(until=0.3, time="time")
        return np.abs(simulation.u - burgers_exact(x, 0.3)).mean()

    assert order_of(error, (128, 256)) > least


def test_burgers_shock_moves_with_the_mean_and_a_rarefaction_opens():
    (x,) = places(200, 1)
    machine = burgers.machine(1, boundary="outflow")
    shock = machine.simulate(u=np.where(x < 0.3, 1.0, -0.2), **widths(200, 1), backend="openmp")
    shock.run(until=0.5, time="time")
    assert np.sum(shock.u + 0.2) / 200 / 1.2 == pytest.approx(0.3 + 0.4 * 0.5, abs=1e-3)
    fan = machine.simulate(u=np.where(x < 0.5, -1.0, 1.0), **widths(200, 1), backend="openmp")
    fan.run(until=0.3, time="time")
    np.testing.assert_allclose(fan.u, np.clip((x - 0.5) / 0.3, -1, 1), atol=0.1)
    assert np.abs(fan.u - np.clip((x - 0.5) / 0.3, -1, 1)).mean() < 0.005


def test_a_glider_glides():
    start = np.zeros((12, 9), np.uint8)
    for cell in ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2)):
        start[cell] = 1
    simulation = life.machine().simulate(alive=start, backend="openmp").run(4 * 36)
    np.testing.assert_array_equal(simulation.alive, start)  # once around both axes: 36 = lcm(12, 9)
    simulation.run(8)
    np.testing.assert_array_equal(simulation.alive, np.roll(start, (2, 2), (0, 1)))


@pytest.mark.parametrize(
    ("solver", "dim", "backend"),
    combinations(
        lambda s, d, b: b != "cuda-sim" or d == (2 if s is wave else 1),
        [advection, burgers, heat, wave],
        [1, 2],
        [b for b in backends_here() if b != "reference"],
    ),
)
def test_compiled_code_is_the_reference_to_the_bit(solver, dim, backend):
    machine = solver.machine(dim)
    generator = np.random.default_rng(dim)
    start = {field.name: generator.standard_normal((9, 6)[:dim]) for field in machine.graph.fields}
    one, other = (machine.simulate(**start, backend=b).run(4).to_dict() for b in ("reference", backend))
    for name, value in one.items():
        assert len(differences(np.asarray(value), np.asarray(other[name]))) == 0


SMALL = (advection, burgers, gray_scott, heat, maxwell, shallow_water, wave)


@pytest.mark.parametrize("solver", SMALL)
def test_single_precision(solver):
    """The same steps of the same length, to what f32 can hold; with a dry corner where there is water."""
    dim = 2
    double, single = (solver.machine(dim, dtype=dtype) for dtype in ("f64", "f32"))
    generator = np.random.default_rng(3)
    start = {field.name: generator.random((9, 6)) for field in double.graph.fields}
    if solver is shallow_water:
        start |= {"momentum0": 0.0, "momentum1": 0.0, "bed": 0.0}
        start["depth"][:4, :4] = 0.0
    one, other = (machine.simulate(**start, backend="openmp").run(3).to_dict() for machine in (double, single))
    for field in double.graph.fields:
        assert other[field.name].dtype == np.float32
        np.testing.assert_allclose(other[field.name], one[field.name], atol=2e-5)
        assert np.isfinite(other[field.name]).all()


@pytest.mark.parametrize("solver", SMALL)
def test_each_compiles_for_a_device(solver):
    if not find_compilers():
        pytest.skip("no CUDA compiler: neither nvcc nor NVRTC was found")
    found = subkernel_resources(solver.machine(3 if solver is maxwell else 2).plan())
    print(solver.__name__, [(entry.subkernel, entry.registers, entry.spill_store_bytes) for entry in found])
    assert found
    assert all(entry.spill_store_bytes <= 64 for entry in found)  # a few words, for more warps at a time
