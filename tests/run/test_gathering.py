"""Elements of arrays by computed indices: values on every backend, what lies outside, and what is no index."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, TraceError

BACKENDS = [("reference", 0), ("openmp", 1), ("openmp", 3), ("cuda-sim", 0)]
CELL = """
A = array("A", "rows", "columns")
x = array("x", "rows")
i, j = array("i", "n", dtype="i32"), array("j", "n", dtype="u8")
output("each", A[i, j] - 0.5 * x[i])
output("columns_of_rows", (A * x)[i, :])
output("first", A[0, j + 1 - 1])
output("sums", fold(add, A[i, :], axis="columns"))
output("back", x[x.astype("i64") % size("rows")])
output("twice", x[array("k", "n", dtype="i64")[i % size("n")]])
"""


def given(n, seed=0):
    draw = np.random.default_rng(seed)
    rows, columns = 3 + n % 5, 2 + n % 7
    return {
        "A": draw.normal(size=(rows, columns)),
        "x": draw.normal(size=rows) * 100,
        "i": draw.integers(0, rows, n, np.int32),
        "j": draw.integers(0, columns, n).astype(np.uint8),
        "k": draw.integers(0, rows, n),
    }


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
@pytest.mark.parametrize("n", [1, 31, 1025])
def test_elements_are_those_of_numpy(backend, threads, n):
    values = given(n)
    A, x, i, j, k = values.values()
    found = wb.trace(CELL, name="elements")(**values, backend=backend, threads=threads)
    assert_same_bits(found["each"], A[i, j] - 0.5 * x[i], "each")
    assert_same_bits(found["columns_of_rows"], (A * x[:, None])[i].T, "columns_of_rows")
    assert_same_bits(found["first"], A[0, j], "first")
    np.testing.assert_allclose(found["sums"], A[i].sum(axis=1), rtol=1e-12, atol=1e-12)
    assert_same_bits(found["back"], x[x.astype(np.int64) % len(x)], "back")
    assert_same_bits(found["twice"], x[k[i % n]], "twice")


def test_a_product_with_gathered_elements_is_one_loop_and_stores_nothing_else():
    machine = wb.trace(
        'v, c = array("v", "n"), array("c", "n", dtype="i32")\nx = array("x", "m")\noutput("y", 2 * v * x[c])', name="p"
    )
    plan = machine.plan()
    assert len(plan.subkernels) == 1
    assert [slot.field for slot in plan.slots] == ["v", "c", "x", "y"]


@pytest.mark.parametrize(("backend", "threads"), BACKENDS)
@pytest.mark.parametrize("wrong", [-1, 5, 2**40])
def test_an_index_outside_is_an_error_with_value_line_and_cell(backend, threads, wrong):
    machine = wb.trace('c = array("c", "n", dtype="i64")\nx = array("x", "m")\noutput("y", x[c])', name="outside")
    columns = np.arange(3000) % 5
    columns[[1700, 2900]] = wrong
    with pytest.raises(RunError) as caught:
        machine(c=columns, x=np.arange(5.0), backend=backend, threads=threads)
    assert str(caught.value) == (
        f"line 3: x is read at index {wrong}, for n = 1700, but has 5 elements along m\nGive indices from 0 to 4."
    )
    found = machine(c=np.arange(3000) % 5, x=np.arange(5.0), backend=backend, threads=threads)  # nothing is left of it
    assert_same_bits(found["y"], np.arange(3000) % 5.0, "y")


def test_nothing_is_gathered_by_no_indices_and_not_from_nothing():
    machine = wb.trace('c = array("c", "n", dtype="i64")\nx = array("x", "m")\noutput("y", x[c])', name="nothing")
    assert machine(c=np.zeros(0, np.int64), x=np.ones(3))["y"].shape == (0,)
    with pytest.raises(RunError, match="x is read at index 0, for n = 0, but has 0 elements along m"):
        machine(c=np.zeros(1, np.int64), x=np.zeros(0))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("x[v]", "line 4: x[v]: index 0 is f64, not whole numbers"),
        ("x[v > 0]", "line 4: x[v > 0]: index 0 is bool, not whole numbers"),
        ("x[-1, c]", "line 4: x[-1, c] has 2 indices for the axes m"),
        ("A[c]", "line 4: A[c] has 1 index for the axes m, k"),
        ("A[-1, c]", "line 4: A[-1, c]: index 0 is -1, but indices count from 0"),
        ("A[0.5, c]", "line 4: A[0.5, c]: index 0 is a float"),
        ("x[3]", "line 4: x[3] is one number, which no array of indices asks for"),
        ("A[1:2, c]", "line 4: A[1:2, c]: a cell reads arrays by indices"),
    ],
)
def test_what_is_no_index_is_said(index, message):
    cell = 'c, v = array("c", "n", dtype="i64"), array("v", "n")\nx = array("x", "m")\nA = array("A", "m", "k")\n'
    with pytest.raises(TraceError) as caught:
        wb.trace(f'{cell}output("y", {index})', name="bad")
    assert str(caught.value).startswith(message)
