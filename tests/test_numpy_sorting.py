"""NumPy's functions of sorted arrays, and of arrays read at computed places: what NumPy computes, on every backend."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError

COMPILED = ("reference", "openmp")
BACKENDS = (*COMPILED, "cuda-sim")  # where programs have text of their own; most of it is the same for all
DRAWN = np.random.default_rng(5)
TYPES = ("f8", "f4", "i8", "i1", "u2", "bool")
WHOLE = DRAWN.integers(-9, 9, 1025)
ODD = [0.0, -0.0, 1.0, -1.0, np.nextafter(1, 0), np.nextafter(1, 2), 0.5, 2.0, 3.0, np.inf, -np.inf, np.nan]
EDGES = {
    "f8": np.array([*ODD, 5e-324, -5e-324, 2.2250738585072014e-308, 1.1e-308, 1.8e308, -1.7e308, 4e-310, -np.nan]),
    "f4": np.array([*ODD, 1e-45, -1e-45, 1.1754944e-38, 1e-39, 3.4e38, -3.4e38], "f4"),
    "f8 bits": DRAWN.integers(0, 2**64, 3000, dtype=np.uint64).view("f8"),
    "f4 bits": DRAWN.integers(0, 2**32, 3000, dtype=np.uint32).view("f4"),
    "u8": DRAWN.integers(0, 2**64, 3000, dtype=np.uint64),
}
ASCENDING = np.sort(DRAWN.integers(0, 9, 20)).astype(float)
SOUGHT = np.array([-1.0, 0.0, 3.5, 4.0, 8.0, 9.0, np.nan, np.inf])
POINTS, VALUES = np.cumsum(DRAWN.uniform(0.1, 1, 9)), DRAWN.normal(size=9)


def given(type_, n):
    cells = WHOLE[:n] > 0 if type_ == "bool" else (WHOLE[:n] + (9 if type_.startswith("u") else 0)).astype(type_)
    if type_.startswith("f"):
        cells = cells / np.asarray(4, type_)
        cells[3:9:2] = np.nan
    return cells


def agrees(function, *arguments, rtol=0.0, backends=COMPILED):
    """One result, or several; the type, shape and values of NumPy's, and one backend's bits as another's."""
    wanted = function(*arguments)
    several = wanted if isinstance(wanted, tuple | list) else [wanted]
    first = None
    for backend in backends:
        found = wb.collective(function)(*arguments, backend=backend)
        found = found if isinstance(found, tuple | list) else [found]
        assert [(each.dtype, each.shape) for each in found] == [(each.dtype, each.shape) for each in several]
        for mine, theirs in zip(found, several, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol, err_msg=backend)
        for mine, other in zip(found, first or found, strict=True):
            assert_same_bits(np.asarray(mine), np.asarray(other))
        first = first or found


@pytest.mark.parametrize("type_", TYPES)
def test_elements_are_sorted_as_numpy_sorts_them(type_):
    def of_sorted(x):
        return np.sort(x), np.argsort(x, kind="stable"), np.sort(x[::-1]), x.argsort(kind="stable")

    for n in (0, 1, 1025):
        agrees(of_sorted, given(type_, n), backends=BACKENDS if type_ in ("f8", "i1") else COMPILED)


@pytest.mark.parametrize("name", EDGES)
def test_the_order_is_that_of_all_bits(name):
    with np.errstate(all="ignore"):
        agrees(lambda x: (np.sort(x), np.argsort(x, kind="stable")), EDGES[name], backends=BACKENDS)


@pytest.mark.parametrize("type_", ["f8", "i4", "bool"])
def test_different_elements(type_):
    for n in (0, 1, 64):
        agrees(lambda x: np.unique(x), given(type_, n))
    agrees(lambda x: np.unique(x), given(type_, 64).reshape(8, 8))


@pytest.mark.parametrize("n", [1, 2, 33])
def test_shares_of_elements(n):
    normal = DRAWN.normal(size=n)
    for q in (0.0, 0.1, 0.5, 0.77, 1.0):
        agrees(lambda x, q: np.quantile(x, q), normal, q, rtol=1e-15)
    agrees(lambda x, q: np.quantile(x, q), normal, np.linspace(0, 1, 6), rtol=1e-15)
    agrees(lambda x: (np.percentile(x, 30), np.median(x)), normal, rtol=1e-15)
    agrees(lambda x: np.median(x), (9 * normal).astype(int))
    agrees(lambda x: np.median(x), normal.astype("f4"))
    agrees(lambda x: np.median(x), np.append(normal, np.nan))


def test_all_elements_of_several_axes():
    table = DRAWN.normal(size=(4, 5))
    agrees(lambda x: (np.sort(x, axis=None), np.argsort(x, axis=None, kind="stable"), np.median(x)), table)


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_among_ascending_elements(side):
    def sought(a, v):
        return np.searchsorted(a, v, side)

    for edges in (ASCENDING, np.append(ASCENDING, np.nan), ASCENDING[:1], ASCENDING[:0], ASCENDING.astype(int)):
        agrees(sought, edges, SOUGHT if edges.dtype.kind == "f" else WHOLE, backends=BACKENDS)
    agrees(lambda a, v: a.searchsorted(v.reshape(-1, 2)), ASCENDING, SOUGHT)
    agrees(lambda a, v: np.searchsorted(a, v[3]), ASCENDING, SOUGHT)


