"""Formulas of pairs as physicists write them: bits of the reference on all backends, numbers of plain NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits

COUNT, BOX = 37, 4.0
PLACES = np.random.default_rng(7).uniform(0, BOX, (3, COUNT))
OTHER = ~np.eye(COUNT, dtype=bool)


def between(values, box=None):
    """From each target to each source, in a periodic box to the nearest image."""
    d = values[:, None, :] - values[:, :, None]
    return d if box is None else d - box * np.round(d / box)


LENNARD_JONES = """
x, y, z = targets("x y z")
xs, ys, zs = sources("x y z")
fx, fy, fz, u = totals("fx fy fz u")
box, eps, sigma = param("box", 4.0), param("eps", 1.0), param("sigma", 0.8)
rc = 2.0
dx = x - xs
dx = dx - box*round(dx/box)
dy = y - ys
dy = dy - box*round(dy/box)
dz = z - zs
dz = dz - box*round(dz/box)
r2 = dx*dx + dy*dy + dz*dz
inside = (r2 < rc**2) & (index(0) != index(1))
s6 = (sigma**2/r2)**3
f = where(inside, 24*eps*(2*s6**2 - s6)/r2, 0)
fx += f*dx
fy += f*dy
fz += f*dz
u += where(inside, 2*eps*(s6**2 - s6), 0)
"""


def lennard_jones():
    d = -between(PLACES, BOX)
    r2 = np.where(OTHER, (d * d).sum(axis=0), 1)
    s6, inside = (0.64 / r2) ** 3, (r2 < 4) & OTHER
    force = np.where(inside, 24 * (2 * s6**2 - s6) / r2 * d, 0).sum(axis=2)
    energy = np.where(inside, 2 * (s6**2 - s6), 0).sum(axis=1)
    return dict(zip(("fx", "fy", "fz", "u"), (*force, energy), strict=True))


COULOMB = """
x, = targets("x", dim=3)
xs, = sources("x", dim=3)
q, = sources("q")
E, = totals("E", dim=3)
phi, = totals("phi")
L = param("L", 4.0)
d = x - xs
d = d - L*round(d/L)
r = sqrt(dot(d, d) + 1e-4)
E += q*d/r**3
phi += where(r > 0.02, q/r, 0)
"""


def coulomb():
    d, q = -between(PLACES, BOX), CHARGES
    r = np.sqrt((d * d).sum(axis=0) + 1e-4)
    return {"E": (q * d / r**3).sum(axis=2), "phi": np.where(r > 0.02, q / r, 0).sum(axis=1)}


TIDAL = """
x, = targets("x", dim=3)
xs, = sources("x", dim=3)
m, = sources("m")
T, = totals("T", dim=6)
d = xs - x
r2 = dot(d, d) + 0.01
k = 0
for a in range(3):
    for b in range(a, 3):
        T[k] += m*(3*d[a]*d[b] - r2*delta(a, b))/r2**2.5
        k += 1
