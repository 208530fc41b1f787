"""Particles as state: steps equal on every backend, the old state as source, lengths, checkpoints, bad input."""

import threading

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import NonFiniteError, ShapeError, TraceError
from workbench.graph.parse import parse
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary
from workbench.planning import plan_graph
from workbench.planning.choices import Choices

CLUSTER = """
x, v = particles("x v", dim=3)
m, = particles("m")
dt, e2 = param("dt", 0.01), param("e2", 1e-2)
energy = scalar("energy")

def distance(x):
    d = x.source - x
    return d, 1 / sqrt(dot(d, d) + e2)

xh = x + 0.5 * dt * v
d, inverse = distance(xh)
v1 = v + dt * reduce_sum(m.source * inverse**3 * d, over="source")
x.next, v.next = xh + 0.5 * dt * v1, v1
_, inverse = distance(x)
energy.next = reduce_sum(0.5 * m * dot(v, v)) - 0.5 * reduce_sum(m * m.source * inverse)
"""
SWAP = """
u, w, q = particles("u w q")
u.next = reduce_sum(u.source - w, over="source") / size("particles")
w.next = u + reduce_max(w.source, over="source")
q.next = reduce_max(q.source - 1.5 * q, over="source")
"""


def cluster():
    return wb.trace(CLUSTER, name="cluster")


def start(n, seed=0):
    draw = np.random.default_rng(seed)
    return {"x": draw.normal(size=(3, n)), "v": 0.1 * draw.normal(size=(3, n)), "m": draw.random(n) / n}


def in_numpy(x, v, m, dt=0.01, e2=1e-2, steps=1):
    for _ in range(steps):
        xh = x + 0.5 * dt * v
        d = xh[:, None, :] - xh[:, :, None]
        w = m / np.sqrt((d * d).sum(axis=0) + e2) ** 3
        v = v + dt * (w * d).sum(axis=2)
        x = xh + 0.5 * dt * v
    return x, v


def energy_of(x, v, m, e2=1e-2):
    d = x[:, None, :] - x[:, :, None]
    return 0.5 * np.sum(m * v * v) - 0.5 * np.sum(m * m[:, None] / np.sqrt((d * d).sum(axis=0) + e2))


