"""Loops over dd without a look at each operation: bits of the reference also where an operation overflows."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.base import MarchRequest
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.reference import ReferenceBackend
from workbench.codegen.quick import quick_stages
from workbench.codegen.statement import Statement
from workbench.pipeline import render

POLYNOMIAL = """
x, a, y = fields("x a y", dtype="dd")
w = field("w")
p = x * a - w
q = p * x + a
"""
STORED = {"in place": "x.next = q - p * p\ny.next = -(q * x) * 0.5", "elsewhere": "y.next = q - p * p"}
LARGE = 1e308


def values(n, wild):
    """Pairs of ordinary numbers, of which every seventh of the `wild` ones overflows or is no number somewhere."""
    draw = np.random.default_rng(n)
    given = {}
    for name in "xay":
        given[name] = np.zeros(n, [("hi", "f8"), ("lo", "f8")])
        given[name]["hi"] = draw.normal(size=n)
        given[name]["lo"] = 1e-17 * draw.normal(size=n) * given[name]["hi"]
    if wild:
        some = [LARGE, -LARGE, np.inf, -np.inf, np.nan, 0.0, -0.0, 5e-324, 1e-300, 1e200]
        for k, value in enumerate(some):
            given["xa"[k % 2]][7 * k % n] = (value, 0.0)
    return given | {"w": draw.normal(size=n)}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("wild", [False, True])
def test_results_have_the_bits_of_the_reference(wild, stored):
    plan = wb.trace(POLYNOMIAL + STORED[stored], name="polynomial", dim=1).plan("openmp")
    programs = [backend.compile(plan) for backend in (ReferenceBackend(), OpenmpBackend())]  # by text, not by plan
    for n in (1, 31, 32, 33, 100):
        runs = [program.instantiate((n,)) for program in programs]
        for name, given in values(n, wild).items():
            for instance in runs:
                instance.write_field(name, given)
        for _ in range(2):
            with np.errstate(all="ignore"):
                for instance in runs:
                    instance.march(MarchRequest("step", 1))
            for name in "xy":
                expected, found = (instance.read_field(name) for instance in runs)
                for part in ("hi", "lo"):
                    assert_same_bits(found[part], expected[part], f"{n} cells, {name}.{part}")


@pytest.mark.parametrize(
    ("cell", "quick"),
    [
        ("not_finite = x * a\ny.next = not_finite + x", True),
        ("y.next = x * a + x", True),
        ("y.next = -x * a - 1", True),
        ("y.next = x / a + x", False),
        ("y.next = where(x * a > 1, x, a)", False),
        ("y.next = abs(x * a)", False),
    ],
)
def test_a_look_at_results_is_enough_for_sums_and_products_alone(cell, quick):
    """What loses that an operand was not finite, as 1 / inf does, is left to the sequences."""
    head = 'x, a, y = fields("x a y", dtype="dd")\n'
    text = render(wb.trace(head + cell, name="cells", dim=1).plan("openmp"), "openmp").text
    assert ("compute_quickly" in text) == quick


def test_results_wait_where_they_take_the_place_of_what_is_read():
    """A block that overflowed is computed again from what was there."""
    for stored, waits in (("elsewhere", False), ("in place", True)):
        text = render(wb.trace(POLYNOMIAL + STORED[stored], name="cells", dim=1).plan("openmp"), "openmp").text
        assert "compute_quickly" in text
        assert ("} quick;" in text) == waits


def test_an_output_that_is_stored_elsewhere_is_left_alone():
    lines = (Statement("const dd p = dd_multiply(x[i], a[i]);", (0,)), Statement("out_y[i] = p;", (1,)))
    (stage,) = quick_stages(lines, ["out_y"], in_place=True)
    product, look = "const dd p = quick_multiply(x[i], a[i]);", "return not_finite({}.hi);"
    assert [s.text for s in stage.cell] == [product, "quick.out_y[lane] = p;", look.format("quick.out_y[lane]")]
    assert stage.put == (("dd", "out_y"),)
    (stage,) = quick_stages(lines, ["out_y"], in_place=False)
    assert [s.text for s in stage.cell] == [product, "out_y[i] = p;", look.format("out_y[i]")]
    assert stage.put == ()
    assert quick_stages(lines, ["out_y", "out_z"], in_place=False) == ()
    assert quick_stages((*lines, Statement("const double q = f64_from_dd(p);", (2,))), ["out_y"], in_place=False) == ()
