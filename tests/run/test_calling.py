"""Machines of pairs, called with arrays: results on every backend, two sets, bad input, memory."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import FieldError, RunError, ShapeError
from workbench.graph import Graph
from workbench.run import calling

GRAVITY = """
xi, yi, zi, e2 = targets("x y z e2")
xj, yj, zj, m = sources("x y z m")
ax, ay, az = totals("ax ay az")
k = param("k", 1.0, above=0)
dx, dy, dz = xj - xi, yj - yi, zj - zi
r2 = dx**2 + dy**2 + dz**2 + e2
r1i = 1 / sqrt(r2)
w = k * m * r1i**3
ax += w * dx
ay += w * dy
az += w * dz
"""
BACKENDS = ["reference", "openmp", "cuda-sim"]


def gravity():
    return wb.trace(GRAVITY, name="gravity")


def particles(n, seed=0):
    draw = np.random.default_rng(seed)
    return {name: draw.normal(size=n) for name in "xyz"} | {"m": draw.random(n), "e2": 1e-2}


def in_numpy(p, k=1.0):
    d = [p[name][None, :] - p[name][:, None] for name in "xyz"]
    w = k * p["m"] * (sum(a * a for a in d) + p["e2"]) ** -1.5
    return [np.sum(w * a, axis=1) for a in d]


@pytest.mark.parametrize("backend", BACKENDS)
def test_gravity_is_that_of_numpy_and_of_the_reference(backend):
    p = particles(1100 if backend == "openmp" else 37)
    found = gravity()(backend=backend, **p)
    assert list(found) == ["ax", "ay", "az"]
    expected = gravity()(backend="reference", **p)
    for (name, values), exact in zip(found.items(), in_numpy(p), strict=True):
        assert_same_bits(values, expected[name], name)
        np.testing.assert_allclose(values, exact, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 1023, 1024, 1025, 2049])
@pytest.mark.parametrize("reduce", ["sum", "max", "product"])
def test_bits_do_not_depend_on_backend_or_threads(n, reduce):
    cell = f"""
xi, = targets("x")
xj, mj = sources("x m")
t, = totals("t", reduce="{reduce}")
t.include(0.999 * where(xi < mj, xj - xi, 1.0625))
"""
    machine, draw = wb.trace(cell, name="bits"), np.random.default_rng(n)
    sides = {"targets": {"x": draw.normal(size=5)}, "sources": {"x": draw.normal(size=n), "m": draw.normal(size=n)}}
    expected = machine(backend="reference", **sides)["t"]
    for threads in (1, 2, 3):
        assert_same_bits(machine(backend="openmp", threads=threads, **sides)["t"], expected, f"{threads} threads")
    if n < 1100:
        assert_same_bits(machine(backend="cuda-sim", **sides)["t"], expected, "cuda-sim")


def test_two_sets_have_their_own_lengths_and_names():
    p, q = particles(4, 1), particles(6, 2)
    targets = {name: p[name] for name in ("x", "y", "z", "e2")}
    sources = {name: q[name] for name in ("x", "y", "z", "m")}
    found = gravity()(targets=targets, sources=sources, k=0.5, backend="reference")
    d = [q[name][None, :] - p[name][:, None] for name in "xyz"]
    w = 0.5 * q["m"] * (sum(a * a for a in d) + p["e2"]) ** -1.5
    np.testing.assert_allclose(found["ay"], np.sum(w * d[1], axis=1), rtol=1e-12)


def test_empty_sets():
    sides = {"targets": {"x": np.zeros(3), "y": 0.0, "z": 0.0, "e2": 1.0}, "sources": particles(0)}
    sides["sources"].pop("e2")
    assert_same_bits(gravity()(backend="reference", **sides)["ax"], -np.zeros(3))  # the identity of sums
    assert gravity()(backend="reference", **particles(0))["az"].shape == (0,)


def test_totals_of_other_types():
    cell = """
xi, = targets("x", dtype="i32")
xj, = sources("x", dtype="i32")
count, = totals("count", dtype="i64")
touched, = totals("touched", reduce="any")
count += where(xj > xi, 1, 0)
touched.include((xj == xi + 1) & (index(0) != index(1)))
"""
    x = np.array([3, 1, 2, 7], np.int32)
    found = wb.trace(cell, name="order")(x=x, backend="openmp")
    assert found["count"].dtype == np.int64
    assert found["count"].tolist() == [1, 3, 2, 0]
    assert found["touched"].tolist() == [False, True, True, False]


def test_totals_are_taken_by_number_and_tuples_are_vectors():
    """Biot and Savart: a vector product of tuples in a cell that has no dimension of its own."""
    cell = """
