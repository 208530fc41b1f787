"""Fusion: each pair of collective operations in one loop that makes no array (McDonell 2015, §5.2), or why it does not.

An operation is a function of (x, y, places): an array, a vector of the length of its last axis, and places in that.
"""

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops as loops_of
from workbench.language import (
    add,
    compute,
    fold,
    fold_segments,
    generate,
    maximum,
    multiply,
    replicate,
    scan,
    scatter,
    windows,
    zip_with,
)

PRODUCERS = {
    "map": lambda x, y, places: 2 * x,
    "zip with": lambda x, y, places: zip_with(add, x, y[(None,) * (x.ndim - 1)]),
    "zip with, right": lambda x, y, places: zip_with(multiply, y[(None,) * (x.ndim - 1)], x),
    "backpermute": lambda x, y, places: x[(slice(None),) * (x.ndim - 1) + (places,)],
    "replicate": lambda x, y, places: replicate(x, 3),
    "slice": lambda x, y, places: x[1:, ..., ::-1] if x.ndim > 1 else x[1:],
    "element": lambda x, y, places: x[1] if x.ndim > 1 else x[::-1],
    "reshape": lambda x, y, places: x.reshape(x.shape[0], -1) if x.ndim > 1 else x.reshape(2, -1),
    "transpose": lambda x, y, places: x.T,
    "generate": lambda x, y, places: generate(x.shape, lambda *i: x[i] + i[0]),
}
CONSUMERS = {
    "fold all": lambda x, places: np.sum(x),
    "fold rows": lambda x, places: fold(maximum, x),
    "fold columns": lambda x, places: fold(add, x, axis=0),
    "fold by a function": lambda x, places: fold(lambda a, b: a * b + a + b, x, identity=0.0),
    "scan": lambda x, places: np.cumsum(x, axis=-1),
    "scan by a function": lambda x, places: wb.language.scan(lambda a, b: a * b + a + b, x, identity=0.0),
}
GIVEN = np.ones((4, 6)), np.ones(6), np.arange(6)


def loops(function, *given, choices=None):
    return loops_of(function, *(given or GIVEN), choices=choices)


@pytest.mark.parametrize("first", PRODUCERS)
def test_producers_of_producers_are_one_loop(first):
    for second in PRODUCERS:
        found = loops(lambda x, y, p, s=second: PRODUCERS[s](PRODUCERS[first](x, y, p), y, p))
        assert found == (1, 0), second


@pytest.mark.parametrize("first", PRODUCERS)
def test_consumers_of_producers_are_one_loop(first):
    for second in CONSUMERS:
        assert loops(lambda x, y, p, s=second: CONSUMERS[s](PRODUCERS[first](x, y, p), p)) == (1, 0), second


@pytest.mark.parametrize("first", PRODUCERS)
def test_segments_fuse_with_their_data_and_the_beginnings_with_the_lengths(first):
    """The beginnings of segments are a scan of the lengths, which is stored."""

    def sums(x, y, p):
        made = PRODUCERS[first](x, y, p)
        return fold_segments(add, made.reshape(-1) if made.ndim > 1 else made, 2 * p + 1)

    assert loops(sums) == (2, 1)


def test_pairs_mean_what_they_say():
    """Each pair by the reference is what NumPy makes of the operations one after the other."""
    x, y = np.arange(24.0).reshape(4, 6) + 1, np.arange(6.0)
    places = np.array([5, 0, 0, 3, 1, 2])
    exact = {
        "map": lambda x: 2 * x,
        "backpermute": lambda x: x[..., places],
        "replicate": lambda x: np.repeat(x[None], 3, 0),
        "slice": lambda x: x[1:, ..., ::-1],
        "reshape": lambda x: x.reshape(x.shape[0], -1),
        "transpose": lambda x: x.T,
        "generate": lambda x: x + np.arange(x.shape[0]).reshape((-1,) + (1,) * (x.ndim - 1)),
    }
    order = ["map", "slice", "replicate", "backpermute", "generate"]
    for names in [*itertools.permutations(order, 3), ("replicate", "reshape", "generate")]:
        expected = x
        for name in names:
            expected = exact[name](expected)
        found = wb.collective(chained(names))(x, y, places, backend="reference")
        assert found.tolist() == expected.tolist(), names


def chained(names):
    def function(x, y, p):
        for name in names:
            x = PRODUCERS[name](x, y, p)
        return x

    return function


EXPLAINED = [
    (
        lambda x, y, p: windows(lambda w: w[0, +1], 2 * x, boundary="mirror"),
        (2, 1),
        "neighbours lie in an array",
    ),
    (lambda x, y, p: compute(2 * x)[1:], (2, 1), "it is asked for"),
    (lambda x, y, p: (x.sum(axis=0) + y)[None, :] * x, (2, 1), "each sum is used for a whole column"),
    (lambda x, y, p: np.exp(y)[:, None] * np.exp(y)[None, :], (2, 1), "36 exponentials instead of 12"),
    (lambda x, y, p: np.exp(y)[p], (2, 1), "a dear element may be read often"),
    (lambda x, y, p: (y * y)[:, None] * (y * y)[None, :], (1, 0), "a product costs less than to read it"),
    (lambda x, y, p: (np.exp(y) + 1, np.exp(y) * 2), (1, 0), "two uses in one loop share it"),
    (lambda x, y, p: np.sum(y * y[::-1]), (1, 0), "a dot product"),
    (lambda x, y, p: zip_with(lambda a, b: a - 2 * b, y, np.exp(y)) + 1, (1, 0), "a map of a zip of a map"),
    (lambda x, y, p: np.exp(y)[::-1] * y.shape[0], (1, 0), "each element is used once; a length is no use"),
    (lambda x, y, p: scatter(add, 2 * y, p, y), (1, 0), "defaults are computed where they are copied"),
    (lambda x, y, p: (2 * y)[::-1] + np.sum(y), (2, 0), "the sum ends before it is used"),
    (lambda x, y, p: scan(add, np.exp(y)), (2, 1), "a scan computes it twice, cell by cell"),
    (lambda x, y, p: scan(add, np.sin(y) * np.exp(-y) / np.sqrt(1 + y * y)), (2, 1), "all of it is stored, once"),
    (lambda x, y, p: scan(add, y * y + 2 * y + 1), (1, 0), "a polynomial costs less than to read it"),
    (lambda x, y, p: scatter(add, y, p, np.exp(y)), (2, 1), "senders come one after the other"),
    (lambda x, y, p: scatter(add, y, (np.exp(y) * 4).astype("i64"), 1.0), (2, 1), "so do their places"),
    (lambda x, y, p: scatter(add, y, (y * 4).astype("i64"), 1.0), (1, 0), "a histogram is one loop"),
    (lambda x, y, p: scatter(add, y, (x[:, 0] * 4).astype("i64"), 1.0), (1, 0), "so it is where bins have an axis"),
    (lambda x, y, p: scatter(add, y, (np.exp(x[:, 0]) * 4).astype("i64"), 1.0), (2, 1), "and of dear places it is not"),
]


@pytest.mark.parametrize(("function", "expected", "why"), EXPLAINED)
def test_what_is_stored_and_why(function, expected, why):
    assert loops(function) == expected, why
