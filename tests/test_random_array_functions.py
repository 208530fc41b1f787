"""Random functions of arrays: NumPy's own results to the last bit, as all numbers are whole; then equal bits compiled.

A function is drawn by a seed, once for NumPy and once for each attempt to trace it, and makes the same choices.
"""

import random

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.language import (
    add,
    compute,
    fold,
    fold_segments,
    ranks,
    replicate,
    scan_segments,
    scatter,
    while_loop,
    windows,
)

STEPS, KEPT = 9, 3


def random_function(seed):
    """A function of a matrix (n, m), vectors (n), (m), (m) and places in (m); `labels` tells lengths that are equal."""

    def function(a, x, y, z, places):
        draw = random.Random(seed)
        pool = [(a, "nm"), (x, "n"), (y, "m"), (z, "m")]
        for _ in range(STEPS):
            pool.append(step(draw, pool, places))
        return tuple(value for value, _ in pool[-KEPT:])

    return function


def step(draw, pool, places):
    """One further value, below 11, with a letter for each axis."""
    arrays = [each for each in pool if each[1]]
    value, labels = draw.choice(arrays)
    axis = draw.randrange(len(labels))
    kind = draw.choice(STEP_KINDS)
    if kind == "meet":
        other = draw.choice([v for v, own in pool if own in (labels, "")])
        return (value * other + draw.choice([1, other])) % 11, labels
    if kind == "choose":
        other = draw.choice([v for v, own in arrays if own == labels])
        return np.where(value > other, value - other, np.maximum(other, 3)), labels
    if kind == "outer" and len(labels) == 1:
        other, own = draw.choice([each for each in arrays if len(each[1]) == 1])
        return (value[:, None] + 2 * other[None, :]) % 11, labels + own
    if kind == "fold":
        folded = draw.choice([np.sum, np.max, np.min])(value, axis=axis)
        return folded % 11, labels[:axis] + labels[axis + 1 :]
    if kind == "scan":
        return np.cumsum(value, axis=axis) % 11, labels
    if kind == "product":
        fitting = [(v, own) for v, own in arrays if len(own) <= 2 and own[0] == labels[-1]]
        if fitting and len(labels) <= 2:
            other, own = draw.choice(fitting)
            return (value @ other) % 11, labels[:-1] + own[1:]
    if kind == "turn":
        return (value.T, labels[::-1]) if len(labels) > 1 else (value[::-1], labels)
    if kind == "differ" and labels[axis] in "nm":  # one element less
        before, after = [(slice(None),) * axis + (cut,) for cut in (slice(None, -1), slice(1, None))]
        return (value[after] - value[before]) % 11, labels[:axis] + labels[axis].upper() + labels[axis + 1 :]
    if kind == "gather" and labels[axis] == "m":
        return value[(slice(None),) * axis + (places,)], labels
    if kind in MOVES and labels == "m":
        other = draw.choice([v for v, own in arrays if own == "m"])
        return MOVES[kind](value, other, places) % 11, labels
    return reshaped_step(draw, kind, value, labels, axis)


def reshaped_step(draw, kind, value, labels, axis):
    """The kinds of steps in which no second array takes part."""
    if kind == "flatten":  # backwards through all elements, row by row
        return value.reshape(-1)[::-1].reshape(value.shape), labels
    if kind == "window":
        offsets = [draw.choice([-2, -1, 0, 1, 3]) for _ in labels]
        rules = [draw.choice(list(RULES)) for _ in labels]
        return (value + 3 * neighbours(value, offsets, rules)) % 11, labels
    if kind == "repeat":
        return repeated(value, 2, axis), labels[:axis] + "2" + labels[axis:]
    if kind == "loop":
        return turned(value, draw.randrange(4), axis), labels
    if kind == "record":
        return beside_the_largest(value, axis), labels[:axis] + labels[axis + 1 :]
    if kind == "keep":
        return kept(value * 2 % 11), labels
    return value % 5 + 1, labels


def sent(value, other, places):
    """Each element with those of another array added that are sent to it; NumPy's way or the workbench's."""
    if not isinstance(value, np.ndarray):
        return scatter(add, value, places, other)
    result = value.copy()
    np.add.at(result, places, other)
    return result


def in_order(value, other, places):
    """The other array, sorted by the low bits of this one."""
    if not isinstance(value, np.ndarray):
        return scatter(None, 0 * other, ranks(value.astype("i64"), bits=2), other)
    return other[np.argsort(value.astype(int) & 3, kind="stable")]