p, q = targets("x y z"), sources("x y z jx jy jz")
b = totals("bx by bz")
d = [q[k] - p[k] for k in range(3)]
r2 = dot(d, d) + 0.25
for k, product in enumerate(cross(q[3:], d)):
    b[k] += product / r2**1.5
"""
    draw = np.random.default_rng(5)
    here, there, current = draw.normal(size=(3, 4)), draw.normal(size=(3, 6)), draw.normal(size=(3, 6))
    found = wb.trace(cell, name="field")(
        targets=dict(zip("xyz", here, strict=True)),
        sources=dict(zip(("x", "y", "z", "jx", "jy", "jz"), (*there, *current), strict=True)),
        backend="reference",
    )
    d = there[:, None] - here[:, :, None]
    exact = (np.cross(current[:, None], d, axis=0) / (np.sum(d * d, axis=0) + 0.25) ** 1.5).sum(axis=2)
    np.testing.assert_allclose([found["bx"], found["by"], found["bz"]], exact, rtol=1e-12, atol=1e-14)


def test_params_go_back_to_their_defaults():
    machine, p = gravity(), particles(5)
    first = machine(backend="reference", **p)["ax"]
    np.testing.assert_allclose(machine(backend="reference", k=2.0, **p)["ax"], 2 * first, rtol=1e-14)
    assert_same_bits(machine(backend="reference", **p)["ax"], first)


def test_memory_is_kept_for_equal_extents_and_bounded():
    machine = gravity()
    for n in (3, 4, 3, 5, 6, 7, 8, 3):
        machine(backend="reference", **particles(n))
    assert len(calling._instances) <= calling._KEPT
    assert any(graph is machine.graph for graph, _, _ in calling._instances.values())


@pytest.mark.parametrize(
    ("given", "error", "what"),
    [
        ({"x": np.zeros(3)}, FieldError, "gravity needs y"),
        (particles(3) | {"y": np.zeros(4)}, ShapeError, "y has 4 elements, x has 3"),
        (particles(3) | {"q": 1.0}, FieldError, "gravity has no 'q'"),
        (particles(3) | {"k": -1.0}, FieldError, "k is -1.0, but must be above 0"),
        (particles(3) | {"x": np.zeros((3, 1))}, ShapeError, "x was given 2 axes"),
        ({"x": 0.0, "y": 0.0, "z": 0.0, "m": 1.0, "e2": 1.0}, ShapeError, "no array was given"),
        ({"targets": {}}, FieldError, "no sources="),
        ({"targets": [np.zeros(2)], "sources": {}}, FieldError, "given targets= as list\nGive arrays by their names"),
        ({"targets": {"x": 1.0}, "sources": {"x": 1.0, "w": 2.0}}, FieldError, "no 'w' among its sources"),
        ({"targets": {"x": np.zeros(2)}, "sources": particles(2)}, FieldError, "no 'e2' among its sources"),
        ({"targets": {"x": np.zeros(2)}, "sources": {}}, FieldError, "needs y of the targets"),
        (particles(3) | {"x": np.zeros(3, complex)}, FieldError, "complex"),
        (particles(3) | {"threads": 10**6}, RunError, "threads"),
    ],
)
def test_bad_input_is_refused_by_name(given, error, what):
    with pytest.raises(error, match=what):
        gravity()(backend="reference", **given)


@pytest.mark.parametrize("use", ["simulate", "verify"])
def test_a_machine_of_pairs_has_no_steps(use):
    with pytest.raises(RunError, match=r"gravity has no steps.*\n.*gravity\(x=, y=, z=, e2=, m=\)"):
        getattr(gravity(), use)()


def test_a_machine_with_steps_is_not_called():
    with pytest.raises(RunError, match="runs in steps and has no results"):
        wb.trace('u = field("u")\nu.next = 2 * u', name="twice")(u=np.zeros(3))


DOT = 'xs, ys = arrays("xs ys", "n")\noutput("dot", fold(add, xs * ys))\noutput("scaled", xs * fold(maximum, ys))'
ROWS = """
A = array("A", "rows", "columns")
x = array("x", "columns", dtype="f32")
c = param("c", 0.5)
means = fold(add, A, axis="columns") / size("columns")
output("means", means)
output("product", fold(add, A * x))
output("centred", A - means)
output("highest", fold(maximum, A, axis=("rows", "columns"), start=0.0))
output("weighted", c * fold(add, index("rows") * A, axis=0))
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", [1, 31, 1024, 1025, 2500])
def test_dot_product(backend, n):
    draw = np.random.default_rng(n)
    x, y = draw.normal(size=n), draw.normal(size=n)
    machine = wb.trace(DOT, name="dotp")
    found, expected = machine(xs=x, ys=y, backend=backend), machine(xs=x, ys=y, backend="reference")
    assert list(found) == ["dot", "scaled"]
    assert_same_bits(found["dot"], expected["dot"])
    assert_same_bits(found["scaled"], x * y.max())
    np.testing.assert_allclose(found["dot"], x @ y, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 1030), (1030, 2)])
