"""Grids and particles in one cell: bits on every backend, an orbit with a known period, views, and what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError, TraceError
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary
from workbench.views.graph.summary import describe_graph, summarise_graph

SAMPLED = """
phi = field("phi", boundary="{rule}")
x, v = particles("x v", dim=2)
dx, dt = param("dx", 0.1), param("dt", 0.01)
energy = scalar("energy")

def sample(u, x):
    place = [x[a] / dx - 0.5 for a in axes]
    i, j = (astype(floor(p), "i64") for p in place)
    p, q = (p - floor(p) for p in place)
    near = lambda a, b: gather({u}, i + a, j + b)
    return (1 - p) * ((1 - q) * near(0, 0) + q * near(0, 1)) + p * ((1 - q) * near(1, 0) + q * near(1, 1))

force = -1 * grad(phi, dx)
xh = x + 0.5 * dt * v
v1 = v + dt * compose(lambda a: sample(force[a], xh))
x.next, v.next = xh + 0.5 * dt * v1, v1
energy.next = reduce_sum(0.5 * dot(v, v) + sample(phi, x))
{phi}
"""
STILL = "phi.next = phi"
MOVED = "phi.next = phi + 0.1 * laplacian(phi, 1.0) + 1e-3 * index(0) * size('particles')"
PERIODIC = {"rule": "periodic", "u": 'extend(u, "periodic")'}


def wave(n=16, width=1.6):
    place = 2 * np.pi * (np.arange(n) + 0.5) / n
    return np.sin(place)[:, None] * np.cos(place)[None, :], width


def start(n=50, seed=0):
    draw, (phi, width) = np.random.default_rng(seed), wave()
    return {"phi": phi, "x": draw.random((2, n)) * width, "v": 0.3 * draw.normal(size=(2, n))}


@pytest.mark.parametrize("phi", [STILL, MOVED], ids=["still", "moved"])
@pytest.mark.parametrize(("backend", "threads"), [("openmp", 1), ("openmp", 3), ("cuda-sim", 0)])
def test_steps_have_the_bits_of_the_reference(backend, threads, phi):
    machine = wb.trace(SAMPLED.format(**PERIODIC, phi=phi), name="sampled")
    one, two = (
        machine.simulate(**start(), backend=b, threads=t).run(7) for b, t in (("reference", 0), (backend, threads))
    )
    for name in ("phi", "x", "v", "energy"):
        assert_same_bits(two[name], one[name], name)


def orbit(n, steps):
    """A particle on a circle in phi = (x² + y²) / 2, one turn in 2 pi; its error after a turn in units of the radius.

    Bilinear forces of a linear force are exact, so what is left is the leapfrog's error, of second order in dt.
    """
    width, dt = 4.0, 2 * np.pi / steps
    dx = width / n
    place = (np.arange(n) + 0.5) * dx - width / 2
    cell = SAMPLED.format(rule="outflow", u="u", phi=STILL)
    sim = wb.trace(cell, name="orbit").simulate(
        phi=0.5 * (place[:, None] ** 2 + place[None, :] ** 2),
        x=[[width / 2 + 1.0], [width / 2]], v=[[0.0], [1.0]], dx=dx, dt=dt, backend="openmp",
    )  # fmt: skip
    energy = sim.run(1).energy
    x = sim.run(steps - 1).x[:, 0] - width / 2
    assert abs(sim.energy - energy) < 1e-2 * dt + 1e-12 + 3 * dx**2  # sampled between cells, phi itself is not exact
    return np.hypot(x[0] - 1, x[1])


def test_an_orbit_closes_with_second_order():
    """The phase error of leapfrog is omega³ dt² / 24 a unit of time: pi³ / (3 steps²) after one turn."""
    errors = [orbit(32, steps) for steps in (100, 200, 400)]
    for error, steps in zip(errors, (100, 200, 400), strict=True):
        assert error == pytest.approx(np.pi**3 / (3 * steps**2), rel=0.02)


def test_what_is_gathered_from_the_grid_is_seen_as_sources():
    cell = """
