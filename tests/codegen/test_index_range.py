"""Index ranges: indices that lie inside by the way they are made are not checked, all others are."""

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.language import compute, generate, windows

INSIDE = {
    "a neighbour, cut at the end": lambda i, n: np.minimum(i + 1, n - 1),
    "cut at the beginning": lambda i, n: np.maximum(i - 3, 0),
    "cut at both": lambda i, n: np.minimum(np.maximum(i - 2, 0), n - 1),
    "from the end": lambda i, n: n - 1 - i,
    "from the end by a product": lambda i, n: (n - 1) + i * -1,
    "a product, cut at the end": lambda i, n: np.minimum(3 * i, n - 1),
    "round a ring": lambda i, n: (i + 5) % n,
    "a ring with a question": lambda i, n: np.where(i + 1 < n, i + 1, i + 1 - n),
}
ELSE = {
    "the next": lambda i, n: i + 1,
    "before": lambda i, n: i - 1,
    "one from the end": lambda i, n: n - i,
    "cut too late": lambda i, n: np.minimum(i + 1, n),
    "cut too early": lambda i, n: np.maximum(i - 1, -1),
    "another question": lambda i, n: np.where(i < n, i + 1, 0),
    "the second": lambda i, n: 0 * n + 1,
    "twice": lambda i, n: i + i,
    "a product": lambda i, n: np.minimum(i * 2, n),
    "a negative product": lambda i, n: np.minimum(i * -2, n - 1),
    "every second from the end": lambda i, n: (n - 1) + i * -2,
}


def program(index):
    return wb.collective(lambda x: generate(x.shape, lambda i: compute(x * x)[index(i, x.shape[0])]))


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
@pytest.mark.parametrize("index", INSIDE.values(), ids=INSIDE)
def test_what_lies_inside_is_not_checked(index, backend):
    assert "_inside" not in program(index).machine(np.ones(4)).source(backend).text


@pytest.mark.parametrize("index", INSIDE.values(), ids=INSIDE)
def test_what_is_not_checked_lies_inside(index):
    for n in range(1, 7):
        assert all(0 <= index(i, n) < n for i in range(n))
        x = np.arange(1.0, n + 1)
        assert_same_bits(program(index)(x, backend="openmp"), program(index)(x, backend="reference"))


@pytest.mark.parametrize("index", ELSE.values(), ids=ELSE)
def test_what_may_lie_outside_is_checked(index):
    assert not all(0 <= index(i, n) < n for n in range(1, 7) for i in range(n))
    assert "_inside" in program(index).machine(np.ones(4)).source("openmp").text


def test_no_index_of_random_formulas_is_taken_for_one_inside():
    """Two operators on an index, a length and small numbers."""
    parts = [lambda i, n: i, lambda i, n: n, lambda i, n: 0 * n + 1, lambda i, n: 0 * n - 2]
    joined = [np.minimum, np.maximum, np.add, np.subtract]
    draw = np.random.default_rng(3)
    combinations = list(product(joined, joined, parts, parts, parts))
    checked = 0
    for f, g, a, b, c in (combinations[k] for k in draw.choice(len(combinations), 40, replace=False)):

        def index(i, n, f=f, g=g, a=a, b=b, c=c):
            return f(g(a(i, n), b(i, n)), c(i, n))

        lies_inside = all(0 <= index(i, n) < n for n in range(1, 9) for i in range(n))
        if "_inside" in program(index).machine(np.ones(4)).source("openmp").text:
            checked += 1
        else:
            assert lies_inside
    assert 5 < checked < 40


def test_windows_of_several_axes_are_not_checked():
    x = np.ones((4, 5))
    text = (
        wb.collective(lambda x: windows(lambda w: w[1, -1] + w[-1, 0], x, "outflow")).machine(x).source("openmp").text
    )
    assert "outside" not in text


def test_an_array_that_may_have_no_element_is_checked():
    function = wb.collective(lambda x, y: y + compute(x * x)[x.shape[0] - 1])
    assert "_inside" in function.machine(np.ones(3), np.ones(4)).source("openmp").text