def test_lines_between_points():
    at = np.concatenate([DRAWN.uniform(-1, 9, 20), POINTS, [np.nan]])
    agrees(lambda x, a, b: np.interp(x, a, b), at, POINTS, VALUES, backends=BACKENDS)
    agrees(lambda x, a, b: np.interp(x, a, b, left=-1.0, right=7.0), at, POINTS, VALUES)
    agrees(lambda x, a, b: np.interp(x, a, b), at, POINTS[:1], VALUES[:1])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode):
    for n, m in ((9, 3), (3, 9), (5, 4), (4, 5), (1, 1), (6, 6)):
        arrays = DRAWN.normal(size=n), DRAWN.normal(size=m)
        agrees(lambda a, v: np.convolve(a, v, mode), *arrays, rtol=1e-14)
    agrees(lambda a, v: np.convolve(a, v, mode), np.arange(5), np.arange(3))


def test_copies_along_axes():
    x, y, z = VALUES[:3], POINTS[:2], POINTS[:4]
    agrees(lambda x: (np.tile(x, 3), *np.meshgrid(x)), x)
    agrees(lambda x, y: (*np.meshgrid(x, y), *np.meshgrid(x, y, indexing="ij")), x, y)
    agrees(lambda x, y, z: tuple(np.meshgrid(x, y, z)), x, y, z)


def test_a_sorted_array_goes_on_in_the_same_function():
    def gini(x):
        n = x.shape[0]
        ordered = np.sort(x)
        return 2 * (np.cumsum(ordered).sum() / ordered.sum()) / n

    agrees(gini, np.abs(VALUES), rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: np.sort(x, kind="bubble"), "kind='bubble' is unknown", "Leave it out"),
        (lambda x: np.sort(x.astype("dd")), "dd numbers are not sorted", 'x.astype("f64")'),
        (lambda x: np.quantile(x, 1.5), "q=1.5 is no share", "from 0 to 1"),
        (lambda x: np.percentile(x, 101), "q=1.01 is no share", "to 100"),
        (lambda x: np.searchsorted(x, x, "up"), "side='up'", '"right"'),
        (lambda x: np.searchsorted(x[None], x), "the first array has 2 axes", "ascending"),
        (lambda x: np.convolve(x, x, "some"), "mode='some' is unknown", "full, same, valid"),
        (lambda x: np.convolve(x, x[None]), "arrays of 1 and 2 axes", "one axis each"),
        (lambda x: np.tile(x, (2, 2)), "repetitions (2, 2)", "replicate(x, n, axis)"),
        (lambda x: np.meshgrid(x, x[None]), "arrays of 1, 2 axes", "one axis each"),
        (lambda x: np.meshgrid(x, indexing="up"), "indexing='up'", "Leave it out"),
        (lambda x: np.unique(x, equal_nan=False), "equal_nan", "ar"),
        (lambda x: np.median(x, keepdims=True), "keepdims= without axis=", "Give an axis"),
    ],
)
def test_what_is_refused(function, words, advice):
    with pytest.raises(TraceError) as caught:
        wb.collective(function)(VALUES)
    assert words in str(caught.value)
    assert advice in str(caught.value)


def of_each_line(a, t):
    return (
        np.sort(a),
        np.sort(a, axis=0),
        np.sort(t, axis=1),
        np.argsort(a, axis=-1, kind="stable"),
        np.argsort(t, axis=0, kind="stable"),
        np.median(a, axis=0),
        np.median(a, axis=1, keepdims=True),
        np.quantile(a, 0.3, axis=1),
        np.percentile(a, [25, 75]),
        np.percentile(a, [25.0, 60.0], axis=0),
        np.quantile(t, [0.1, 0.5], axis=-1),
        np.lexsort((a[0], np.floor(a[-1]))),
    )


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (5, 33)])
def test_each_line_is_sorted_for_itself(shape):
    a = np.random.default_rng(3).integers(-4, 5, shape) / 2
    t = np.random.default_rng(4).normal(size=(3, *shape))
    agrees(of_each_line, a, t, rtol=1e-15, backends=BACKENDS)


def test_lines_without_elements_and_with_nan_are_sorted():
    a = np.array([[3.0, np.nan, -1.0], [np.inf, 2.0, -0.0]])
    agrees(lambda a: (np.sort(a), np.argsort(a, kind="stable"), np.median(a, axis=1)), a)
    agrees(lambda a: (np.sort(a), np.argsort(a, axis=0, kind="stable")), np.zeros((3, 0)))


@pytest.mark.parametrize("n", [1, 50, 1025])
def test_different_elements_come_with_their_places_and_counts(n):
    def of_different(k):
        return (
            *np.unique(k, return_counts=True),
            *np.unique(k, return_index=True),
            *np.unique(k, return_index=True, return_inverse=True, return_counts=True),
        )

    agrees(of_different, WHOLE[:n], backends=BACKENDS if n == 50 else COMPILED)
