"""Formulas of pairs as physicists write them: bits of the reference on all backends, numbers of plain NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import FieldError, TraceError

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
        T[k] += m*(3*d[a]*d[b] - r2*delta(a, b))/(r2**2*sqrt(r2))
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


YUKAWA = """
x, y, z, q = targets("x y z q")
xs, ys, zs, qs = sources("x y z q")
fx, fy, fz, phi = totals("fx fy fz phi")
kappa = param("kappa", 1.5)
dx, dy, dz = x - xs, y - ys, z - zs
r = sqrt(dx**2 + dy**2 + dz**2)
pair = r > 0
e = exp(-kappa*r)/r
phi += where(pair, qs*e, 0)
g = q*qs*e*(1/r + kappa)/r
for f, d in zip((fx, fy, fz), (dx, dy, dz)):
    f += where(pair, g*d, 0)
"""


def yukawa():
    d = -between(PLACES)
    r = np.where(OTHER, np.sqrt((d * d).sum(axis=0)), 1)
    e = np.where(OTHER, np.exp(-1.5 * r) / r, 0)
    force = (CHARGES[:, None] * CHARGES * e * (1 / r + 1.5) / r * d).sum(axis=2)
    return dict(zip(("fx", "fy", "fz", "phi"), (*force, e @ CHARGES), strict=True))


GAY_BERNE = """
x, u = targets("x u", dim=3)
xs, us = sources("x u", dim=3)
E, = totals("E")
kappa, kappap, mu, nu = 3.0, 5.0, 2, 1
chi = (kappa**2 - 1)/(kappa**2 + 1)
chip = (kappap**(1/mu) - 1)/(kappap**(1/mu) + 1)
d = x - xs
r = sqrt(dot(d, d))
rhat = d/r
a, b, c = dot(u, rhat), dot(us, rhat), dot(u, us)
def H(chi):
    return 1 - chi/2*((a + b)**2/(1 + chi*c) + (a - b)**2/(1 - chi*c))
sigma = 1/sqrt(H(chi))
eps = (1/sqrt(1 - chi**2*c**2))**nu * H(chip)**mu
rho = r - sigma + 3
s6 = 1/rho**6
E += where(index("targets") != index("sources"), 4*eps*(s6**2 - s6), 0)/2
"""


def gay_berne():
    """Ellipsoids by Gay and Berne (1981), a little farther apart."""
    chi, chip = 0.8, (5**0.5 - 1) / (5**0.5 + 1)
    d = -between(PLACES)
    r = np.where(OTHER, np.sqrt((d * d).sum(axis=0)), 1)
    a, b = (np.einsum(f"k{side},kij->ij", WAYS, d / r) for side in "ij")
    c = WAYS.T @ WAYS
    well, waist = (1 - k / 2 * ((a + b) ** 2 / (1 + k * c) + (a - b) ** 2 / (1 - k * c)) for k in (chip, chi))
    s6 = (r - 1 / np.sqrt(waist) + 3) ** -6.0
    energy = np.where(OTHER, 4 / np.sqrt(1 - (chi * c) ** 2) * well**2 * (s6**2 - s6), 0)
    return {"E": energy.sum(axis=1) / 2}


NEIGHBOURS = """
x, y = targets("x y")
xs, ys, vxs = sources("x y vx")
run, close, sx, off = totals("run close sx off")
L = param("L", 4.0)
dx = xs - x
dy = ys - y
dx -= L*np.rint(dx/L)
dy -= L*floor(dy/L + 0.5)
near = dx*dx + dy*dy < 1.0
close += near
run -= near & (vxs > 0)
sx += where(near, vxs, 0)
off += ~near
"""


def neighbours():
    """Conditions count, and totals may be called as methods of a simulation are."""
    d, v = between(PLACES[:2], BOX), PLACES[2] - 2
    near = (d * d).sum(axis=0) < 1
    return {"close": near.sum(axis=1), "run": -(near & (v > 0)).sum(axis=1), "sx": near @ v, "off": (~near).sum(axis=1)}


VECTORS = np.random.default_rng(8).normal(size=(3, 3, COUNT))
WAYS = VECTORS[0] / np.sqrt((VECTORS[0] * VECTORS[0]).sum(axis=0))
CHARGES = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
FORMULAS = {
    "lennard_jones": (LENNARD_JONES, dict(zip("xyz", PLACES, strict=True)), lennard_jones),
    "coulomb": (COULOMB, {"x": PLACES, "q": CHARGES}, coulomb),
    "tidal": (TIDAL, {"x": PLACES, "m": PLACES[0]}, tidal),
    "boids": (BOIDS, {"x": PLACES[:2], "v": PLACES[1:]}, boids),
    "product": (PRODUCT, dict(zip("qkv", VECTORS, strict=True)), product),
    "yukawa": (YUKAWA, {**dict(zip("xyz", PLACES, strict=True)), "q": CHARGES}, yukawa),
    "gay_berne": (GAY_BERNE, {"x": PLACES, "u": WAYS}, gay_berne),
    "neighbours": (NEIGHBOURS, {"x": PLACES[0], "y": PLACES[1], "vx": PLACES[2] - 2}, neighbours),
    "kuramoto": (KURAMOTO, {"theta": PLACES[0]}, kuramoto),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_formulas_have_the_bits_of_the_reference_and_numbers_of_numpy(name, backend):
    cell, given, oracle = FORMULAS[name]
    machine, exact = wb.trace(cell, name=name, namespace={"np": np}), oracle()
    expected = machine(backend="reference", **given)
    assert set(exact) == set(expected)
    for each, values in exact.items():
        np.testing.assert_allclose(expected[each], values, rtol=1e-11, atol=1e-11)  # other orders of sums
    for threads in (1, 2, 3) if backend == "openmp" else (1,):
        found = machine(backend=backend, threads=threads, **given)
        for each, values in expected.items():
            assert_same_bits(found[each], values, f"{backend}, {threads} threads: {each}")


@pytest.mark.parametrize(
    ("text", "message", "advice"),
    [
        (
            'xk, = sources("x")',
            "sources: x is declared already, in line 2",
            "A function of arrays sums over triples",
        ),
        ('for k in range(size("sources")):\n    u += xs', "known only at the call", "loops over both are implied"),
        ("u += xs[x < xs]", "one value per pair", "Leave elements out by where(condition, value, 0)."),
        ("u += norm(x - xs)", "norm is not defined", "Write sqrt(dot(v, v))."),
        (
            "u.include(x < xs)\nlargest, = totals('largest', reduce='max')\nlargest.include(x < xs)",
            "given bool",
            "Cast",
        ),
    ],
)
def test_what_is_no_formula_of_pairs_says_what_to_write(text, message, advice):
    with pytest.raises(TraceError) as error:
        wb.trace(f'x, = targets("x")\nxs, = sources("x")\nu, = totals("u")\n{text}', name="wrong")
    assert message in str(error.value)
    assert advice in str(error.value)


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


def test_an_array_beside_two_sets_is_told_where_it_belongs():
    machine = wb.trace('x, = targets("x")\ny, = sources("x")\ns, = totals("s")\ns += x * y', name="products")
    sides = {"targets": {"x": PLACES[0]}, "sources": {"x": PLACES[1]}}
    with pytest.raises(FieldError, match=r"^products was given x= beside targets= and sources=\nPut x into"):
        machine(**sides, x=PLACES[0])
