"""Sparse matrix times vector as users type it: bits on every backend, one loop, and lengths that do not fit."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, TraceError
from workbench.graph import Scan, SegmentedReduce

CELL = """
lengths = array("lengths", "rows", dtype="i32")
columns, v, x = array("columns", "entries", dtype="{columns}"), array("v", "entries"), array("x", "cols")
y = output("y", fold_segments({op}, v * x[columns], lengths))
"""
FOLDED = {"add": (sum, -0.0), "minimum": (min, np.inf)}


def smvm(columns="i64", op="add"):
    return wb.trace(CELL.format(columns=columns, op=op), name="smvm")


def matrix(lengths, columns="i64", cols=50, seed=0):
    draw, n = np.random.default_rng(seed), int(np.sum(lengths))
    return {
        "lengths": np.asarray(lengths, np.int32),
        "columns": draw.integers(0, cols, n).astype({"i32": np.int32, "i64": np.int64}[columns]),
        "v": draw.normal(size=n),
        "x": draw.normal(size=cols),
    }


def written_out(m):
    """From the semantics: chunks of 1024 from the segment's own start, left to right, then a tree over them."""

    def chain(cells):  # sum() of Python 3.12 and later compensates
        total = -0.0
        for cell in cells:
            total += cell
        return total

    def pairs(numbers):
        while len(numbers) > 1:
            joined = [a + b for a, b in zip(numbers[0::2], numbers[1::2], strict=False)]
            numbers = joined + numbers[len(joined) * 2 :]
        return numbers[0] if numbers else -0.0

    products, results, begin = (m["v"] * m["x"][m["columns"]]).tolist(), [], 0
    for length in m["lengths"].tolist():
        cells = products[begin : begin + length]
        results.append(pairs([chain(cells[c : c + 1024]) for c in range(0, length, 1024)]))
        begin += length
    return np.array(results)


ROWS = {
    "even": [5] * 7,
    "one": [1],
    "empty rows": [0, 3, 0, 0, 2, 0],
    "borders": [31, 32, 33, 1023, 1024, 1025, 2048, 2049, 1],
    "very different": [1] * 300 + [5000] + [0] * 40 + [7] * 100,
}


@pytest.mark.parametrize("columns", ["i32", "i64"])
@pytest.mark.parametrize("rows", ROWS)
def test_the_product_has_the_bits_of_the_written_order(rows, columns):
    given = matrix(ROWS[rows], columns)
    expected = written_out(given)
    assert_same_bits(smvm(columns)(**given, backend="reference")["y"], expected, "reference")
    for threads in (1, 2, 3):
        assert_same_bits(smvm(columns)(**given, backend="openmp", threads=threads)["y"], expected, f"{threads} threads")
    assert_same_bits(smvm(columns)(**given, backend="cuda-sim")["y"], expected, "cuda-sim")


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_other_operators_and_a_start(backend):
    given = matrix([3, 0, 1500, 1])
    products, ends = given["v"] * given["x"][given["columns"]], np.cumsum(given["lengths"])
    least = [min(products[e - n : e], default=np.inf) for e, n in zip(ends, given["lengths"], strict=True)]
    assert_same_bits(smvm(op="minimum")(**given, backend=backend)["y"], np.array(least), "minimum")
    cell = 'n = array("n", "rows", dtype="u8")\nxs = array("xs", "m", dtype="i64")\n'
    machine = wb.trace(f'{cell}output("y", fold_segments(multiply, xs, n, start=3))', name="started")
    found = machine(n=np.array([2, 0, 1], np.uint8), xs=np.array([5, 7, 11]), backend=backend)
    assert_same_bits(found["y"], np.array([105, 3, 33]), "y")


def test_what_is_multiplied_is_stored_nowhere():
    plan = smvm().plan()
    made = [type(plan.main.kernel.nodes[loop.alone].instruction) for loop in plan.subkernels]
    assert made == [Scan, SegmentedReduce]
    assert [slot.field for slot in plan.slots] == ["lengths", "columns", "v", "x", "y", ""]
    assert plan.slots[5].axes == plan.slots[0].axes  # where each row begins
    (segments,) = (
        loop for loop in plan.subkernels if type(plan.main.kernel.nodes[loop.alone].instruction) is SegmentedReduce
    )
    assert segments.emitted == 2  # the product, and a length as i64


def test_sums_of_no_entries_are_the_identity():
    assert_same_bits(smvm()(**matrix([0, 0]))["y"], np.array([-0.0, -0.0]), "no entries")
    assert smvm()(**matrix([]))["y"].shape == (0,)


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([2, 3, 4], "line 4: the lengths of 3 segments add up to 9, but there are 8 cells"),
        ([2, 3, 2], "line 4: the lengths of 3 segments add up to 7, but there are 8 cells"),
        ([9, -1], "line 4: segment 1 has the length -1"),
        ([], "line 4: the lengths of 0 segments add up to 0, but there are 8 cells"),
    ],
)
def test_lengths_that_do_not_fit_are_an_error_with_line_and_value(backend, lengths, message):
    given = matrix([8]) | {"lengths": np.array(lengths, np.int32)}
    with pytest.raises(RunError) as caught:
        smvm()(**given, backend=backend)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_a_column_outside_is_an_error_with_line_and_value(backend):
    given = matrix([5, 0, 30])
    given["columns"][20] = 50
    with pytest.raises(RunError, match="line 4: x is read at index 50, for entries = 20, but has 50 elements"):
        smvm()(**given, backend=backend)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("fold_segments(add, A, n)", "fold_segments(add, A, n): the elements have the axes k, m"),
        ("fold_segments(add, xs, xs)", "fold_segments(add, xs, xs): the lengths are f64"),
        ("fold_segments(subtract, xs, n)", "fold_segments by subtract"),
        ("fold_segments(add, xs > 0, n)", "fold_segments by add does not take bool"),
        ("fold_segments(add, 3, n)", "fold_segments(add, 3, n) needs an array, but this is one number"),
    ],
)
def test_what_has_no_segments_is_said(value, message):
    cell = 'n, xs = array("n", "k", dtype="i32"), array("xs", "m")\nA = array("A", "k", "m")\n'
    with pytest.raises(TraceError) as caught:
        wb.trace(f'import numpy as np\nfrom numpy import subtract\n{cell}output("y", {value})', name="bad")
    assert str(caught.value).startswith(f"line 5: {message}")