def test_rows_of_a_matrix(backend, shape):
    draw = np.random.default_rng(shape[1])
    A, x = draw.normal(size=shape), draw.normal(size=shape[1]).astype(np.float32)
    machine = wb.trace(ROWS, name="rows")
    found, expected = machine(A=A, x=x, c=2.0, backend=backend), machine(A=A, x=x, c=2.0, backend="reference")
    for name, values in expected.items():
        assert_same_bits(found[name], values, name)
    means = A.mean(axis=1)
    np.testing.assert_allclose(found["means"], means, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["product"], A @ x.astype(float), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found["centred"], A - means[:, None], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["weighted"], 2 * np.arange(shape[0]) @ A, rtol=1e-10, atol=1e-10)
    assert found["highest"] == max(A.max(), 0.0)


def test_axes_keep_one_order_whatever_is_declared_first():
    cell = 'x = array("x", "columns")\nA = array("A", "rows", "columns")\noutput("y", fold(add, A * x))'
    machine = wb.trace(cell, name="late")
    assert [axis.name for axis in machine.graph.space.axes] == ["rows", "columns"]
    A = np.arange(6.0).reshape(2, 3)
    assert machine(A=A, x=np.ones(3), backend="reference")["y"].tolist() == [3.0, 12.0]


def test_arrays_without_cells():
    found = wb.trace(ROWS, name="rows")(A=np.zeros((3, 0)), x=np.zeros(0, np.float32), backend="openmp")
    assert found["centred"].shape == (3, 0)
    assert found["product"].tolist() == [0.0, 0.0, 0.0]
    assert found["highest"] == 0.0
    assert np.isnan(found["means"]).all()


@pytest.mark.parametrize(
    ("given", "error", "what"),
    [
        ({"xs": np.zeros(3), "ys": np.zeros(4)}, ShapeError, "ys has 4 elements along n, xs has 3"),
        ({"xs": np.zeros(3)}, FieldError, "dotp needs ys"),
        ({"xs": 1.0, "ys": 2.0}, ShapeError, "no array with the axis n was given"),
        ({"xs": np.zeros((3, 3)), "ys": 1.0}, ShapeError, "xs was given 2 axes"),
        ({"targets": {}, "sources": {}}, FieldError, "no targets and sources"),
    ],
)
def test_bad_arrays_are_refused_by_name(given, error, what):
    with pytest.raises(error, match=what):
        wb.trace(DOT, name="dotp")(backend="reference", **given)


def test_arrays_are_given_by_name():
    twice = wb.trace('xs = array("xs", "n")\noutput("twice", 2 * xs)', name="twice")
    with pytest.raises(RunError, match=r"^twice takes its arrays by their names\nWrite twice\(xs=\)\.$"):
        twice([1.0, 2.0])


def test_a_later_call_looks_nothing_up_in_the_program(monkeypatch):
    machine = wb.trace('xs = array("xs", "n")\na = param("a", 2.0)\noutput("scaled", a * xs)', name="scaled")
    looked, find = [], Graph.kernel
    monkeypatch.setattr(Graph, "kernel", lambda graph, name: looked.append(name) or find(graph, name))
    x = np.arange(5.0)
    assert machine(xs=x, a=3.0, backend="openmp")["scaled"].tolist() == (3 * x).tolist()
    assert looked
    looked.clear()
    assert machine(xs=x, a=-0.5, backend="openmp")["scaled"].tolist() == (-0.5 * x).tolist()
    assert not looked
    with pytest.raises(FieldError, match="a is a param: one number"):
        machine(xs=x, a=x, backend="openmp")