u = field("u")
x, m = particles("x m")
sampled = gather(u, astype(floor(x), "i64"))
u.next = u
x.next = x + reduce_sum(m.source * sampled.source - sampled, over="source")
"""
    u, x, m = np.arange(5.0) ** 2, np.array([0.0, 3.0, 1.5]), np.array([1.0, 2.0, 3.0])
    found = wb.trace(cell, name="seen").simulate(u=u, x=x, m=m, backend="reference").run(1).x
    np.testing.assert_array_equal(found, x + np.sum(m * u[[0, 3, 1]] - u[[0, 3, 1], None], axis=1))


def test_particles_see_each_other_and_the_grid():
    cell = """
u = field("u", boundary="periodic")
x, = particles("x")
near = reduce_sum(maximum(0, 1 - abs(index(0) - x)), over="particles")
u.next = near + 0 * u[+1]
x.next = x + 0.1 * reduce_max(x.source - x, over="source")
"""
    machine = wb.trace(cell, name="near")
    places = np.array([0.25, 1.5, 1.5, 4.0])
    found = [machine.simulate(u=np.zeros(6), x=places, backend=b).run(1) for b in ("reference", "openmp", "cuda-sim")]
    for sim in found:
        assert_same_bits(sim.u, np.array([0.75, 1.25, 1.0, 0.0, 1.0, 0.0]), "cloud in cell")
        assert_same_bits(sim.x, places + 0.1 * (4.0 - places), "x")
        assert sim.shape == (6, 4)


def test_a_checkpoint_goes_on_with_the_same_bits(tmp_path):
    machine = wb.trace(SAMPLED.format(**PERIODIC, phi=MOVED), name="kept")
    sim = machine.simulate(**start(), backend="openmp").run(3)
    sim.save(tmp_path / "run.npz")
    again = machine.restore(tmp_path / "run.npz")
    assert_same_bits(again.run(4).x, sim.run(4).x, "x")


def test_words_for_cells_and_particles():
    machine = wb.trace(SAMPLED.format(**PERIODIC, phi=STILL), name="sampled")
    assert str(machine).startswith("machine sampled: 2-D grid and particles\n")
    sim = machine.simulate(**start(), backend="reference")
    assert str(sim).startswith("simulation of sampled: 16 x 16 x 50 cells x particles, step 0")
    card = card_text(summary(machine))
    assert "bytes and" in card
    assert "flops a step" in card
    assert "steps/s" in card
    seen = summarise_graph(machine.plan(), (64, 64, 1000))
    assert seen.line.endswith("observed 3 sub-kernels, 24 bytes along x, y, 112 bytes along particles")
    assert "210304 bytes and" in describe_graph(seen)  # 24 * 64 * 64 + 112 * 1000
    assert "flops a step" in describe_graph(seen)
    assert sim.to_xarray().phi.dims == ("x", "y")
    assert sim.to_xarray().x0.dims == ("particles",)


def test_coordinates_label_the_grid_alone():
    cell = 'u = field("u")\n(r,) = coordinate(spacing=0.5)\nx, = particles("x")\nu.next = u * r\nx.next = x + 1'
    data = wb.trace(cell, name="labelled").simulate(u=np.ones(3), x=np.zeros(4), backend="reference").to_xarray()
    assert_same_bits(data.axis_x.values, np.array([0.25, 0.75, 1.25]), "x")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ('x, = particles("x")\nu = field("u")', "line 2: field 'u' stands below particles, in a cell that has no grid"),
        ('u = field("u", boundary="outflow")\nw = u[+1, 0]\nx, = particles("x", dim=3)',
         "line 3: particles: dim=3, but the grid has 2 dimensions"),
        ('i = index(0)\nx, = particles("x")',
         "line 2: particles stand in a cell that has values of a grid, but no field"),
        ('u = field("u")\nx, = particles("x")\nx.next = extend(x, "periodic")',
         "line 3: extend of a value along particles: only a grid has an outside"),
        ('u = field("u")\nx, = particles("x")\nx.next = x[+1]', "line 3: x[+1]"),
        ('u = field("u")\nx, = particles("x")\nu.next = x', "line 3: "),
        ('u = field("u")\nx, = particles("x")\nx.next = u * x', "line 3: "),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(cell, message):
    with pytest.raises(TraceError) as caught:
        wb.trace(cell, name="bad")
    assert str(caught.value).startswith(message)


def test_numbers_of_particles_that_differ_are_said():
    given = start() | {"v": np.zeros((2, 49))}
    with pytest.raises(ShapeError, match="v0 has 49 particles, but x0 has 50"):
        wb.trace(SAMPLED.format(**PERIODIC, phi=STILL), name="bad").simulate(**given)