def cut(value, other, places):
    """Folds of segments of as many elements as there are places of each number, then scans of them."""
    if not isinstance(value, np.ndarray):
        lengths = scatter(add, 0 * places, places, 1)
        return fold_segments(add, value, lengths) + 2 * scan_segments(add, other, lengths)
    ends = np.cumsum(np.bincount(places, minlength=len(value)))
    parts = list(zip([0, *ends[:-1]], ends, strict=True))
    scans = np.concatenate([np.cumsum(other[low:high]) for low, high in parts])
    return np.array([value[low:high].sum() for low, high in parts]) + 2 * scans


def turned(value, most, axis):
    """A few turns over the whole array, as long as something in it is large."""

    def turn(now, k):
        return (now * 2 + now[(slice(None),) * axis + (slice(None, None, -1),)]) % 11, k + 1

    def goes(now, k):
        return (k < most) & (np.max(now) > 7)

    if not isinstance(value, np.ndarray):
        return while_loop(goes, turn, (value, 0), at_most=9)[0]
    k = 0
    while goes(value, k):
        value, k = turn(value, k)
    return value


def beside_the_largest(value, axis):
    """Of pairs the second one where the first one is the largest, the first of several: a fold that has an order."""
    beside = value * 3 % 7
    if isinstance(value, np.ndarray):
        return np.take_along_axis(beside, np.expand_dims(value.argmax(axis), axis), axis).squeeze(axis)

    def larger(a, b):
        return np.where(a[0] >= b[0], a[0], b[0]), np.where(a[0] >= b[0], a[1], b[1])

    return fold(larger, (value, beside), axis=axis, identity=(-1.0, -1.0))[1]


RULES = {"outflow": "edge", "periodic": "wrap", "reflect": "symmetric", "mirror": "reflect"}


def neighbours(value, offsets, rules):
    """The neighbours of all elements, in one way for traced arrays and in another one for NumPy's."""
    if not isinstance(value, np.ndarray):
        return windows(lambda w: w[tuple(offsets)], value, boundary=tuple(rules))
    for axis, (offset, rule) in enumerate(zip(offsets, rules, strict=True)):
        wide = np.pad(value, [(3, 3) if k == axis else (0, 0) for k in range(value.ndim)], RULES[rule])
        value = np.take(wide, np.arange(value.shape[axis]) + 3 + offset, axis)
    return value


def repeated(value, count, axis):
    if isinstance(value, np.ndarray):
        return np.repeat(np.expand_dims(value, axis), count, axis)
    return replicate(value, count, axis)


def kept(value):
    return value if isinstance(value, np.ndarray) else compute(value)


MOVES = {"scatter": sent, "sort": in_order, "segments": cut}
"""Kinds of steps that move elements of one vector to places that depend on others."""
STEP_KINDS = [
    *("meet", "choose", "outer", "fold", "scan", "product", "turn", "differ", "gather", "scatter"),
    *("flatten", "window", "repeat", "keep", "sort", "segments", "loop", "record"),
]


def given(seed, n=3, m=4):
    draw = np.random.default_rng(seed)
    arrays = [draw.integers(0, 11, shape).astype(float) for shape in ((n, m), n, m, m)]
    return (*arrays, draw.integers(0, m, m))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_functions_are_numpy(first):
    for seed in range(first, first + 20):
        function, values = random_function(seed), given(seed)
        found = wb.collective(function)(*values, backend="reference")
        for place, (mine, exact) in enumerate(zip(found, function(*values), strict=True)):
            assert mine.shape == np.shape(exact), (seed, place)
            assert np.array_equal(mine, exact), (seed, place)


def test_all_kinds_of_steps_are_drawn():
    drawn = set()
    for seed in range(60):
        draw = random.Random(seed)
        drawn |= {draw.choice(STEP_KINDS) for _ in range(STEPS)}
    assert drawn == set(STEP_KINDS)


def compiled_bits(seed, n=5, m=1030, ways=(("openmp", 1), ("openmp", 2), ("openmp", 3))):
    function, values = random_function(seed), given(seed, n, m)
    program = wb.collective(function)
    expected = program(*values, backend="reference")
    for backend, threads in ways:
        for mine, bits in zip(program(*values, backend=backend, threads=threads), expected, strict=True):
            assert_same_bits(mine, bits, f"seed {seed}, {backend}, {threads} threads")


@pytest.mark.parametrize("seed", [1, 2])
def test_compiled_functions_have_equal_bits(seed):
    compiled_bits(seed)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(200, 500))
def test_many_compiled_functions_have_equal_bits(seed):
    compiled_bits(seed)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(500, 560))
def test_many_functions_have_equal_bits_on_the_simulated_device(seed):
    compiled_bits(seed, 3, 35, (("cuda-sim", 0),))
