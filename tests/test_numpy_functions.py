"""NumPy's functions of arrays that are made of others: what NumPy computes, equal bits on every backend, bad input."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, ShapeError, TraceError
from workbench.language import compress, generate, popcount

DRAWN = np.random.default_rng(11)
MATRIX = DRAWN.normal(size=(6, 5))
WHOLE = DRAWN.integers(-3, 4, size=(6, 5))
WITH_NAN = np.where(DRAWN.random((6, 5)) < 0.2, np.nan, MATRIX)
VECTOR = DRAWN.normal(size=33)


def moved(x):
    return np.roll(x, 2, axis=0), np.roll(x, -7, axis=1), np.roll(x, 3), np.roll(x, (1, -1), axis=(0, 1)), np.flip(x)


def rearranged(x):
    return (
        np.flip(x, 1),
        np.stack((x, x + 1)),
        np.stack((x, x + 1), axis=-1),
        np.moveaxis(x, 0, 1),
        np.swapaxes(x, 0, -1),
        np.take(x[:, 0], np.argmax(x, axis=1)),
        np.take(x, np.argmin(x, axis=0), axis=0),
    )


def differences(x):
    return np.diff(x), np.diff(x, axis=0), np.diff(x, 2, axis=0), np.diff(x > 0, axis=1)


def filled(x):
    zeros, first = np.zeros_like(x), np.full_like(x, x[0, 0])
    return zeros, np.ones_like(x) + x, np.full_like(x, 2), first, np.zeros_like(x, "int32")


def places(x):
    return (
        np.argmin(x),
        np.argmax(x),
        np.argmin(x, axis=0),
        np.argmax(x, axis=1),
        x.argmin(1, keepdims=True),
        x.argmax(0),
        np.argmax(x > 0, axis=1),
    )


def spreads(x):
    return (
        np.var(x),
        np.std(x, axis=0),
        x.var(1, ddof=1),
        x.std(0, keepdims=True),
        np.ptp(x, axis=0),
        np.linalg.norm(x),
        np.linalg.norm(x, axis=1),
    )


def counts(x):
    return np.count_nonzero(x), np.count_nonzero(x > 0, axis=0), x.sum(axis=0, keepdims=True), x.mean(1, keepdims=True)


def life(cells):
    around = sum(np.roll(cells, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return np.where((around == 3) | ((cells == 1) & (around == 2)), 1, 0)


def nearest(points, centres):
    away = points[:, None, :] - centres[None, :, :]
    return np.argmin(np.sum(away * away, axis=-1), axis=1)


def moving_mean(x, widths):
    (width,) = widths
    running = x.cumsum()
    return (running[width:] - running[:-width]) / width


def joined(x):
    column = x[:, 1]
    return (
        np.hstack((x, x)),
        np.hstack((column, column[:2])),
        np.vstack((x, x[0])),
        np.column_stack((column, x)),
        np.append(column, 0),
        np.append(0, x[:2]),
        np.append(x, x[:1], axis=0),
        np.squeeze(column[:, None], axis=1),
        np.squeeze(x[2:3], axis=0),
    )


def halves(x):
    return np.tril(x), np.triu(x, 1), np.tril(x, -2), x.dot(x[0]), np.inner(x, x), np.vdot(x, x), x.copy() + 1


def weighed(x):
    places = np.cumsum(x * x, axis=1)
    return (
        np.average(x),
        np.average(x, axis=0, weights=x * x + 1),
        np.trapezoid(x),
        np.trapezoid(x, places),
        np.trapezoid(x[0], dx=0.5),
        np.select([x < -1, x < 1], [-x, 2 * x], 3 * x),
        x * np.ndim(x) + np.shape(x)[1] - np.size(x) + np.size(x, 0),
        np.add.reduce(x),
        np.multiply.reduce(x, axis=1, keepdims=True),
        np.maximum.accumulate(x, axis=1),
        np.add.accumulate(x),
        np.subtract.outer(x[0], x[:, 1]),
        np.logical_and(x, x > 0),
        np.logical_not(x),
    )


def surrounded(x):
    row = x[0]
    return (
        np.pad(x, 1),
        np.pad(x, ((1, 0), (0, 2)), constant_values=7),
        np.pad(x, (2, 1), "edge"),
        np.pad(x, ((2,), (0,)), mode="wrap"),
        np.pad(row, 3, "reflect"),
        np.pad(row, (3, 9), "symmetric"),
        np.pad(np.cumsum(row), (1, 0)),
        np.pad(x, 1)[1:-1, 2:] - np.pad(x, 1)[1:-1, :-2],
        np.pad(x > 0, 1),
    )


def between_lengths(x):
    """Slices whose bounds are lengths of arrays, of the array itself or of one that it is made of."""
    rows, columns = x.shape
    wide = np.pad(x, 1)
    return (
        x[:rows, 1:columns] - x[:, : columns - 1],
        sum((i + 2 * j) * wide[i : i + rows, j : j + columns] for i in range(3) for j in range(3)),
        x[rows - 2 :, : columns + 5],
        x[1:][: rows - 1, columns - 1 : 0 : -1],
        wide[rows:, columns + 1 :],
    )


def box_means(x):
    """Of the 3 x 3 elements around each, by a table of sums."""
    sums = np.pad(np.cumsum(np.cumsum(np.pad(x, 1), axis=0), axis=1), ((1, 0), (1, 0)))
    return (sums[3:, 3:] - sums[3:, :-3] - sums[:-3, 3:] + sums[:-3, :-3]) / 9


def slopes(x):
    along_rows, along_columns = np.gradient(x, 0.5)
    return along_rows, along_columns, np.gradient(x[0]), np.gradient(x, 2.0, axis=1), np.gradient(x, 2.0, 0.25)[1]


def equalised(x):
    """Numbers from 0 to 9 that are spread evenly."""
    numbers = x % 10
    count = np.bincount(numbers.ravel(), minlength=10)
    rank = np.cumsum(count)
    return (rank * 9 // x.size)[numbers], count, np.bincount(numbers[0], weights=0.5 * x[0], minlength=12)


def counted_for_each(k, x):
    counts = np.bincount(k, minlength=x.shape[0])
    return counts, np.bincount(k, weights=0.5 * k, minlength=x.shape[0]) + x, np.bincount(k, minlength=x[1:].shape[0])


def without_nan(x):
    return np.nansum(x), np.nansum(x, axis=1)


def clipped(x):
    return (
        np.clip(x, None, 0.5),
        np.clip(x, -1, None),
        np.clip(x, a_min=-1, a_max=1),
        np.clip(x, x[:1], 2),
        np.sign(x),
        np.expand_dims(x, -2),
    )


def powers(k):
    small = abs(k)
    exponents = np.stack((small, small * 9)).astype("int32")
    return 2**exponents, (-3) ** small, k[:, None] ** small[None], np.power(small, small), 2.0**k, (0.5 * k) ** small


def runs(x):
    """Where runs of equal elements begin, and what they are: the first half of a run-length encoding."""
    begins = np.append(x[:1] == x[:1], x[1:] != x[:-1])
    return np.compress(begins, x), x[begins], np.where(begins, 1, 0)


def by_groups(x, groups):
    (count,) = groups
    is_of = x[:, 0][:, None] == np.arange(count)[None, :] if isinstance(x, np.ndarray) else of_each(x[:, 0], count)
    return np.where(is_of, x[:, 1][:, None], 0).sum(axis=0), np.sum(is_of, axis=0)


def of_each(keys, count):
    return keys[:, None] == generate(count, lambda k: k)[None, :]


PROGRAMS = [
    (clipped, WITH_NAN),
    (clipped, WHOLE),
    (powers, np.array([0, 1, -2, 3, 6, -7])),
    (joined, MATRIX),
    (joined, WHOLE),
    (halves, MATRIX),
    (weighed, MATRIX),
    (between_lengths, MATRIX),
    (between_lengths, WHOLE),
    (surrounded, MATRIX),
    (surrounded, WHOLE),
    (box_means, MATRIX),
    (slopes, MATRIX),
    (equalised, WHOLE),
    (counted_for_each, WHOLE[:, 0] + 3, VECTOR),
    (counted_for_each, WHOLE[:0, 0], VECTOR[:1]),
    (without_nan, WITH_NAN),
    (runs, np.array([1, 1, 2, 2, 2, 3, 1])),
    (by_groups, WHOLE, (3,)),
    (moved, MATRIX),
    (moved, WHOLE),
    (rearranged, MATRIX),
    (differences, MATRIX),
    (differences, WHOLE),
    (filled, MATRIX),
    (filled, WHOLE),
    (places, MATRIX),
    (places, WHOLE),
    (places, WITH_NAN),
    (spreads, MATRIX),
    (counts, WHOLE),
    (life, DRAWN.integers(0, 2, size=(9, 8))),
    (nearest, DRAWN.normal(size=(20, 3)), DRAWN.normal(size=(4, 3))),
    (moving_mean, VECTOR, (5,)),
]


def several(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize(("function", "given"), [(row[0], row[1:]) for row in PROGRAMS])
def test_numpy_functions_mean_what_they_mean_in_numpy(function, given):
    program = wb.collective(function)
    found, expected = several(program(*given, backend="reference")), several(function(*given))
    compiled = several(program(*given, backend="openmp", threads=2))
    for place, (mine, exact, other) in enumerate(zip(found, expected, compiled, strict=True)):
        assert mine.shape == np.shape(exact), place
        assert np.dtype(mine.dtype).kind == np.asarray(exact).dtype.kind, place
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-14, err_msg=f"result {place}")
        assert_same_bits(other, mine, f"result {place}")


@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_extremes_of_no_elements_are_identities_and_their_place_is_no_index(backend):
    program = wb.collective(lambda x: (x.min(1), x.max(1), np.argmin(x, 1), x.argmax(1), x.argmin(0)), backend=backend)
    least, largest, first, last, along = program(np.zeros((2, 0)))
    assert (least.tolist(), largest.tolist(), along.tolist()) == ([np.inf] * 2, [-np.inf] * 2, [])
    assert first.tolist() == last.tolist() == [2**63 - 1] * 2
    whole = program(np.zeros((1, 0), np.int32))
    assert [each.tolist() for each in whole] == [[2**31 - 1], [-(2**31)], [2**63 - 1], [2**63 - 1], []]


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_the_place_of_an_extreme_of_no_elements_reads_nothing(backend):
    with pytest.raises(RunError, match=f"index {2**63 - 1}"):
        wb.collective(lambda x, y: y[np.argmax(x)])(np.zeros(0), np.zeros(3), backend=backend)


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_a_count_beyond_a_given_length_is_an_error_of_the_call(backend):
    program = wb.collective(lambda k, x: np.bincount(k, minlength=x.shape[0]))
    with pytest.raises(
        RunError, match="scatter sends to index 4, for element 1, but the result has 3 elements along axis 0"
    ):
        program(np.array([0, 4]), np.zeros(3), backend=backend)


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: np.bincount(x), "how long the result is depends on the elements", "minlength=256"),
        (lambda x: np.bincount(x, minlength=0), "how long the result is depends on the elements", "minlength=y.shape"),
        (lambda x: np.bincount(x, minlength=x.shape), "minlength= is several numbers", "minlength=x.shape[0]"),
        (lambda x: np.bincount(x, minlength=x.sum()), "a length is computed", "Use lengths of arrays, x.shape[0]"),
        (lambda x: np.bincount(x, minlength=-1), "-1 is no length", "whole number from 0"),
        (lambda x: np.pad(x, (1, x[0])), "widths (1, ", "whole numbers that are known"),
        (lambda x: np.pad(x, ((1, 1), (1, 1))), "for 1 axis", "((1, 1), (2, 2))"),
        (lambda x: np.pad(x, 1, "median"), "np.pad with mode='median'", "constant, edge"),
        (lambda x: np.pad(x, 1, constant_values=(1, 2)), "several constant values", "one side at a time"),
        (lambda x: np.gradient(x, x), "np.gradient with 1 spacings for 1 axes", "write the formula"),
        (lambda x: np.packbits(x > 0), "np.packbits has no meaning", "argmin, "),
        (lambda x: np.packbits(x > 0), "np.packbits has no meaning", "linalg.norm, "),
        (lambda x: np.sum(x, dtype="f4"), "unexpected keyword argument 'dtype'", "axis, keepdims"),
        (lambda x: np.roll(x, x[0]), "np.roll", "known while the function is traced"),
        (lambda x: np.roll(x, (1, 2), 0), "a shift of (1, 2) along 0", "whole number"),
        (lambda x: np.diff(x, -1), "np.diff of order -1", "from 0 on"),
        (lambda x: np.argmin(x, 1), "axis 1 of a value with 1 axis", "from -1 to 0"),
        (lambda x: np.linalg.norm(x, 1), "np.linalg.norm of order 1", "Leave ord out"),
        (lambda x: x.flip(), "no .flip", "np.flip(x)"),
        (lambda x: np.squeeze(x[None]), "which axes have one element", "np.squeeze(x, axis=1)"),
        (lambda x: np.add.at(x, 0, 1), "np.add.at", "scatter"),
        (lambda x: np.subtract.reduce(x), "np.subtract.reduce has no meaning", "fold(op, x, axis=0)"),
        (lambda x: np.add.reduce(x, dtype="f4"), "np.add.reduce: dtype= has no meaning", "Leave it out"),
        (lambda x: np.select([x > 0], [x, x]), "np.select of 1 conditions and 2 choices", "as many"),
        (lambda x: np.array([x.sum(), x.max()]), "asks for the elements", "np.stack((a, b))"),
        (lambda x: sum(x), "builtin sum runs over items", "np.sum(x)"),
        (lambda x: [2 * each for each in x], "cannot be looped over", "fold, scan and while_loop"),
        (lambda x: np.trace(x), "np.trace has no meaning", "np.sum(np.where("),
        (lambda x: np.round(x, x.shape[0]), "np.round to", "known while tracing"),
        (lambda x: np.round(x.astype("i64"), -1), "np.round of whole numbers to tens", "(x + 5) // 10"),
        (lambda x: (x > 0) + (x > 1), "+ does not take bool", 'astype(condition, "i64")'),
        (lambda x: np.argmax(x[None], axis=(0, 1)), "np.argmax over the axes (0, 1)", "Name one axis"),
        (lambda x: np.expand_dims(x, 5), "axis 5 of 2 axes", "from -2 to 1"),
        (lambda x: np.tril(x), "np.tril of a value of 1 axes", "np.tril(x[None])"),
        (
            lambda x: x.mean(dtype="f4"),
            "mean() got an unexpected keyword argument 'dtype'",
            "axis= and keepdims= alone",
        ),
        (lambda x: x.sum(0, 1), "sum() takes from 1 to 2 positional", "axis= and keepdims= alone"),
        (lambda x: np.where(popcount(x.astype("i64")), 1, 0), "bool) first, but got i64", "where((k & 1) != 0, a, b)"),
        (lambda x: x[..., ...], "has ... 2 times", "Write it once"),
        (lambda x: None, "line", "Return what it computes"),
    ],
)
def test_what_has_no_meaning_names_what_to_write(function, words, advice):
    with pytest.raises(TraceError) as caught:
        wb.collective(function)(VECTOR)
    assert words in str(caught.value)
    assert advice in str(caught.value)


ADVICE = [
    (lambda x: np.sum(np.where(generate(x.shape, lambda i, j: i == j), x, 0)), np.trace, MATRIX),
    (lambda x: (lambda i: x[i, i])(generate(x.shape[1], lambda i: i)), np.diag, MATRIX),
    (lambda x: compress(x, np.append(x[:1] == x[:1], x[1:] != x[:-1])), np.unique, np.array([1, 1, 2, 5, 5])),
    (lambda x: compress(generate(x.shape, lambda i: i), x != 0), np.flatnonzero, WHOLE[:, 0]),
    (lambda x: np.sum(x[None, :] <= x[:, None], axis=1), lambda x: np.searchsorted(np.sort(x), x, "right"), VECTOR),
    (
        lambda x: x[generate(x.shape, lambda i, j: i), np.where(x > 0, 1, 0)],
        lambda x: np.take_along_axis(x, np.where(x > 0, 1, 0), 1),
        MATRIX,
    ),
]


@pytest.mark.parametrize(("written", "meant", "given"), ADVICE)
def test_what_is_advised_computes_what_is_meant(written, meant, given):
    np.testing.assert_allclose(wb.collective(written)(given, backend="reference"), meant(given), rtol=1e-12)


def test_only_axes_of_one_element_are_squeezed():
    program = wb.collective(lambda x: np.squeeze(x, axis=0) * 2)
    assert program(np.ones((1, 4))).shape == (4,)
    with pytest.raises(ShapeError, match="x along axis 0 has 3 elements, where one is needed"):
        program(np.ones((3, 4)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (1, 0, 2)])
def test_padding_of_nothing_is_the_padding(shape):
    given = np.zeros(shape, np.int16)

    def padded(x):
        return [np.pad(x, widths, constant_values=5) for widths in (2, (0, 1), ((1, 2),) * len(shape))]

    for found, expected in zip(wb.collective(padded)(given), padded(given), strict=True):
        assert_same_bits(found, expected)
