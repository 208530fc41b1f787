"""SPH: sums against NumPy over all pairs, sums of sums, what is conserved, Sod's tube against the exact solution."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.programs import sph
from workbench.solvers.exact_riemann import SOD_LEFT, SOD_RIGHT, solve_riemann

GAS = """
x, v = particles("x v", dim={dim})
m, rho = particles("m rho")
h = param("h", 0.4)
d = x.source - x
near = maximum(h * h - dot(d, d), 0)
def over_sources(value):
    return reduce_sum(value, over="source"{cutoff})
def push(rho):
    held = sqrt(rho) / rho**2
    return 0.01 * over_sources(m.source * (held + held.source) * near**2 * d)
def move(a):
    x.next, v.next = x + 0.01 * (v + a), v + a
"""
ONE_STEP = """
rho.next = over_sources(m.source * near**3)
move(push(rho.next))
"""
TWO_CALLS = """
@kernel
def prepare():
    rho.next = over_sources(m.source * near**3)
move(push(rho))
"""


def drop(n=70, seed=3):
    """A rotating, collapsing drop of gas in two dimensions, whose particles have unequal smoothing lengths."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(2, n))
    v = np.array([-x[1] - 0.5 * x[0], x[0] - 0.5 * x[1]]) + 0.1 * draw.normal(size=(2, n))
    other = {"m": draw.uniform(0.5, 1.5, n) / n, "h": draw.uniform(0.3, 0.5, n), "u": draw.uniform(1, 2, n)}
    return {"x": x, "v": v, **other, "rho": 0.0, "p": 0.0, "limit": 0.0}


def in_numpy(x, v, m, h, u, gamma=1.4, **_):
    """Density, pressure, limit, acceleration and rate of the energy, from Monaghan's formulas over all pairs."""
    d, w = x[:, None, :] - x[:, :, None], v[:, None, :] - v[:, :, None]
    length = (h + h[:, None]) / 2
    r = np.sqrt((d * d).sum(axis=0))
    q, norm = r / length, 10 / (7 * np.pi)
    kernel = np.where(q < 1, 1 - 1.5 * q**2 + 0.75 * q**3, np.where(q < 2, 0.25 * (2 - q) ** 3, 0)) * norm / length**2
    slope = np.where(q < 1, -3 * q + 2.25 * q**2, np.where(q < 2, -0.75 * (2 - q) ** 2, 0)) * norm / length**3
    towards = slope * d / np.where(r > 0, r, 1)  # minus the gradient of the kernel at the target
    rho = (m * kernel).sum(axis=1)
    p = (gamma - 1) * rho * u
    c = np.sqrt(gamma * p / rho)
    work = (w * towards).sum(axis=0)
    divergence = abs((m * work).sum(axis=1)) / rho
    curl = abs((m * (w[0] * towards[1] - w[1] * towards[0])).sum(axis=1)) / rho
    limit = divergence / (divergence + curl + 1e-4 * c / h)
    mu = np.minimum(length * (w * d).sum(axis=0) / (r**2 + 0.01 * length**2), 0)
    mean = [(each + each[:, None]) / 2 for each in (c, rho, limit)]
    force = (p / rho**2) + (p / rho**2)[:, None] + mean[2] * (2 * mu**2 - mean[0] * mu) / mean[1]
    return rho, p, limit, (m * force * towards).sum(axis=2), 0.5 * (m * force * work).sum(axis=1)


def energy(gas):
    return np.sum(gas.m * (gas.u + 0.5 * np.sum(gas.v * gas.v, axis=0)))


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
@pytest.mark.parametrize(("dim", "cutoff"), [(2, ""), (1, ", cutoff=h, positions=x")], ids=["all", "cutoff"])
def test_what_was_summed_is_summed_again_in_the_same_step(dim, cutoff, backend):
    """Density, then pressure between pairs: the bits of two calls, between which the density is state."""
    draw, text = np.random.default_rng(4), GAS.format(dim=dim, cutoff=cutoff)
    given = {"x": draw.random((dim, 40)), "v": draw.normal(size=(dim, 40)), "m": draw.random(40), "rho": 0.0}
    together, apart = (wb.trace(text + each, name="gas") for each in (ONE_STEP, TWO_CALLS))
    expected = apart.simulate(**given, backend="reference")
    for _ in range(2):
        expected.call("prepare").run(1)
    for threads in (1, 2, 3) if backend == "openmp" else (1,):
        found = together.simulate(**given, backend=backend, threads=threads).run(2)
        for name in ("x", "v", "rho"):
            assert_same_bits(found[name], expected[name], f"{name} on {backend}, {threads} threads")


def test_all_sums_are_those_over_all_pairs():
    given = drop()
    gas = sph.machine(2).simulate(**given, dt=1e-3).run(1)
    rho, p, limit, acceleration, heating = in_numpy(**given)
    for found, expected in ((gas.rho, rho), (gas.p, p), (gas.limit, limit)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose((gas.v - given["v"]) / 1e-3, acceleration, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((gas.u - given["u"]) / 1e-3, heating, rtol=1e-9, atol=1e-9)


def test_momentum_is_kept_to_rounding_and_energy_as_the_steps_do():
    """Each pair shares force and work, so what energy lacks is the steps' alone: in proportion to dt."""
    errors = []
    for steps in (20, 40):
        given = drop()
        gas = sph.machine(2).simulate(**given, dt=0.04 / steps)
        before, momentum = energy(gas), np.sum(gas.m * gas.v, axis=1)
        gas.run(steps)
        np.testing.assert_allclose(np.sum(gas.m * gas.v, axis=1), momentum, atol=1e-14)
        errors.append(abs(energy(gas) / before - 1))
    assert errors[0] < 2e-3
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1)


def test_sods_tube_is_the_exact_solution():
    """The mean error, where the largest value is about 1; nearer with twice as many particles."""
    errors = []
    for spacing, steps in ((0.01, 100), (0.005, 200)):
        gas = sph.machine(1).simulate(**sph.tube(spacing), dt=0.2 / steps).run(steps).call("prepare")
        x = gas.x[0]
        inside = abs(x) < 0.45  # what moves in from the ends of the tube is farther out
        density, velocity, pressure = solve_riemann(SOD_LEFT, SOD_RIGHT, x[inside] / 0.2)
        found = (gas.rho[inside], gas.v[0][inside], gas.p[inside])
        pairs = zip(found, (density, velocity, pressure), strict=True)
        errors.append([np.mean(abs(a - b)) for a, b in pairs])
    assert max(errors[0]) < 0.06
    assert max(errors[1]) < 0.03
    assert all(fine < 0.8 * coarse for coarse, fine in zip(*errors, strict=True))
