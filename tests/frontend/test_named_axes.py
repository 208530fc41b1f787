"""NumPy in cells where axes have names: what NumPy computes, with equal bits on every backend."""

import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import TraceError

DRAW = np.random.default_rng(21)
SHAPES = {"A": (5, 37), "x": (37,), "B": (37, 6)}
AXES = {"A": '"i", "n"', "x": '"n"', "B": '"n", "k"'}
GIVEN = {name: DRAW.integers(-9, 9, shape).astype(float) for name, shape in SHAPES.items()}
FORMULAS = (
    *("x @ x", "A @ x", "x @ B", "A @ B", "np.dot(A, x)", "np.matmul(A, B)"),
    *("x.sum()", "A.sum(axis=0)", "A.sum(axis=-1)", "A.sum(axis=(0, 1))", "B.sum(axis=0)", "B.sum(1)", "np.sum(B, 1)"),
    *("A.min(axis=1)", "A.max()", "B.max(axis=1)", "(x > 8).any()", "(A > -9).all(axis=1)", "(x / 8).prod()"),
    *("A.mean()", "B.mean(axis=0)", "np.mean(A, axis=1)", "np.cumsum(x)", "B.cumsum(axis=0)", "np.cumprod(x / 8)"),
    *("np.argmax(x)", "x.argmin()", "np.argmax(A, axis=1)", "B.argmin(axis=0)", "np.argmax(B, 1)", "(x > 3).argmax()"),
)
WHOLE = ("argm", "any", "all")
RUNS = [(name, n) for name in backends_here() for n in ((1, 2, 3) if name == "openmp" else (0,)) if name != "reference"]


def computed(backend, *formulas, threads=0):
    """What a cell with these outputs gives."""
    used = [name for name in SHAPES if any(re.search(rf"\b{name}\b", formula) for formula in formulas)]
    lines = [f'{name} = array("{name}", {AXES[name]})' for name in used]
    lines += [f'output("r{number}", {formula})' for number, formula in enumerate(formulas)]
    machine = wb.trace("\n".join(lines), namespace={"np": np})
    found = machine(**{name: GIVEN[name] for name in used}, backend=backend, threads=threads)
    return [np.asarray(found[f"r{number}"]) for number in range(len(formulas))]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_means_what_it_does_in_numpy(formula):
    (found,) = computed("reference", formula)
    expected = np.asarray(eval(formula, {"np": np, **GIVEN}))  # the formulas above
    if any(name in formula for name in WHOLE):
        assert_same_bits(found, expected)
    assert found == pytest.approx(expected, rel=1e-13)  # sums of floats in another order


@pytest.mark.parametrize(("backend", "threads"), RUNS)
def test_all_backends_give_equal_bits(backend, threads):
    pairs = zip(computed(backend, *FORMULAS, threads=threads), computed("reference", *FORMULAS), strict=True)
    for found, expected in pairs:
        assert_same_bits(found, expected)


def test_the_first_place_is_that_of_the_first_nan():
    text = 'x = array("x", "n")\noutput("most", np.argmax(x))\noutput("least", x.argmin())'
    found = wb.trace(text, namespace={"np": np})(x=np.array([3.0, np.nan, 5.0, np.nan]))
    assert (found["most"], found["least"]) == (1, 1)


def test_numbers_of_axes_are_those_of_the_array():
    """Axis 0 of B is axis 1 of the program, of which A has axis 0."""
    calls = ("np.sum(B, axis=0)", "reduce_sum(B, axis=0)", "fold(add, B, axis=0)", 'B.sum(axis="n")')
    _, *found = computed("reference", "A.sum()", *calls)
    assert found[0].shape == (6,)
    for values in found:
        assert_same_bits(values, found[0])


SIZES = """
x = array("x", "n")
A = array("A", "i", "n")
output("first", 10 * size(0) + size(1))
output("x_by_number", x / size(0))
output("A_by_number", A / size(1) + (size("n") - size(0)))
output("places", 10 * index(0) + index(1) + 0 * astype(A, "i64"))
output("means", fold(add, A, axis=0) / size(1))
"""


@pytest.mark.parametrize("backend", backends_here())
def test_a_size_by_number_is_that_of_an_axis_in_the_order_of_declaration(backend):
    """Axis n is declared first: 0 of the program, and 1 of A."""
    found = wb.trace(SIZES, name="sizes")(x=GIVEN["x"], A=GIVEN["A"], backend=backend)
    assert found["first"] == 10 * 37 + 5
    assert_same_bits(found["x_by_number"], GIVEN["x"] / 37)
    assert_same_bits(found["A_by_number"], GIVEN["A"] / 5)
    assert found["places"].tolist() == [[10 * n + i for n in range(37)] for i in range(5)]
    np.testing.assert_allclose(found["means"], GIVEN["A"].mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("axis", [2, -1, '"rows"', "True"])
def test_a_size_of_an_axis_that_is_not_there_is_refused(axis):
    with pytest.raises(TraceError, match=r"line 4: size\(.*there is no axis|line 4: size\(.*an axis is a whole number"):
        wb.trace(f'x = array("x", "n")\nA = array("A", "i", "n")\n\noutput("r", x / size({axis}))')