"""


def tidal():
    d, m = between(PLACES), PLACES[0]
    r2 = (d * d).sum(axis=0) + 0.01
    parts = [(a, b) for a in range(3) for b in range(a, 3)]
    return {"T": [(m * (3 * d[a] * d[b] - r2 * (a == b)) / r2**2.5).sum(axis=1) for a, b in parts]}


BOIDS = """
x, v = targets("x v", dim=2)
xs, vs = sources("x v", dim=2)
cohesion, alignment, separation = totals("cohesion alignment separation", dim=2)
count, = totals("count", dtype="i32")
d = xs - x
r = sqrt(dot(d, d))
seen = (r > 0) & (r < 1.2)
cohesion += where(seen, d, 0)
alignment += where(seen, vs - v, 0)
separation -= where(r < 0.5, d, 0)
count += where(seen, 1, 0)
"""


def boids():
    d, dv = between(PLACES[:2]), between(PLACES[1:])
    r = np.sqrt((d * d).sum(axis=0))
    seen = (r > 0) & (r < 1.2)
    return {
        "cohesion": np.where(seen, d, 0).sum(axis=2),
        "alignment": np.where(seen, dv, 0).sum(axis=2),
        "separation": -np.where(r < 0.5, d, 0).sum(axis=2),
        "count": seen.sum(axis=1),
    }


KURAMOTO = """
theta, = targets("theta")
other, = sources("theta")
K = param("K", 0.7)
rate, floors = totals("rate floors")
rate += K/size("sources")*abs(other - theta)
floors -= floor(other - theta)/size("targets")
"""


def kuramoto():
    """Without sine, whose bits backends do not share: phases that pull by their distance."""
    d = between(PLACES[:1])[0]
    return {"rate": 0.7 / COUNT * np.abs(d).sum(axis=1), "floors": -np.floor(d).sum(axis=1) / COUNT}


PRODUCT = """
q, = targets("q", dim=3)
k, v = sources("k v", dim=3)
c, = totals("c", dim=3)
c += dot(q, k) * v
"""


def product():
    """Two products of matrices, of which the first is never stored."""
    q, k, v = VECTORS
    return {"c": ((q.T @ k) @ v.T).T}


VECTORS = np.random.default_rng(8).normal(size=(3, 3, COUNT))
CHARGES = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
FORMULAS = {
    "lennard_jones": (LENNARD_JONES, dict(zip("xyz", PLACES, strict=True)), lennard_jones),
    "coulomb": (COULOMB, {"x": PLACES, "q": CHARGES}, coulomb),
    "tidal": (TIDAL, {"x": PLACES, "m": PLACES[0]}, tidal),
    "boids": (BOIDS, {"x": PLACES[:2], "v": PLACES[1:]}, boids),
    "product": (PRODUCT, dict(zip("qkv", VECTORS, strict=True)), product),
    "kuramoto": (KURAMOTO, {"theta": PLACES[0]}, kuramoto),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_formulas_have_the_bits_of_the_reference_and_numbers_of_numpy(name, backend):
    cell, given, oracle = FORMULAS[name]
    machine, exact = wb.trace(cell, name=name), oracle()
    expected = machine(backend="reference", **given)
    assert set(exact) == set(expected)
    for each, values in exact.items():
        np.testing.assert_allclose(expected[each], values, rtol=1e-11, atol=1e-11)  # other orders of sums
    for threads in (1, 2, 3) if backend == "openmp" else (1,):
        found = machine(backend=backend, threads=threads, **given)
        for each, values in expected.items():
            assert_same_bits(found[each], values, f"{backend}, {threads} threads: {each}")


def test_plummers_sphere_pulls_as_its_potential_says():
    """Means over spheres, which know the mass inside alone, of stars at equal parts of the mass (Plummer 1911)."""
    count, at = 2000, np.array([0.3, 0.7, 1.5, 4.0])
    draw = np.random.default_rng(9)
    ways = draw.normal(size=(2, 3, count))
    ways /= np.sqrt((ways * ways).sum(axis=1, keepdims=True))
    places = np.repeat(at, count // 4) * ways[0]
    stars = ways[1] / np.sqrt(((np.arange(count) + 0.5) / count) ** (-2 / 3) - 1)
    machine = wb.trace("""
x, = targets("x", dim=3)
xs, = sources("x", dim=3)
phi, = totals("phi")
a, = totals("a", dim=3)
d = xs - x
r = rsqrt(dot(d, d) + 1e-6)
phi -= r / size("sources")
a += r**3 / size("sources") * d
""")
    found = machine(targets={"x": places}, sources={"x": stars}, backend="openmp", threads=2)
    inwards = (found["a"] * ways[0]).sum(axis=0)
    np.testing.assert_allclose(found["phi"].reshape(4, -1).mean(axis=1), -1 / np.sqrt(1 + at**2), rtol=0.01)
    np.testing.assert_allclose(inwards.reshape(4, -1).mean(axis=1), -at / (1 + at**2) ** 1.5, atol=0.02)