@pytest.mark.parametrize("n", [1, 2, 1023, 1025])
def test_steps_have_the_same_bits_on_every_backend(n):
    machine, given = cluster(), start(n)
    expected = machine.simulate(**given, backend="reference").run(2)
    np.testing.assert_allclose(expected.x, in_numpy(**given, steps=2)[0], rtol=1e-12)
    for backend, threads in (("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 1)):
        found = machine.simulate(**given, backend=backend, threads=threads).run(2)
        for name in ("x", "v", "energy"):
            assert_same_bits(np.asarray(found[name]), np.asarray(expected[name]), f"{name} on {backend} {threads}")


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_sources_are_the_state_at_the_start_of_the_step(backend):
    """Each takes what the other was: a state overwritten in place would be seen."""
    machine = wb.trace(SWAP, name="swap")
    u, w, q = np.random.default_rng(6).normal(size=(3, 300))  # many times what a thread takes before it writes
    sim = machine.simulate(u=u, w=w, q=q, backend=backend)
    for _ in range(4):
        u, w, q = u.mean() - w, u + w.max(), q.max() - 1.5 * q
        sim.run(1)
        np.testing.assert_allclose(sim.q, q, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(sim.u, u, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(sim.w, w, rtol=1e-12, atol=1e-12)


def test_no_loop_writes_an_array_that_it_reads_along_another_axis():
    step = plan_graph(wb.trace(SWAP, name="swap").graph, Choices()).main.plain
    folding = [loop for loop in step.subkernels if loop.reduced]
    assert folding
    for loop in folding:
        assert not {home.slot for home in loop.outputs} & {read.slot for read in loop.reads}


def test_other_types_and_reductions_have_the_same_bits():
    text = """
q, = particles("q", dtype="f32")
k, = particles("k", dtype="i64")
other = index("particles") != index("particles").source
q.next = q - reduce_max(where(other, q.source * q, 0), over="source")
k.next = k + reduce_min(where(other, abs(k.source - k), 1000), over="source") - index("particles")
"""
    machine = wb.trace(text, name="types")
    q, k = np.random.default_rng(3).integers(-50, 50, (2, 130)).astype(float)
    expected = machine.simulate(q=q, k=k.astype(int), backend="reference").run(1)
    gaps = np.abs(k[None, :] - k[:, None]) + 1000 * np.eye(130)
    np.testing.assert_array_equal(expected.k, k + gaps.min(axis=1) - np.arange(130))
    assert expected.q.dtype == np.float32
    found = machine.simulate(q=q, k=k.astype(int), backend="openmp").run(1)
    assert_same_bits(found.q, expected.q, "q")
    assert_same_bits(found.k, expected.k, "k")


def test_a_particle_reads_others_by_their_numbers():
    machine = wb.trace(
        """
x, = particles("x")
friend, = particles("friend", dtype="i64")
pull = x[friend] - x
x.next = x + 0.5 * pull + reduce_max(pull.source - pull, over="source")
""",
        name="friends",
    )
    draw = np.random.default_rng(8)
    x, friend = draw.normal(size=200), draw.integers(0, 200, 200)
    pull = x[friend] - x
    sims = [machine.simulate(x=x, friend=friend, backend=each).run(1) for each in ("reference", "openmp")]
    np.testing.assert_allclose(sims[0].x, x + 0.5 * pull + (pull.max() - pull), rtol=1e-13)
    for sim in sims[1:]:
        assert_same_bits(sim.x, sims[0].x, sim.backend)


def test_energy_is_a_diagnostic_scalar_and_is_kept():
    given = start(40, 4)
    sim = cluster().simulate(**given, dt=1e-3)
    record = sim.record("energy", every=100)
    sim.run(1000)
    assert "observed step" in str(sim.compiled.plan)
    x, v = in_numpy(**given, dt=1e-3, steps=1)
    sim.set(x=x, v=v)
    sim.run(1)
    assert sim.energy == pytest.approx(energy_of(x, v, given["m"]), rel=1e-12)  # of the state at the step's start
    values = np.asarray(record.values)
    assert np.ptp(values) < 1e-5 * abs(values[0])


def test_the_number_of_particles_is_that_of_the_arrays():
    machine, given = cluster(), start(7)
    sim = machine.simulate(**given)
    assert (sim.shape, sim.extents) == ((7,), (7, 7))
    assert (sim.x.shape, sim.m.shape, sim["x1"].shape) == ((3, 7), (7,), (7,))
    assert "7 particles" in repr(sim)
    assert machine.simulate(shape=(7,), **given).shape == (7,)
    assert machine.simulate(shape=7, **{**given, "m": 0.5}).shape == (7,)
    with pytest.raises(ShapeError, match="m has 6 particles, but x0 has 7"):
        machine.simulate(**{**given, "m": np.ones(6)})
    with pytest.raises(ShapeError, match=r"x0 has 7 particles, but shape is \(8,\)"):
        machine.simulate(shape=(8,), **given)
    with pytest.raises(ShapeError, match="no array of particles was given"):
        machine.simulate(x=0.0, v=0.0, m=1.0)
    with pytest.raises(ShapeError, match=r"shape=\(7, 7, 7\) has 3 extents, but cluster has 1"):
        machine.simulate(shape=(7, 7, 7), x=0.0, v=0.0, m=1.0)


def test_values_of_the_cell_can_be_asked_for():
    given = start(6)
    sim = cluster().simulate(**given, backend="reference").run(1)
    np.testing.assert_array_equal(sim.evaluate("xh"), sim.x + 0.5 * 0.01 * sim.v)
    assert sim.evaluate("d0").shape == (6, 6)
    data = sim.to_xarray()
    assert data["x0"].dims == ("particles",)


def test_views_card_and_convergence_know_particles():
    sim = cluster().simulate(**start(64)).run(3)
    assert "x0: 64 cells at step 3" in str(sim.view("x0"))
    assert "particles to the right" in str(sim.view("xh1"))
    seen = []

    def exact(extents, time):
        seen.append(extents)
        return {"x": np.zeros((3, *extents)), "v": np.zeros((3, *extents)), "m": np.ones(extents)}

    cluster().converge(exact, sizes=(2, 4), steps=1, backend="reference")
    assert set(seen) == {(2,), (4,)}
    assert "100 × 100 pairs" in card_text(summary(cluster(), extents=(100,)))
    with pytest.raises(ShapeError, match="--shape has 2 extents, but cluster has 1"):
        summary(cluster(), extents=(100, 100))
    finite = cluster().simulate(**{**start(5), "v": np.inf})
    with pytest.raises(NonFiniteError, match="v0 is inf in cell"):
        finite.run(2, finite=True)


def test_a_checkpoint_goes_on_with_the_same_bits(tmp_path):
    machine = cluster()
    sim = machine.simulate(**start(50)).run(5)
    sim.save(tmp_path / "cluster.npz")
    again = machine.restore(tmp_path / "cluster.npz", backend="reference")
    assert (again.shape, again.steps) == ((50,), 5)
    assert_same_bits(again.run(3).x, sim.run(3).x, "x")


def test_a_run_is_paused_at_a_whole_step():
    machine, given = cluster(), start(300)
    sim = machine.simulate(**given, backend="openmp")
    sim.start(10**9)
    threading.Event().wait(0.2)
    sim.stop()
    sim.wait()
    assert 0 < sim.steps < 10**9
    assert_same_bits(sim.x, machine.simulate(**given, backend="openmp").run(sim.steps).x, "x")


def test_two_populations_have_their_own_numbers():
    text = """
x, = particles("x", dim=2)
s, = particles("s", dim=2, of="stars")
m, = particles("m", of="stars")
d = s - x
x.next = x + reduce_sum(m * d, over="stars")
e = s.source - s
s.next = s + 0.5 * reduce_sum(m.source * e, over="source") - reduce_sum(d, over="particles") / size("particles")
"""
    machine = wb.trace(text, name="two")
    draw = np.random.default_rng(9)
    x, s, m = draw.normal(size=(2, 9)), draw.normal(size=(2, 4)), draw.random(4)
    d, e = s[:, None, :] - x[:, :, None], s[:, None, :] - s[:, :, None]
    sims = [machine.simulate(x=x, s=s, m=m, backend=backend).run(1) for backend in ("reference", "openmp", "cuda-sim")]
    assert sims[0].shape == (9, 4)
    np.testing.assert_allclose(sims[0].x, x + (m * d).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(sims[0].s, s + 0.5 * (m * e).sum(axis=2) - d.mean(axis=1), rtol=1e-12)
    for sim in sims[1:]:
        assert_same_bits(sim.x, sims[0].x, sim.backend)
        assert_same_bits(sim.s, sims[0].s, sim.backend)
    with pytest.raises(ShapeError, match="m has 5 stars, but s0 has 4"):
        machine.simulate(x=x, s=s, m=np.ones(5))


def test_init_makes_the_state_and_further_kernels_run():
    machine = wb.trace(
        """
q, = particles("q")
q.next = q + 1
@kernel
def init():
    q.next = 2 * index("particles")
@kernel
def centre():
    q.next = q - reduce_sum(q.source, over="source") / size("particles")
""",
        name="made",
    )
    sim = machine.simulate(shape=5, backend="reference").run(1)
    np.testing.assert_array_equal(sim.q, [1, 3, 5, 7, 9])
    np.testing.assert_array_equal(sim.call("centre").q, [-4, -2, 0, 2, 4])


def test_text_card_plan_and_verification_know_sources():
    machine = cluster()
    text = str(machine.graph)
    assert "load x0 along source : f64 local(source)" in text
    assert str(parse(text)) == text
    assert "x0.source" in str(machine.plan())
    assert "equal bits on every backend" in str(machine.verify(steps=2))


SUMS = """
x, = particles("x")
def spread(value):
    return reduce_sum(value.source - value, over="source")
r = spread(x)
most = reduce_max(spread(r), over=None)
x.next = reduce_sum((spread(r) + scan(add, r) + x).source * x, over="source") + most
"""


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_what_was_made_of_many_particles_is_seen_as_sources(backend):
    x = np.array([1.0, 3.0, -2.0, 8.0])  # whole numbers, so that NumPy's order of sums does not matter
    r = x.sum() - 4 * x
    again = r.sum() - 4 * r
    found = wb.trace(SUMS, name="sums").simulate(x=x, backend=backend).run(1).x
    np.testing.assert_array_equal(found, (again + np.cumsum(r) + x).sum() * x + again.max())


BAD = {
    'x, = particles("x")\nu = field("u")\n': "line 2: field 'u' stands below particles, in a cell that has no grid",
    'x, = particles("x", dim=0)\n': "line 1: particles: no vector has dim=0",
    'x, = particles("x", dim=2)\ny, = particles("y", dim=3)\n': "line 2: particles: dim=3, but other vectors",
    'x, = particles("x", of="a b")\n': "line 1: particles: of='a b' names no population",
    'x, = particles("x", of="source")\n': "line 1: the population 'source' is called as an axis of sources",
    'x, = particles("")\n': "line 1: particles needs names",
    'x, = particles("run")\n': "line 1: the particles 'run' would hide",
    'x, = particles("x")\nx.next = reduce_sum(x, over="source")\n': 'line 2: reduce_sum\\(x, over="source"\\): '
    "the value has the axes particles alone",
    'x, = particles("x")\nx.next = reduce_sum(x, axis=0, over="source")\n': "axis= and over= are both given",
    'u = field("u")\nu.next = reduce_sum(u, over="source")\n': "over= names particles, and the cell has none",
    'x, = particles("x")\nx.next = x.at(+1, 0)\n': "line 2: x.at\\(\\+1, 0\\) reads a neighbour, but particles",
    'x, = particles("x")\nx.next = x[+1]\n': "line 2: x\\[\\+1\\] is one number",
    'x, = particles("x")\nx.next = (x.source - x).source\n': "line 2: .* the value has the axes particles, source",
    'x, = particles("x")\nx.source.next = x\n': r"line 2: x.source.next: (.|\n)*Write x\.next = value",
    'xs = array("xs", "n")\nx, = particles("x")\n': "line 2: particles keep their state from step to step",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_has_no_meaning_is_refused_with_its_line(text):
    with pytest.raises(TraceError, match=BAD[text]):
        wb.trace(text, name="bad").plan()


HERMITE = """
x, v, a, j = particles("x v a j", dim=2)
m, = particles("m")
dt = param("dt", 0.01)
same = index("particles") == index("particles").source

def forces(x, v):
    d, w = x.source - x, v.source - v
    r2 = dot(d, d) + where(same, 1, 0)
    weight = m.source / (r2 * sqrt(r2))
    jerk = weight * (w - 3 * dot(d, w) / r2 * d)
    return reduce_sum(weight * d, over="source"), reduce_sum(jerk, over="source")

xp = x + dt * v + dt**2 / 2 * a + dt**3 / 6 * j
vp = v + dt * a + dt**2 / 2 * j
a1, j1 = forces(xp, vp)
v1 = v + dt / 2 * (a + a1) + dt**2 / 12 * (j - j1)
x.next = x + dt / 2 * (v + v1) + dt**2 / 12 * (a - a1)
v.next, a.next, j.next = v1, a1, j1

@kernel
def prepare():
    a.next, j.next = forces(x, v)
"""


def test_a_hermite_scheme_is_of_fourth_order():
    """Two equal stars on a circle, after one turn; the predictor is a formula of the state, which sources repeat."""
    machine = wb.trace(HERMITE, name="hermite")
    x, v = np.array([[0.5, -0.5], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.5, -0.5]])
    errors = []
    for steps in (60, 120, 240):
        sim = machine.simulate(x=x, v=v, a=0.0, j=0.0, m=0.5, dt=2 * np.pi / steps, backend="reference").call("prepare")
        errors.append(np.abs(sim.run(steps).x - x).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.8).all()
    assert errors[-1] < 1e-4
