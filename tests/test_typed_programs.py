"""Programs as a user of NumPy types them, of many fields, against NumPy or a loop of Python."""

import zlib

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.language import add, constant, generate, minimum, repeat, scatter, while_loop, windows

DRAW = np.random.default_rng(21)
LINE = DRAW.normal(size=64)
MATRIX = DRAW.normal(size=(12, 12))
DEFINITE = MATRIX @ MATRIX.T + 12 * np.eye(12)
RIGHT = DRAW.normal(size=12)
PICTURE = DRAW.random((20, 24))
FROM, TO = DRAW.integers(0, 40, (2, 35))
BYTES = DRAW.integers(0, 256, 30, dtype=np.uint8)
MASK = DRAW.random((12, 15)) < 0.7
PLACES, TRIANGLES = DRAW.random((30, 2)), DRAW.integers(0, 30, (40, 3))


def bitonic_sort(x):
    n = x.shape[0]
    i = generate(n, lambda i: i)

    def turn(v, k, j):
        other = v[i ^ j]
        takes_least = (i < (i ^ j)) == ((i & k) == 0)
        v = np.where(takes_least, np.minimum(v, other), np.maximum(v, other))
        return v, np.where(j > 1, k, 2 * k), np.where(j > 1, j // 2, k)

    return while_loop(lambda v, k, j: k <= n, turn, (x, 2, 1), at_most=1000)[0]


def components(source, target, of_nodes):
    def turn(label, _):
        new = scatter(minimum, label, target, label[source])
        new = scatter(minimum, new, source, new[target])
        new = new[new]
        return new, np.any(new != label)

    start = generate(of_nodes.shape, lambda i: i), True
    return while_loop(lambda label, goes_on: goes_on, turn, start, at_most=1000)[0]


def components_one_by_one(source, target, of_nodes):
    label = np.arange(len(of_nodes))
    for _ in label:
        for a, b in zip(source, target, strict=True):
            label[a] = label[b] = min(label[a], label[b])
    return label


def cholesky(a):
    n = a.shape[0]
    i, j = generate((n, 1), lambda i, _: i), generate((1, n), lambda _, j: j)

    def turn(rest, k):
        column = np.where(i[:, 0] >= k, rest[:, k] / np.sqrt(rest[k, k]), 0.0)
        less = rest - column[:, None] * column[None, :]
        return np.where(j == k, column[:, None], np.where((j > k) & (i > k), less, rest)), k + 1

    return np.tril(while_loop(lambda _, k: k < n, turn, (a, 0), at_most=10_000)[0])


def solved(a, b):
    n = b.shape[0]
    i = generate(n, lambda i: i)

    def eliminate(u, y, k):
        factor = np.where(i > k, u[:, k] / u[k, k], 0.0)
        return u - factor.reshape(-1, 1) * u[k, :][None, :], y - factor * y[k], k + 1

    def substitute(x, k):
        return np.where(i == k, (y[k] - np.sum(np.where(i > k, u[k, :] * x, 0.0))) / u[k, k], x), k - 1

    u, y, _ = while_loop(lambda u, y, k: k < n, eliminate, (a, b, 0), at_most=10_000)
    return while_loop(lambda x, k: k >= 0, substitute, (np.zeros_like(b), n - 1), at_most=10_000)[0]


def crc32(given):
    table = generate(256, lambda i: repeat(8, lambda c: np.where((c & 1) != 0, (c >> 1) ^ 0xEDB88320, c >> 1), i))

    def turn(c, k):
        return table[(c ^ given[k].astype("i64")) & 255] ^ (c >> 8), k + 1

    return while_loop(lambda c, k: k < given.shape[0], turn, (0xFFFFFFFF, 0), at_most=10**6)[0] ^ 0xFFFFFFFF


def box_means(a, r):
    n, m = a.shape
    s = np.pad(np.cumsum(np.cumsum(a, axis=0), axis=1), ((1, 0), (1, 0)))
    i, j = generate((n, 1), lambda i, _: i), generate((1, m), lambda _, j: j)
    top, bottom = np.maximum(i - r, 0), np.minimum(i + r + 1, n)
    left, right = np.maximum(j - r, 0), np.minimum(j + r + 1, m)
    total = s[bottom, right] - s[top, right] - s[bottom, left] + s[top, left]
    return total / ((bottom - top) * (right - left))


def box_means_one_by_one(a, r):
    def mean(i, j):
        return a[max(i - r, 0) : i + r + 1, max(j - r, 0) : j + r + 1].mean()

    return np.array([[mean(i, j) for j in range(a.shape[1])] for i in range(a.shape[0])])


def flooded(mask, row, column):
    seed = generate(mask.shape, lambda i, j: (i == row) & (j == column)) & mask

    def turn(s, _):
        grown = windows(lambda w: w[0, 0] | w[1, 0] | w[-1, 0] | w[0, 1] | w[0, -1], s, constant(False)) & mask
        return grown, np.any(grown != s)

    return while_loop(lambda s, goes_on: goes_on, turn, (seed, True), at_most=1000)[0]


def flooded_one_by_one(mask, row, column):
    s = np.zeros_like(mask)
    s[row, column] = mask[row, column]
    for _ in range(mask.size):
        p = np.pad(s, 1)
        s = (s | p[2:, 1:-1] | p[:-2, 1:-1] | p[1:-1, 2:] | p[1:-1, :-2]) & mask
    return s


def area_of(p, t):
    a, b, c = (p[t[:, k], :] for k in range(3))
    return 0.5 * abs((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1]))


def mass_matrix(p, t):
    n = p.shape[0]
    unit = generate((3, 3), lambda i, j: np.where(i == j, 2.0, 1.0))[None]
    parts = area_of(p, t)[:, None, None] / 12 * unit
    return scatter(add, generate((n, n), lambda i, j: 0.0), (t[:, :, None], t[:, None, :]), parts)


def mass_matrix_of_numpy(p, t):
    made = np.zeros((len(p), len(p)))
    np.add.at(made, (t[:, :, None], t[:, None, :]), area_of(p, t)[:, None, None] / 12 * (1 + np.eye(3)))
    return made


PROGRAMS = [
    (bitonic_sort, (LINE,), np.sort),
    (components, (FROM, TO, np.zeros(40)), components_one_by_one),
    (cholesky, (DEFINITE,), np.linalg.cholesky),
    (solved, (DEFINITE, RIGHT), np.linalg.solve),
    (crc32, (BYTES,), lambda given: zlib.crc32(bytes(given))),
    (box_means, (PICTURE, 3), box_means_one_by_one),
    (flooded, (MASK, 3, 4), flooded_one_by_one),
    (mass_matrix, (PLACES, TRIANGLES), mass_matrix_of_numpy),
]


@pytest.mark.parametrize(("program", "given", "exact"), PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_program_as_typed_computes_what_numpy_does(program, given, exact):
    function = wb.collective(program)
    expected = function(*given, backend="reference")
    np.testing.assert_allclose(expected, exact(*given), rtol=1e-9, atol=1e-12)  # sums in another order
    assert_same_bits(function(*given, backend="openmp", threads=2), expected)
