"""Folds, scans and segments by functions of arrays, and arrays that are generated: equal bits, in order of elements."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_operators import composed, latest
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, TraceError
from workbench.language import add, astype, fold, fold_segments, generate, repeat, scan, scatter, where


def in_order(A):
    last = fold(lambda a, b: b, A.T, axis=0, identity=0.0)
    steepest = fold(lambda a, b: where(abs(a) > abs(b), a, b), A, axis=(0, 1), identity=0.0, commutative=True)
    joined = fold(lambda a, b: a * 0.5 + b, A, axis=(1, 0), identity=0.0, start=2.0)
    return last, steepest, joined, joined * A, fold(add, A, start=1.0), fold("maximum", A, axis=0)


def generated(A, shape=(4, 3)):
    unit = generate((A.shape[0], A.shape[0]), lambda i, j: np.where(i == j, 1.0, 0.0))
    ramp = generate(shape, lambda i, j: 10 * i + j)
    return unit @ A, ramp, generate(A.shape, lambda i, j: i).sum(), generate(A.shape[1], lambda i: 2.5), ramp.shape[1]


def of(shape):
    return np.random.default_rng(shape).normal(size=shape)


FOLDS = [(in_order, of((3, 4))), (in_order, of((1100, 1))), (in_order, of((2, 1025))), (generated, of((3, 5)))]


@pytest.mark.parametrize(("function", "A"), FOLDS)
def test_folds_by_functions_and_generated_arrays(function, A):
    program = wb.collective(function)
    expected = program(A, backend="reference")
    for threads in (1, 2):
        for mine, exact in zip(program(A, backend="openmp", threads=threads), expected, strict=True):
            assert_same_bits(mine, exact)
    if function is in_order:
        assert expected[0].tolist() == A[:, -1].tolist()
        assert abs(expected[1]) == abs(A).max()
        np.testing.assert_allclose(expected[3], expected[2] * A)
        np.testing.assert_allclose(expected[4], A.sum(axis=1) + 1)
        assert expected[5].tolist() == A.max(axis=0).tolist()
        assert expected[2].shape == ()
    else:
        np.testing.assert_allclose(expected[0], A, rtol=1e-14)
        assert expected[1].tolist() == [[10 * i + j for j in range(3)] for i in range(4)]
        assert expected[2] == sum(i for i in range(3) for _ in range(5))
        assert expected[3].tolist() == [2.5] * 5
        assert expected[4] == 3


def test_functions_of_two_elements_have_loops_and_whole_powers():
    def doubled(left, right):
        return left + repeat(right, lambda v: 2 * v, right * 0 + 1) - 2**right + (right > 0) * right**2

    @wb.collective
    def combined(k):
        return (
            fold(doubled, k, identity=0),
            scan(doubled, k, identity=0),
            scatter(doubled, k, k - 1, k),
            fold_segments(doubled, k, k * 0 + 1, identity=0),
            np.float_power(k, 2),
        )

    k = np.array([1, 2, 3])
    expected = np.int64(14), np.array([1, 5, 14]), k + k * k, k * k, k.astype(float) ** 2
    for backend, threads in (("reference", 0), *WAYS):
        for mine, exact in zip(combined(k, backend=backend, threads=threads), expected, strict=True):
            assert_same_bits(mine, exact)


def test_a_scan_along_an_axis_that_none_made_is_of_one_element():
    @wb.collective
    def scanned(x, y):
        column = x[:, None]
        before, whole = scan(np.add, column, axis=1, exclusive=True, total=True)
        started = scan(np.maximum, column, axis=-1, start=2, reverse=True)
        return np.cumsum(column, axis=1) + y[None, :], before + y[None, :], whole, started

    x, y = np.arange(4.0), np.arange(3.0)
    expected = x[:, None] + y, 0 * x[:, None] + y, x, np.maximum(2, x)[:, None]
    for backend, threads in (("reference", 0), *WAYS):
        for mine, exact in zip(scanned(x, y, backend=backend, threads=threads), expected, strict=True):
            assert_same_bits(mine, exact)


def test_what_a_condition_selects_has_its_own_length():
    @wb.collective
    def selected(x, y):
        kept = (x > 0) & (y < 1)
        return x[x > 0], {"both": (x * y)[kept], "none": y[y > 1e9], "twice": 2 * y, "flags": (x > 0)[y < 1]}

    for n in (0, 1, 31, 32, 33, 1023, 1024, 1025, 5000):
        draw = np.random.default_rng(n)
        x, y = draw.normal(size=n), draw.normal(size=n)
        exact = {"both": (x * y)[(x > 0) & (y < 1)], "none": y[:0], "twice": 2 * y, "flags": (x > 0)[y < 1]}
        for backend, threads in (("reference", 0), *WAYS):
            positive, found = selected(x, y, backend=backend, threads=threads)
            assert_same_bits(positive, x[x > 0])
            for name, values in exact.items():
                assert_same_bits(found[name], values, name)
            assert positive.base is None


def test_scans_and_segments_in_order():
    @wb.collective
    def parts(x, lengths):
        behind = scan(add, x, reverse=True, exclusive=True, start=1.0)
        last = fold_segments(lambda a, b: b, x, lengths, identity=0.0)
        return (
            behind,
            fold_segments(add, x * x, lengths),
            last,
            lengths + fold_segments(add, x, 1 + 0 * astype(x, "i64")),
        )

    x, lengths = of((7,)), np.array([3, 0, 2, 2, 0, 0, 0])
    expected = parts(x, lengths, backend="reference")
    for mine, bits in zip(parts(x, lengths, backend="openmp"), expected, strict=True):
        assert_same_bits(mine, bits)
    behind, squares, last, sums = expected
    np.testing.assert_allclose(behind, 1 + np.append(np.cumsum(x[::-1])[::-1][1:], 0.0))
    np.testing.assert_allclose(squares, [np.sum(part**2) for part in np.split(x, np.cumsum(lengths)[:-1])], atol=1e-15)
    assert last.tolist() == [x[2], 0.0, x[4], x[6], 0.0, 0.0, 0.0]
    np.testing.assert_allclose(sums, lengths + x)
    with pytest.raises(RunError, match="lengths"):
        parts(x, lengths + 1, backend="openmp")


def ordered(x, y):
    """Folds and scans by functions that have an order, with starts that are not neutral."""
    latest_before = scan(latest, x, start=7, identity=0, exclusive=True)
    to_the_end = scan(composed, (x, y), start=(2, 5), identity=(1, 0), reverse=True)
    whole = fold(composed, (x, y), start=(2, 5), identity=(1, 0))
    return fold(latest, x, start=3, identity=0), whole[0], whole[1], latest_before, *to_the_end


def one_after_another(x, y):
    """The same of Python's whole numbers, element by element."""
    kept, before, whole = 0, [], (1, 0)
    for a, b in zip(x, y, strict=True):
        before.append(kept or 7)
        kept, whole = a or kept, composed(whole, (a, b))
    map_, backwards = (1, 0), []
    for pair in zip(reversed(x), reversed(y), strict=True):
        map_ = composed(map_, pair)
        backwards.append(composed((2, 5), map_))
    to_the_end = list(zip(*reversed(backwards), strict=True)) or [(), ()]
    return kept or 3, *composed((2, 5), whole), before, *to_the_end


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1023, 1024, 1025, 10**6 + 1])
def test_operators_with_an_order_and_starts_at_the_borders_of_chunks(ordered_program, n):
    x, y = np.random.default_rng(n).integers(0, 11, (2, n))
    expected = one_after_another(x.tolist(), y.tolist())
    ways = [("openmp", 1), ("openmp", 2), ("openmp", 3), ("cuda-sim", 0), *([("reference", 0)] if n < 10**6 else [])]
    for backend, threads in ways:
        for mine, exact in zip(ordered_program(x, y, backend=backend, threads=threads), expected, strict=True):
            assert np.array_equal(mine, exact), (backend, threads)


@pytest.fixture(scope="module")
def ordered_program():
    return wb.collective(ordered)


def test_folds_by_functions_in_cells():
    cell = 'A = array("A", "rows", "columns")\nlast = fold(lambda a, b: b, A, identity=0.0)\noutput("last", last)'
    A = np.arange(6.0).reshape(2, 3)
    assert wb.trace(cell)(A=A, backend="openmp")["last"].tolist() == [2.0, 5.0]
    with pytest.raises(TraceError, match="16 interleaved lanes"):
        wb.trace(cell.replace("A, identity", "A, axis=(0, 1), identity"))
