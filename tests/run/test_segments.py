"""Scans of segments, totals of scans, segments of matrices and concatenation, on every backend and against NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_operators import composed, latest
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError, StencilError
from workbench.language import add, compress, fold_segments, maximum, scan, scan_segments

SIZES = (0, 1, 32, 1100)


def affine(a, b):
    return a[0] + b[0], a[1] * b[0] + b[1]


def segmented(xs, whole, lengths):
    unit = {"identity": 0}
    return {
        "sums": scan_segments(np.add, xs, lengths),
        "before": scan_segments(np.add, xs, lengths, exclusive=True, start=0.5),
        "behind": scan_segments(np.add, xs, lengths, reverse=True, exclusive=True),
        "largest": scan_segments(maximum, whole, lengths, reverse=True),
        "later": scan_segments(lambda a, b: np.where(b == 0, a, b), whole, lengths, **unit),
        "pairs": scan_segments(affine, (whole, whole), lengths, identity=(0, 0))[0],
    }


def given(n):
    draw = np.random.default_rng(n)
    cuts = np.sort(draw.integers(0, n + 1, 5))
    lengths = np.diff(np.concatenate(([0], cuts, [n]))).astype("i4")
    return draw.integers(-8, 8, n) / 4.0, draw.integers(-3, 4, n), np.insert(lengths, 2, 0)


def one_by_one(xs, whole, lengths):
    """The same from the text of the semantics: sums of quarters are exact in any order."""
    found = {name: np.zeros(len(xs)) for name in ("sums", "before", "behind", "largest", "later", "pairs")}
    for begin, length in zip(np.cumsum(lengths) - lengths, lengths, strict=True):
        part, own = slice(begin, begin + length), whole[begin : begin + length]
        found["sums"][part] = found["before"][part] = np.cumsum(xs[part])
        found["before"][part] += 0.5 - xs[part]
        found["behind"][part] = np.cumsum(xs[part][::-1])[::-1] - xs[part]
        found["largest"][part] = np.maximum.accumulate(own[::-1])[::-1]
        latest = np.maximum.accumulate(np.where(own == 0, -1, np.arange(length)))
        found["later"][part] = np.where(latest < 0, 0, own[latest])
        found["pairs"][part] = np.cumsum(own)
    return found


@pytest.fixture(scope="module")
def program():
    return wb.collective(segmented)


@pytest.mark.parametrize("n", SIZES)
def test_each_segment_is_scanned_for_itself(program, n):
    reference = program(*given(n), backend="reference")
    for name, values in one_by_one(*given(n)).items():
        assert np.array_equal(reference[name], values), name
    for backend, threads in WAYS:
        found = program(*given(n), backend=backend, threads=threads)
        for name, values in reference.items():
            assert_same_bits(found[name], values, f"{name} {backend} {threads}")


def test_the_thesis_vectors():
    xs, lengths = np.arange(1, 7), np.array([2, 3, 0, 1])

    @wb.collective
    def scans(x, s):
        return scan_segments(np.add, x, s), scan_segments(np.add, x, s, exclusive=True), fold_segments(np.add, x, s)

    inclusive, exclusive, totals = scans(xs, lengths)
    assert inclusive.tolist() == [1, 3, 3, 7, 12, 6]
    assert exclusive.tolist() == [0, 1, 0, 3, 7, 0]
    assert totals.tolist() == [3, 12, 0, 6]


def test_lengths_that_do_not_fit_are_an_error_of_the_call(program):
    xs, whole, lengths = given(33)
    for backend in ("reference", "openmp", "cuda-sim"):
        with pytest.raises(RunError, match="add up to 40, but there are 33"):
            program(xs, whole, lengths + np.eye(1, len(lengths), dtype="i4")[0] * 7, backend=backend)


COMPRESSED = """
xs = array("xs", "n")
ks = array("ks", "n", dtype="i32")
few = xs > 1
output("kept", compress(2 * xs + ks, few))
output("whole", compress(ks, ~few))
output("none", compress(xs, xs > 1e9))
output("total", fold(add, xs))
"""


@pytest.mark.parametrize("n", [0, 1, 31, 1030])
def test_what_a_cell_compresses_comes_with_its_length(n):
    draw, cell = np.random.default_rng(n), wb.trace(COMPRESSED, name="compressed")
    xs, ks = draw.integers(-9, 9, n) / 4.0, draw.integers(0, 99, n).astype(np.int32)
    exact = {"kept": (2 * xs + ks)[xs > 1], "whole": ks[~(xs > 1)], "none": xs[:0]}
    for backend, threads in (("reference", 0), *WAYS):
        found = cell(xs=xs, ks=ks, backend=backend, threads=threads)
        assert found["total"] == xs.sum()
        for name, values in exact.items():
            assert found[f"{name}_length"] == len(values)
            padded = np.zeros(n, values.dtype)
            padded[: len(values)] = values
            assert_same_bits(found[name], padded, f"{name} {backend} {threads} {n}")


def in_order(x, y, lengths):
    """(folds, scans from the end) by `latest` of x; folds of the maps (x, y), and those before each element."""
    folded, scanned, maps, before = [], np.zeros(len(x), int), [], []
    for begin, length in zip(np.cumsum(lengths) - lengths, lengths, strict=True):
        part = x[begin : begin + length]
        kept = np.flatnonzero(part)
        folded.append(part[kept[-1]] if len(kept) else 0)
        first = np.minimum.accumulate(np.where(part == 0, length, np.arange(length))[::-1])[::-1]
        scanned[begin : begin + length] = np.append(part, 0)[first]
        slope, offset = 1, 0
        for a, b in zip(part.tolist(), y[begin : begin + length].tolist(), strict=True):
            before.append((slope, offset))
            slope, offset = slope * a % 11, (offset * a + b) % 11
        maps.append((slope, offset))
    return folded, scanned, *np.transpose(maps), *np.transpose(before)


@pytest.mark.proof
def test_a_million_elements_in_segments_of_many_lengths_are_combined_in_their_order():
    """By operators that have one: the last number that is not zero, and maps that follow each other."""

    @wb.collective
    def combined(x, y, lengths):
        maps, unit = {"identity": (1, 0)}, {"identity": 0}
        return (
            fold_segments(latest, x, lengths, **unit),
            scan_segments(latest, x, lengths, reverse=True, **unit),
            *fold_segments(composed, (x, y), lengths, **maps),
            *scan_segments(composed, (x, y), lengths, exclusive=True, **maps),
        )

    n, draw = 10**6 + 1, np.random.default_rng(5)
    lengths = np.array([0, 1, 31, 32, 33, 0, 1023, 1024, 1025, 400_000, *draw.integers(0, 3000, 200)])
    lengths = np.append(lengths, n - lengths.sum())
    x, y = draw.integers(0, 4, n) * draw.integers(0, 2, n), draw.integers(0, 11, n)
    expected = in_order(x, y, lengths)
    for backend, threads in WAYS:
        found = combined(x, y, lengths, backend=backend, threads=threads)
        for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
            assert np.array_equal(mine, exact), (place, backend, threads)


def totals(x, y, A, B, lengths):
    sums, total = scan(np.add, x, total=True)
    before, start = scan(np.add, x, exclusive=True, reverse=True, total=True, start=10.0)
    rows, ends = scan(np.add, A, axis=1, total=True)
    return {
        "sums": sums,
        "total": total,
        "before": before,
        "start": start,
        "rows": rows,
        "ends": ends,
        "both": np.concatenate((x, y)),
        "longer": np.concatenate((before, start[None])),
        "below": np.concatenate((A, B, A[:1])),
        "beside": np.concatenate((A, 2 * B), axis=1),
        "folded": fold_segments(np.add, A, lengths),
        "scanned": scan_segments(np.add, A, lengths),
        "kept": compress(x, x > 0),
        "too": np.compress(x <= 0, x),
    }


def expected(x, y, A, B, lengths):
    cut = np.split(A, np.cumsum(lengths)[:-1], axis=1)
    before = 10 + np.cumsum(x[::-1])[::-1] - x
    return {
        "sums": np.cumsum(x),
        "total": x.sum(),
        "before": before,
        "start": 10 + x.sum(),
        "rows": np.cumsum(A, axis=1),
        "ends": A.sum(1),
        "both": np.concatenate((x, y)),
        "longer": np.append(before, 10 + x.sum()),
        "below": np.concatenate((A, B, A[:1])),
        "beside": np.concatenate((A, 2 * B), axis=1),
        "folded": np.stack([part.sum(1) for part in cut], axis=1),
        "scanned": np.concatenate([np.cumsum(part, axis=1) for part in cut], axis=1),
        "kept": x[x > 0],
        "too": x[x <= 0],
    }


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 0), (7, 2), (1025, 33)])
def test_totals_concatenation_segments_of_rows_and_compression(n, m):
    draw, program = np.random.default_rng(n), wb.collective(totals)
    x, y, A, B = (draw.integers(-9, 9, shape) / 4.0 for shape in (n, m, (3, 5), (3, 5)))
    arguments = x, y.astype("f4"), A, B, np.array([2, 0, 3])
    for backend, threads in (("reference", 0), *WAYS):
        found = program(*arguments, backend=backend, threads=threads)
        for name, values in expected(*arguments).items():
            assert np.array_equal(found[name], values), f"{name} {backend} {threads}"


BAD = {
    "np.concatenate((x, 2.0))": "arrays of 1 and 0 axes",
    "np.concatenate((x, x), axis=1)": "axis 1 of 1",
    "compress(x, x)": "the condition is f64",
    "scan_segments(np.add, x, 3)": "the lengths are 3",
    "fold_segments(np.add, x, (x[None] * x[:, None]).astype('i64'))": "the lengths have the axes",
}


@pytest.mark.parametrize("text", BAD)
def test_misuse_is_said(text):
    space = {"np": np, "compress": compress, "scan_segments": scan_segments, "fold_segments": fold_segments}
    function = wb.collective(eval(f"lambda x: {text}", space))  # the texts above
    with pytest.raises(StencilError) as caught:
        function(np.ones(3))
    assert BAD[text] in caught.value.what
    assert caught.value.advice


@pytest.mark.parametrize("op", [fold_segments, scan_segments])
def test_lengths_that_do_not_fit_rows_are_told_for_one_row(op):
    program, x = wb.collective(lambda x, lengths: op(add, x, lengths)), np.ones((3, 4))
    for backend in ("reference", "openmp"):
        with pytest.raises(RunError, match="lengths of 2 segments add up to 3, but each of 3 rows has 4 cells") as said:
            program(x, np.array([1, 2]), backend=backend)
        assert str(said.value).endswith("Give lengths whose sum is 4.")
        with pytest.raises(RunError, match="lengths of 2 segments add up to 3, but there are 4 cells"):
            program(x[0], np.array([1, 2]), backend=backend)
