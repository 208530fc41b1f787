"""First extremes: np.argmin and np.argmax along rows have the bits of the reference and NumPy's places in every row."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_programs import same_bits
from workbench.graph import Fold, Reduce
from workbench.graph.first_extremes import extreme_of
from workbench.language import fold, generate

LENGTHS = [1, 2, 15, 31, 63, 64, 65, 257, 1025, 8192, 8193, 20_011]


def of_rows(a):
    return np.argmax(a, axis=-1), np.argmin(a, axis=1, keepdims=True), a.max(axis=1)


def of_all(x):
    return np.argmax(x), np.argmin(x), x[np.argmax(x)], x.max()


def made(x):
    return np.argmin((x[::2] - 0.5) ** 2), np.argmax(x[::-1]), np.argmax(np.sqrt(abs(x))), np.argmin(x.reshape(2, -1))


def rows(dtype, length):
    """Rows with equal elements, with the extremes at both ends and in between, of one number alone."""
    draw = np.random.default_rng(length)
    a = draw.integers(0, 100, (21, length))
    a[1, -1], a[2, 0], a[3, length // 2] = 120, 120, 120
    a[4], a[5] = 7, np.arange(length) % 128
    a[6] = a[5, ::-1]
    return a.astype(dtype)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u1"])
def test_places_in_rows_are_numpys(length, dtype):
    a = rows(dtype, length)
    greatest, least, _ = same_bits(of_rows, a)
    assert greatest.tolist() == a.argmax(axis=1).tolist()
    assert least[:, 0].tolist() == a.argmin(axis=1).tolist()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_nan_zeros_and_infinities_are_where_numpy_finds_them(length, dtype):
    a = rows(dtype, length)
    draw = np.random.default_rng(length)
    a[7, draw.integers(length)] = np.nan
    a[8, draw.integers(length, size=5)] = np.nan
    a[9], a[10], a[11] = np.nan, np.inf, -np.inf
    a[12] = np.where(draw.random(length) < 0.5, 0.0, -0.0)
    a[13] = -np.where(a[12] == 0, a[12], 1.0)
    a[14, -1] = np.nan
    a[15, 0] = np.nan
    greatest, least, _ = same_bits(of_rows, a)
    assert greatest.tolist() == a.argmax(axis=1).tolist()
    assert least[:, 0].tolist() == a.argmin(axis=1).tolist()
    for row in a[[1, 5, 8, 9, 10, 11, 12, 14, 15]]:
        found = same_bits(of_all, row)
        assert (int(found[0]), int(found[1])) == (row.argmax(), row.argmin())


@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_a_long_array_is_shared_out_among_threads(dtype):
    x = np.random.default_rng(1).integers(0, 1000, 300_001).astype(dtype)
    for at in ([], [0, 300_000], [299_999], [65_535, 65_536], [131_072, 131_071, 5000]):
        x[at] = 5000
        x[[each - 1 for each in at]] = -5000
        found = same_bits(of_all, x)
        assert (int(found[0]), int(found[1])) == (x.argmax(), x.argmin())


def test_formulas_slices_and_conditions_are_sought_in():
    x = np.random.default_rng(2).random(1000)
    found = same_bits(made, x)
    assert [int(each) for each in found] == [int(each) for each in made(x)]
    a = np.random.default_rng(3).random((6, 70))
    by_rows = wb.collective(lambda a: (np.argmax(a > 0.9, axis=1), np.argmin(np.sin(a) * a, axis=1)))
    assert by_rows(a)[0].tolist() == np.argmax(a > 0.9, axis=1).tolist()
    assert by_rows(a)[1].tolist() == np.argmin(np.sin(a) * a, axis=1).tolist()


def test_devices_have_these_places():
    a = rows("f8", 65)[:6]
    a[5, 3] = np.nan
    same_bits(of_rows, a, backends=(("cuda-sim", 0),))
    same_bits(of_all, a.ravel(), backends=(("cuda-sim", 0),))
    same_bits(of_all, a[0].astype("i2"), backends=(("cuda-sim", 0),))


def test_arrays_without_elements_have_the_last_place_there_is():
    program = wb.collective(lambda a: np.argmax(a, axis=1))
    assert program(np.zeros((2, 0))).tolist() == [2**63 - 1] * 2


def test_only_folds_of_an_element_and_its_place_are_first_extremes():
    def other(a):
        def last(x, y):
            taken = y[0] >= x[0]
            return np.where(taken, y[0], x[0]), np.where(taken, y[1], x[1])

        index = generate(a.shape, lambda i, j: j)
        return fold(last, (a, index), 1, identity=(-np.inf, 2**63 - 1))[1], np.argmax(a, axis=1), np.argmin(a, axis=1)

    a = np.random.default_rng(4).integers(0, 5, (7, 90)).astype(float)
    (kernel,) = wb.collective(other).machine(a).graph.kernels
    folds = [node for node in kernel.nodes if isinstance(node.instruction, Fold | Reduce)]
    assert [extreme_of(node) for node in folds] == [None, "max", "min"]
    same_bits(other, a)
