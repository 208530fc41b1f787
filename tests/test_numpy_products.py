"""NumPy's functions of products and of parts of arrays: what NumPy computes, with equal bits on every backend."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError, TraceError

BACKENDS = ("reference", "openmp", "cuda-sim")
DRAWN = np.random.default_rng(11)
X, Y = DRAWN.normal(size=12), DRAWN.normal(size=12)
A, B = DRAWN.normal(size=(5, 6)), DRAWN.normal(size=(6, 5))
S = DRAWN.normal(size=(4, 4))
T = DRAWN.normal(size=(3, 4, 5))
V, W = DRAWN.normal(size=(7, 3)), DRAWN.normal(size=(7, 3))
K = DRAWN.integers(-3, 4, 12)
ODD = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 7.0, -7.0, 1e300, 5e-324, 3.0])
SHORT = np.array([0.25, 0.5, -0.25])


def products(a, b, x, y):
    return (
        np.tensordot(a, b, 1),
        np.tensordot(a, b, ([0, 1], [1, 0])),
        np.tensordot(x, y, 0),
        np.kron(x, y),
        np.kron(a[:2], b[:, :2]),
        np.linalg.multi_dot([a, b, a, y[:6]]),
        np.correlate(x, y[:4]),
        np.correlate(x, y[:4], "same"),
        np.correlate(x, y[:5], "full"),
        np.polyval([2.0, -1.0, 0.5, 3.0], x),
        np.polyval(SHORT, a),
        np.vander(x, 4),
        np.vander(x, 3, increasing=True),
    )


def vectors(v, w):
    return np.cross(v, w), np.cross(v, w.T, axisb=0), np.cross(v.T, w.T, axis=0), np.cross(v[0], w)


def powers(s):
    return tuple(np.linalg.matrix_power(s, n) for n in range(1, 8))


def covariances(a, x, y):
    return (
        np.cov(a),
        np.cov(a, rowvar=False),
        np.cov(a, bias=True),
        np.cov(a, ddof=2),
        np.cov(x),
        np.cov(x, y),
        np.corrcoef(a),
        np.corrcoef(x, y),
    )


def split(x, a, t):
    return (
        *np.split(x, 4),
        *np.split(x, [3, 5]),
        *np.split(a, 3, axis=1),
        *np.array_split(x, 5),
        *np.array_split(a, 4, axis=-1),
        *np.array_split(x[:1], 3),
        *np.hsplit(a, 2),
        *np.vsplit(t, 3),
        *np.hsplit(x, [2]),
    )


def repeated(x, a, t):
    return (
        np.repeat(x, 3),
        np.repeat(a, 2),
        np.repeat(a, 2, axis=0),
        np.repeat(t, 3, axis=-1),
        np.broadcast_to(x, (3, 12)),
        np.broadcast_to(a[:, None], (5, 2, 6)),
        np.broadcast_to(x[0], (2, 3)),
    )


def joined(x, y, a, s, t):
    return (
        np.dstack([x, y]),
        np.dstack([a, 2 * a]),
        np.block([[s, 2 * s], [3 * s, s]]),
        np.block([x, y]),
        np.block([[x], [y]]),
        np.atleast_1d(x),
        np.atleast_2d(x),
        np.atleast_3d(x),
        np.atleast_3d(a),
        *np.atleast_2d(x, a),
        np.delete(x, 2),
        np.delete(x, -1),
        np.delete(x, -2),
        np.delete(a, 1, axis=1),
        np.insert(x, 2, 1.5),
        np.insert(x, 3, y),
        np.ediff1d(a),
        np.real(t),
    )


def chosen(x, y, a, k):
    return (
        np.take_along_axis(x, np.abs(k), 0),
        np.take_along_axis(a, np.argsort(a, axis=1), 1),
        np.take_along_axis(a, np.argmax(a, axis=0)[None], 0),
        np.choose(np.abs(k) % 2, [x, y]),
        np.choose(np.abs(k) % 3, [x, 0.5, y]),
        np.piecewise(x, [x < 0, x > 0.5], [lambda q: -q, lambda q: q * q]),
        np.piecewise(x, [x < 0, x < 0.5], [1.0, lambda q: 3 * q, 9.0]),
        np.piecewise(k, [k < 0], [lambda q: q * 0.75]),
    )


def of_odd_numbers(x, y):
    return (
        np.nan_to_num(x),
        np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0),
        np.fmod(x, y),
        np.fmod(y, x),
        *np.modf(x),
        *np.divmod(y, 0.7),
        *divmod(y, 1.5),
        np.heaviside(x, 0.5),
    )


def counted(x, k):
    return (
        *np.histogram(x),
        *np.histogram(x, 4, (-1.0, 1.0)),
        *np.histogram(x, [-1.0, 0.0, 0.25, 2.0]),
        *np.histogram(x, 5, (-2.0, 2.0), weights=x * x),
        *np.histogram(x, 7, density=True),
        *np.histogram(np.round(x), 6, (-3.0, 3.0)),
        np.digitize(x, [-1.0, 0.0, 1.0]),
        np.digitize(np.round(x), [-1.0, 0.0, 1.0], right=True),
        np.digitize(np.round(x), np.array([1.0, 0.0, -1.0])),
        np.isin(k, [1, 3]),
        np.isin(k, np.array([[1, -1], [2, 2]]), invert=True),
    )


PROGRAMS = [
    (products, A, B, X, Y),
    (vectors, V, W),
    (powers, S),
    (covariances, A, X, Y),
    (split, X, A, T),
    (repeated, X, A, T),
    (joined, X, Y, A, S, T),
    (chosen, X, Y, A, K),
    (of_odd_numbers, ODD, np.roll(ODD, 4)),
    (counted, X, K),
]


@pytest.mark.parametrize(("function", "given"), [(row[0], row[1:]) for row in PROGRAMS])
def test_they_mean_what_they_mean_in_numpy(function, given):
    with np.errstate(all="ignore"):
        wanted = function(*given)
    first = wb.collective(function)(*given, backend="reference")
    assert [each.shape for each in first] == [np.shape(each) for each in wanted]
    assert [each.dtype for each in first] == [np.asarray(each).dtype for each in wanted]
    for number, (mine, theirs) in enumerate(zip(first, wanted, strict=True)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13, err_msg=f"result {number}")
    for backend in BACKENDS[1:]:
        for mine, other in zip(wb.collective(function)(*given, backend=backend), first, strict=True):
            assert_same_bits(mine, other)


def test_the_logarithm_of_a_sum_is_finite_where_the_sum_is_not():
    x = np.array([-1000.0, 0.0, 1000.0, np.inf, -np.inf, np.nan, 3.0])
    found = wb.collective(lambda x: np.logaddexp(x[:, None], x[None]))(x, backend="reference")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, np.logaddexp(x[:, None], x[None]), rtol=1e-15)


@pytest.mark.parametrize("name", ["fmod", "heaviside", "logaddexp"])
def test_in_a_cell_they_are_taken_in_each_cell(name):
    machine = wb.trace(f'u, v = fields("u v")\nu.next = np.{name}(u, v)\n', dim=1, namespace={"np": np})
    found = machine.simulate(u=X, v=Y, backend="reference").run(1).u
    np.testing.assert_allclose(found, getattr(np, name)(X, Y), rtol=1e-15)


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: np.split(x, 5), "12", ""),
        (lambda x: np.cross(x, x), "12", "3"),
    ],
)
def test_lengths_that_do_not_fit_are_errors_of_the_call(function, words, advice):
    with pytest.raises(ShapeError) as caught:
        wb.collective(function)(X, backend="reference")
    assert words in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: np.tensordot(x, x, ([0], [0, 0])), "1 axes of one array meet 2", "as many of both"),
        (lambda x: np.kron(x, x[None]), "arrays of 1 and 2 axes", "1 or 2 axes"),
        (lambda x: np.linalg.matrix_power(x[None] * x[:, None], 0), "the power 0", "from 1"),
        (lambda x: np.polyval(x, x), "known at the call", "np.polyval([a, b, c], x)"),
        (lambda x: np.vander(x), "None columns", "np.vander(x, 3)"),
        (lambda x: np.cov(x[None, None]), "3 axes", "as rows"),
        (lambda x: np.repeat(x, [1, 2]), "another number of times", "np.searchsorted"),
        (lambda x: np.broadcast_to(x[None], (12,)), "fewer axes", "all of them"),
        (lambda x: np.delete(x, [1, 2]), "the place [1, 2]", "one known whole number"),
        (lambda x: np.insert(x[None], 0, 1.0, axis=0), "2 axes", "np.concatenate"),
        (lambda x: np.take_along_axis(x, np.argsort(x)[None], 0), "1 axes and indices of 2", "as many of both"),
        (lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), "3 functions for 1 conditions", "one more"),
        (lambda x: np.digitize(x, [1.0, 0.0, 2.0]), "neither ascend nor descend", "Sort"),
    ],
)
def test_what_has_no_meaning_names_what_to_write(function, words, advice):
    with pytest.raises(TraceError) as caught:
        wb.collective(function)(X, backend="reference")
    assert words in str(caught.value)
    assert advice in str(caught.value)
