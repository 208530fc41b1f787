"""Totals by a function of two elements: the nearest source with its number, moments; in cutoffs; what is refused."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError

NEARER = """
xi, yi = targets("x y"{typed})
xj, yj, mj = sources("x y m"{typed})
def nearer(a, b):
    less = (b[0] < a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
    return where(less, b[0], a[0]), where(less, b[1], a[1])
near, = totals("distance number", reduce=nearer, identity=(inf, -1){dtype}{cutoff})
least, most = totals("least most", reduce=lambda a, b: minimum(a, b), identity=inf)
r2 = (xj - xi)**2 + (yj - yi)**2
near.include((where(index(0) == index(1), inf, r2), index(1)))
least.include(mj * xi)
most.include(-mj * xi)
"""
CUTOFF = ', cutoff=0.2, positions="x y"'


def drawn(n, dtype=np.float64):
    draw = np.random.default_rng(n)
    return {name: draw.random(n).astype(dtype) for name in "xym"}


def nearest(x, y, within=np.inf):
    """Squared distance and number of the nearest other point, -1 if there is none."""
    r2 = (x - x[:, None]) ** 2 + (y - y[:, None]) ** 2
    np.fill_diagonal(r2, np.inf)
    best = r2.min(axis=1, initial=np.inf)
    return best, np.where(best <= within, r2.argmin(axis=1) if len(x) else [], -1)


@pytest.mark.parametrize("cutoff", ["", CUTOFF], ids=["all", "cutoff"])
def test_the_nearest_source_has_a_number(cutoff):
    given = drawn(130)
    found = wb.trace(NEARER.format(typed="", dtype="", cutoff=cutoff), name="near")(**given, backend="reference")
    r2, number = nearest(given["x"], given["y"], 0.04 if cutoff else np.inf)
    np.testing.assert_array_equal(found["number"], number)
    np.testing.assert_array_equal(found["distance"], np.where(number < 0, np.inf, r2))
    products = given["m"] * given["x"][:, None]
    np.testing.assert_array_equal(found["least"], products.min(axis=1))
    np.testing.assert_array_equal(found["most"], (-products).min(axis=1))


@pytest.mark.parametrize("cutoff", ["", CUTOFF], ids=["all", "cutoff"])
@pytest.mark.parametrize(("backend", "threads"), [("openmp", 1), ("openmp", 3), ("cuda-sim", 1)])
def test_records_have_the_bits_of_the_reference(backend, threads, cutoff):
    machine = wb.trace(
        NEARER.format(typed=', dtype="f32"', dtype=', dtype=("f32", "i32")', cutoff=cutoff), name="near32"
    )
    for n in (0, 1, 33, 1025):
        given = drawn(n, np.float32)
        expected = machine(**given, backend="reference")
        assert (expected["distance"].dtype, expected["number"].dtype) == (np.float32, np.int32)
        for name, values in machine(**given, backend=backend, threads=threads).items():
            assert_same_bits(values, expected[name], f"{name} of {n} on {backend}")


MOMENTS = """
x, = targets("x")
w, s = sources("w x")
def together(a, b):
    count, step = a[0] + b[0], b[1] - a[1]
    part = b[0] / where(count > 0, count, 1.0)
    return count, a[1] + step * part, a[2] + b[2] + step * step * a[0] * part
m, = totals("count mean squares", reduce=together, identity=(0.0, 0.0, 0.0))
m.include((1.0, x * s, 0.0))
m.include((1.0, w * s, 0.0))
"""


def test_contributions_of_one_pair_are_combined_by_the_function():
    """Mean and variance of all x * s and w * s (Chan, Golub and LeVeque 1979)."""
    draw = np.random.default_rng(3)
    x, s, w = draw.normal(size=7), draw.normal(size=50), draw.normal(size=50)
    found = wb.trace(MOMENTS, name="moments")(targets={"x": x}, sources={"x": s, "w": w}, backend="reference")
    samples = np.concatenate([x[:, None] * s, np.broadcast_to(w * s, (7, 50))], axis=1)
    np.testing.assert_array_equal(found["count"], np.full(7, 100.0))
    np.testing.assert_allclose(found["mean"], samples.mean(axis=1), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["squares"], 100 * samples.var(axis=1), rtol=1e-12)


HEAD = """xi, = targets("x")
xj, = sources("x")
f = lambda a, b: (minimum(a[0], b[0]), a[1] + b[1])
"""
RECORD = HEAD + 't, = totals("d k", reduce=f, identity=(inf, 0))\n'
BAD = [
    (RECORD + "t += xj", "line 5: d, k \\+= adds, but d, k is reduced by <lambda>", "t.include\\(\\(d, k\\)\\)"),
    (RECORD + "t.include(xj)", "line 5: t.include\\(xj\\): d, k is a record of d, k, but is given one value", "d, k"),
    (RECORD + "t.include((xj, xj))", "line 5: k is i64, but k is given f64", 'astype\\(value, "i64"\\)'),
    (RECORD + "t.include((xi, 3))", "line 5: .* contributed to d, k depends on no source", "value of sources"),
    (RECORD, "line 4: nothing is contributed to the total d, k", "Write t.include\\(\\(d, k\\)\\)"),
    (RECORD + "y = 2 * t", "line 5: d, k is read, but it is complete only after all sources", "after the call"),
    (RECORD + 't.include((xj, 1))\ncompute_in(t, "f32")', "line 6: compute_in: d, k are components", "their types"),
    (HEAD + 't, = totals("d k", reduce=f)', "line 4: totals: no identity is given for <lambda>", "identity="),
    (HEAD + 't, = totals("d", reduce=f, identity=(inf, 0))', "has 2 components for 1 name", "Name each component"),
    (HEAD + 't, = totals("d k", reduce=f, identity=(inf, xi))', "line 4: .* is not known here", "Give numbers"),
    (HEAD + 't, = totals("d k", reduce=f, identity=(inf, 0), dtype="dd")', "a component of a record is dd", "Combine"),
    (HEAD + 't, = totals("d k", reduce=f, identity=(inf, 0), dtype=("f64",))', "for 2 components", "Give a type"),
    (HEAD + 't, = totals("d", reduce="max", identity=0)', 'reduce="max" has an identity of its own', "Leave identity"),
    (HEAD + 't, = totals("d", reduce=min)', "reduce=<built-in function min> is no reduction", "a Python function"),
    (HEAD + 't, = totals("d")\nt += (xj, 1)', "line 5: .* d is one number for each target, but is given 2", "records"),
]


@pytest.mark.parametrize(("text", "words", "advice"), BAD, ids=range(len(BAD)))
def test_what_is_no_record_is_refused_with_its_line(text, words, advice):
    with pytest.raises(TraceError, match=words) as caught:
        wb.trace(text, name="wrong")
    assert caught.match(advice)
    assert caught.match(r"line \d+")
