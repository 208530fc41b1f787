"""Called cells with numbers of type dd: sums over pairs and arrays, equal bits on every backend."""

from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import FieldError, RunError
from workbench.graph.extended_numbers import as_fraction, as_pairs, as_texts, join
from workbench.graph.types import DD

GRAVITY = """
xi, yi = targets("x y", dtype="dd")
xj, yj, m = sources("x y m", dtype="dd")
e2 = param("e2", 1e-4, dtype="dd")
ax, ay = totals("ax ay", dtype="dd")
(nearest,) = totals("nearest", dtype="dd", reduce="min")
(pull,) = totals("pull")
dx, dy = xj - xi, yj - yi
r2 = dx**2 + dy**2 + e2
ax += m * dx / (r2 * sqrt(r2))
ay += m * dy / (r2 * sqrt(r2))
nearest.include(r2)
pull += astype(m / sqrt(r2), "f64")
"""
MOMENTS = """
A = array("A", "rows", "columns", dtype="dd")
x = array("x", "columns", dtype="dd")
y = fold(add, A * x, axis="columns")
output("y", y)
output("size", sqrt(fold(add, y * y)))
output("product", fold(multiply, A))
output("largest", fold(maximum, A, axis="rows"))
"""
GATHERED = """
x = array("x", "n", dtype="dd")
places = array("places", "m", dtype="i64")
v = array("v", "m", dtype="dd")
output("y", v * x[places] / 3)
output("s", fold(add, x[places] * v))
"""
IN_ORDER = """
v = array("v", "m", dtype="dd")
lengths = array("lengths", "rows", dtype="i64")
output("up_to", scan(add, v * v / 3))
output("largest", scan(maximum, v, reverse=True))
output("rows", fold_segments(add, v * 3, lengths))
"""
STARS = """
x, v = particles("x v", dim=2, dtype="dd")
(m,) = particles("m", dtype="dd")
dt = param("dt", 0.01, dtype="dd")
d = x.source - x
squared = d[0] ** 2 + d[1] ** 2 + 1e-2
pull = [reduce_sum(m.source * d[k] / (squared * sqrt(squared)), over="source") for k in range(2)]
v.next = v + dt * components(tuple(pull))
x.next = x + dt * v.next
"""
COMPILED = [name for name in backends_here() if name != "reference"]


@pytest.fixture(scope="module")
def gravity():
    return wb.trace(GRAVITY, name="gravity")


def stars(count):
    rng = np.random.default_rng(count)
    x, y = (join(rng.normal(size=count), 1e-17 * rng.normal(size=count)) for _ in range(2))
    return {"x": x, "y": y, "m": "0.1", "e2": "1e-3"}


@pytest.mark.parametrize("count", [0, 1, 2, 33, 1025])
def test_sums_over_pairs_are_equal_on_all_backends(gravity, count):
    values = stars(count)
    if count > 1000:  # a few targets, because the reference has no fma of the processor
        sources = {name: values[name] for name in ("x", "y", "m")}
        values = {"targets": {name: values[name][:3] for name in ("x", "y")}, "sources": sources, "e2": values["e2"]}
    right = gravity(**values, backend="reference")
    assert [right[name].dtype for name in ("ax", "nearest", "pull")] == [DD.numpy, DD.numpy, np.float64]
    for backend in COMPILED:
        for threads in (1, 2, 3) if backend == "openmp" else (0,):
            found = gravity(**values, backend=backend, threads=threads)
            for name, expected in right.items():
                assert_same_bits(found[name], expected, f"{name} on {backend}, {threads} threads")


def test_two_sets_and_exact_sums(gravity):
    """The target lies beside the sources, so that the pulls of two are exact sums of fractions."""
    two = {"x": ["3", "-3"], "y": [0, 0], "m": ["1e-20", "1"]}
    found = gravity(targets={"x": [0], "y": ["4"]}, sources=two, e2=0, backend="openmp")
    assert found["nearest"].item() == (25.0, 0.0)
    total = as_fraction(*found["ax"].item())
    masses = [as_fraction(*as_pairs(m).item()) for m in two["m"]]
    assert abs(total / (3 * (masses[0] - masses[1]) / 125) - 1) < Fraction(1, 2**102)


@pytest.mark.parametrize("backend", backends_here())
def test_arrays_of_texts_pairs_and_records(backend):
    moments = wb.trace(MOMENTS, name="moments")
    texts = [["0.1", "0.2", "0.3"], ["1", "2", "3"]]
    found = moments(A=texts, x=["1", "1e-20", "7"], backend=backend)
    assert as_texts(found["y"]).tolist() == ["2.20000000000000000000200000000002", "22.00000000000000000002"]
    assert found["size"].dtype == found["product"].dtype == DD.numpy
    assert abs(as_fraction(*found["product"][0].item()) - Fraction(6, 1000)) < Fraction(1, 2**108)
    assert found["largest"].tolist() == [(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]
    again = moments(A=as_pairs(np.array(texts, object)), x=as_pairs(["1", "1e-20", "7"]), backend=backend)
    assert all(again[name].tobytes() == found[name].tobytes() for name in found)
    with pytest.raises(FieldError, match="'seven' is no number"):
        moments(A=texts, x=["1", "2", "seven"], backend=backend)


def test_gathered_pairs_are_equal_on_all_backends():
    gathered = wb.trace(GATHERED, name="gathered")
    rng = np.random.default_rng(1)
    x, v = (join(rng.normal(size=n), 1e-17 * rng.normal(size=n)) for n in (50, 1030))
    values = {"x": x, "v": v, "places": rng.integers(0, 50, 1030)}
    right = gathered(**values, backend="reference")
    for backend in COMPILED:
        found = gathered(**values, backend=backend)
        for name, expected in right.items():
            assert_same_bits(found[name], expected, f"{name} on {backend}")
        with pytest.raises(RunError, match="x is read at index 50"):
            gathered(x=x, v=v, places=values["places"] * 0 + 50, backend=backend)


def test_scans_and_segments_are_equal_on_all_backends():
    ordered = wb.trace(IN_ORDER, name="ordered")
    rng = np.random.default_rng(3)
    v = join(rng.normal(size=1030), 1e-17 * rng.normal(size=1030))
    values = {"v": v, "lengths": np.array([1000, 0, 1, 29])}
    right = ordered(**values, backend="reference")
    for backend in COMPILED:
        found = ordered(**values, backend=backend)
        for name, expected in right.items():
            assert_same_bits(found[name], expected, f"{name} on {backend}")


def test_particles_move_alike_on_all_backends():
    machine, ends = wb.trace(STARS, name="stars"), set()
    x = join(np.random.default_rng(2).normal(size=(2, 9)), np.full((2, 9), 1e-20))
    for backend in backends_here():
        with machine.simulate(backend=backend, x=x, v=0, m="0.1") as simulation:
            ends.add(simulation.run(3)["x"].tobytes())
    assert len(ends) == 1
