"""Gathers: indices that are those of the cell itself are not checked, so that rows of an array are read as rows."""

import re
from itertools import count

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError
from workbench.language import add, compute, fold_segments, while_loop

X = np.random.default_rng(2).random((5, 7))
NUMBERS = count()


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


def test_segments_are_read_in_a_loop_that_ends_at_an_index_outside():
    given = np.array([2, 1], np.int32), np.array([0, 2, 1], np.int32), X[0, :3], X[1, :3]
    text = text_of(lambda n, columns, v, x: fold_segments(add, v * x[columns], n), *given)
    first, second = re.findall(r"for \(; i < high; \+\+i\) \{\n(.*?)\n {8}\}", text, re.DOTALL)
    assert "if (!t4_inside) break;" in first
    assert "outside" not in first
    assert "?" not in first
    assert "outside |= uint64_t(!t4_inside)" in second
    assert first.splitlines()[-1] == second.splitlines()[-1]  # the same sum, in the same order


def test_an_index_outside_of_a_late_segment_is_noted_beside_others():
    lengths, columns = np.array([3, 2000, 1], np.int32), np.zeros(2004, np.int32)
    new = float(next(NUMBERS))  # a program of its own at each call, which a seeded fault of the text needs
    program = wb.collective(lambda n, c, v, x, y: fold_segments(add, v * x[c] + y[c + 1] + new, n))
    for place, where in ((1500, 7), (2003, -1)):
        columns[:] = 0
        columns[place] = where
        with pytest.raises(RunError, match=rf"x is read at index {where}, .*has 3 elements"):
            program(lengths, columns, np.ones(2004), X[0, :3], X[0], backend="openmp", threads=2)


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
