"""Programs in more than f64: a loop integral against its closed form, Hermite's energy, exact products of matrices."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.programs import hermite, loop_integral


def closed_form():
    """2/3 - 2 pi / (9 sqrt(3)): with masses 1 and s = t = 0 the integral of r (1 - r) / (r**2 - r + 1)**2 over r."""
    with localcontext() as context:
        context.prec = 40
        pi = Decimal("3.141592653589793238462643383279502884197169")
        return Decimal(2) / 3 - 2 * pi / (9 * Decimal(3).sqrt())


@pytest.mark.parametrize(("precision", "count", "error"), [("double", 72, 1e-15), ("quadruple", 40, 3e-9)])
def test_the_loop_integral_is_its_closed_form(precision, count, error):
    assert abs(loop_integral.integral(count, precision, backend="reference") / closed_form() - 1) < error


@pytest.mark.proof(sample=1)
def test_the_loop_integral_has_the_digits_of_dd():
    assert abs(loop_integral.integral(128, "quadruple", backend="openmp") / closed_form() - 1) < 1e-28


def test_the_loop_integral_depends_on_momenta_as_gauss_legendre_finds():
    place, weight = np.polynomial.legendre.leggauss(40)
    place, weight = (place + 1) / 2, weight / 2
    x, u, z = np.meshgrid(place, place, place, indexing="ij")
    y, rest = (1 - x) * u, (1 - x) * (1 - u)
    z = z * rest
    s, t = -3.0, -1.5
    d = -x * y * s - t * z * (1 - x - y - z) + x + y + (1 - x - y - z) * (1 - x - y) + z * (1 - x - y)
    expected = np.einsum("i,j,k,ijk->", weight, weight, weight, (1 - x) * rest / d**2)
    found = loop_integral.integral(64, s=s, t=t, backend="reference")
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_wynn_finds_the_limit_of_geometric_sequences():
    terms = [Decimal(3) + 5 * Decimal("0.9") ** k - 2 * Decimal("-0.5") ** k for k in range(6)]
    assert abs(loop_integral.wynn(terms) - 3) < Decimal("1e-30")
    logarithm = np.cumsum([Fraction((-1) ** k, k + 1) for k in range(21)])  # of 2: from 2 digits to 15
    found = loop_integral.wynn([Decimal(f.numerator) / Decimal(f.denominator) for f in logarithm])
    assert float(found) == pytest.approx(np.log(2), abs=1e-15)
    assert loop_integral.wynn([Decimal(7)] * 5) == 7


def cluster(n):
    draw = np.random.default_rng(1)
    return {"x": draw.normal(size=(3, n)), "v": 0.3 * draw.normal(size=(3, n)), "m": np.full(n, 1 / n)}


def drift(precision, n=24, steps=12, dt=3e-4, backend="reference"):
    sim = hermite.machine(precision).simulate(**cluster(n), a=0.0, j=0.0, dt=dt, backend=backend).call("prepare")
    before = hermite.energy(sim.x, sim.v, sim.m)
    sim.run(steps)
    return float(abs(hermite.energy(sim.x, sim.v, sim.m) / before - 1))


def test_mixed_precision_keeps_the_energy_as_double_double_does():
    exact, mixed, double = (drift(precision) for precision in ("dd", "mixed", "f64"))
    assert mixed <= 2 * exact
    assert double > 20 * exact


def test_the_mixed_scheme_has_the_bits_of_the_reference():
    start = cluster(9) | {"a": 0.0, "j": 0.0, "dt": 0.01}
    sims = [hermite.machine().simulate(**start, backend=b).call("prepare").run(2) for b in ("reference", "openmp")]
    for name in ("x", "v", "a", "j"):
        assert_same_bits(sims[1][name], sims[0][name], name)


def test_a_product_of_matrices_of_whole_numbers_is_exact_in_double_double():
    """Products of ten digits have twenty: exact in dd, not in f64."""
    cell = """
A = array("A", "rows", "inner", dtype="{0}")
B = array("B", "inner", "columns", dtype="{0}")
output("product", fold(add, A * B, axis="inner"))
"""
    draw = np.random.default_rng(3)
    a, b = (draw.integers(-(10**10), 10**10, shape) for shape in ((5, 7), (7, 4)))
    exact = [[sum(int(a[i, k]) * int(b[k, j]) for k in range(7)) for j in range(4)] for i in range(5)]
    found = {
        dtype: wb.trace(cell.format(dtype), name="product")(A=a.astype(float), B=b.astype(float), backend="reference")[
            "product"
        ]
        for dtype in ("f64", "dd")
    }
    for i, row in enumerate(exact):
        for j, value in enumerate(row):
            assert Fraction(found["dd"]["hi"][i, j]) + Fraction(found["dd"]["lo"][i, j]) == value
    assert any(int(found["f64"][i, j]) != exact[i][j] for i in range(5) for j in range(4))
