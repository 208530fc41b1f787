"""Vectors in cells of pairs: declared with dim=, given and returned as arrays (dim, n), taken by totals."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import FieldError, ShapeError, TraceError

LORENTZ = """
x, = targets("x", dim=3)
xj, v = sources("x v", dim=3)
q, = sources("q")
f, b = totals("f b", dim=3)
shells, = totals("shells", dim=5)
d = xj - x
r2 = dot(d, d) + 0.25
f += q * d / r2
b += cross(q * v, d) / (r2 * sqrt(r2))
for k in range(5):
    shells[k] += where(floor(r2) == k, 1, 0)
"""
SAME = """
x0, x1, x2 = targets("x0 x1 x2")
y0, y1, y2, q = sources("x0 x1 x2 q")
f0, f1, f2 = totals("f0 f1 f2")
d0, d1, d2 = y0 - x0, y1 - x1, y2 - x2
r2 = d0 * d0 + d1 * d1 + d2 * d2 + 0.25
f0 += q * d0 / r2
f1 += q * d1 / r2
f2 += q * d2 / r2
"""


def drawn(n, seed=0):
    draw = np.random.default_rng(seed)
    return {"x": draw.normal(size=(3, n)), "v": draw.normal(size=(3, n)), "q": draw.random(n)}


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_vectors_are_given_and_returned_whole(backend):
    p = drawn(33)
    found = wb.trace(LORENTZ, name="lorentz")(backend=backend, **p)
    assert {name: values.shape for name, values in found.items()} == {"f": (3, 33), "b": (3, 33), "shells": (5, 33)}
    assert list(found) == ["f", "b", "shells"]
    d = p["x"][:, None, :] - p["x"][:, :, None]
    r2 = np.sum(d * d, axis=0) + 0.25
    np.testing.assert_allclose(found["f"], (p["q"] * d / r2).sum(axis=2), rtol=1e-12, atol=1e-13)
    product = np.cross((p["q"] * p["v"])[:, None, :], d, axis=0)
    np.testing.assert_allclose(found["b"], (product / r2**1.5).sum(axis=2), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(found["shells"], [(np.floor(r2) == k).sum(axis=1) for k in range(5)])
    components = wb.trace(SAME, name="same")(x0=p["x"][0], x1=p["x"][1], x2=p["x"][2], q=p["q"], backend="reference")
    for k in range(3):
        assert_same_bits(found["f"][k], components[f"f{k}"], f"f{k}")


def test_two_sets_empty_sets_and_components_by_name():
    machine, p, o = wb.trace(LORENTZ, name="lorentz"), drawn(4, 1), drawn(6, 2)
    found = machine(targets={"x": p["x"]}, sources=o, backend="reference")
    apart = {"x0": o["x"][0], "x1": o["x"][1], "x2": list(o["x"][2]), "v": tuple(o["v"]), "q": o["q"]}
    again = machine(targets={"x": p["x"].T.copy().T}, sources=apart, backend="openmp")
    for name, values in found.items():
        assert_same_bits(again[name], values, name)
    none = machine(targets={"x": p["x"]}, sources={name: values[..., :0] for name, values in o.items()})
    assert none["f"].shape == (3, 4)
    assert not none["f"].any()


def test_a_cutoff_takes_the_distance_of_vectors():
    cell = """
x, = targets("x", dim=2)
y, = sources("x", dim=2)
m, = sources("m")
near, = totals("near", cutoff=0.5, positions="x", dim=2)
near += m * (y - x)
"""
    draw = np.random.default_rng(3)
    x, m = draw.random((2, 50)), draw.random(50)
    found = wb.trace(cell, name="near")(x=x, m=m, backend="reference")["near"]
    d = x[:, None, :] - x[:, :, None]
    close = np.sum(d * d, axis=0) <= 0.25
    np.testing.assert_allclose(found, (m * d * close).sum(axis=2), rtol=1e-12, atol=1e-13)


def test_components_may_have_types_of_their_own():
    machine = wb.trace(LORENTZ, name="lorentz").with_precision(f="dd")
    found = machine(backend="reference", **drawn(3))
    assert found["f"].shape == (3, 3)
    assert found["f"].dtype.names == ("hi", "lo")
    mixed = machine.with_precision(f="dd", b1="dd")(backend="reference", **drawn(3))
    assert {"f", "b0", "b1", "b2", "shells"} == set(mixed)


@pytest.mark.parametrize(
    ("change", "error", "what"),
    [
        ({"x": np.zeros((2, 3))}, ShapeError, "x has components of shape (3,), but was given an array of shape (2, 3)"),
        ({"x": np.zeros((5, 3))}, ShapeError, "shape (5, 3)\nPass x.T: the first axis is that of components."),
        ({"x": np.zeros((3, 4))}, ShapeError, "v has 3 elements, x has 4"),
        ({"v": None}, FieldError, "lorentz needs v\nPass v="),
        ({"w": 1.0}, FieldError, "lorentz has no 'w'\nUse one of: q, v, x."),
    ],
)
def test_bad_vectors_are_refused_by_name(change, error, what):
    given = {name: value for name, value in (drawn(3) | change).items() if value is not None}
    with pytest.raises(error) as found:
        wb.trace(LORENTZ, name="lorentz")(backend="reference", **given)
    assert what in str(found.value)


HEAD = 'x, = targets("x", dim=3)\ny, = sources("x", dim=3)\na, = totals("a", dim=3)\nd = y - x\n'
BAD = {
    "a += d[0]": "line 5: a += d[0]: a has 3 components, but is given one value",
    "a += (d[0], d[1])": "a has 3 components, but is given 2 components",
    "a[3] += d[0]": "a has components 0 to 2, not 3",
    "a[floor(d[0])] += 1": "Write for k in range(3): a[k] += where(index == k, value, 0).",
    "a[0] = d[0]": "line 5: a[0] is a total, and no other value takes its place",
    "a = d": "line 5: a = d: a is a total, to which pairs contribute, and this replaces it",
    "a += d\nb = a * 2": "line 6: a is read, but it is complete only after all sources",
    "a[0] += d[0]": "line 3: nothing is contributed to the total a[1]",
    'z, = sources("z", dim=2)': "sources: dim=2, but other vectors of the cell have 3 components",
    't, = totals("t")\nt += d': "line 6: a vector stands where one value is needed",
    'c, = totals("c", dim=0)': "totals: no total has dim=0",
    'c, = totals("c e", dim=2, reduce=lambda s, t: s, identity=(0, 1))': "totals: dim=2 of a total of records",
    'c, = totals("c", dim=3, reduce="max")\nc += d': "c[0] += adds, but c[0] is the max over all sources",
}


@pytest.mark.parametrize("line", BAD)
def test_mistakes_are_named_with_their_line(line):
    with pytest.raises(TraceError) as found:
        wb.trace(HEAD + line, name="cell")
    assert BAD[line] in str(found.value)
