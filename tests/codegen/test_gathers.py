"""Gathers: indices that are those of the cell itself are not checked, so that rows of an array are read as rows."""

import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError
from workbench.language import compute, while_loop

X = np.random.default_rng(2).random((5, 7))


def text_of(function, *given, backend="openmp"):
    return wb.collective(function).machine(*given).source(backend).text


def inner_loops(text):
    """The bodies of the loops over the cells of a row."""
    return re.findall(r"#pragma omp simd.*?\n(.*?)\n {8}\}", text, re.DOTALL)


def test_a_row_at_a_computed_number_is_one_load():
    (loop,) = inner_loops(text_of(lambda x, k: x[k] * x[0], X, 2))
    assert "inside" not in loop
    assert "place + (index_y)]" in loop


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_what_is_only_turned_is_not_checked(backend):
    text = text_of(lambda x: np.cumsum(x @ x.T, axis=0).T, X, backend=backend)
    assert "_inside" not in text
    assert "note_outside(globals" not in text


def test_an_index_of_another_axis_or_place_is_checked():
    for function in (
        lambda x, k: compute(x)[:, k],
        lambda x, k: x[x.shape[0] - 1 - (k + 0 * np.cumsum(x[:, 0] > 9))],
        lambda x, k: while_loop(lambda y, n: n < 4, lambda y, n: (y[n] + x[k], n + 1), (x[:, 0], 0), at_most=9)[0],
    ):
        assert "_inside" in text_of(function, X[:5, :5], 1)


@pytest.mark.parametrize("k", [-1, 5])
def test_a_row_outside_is_an_error_on_every_backend(k):
    program = wb.collective(lambda x, k: x[k] + x[1])
    for backend in ("reference", "openmp", "cuda-sim"):
        with pytest.raises(RunError, match=rf"x is read at index {k}.*has 5 elements along"):
            program(X, k, backend=backend)
        assert_same_bits(program(X, 4, backend=backend), X[4] + X[1], backend)
