"""Gray-Scott: a formula in NumPy, exact decay, order in time, spots that divide, the same bits everywhere."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.solvers import gray_scott

FEED, KILL, DU, DV = 0.04, 0.06, 2e-5, 1e-5


def noise(dim, cells=9):
    generator = np.random.default_rng(dim)
    shape = (cells, cells - 2, cells - 3)[:dim]
    return {"u": generator.random(shape), "v": generator.random(shape)}


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_one_step_is_pearsons_equations(dim):
    """Written again with np.roll: the midpoint rule on a periodic grid."""
    start, dx, dt = noise(dim), 0.01, 0.7

    def rates(u, v):
        def spread(f):
            return sum(np.roll(f, 1, a) + np.roll(f, -1, a) - 2 * f for a in range(dim)) / dx**2

        return DU * spread(u) - u * v * v + FEED * (1 - u), DV * spread(v) + u * v * v - (FEED + KILL) * v

    half = [f + 0.5 * dt * r for f, r in zip(start.values(), rates(**start), strict=True)]
    expected = [f + dt * r for f, r in zip(start.values(), rates(*half), strict=True)]
    widths = {f"dx{a}": dx for a in range(dim)}
    simulation = gray_scott.machine(dim).simulate(**start, **widths, longest_step=dt, cfl=1e9, backend="openmp").run(1)
    np.testing.assert_allclose(simulation.u, expected[0], rtol=1e-13)
    np.testing.assert_allclose(simulation.v, expected[1], rtol=1e-13)
    assert simulation.time == dt


@pytest.mark.parametrize("dim", [1, 2])
def test_without_the_second_substance_a_mode_decays_exactly(dim):
    """With v = 0 it is linear: u = 1 + A cos(k x) exp(-(k² D + feed) t)."""

    def error(cells):
        x = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dim, indexing="ij")
        mode = 0.5 * np.prod(np.cos(2 * np.pi * np.array(x)), axis=0)
        widths = {f"dx{a}": 1 / cells for a in range(dim)}
        simulation = gray_scott.machine(dim).simulate(
            u=1 + mode, v=0.0, diffusion_u=2e-3, **widths, longest_step=1e9, backend="openmp"
        )
        simulation.run(until=8.0, time="time")
        decay = np.exp(-(dim * 4 * np.pi**2 * 2e-3 + FEED) * 8.0)
        return np.abs(simulation.u - 1 - mode * decay).max()

    assert np.log2(error(16) / error(32)) > 1.85


def test_reactions_are_of_order_2_in_time():
    """Uniform concentrations are an ordinary differential equation, here by a thousand steps of Runge and Kutta's."""

    def rates(s):
        u, v = s
        return np.array([-u * v * v + FEED * (1 - u), u * v * v - (FEED + KILL) * v])

    s, h = np.array([0.6, 0.4]), 0.016
    for _ in range(1000):
        a = rates(s)
        b = rates(s + h / 2 * a)
        c = rates(s + h / 2 * b)
        s = s + h / 6 * (a + 2 * b + 2 * c + rates(s + h * c))

    def error(step):
        simulation = gray_scott.machine(1).simulate(u=0.6, v=0.4, shape=3, longest_step=step, cfl=1e9)
        return abs(simulation.run(until=16.0, time="time").u[0] - s[0])

    assert abs(np.log2(error(0.5) / error(0.25)) - 2) < 0.1


def test_the_fed_gel_rests():
    simulation = gray_scott.machine(2).simulate(u=1.0, v=0.0, shape=(5, 6), backend="reference").run(20)
    assert_same_bits(simulation.u, np.ones((5, 6)))
    assert_same_bits(simulation.v, np.zeros((5, 6)))


def spots(v):
    """Connected regions with v above 0.2, by flooding; the grid is periodic."""
    left, count = {tuple(c) for c in np.argwhere(v > 0.2)}, 0
    while left:
        open_, count = [left.pop()], count + 1
        while open_:
            i, j = open_.pop()
            for k in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                near = (k[0] % v.shape[0], k[1] % v.shape[1])
                if near in left:
                    left.remove(near)
                    open_.append(near)
    return count


def test_a_spot_divides():
    """Pearson's pattern lambda (feed 0.035, kill 0.065): one spot becomes several."""
    u, v = np.ones((64, 64)), np.zeros((64, 64))
    u[27:37, 28:36], v[27:37, 28:36] = 0.5, 0.25
    machine = gray_scott.machine(2)
    simulation = machine.simulate(u=u, v=v, feed=0.035, kill=0.065, cfl=0.4, backend="openmp")
    assert spots(simulation.v) == 1
    simulation.run(until=1500.0, time="time")
    assert spots(simulation.v) >= 2
    assert 0 <= simulation.v.min() < simulation.v.max() < 1


@pytest.mark.parametrize("backend", [b for b in backends_here() if b != "reference"])
@pytest.mark.parametrize("dim", [1, 2])
def test_backends_compute_the_reference_to_the_bit(dim, backend):
    machine = gray_scott.machine(dim, boundary="reflect")
    one, other = (machine.simulate(**noise(dim), backend=b).run(3) for b in ("reference", backend))
    for name, value in one.to_dict().items():
        assert_same_bits(np.asarray(other[name]), np.asarray(value), name)
