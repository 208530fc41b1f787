"""An index outside in a function of arrays: the array as the function has it, its axis by number, the element."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import OutsideError
from workbench.language import add, compute, maximum, scan, scatter, windows

LINE, TABLE = np.arange(5.0), np.arange(12.0).reshape(3, 4)
ROWS, COLUMNS = np.array([1, 2]), np.array([0, 2, -1])


def running(a, i, j):
    c = np.cumsum(a, axis=0).T
    return c[j[:, None], i[None, :]]


ACCESSES = [
    (
        lambda x, k: x[k],
        (LINE, np.array([1, 7])),
        "x is read at index 7, for element 1, but has 5 elements along axis 0",
    ),
    (lambda x, n: x[n], (LINE, 9), "x is read at index 9, but has 5 elements along axis 0"),
    (
        lambda a, k: a[1:].T[k[0], :],
        (TABLE, np.array([[1, 7]])),
        "a[1:] is read at index 7, for element (1, 0), but has 4 elements along axis 1",
    ),
    (
        lambda a, k: a[:, 2][k],
        (TABLE, np.array([0, 3])),
        "a[:, 2] is read at index 3, for element 1, but has 3 elements along axis 0",
    ),
    (
        lambda a, k: a[1:][:, ::2][:, 1:][k, :],
        (TABLE, np.array([2])),
        "a part of a is read at index 2, for element (0, 0), but has 2 elements along axis 0",
    ),
    (
        lambda a, k: a.reshape(-1)[k],
        (TABLE, np.array([12])),
        "the reshaped a is read at index 12, for element 0, but has 12 elements along axis 0",
    ),
    (running, (TABLE, ROWS, COLUMNS), "c is read at index -1, for element (2, 0), but has 4 elements along axis 0"),
    (
        lambda a, k: scan(maximum, a, axis=0)[k, k],
        (TABLE, np.array([2, 3])),
        "a value is read at index 3, for element 1, but has 3 elements along axis 0",
    ),
    (
        lambda a: windows(lambda w: w[0, 1], a),
        (TABLE,),
        "a is read at index 4, for element (0, 3), but has 4 elements along axis 1",
    ),
    (
        lambda a, i, j: scatter(add, np.zeros_like(a.T), (i[:, None], j[None, :]), 1.0),
        (TABLE, ROWS, COLUMNS),
        "scatter sends to index -1, for element (0, 2), but the result has 3 elements along axis 1",
    ),
    (
        lambda x, k: np.bincount(k, minlength=4),
        (LINE, np.array([1, 5])),
        "scatter sends to index 5, for element 1, but the result has 4 elements along axis 0",
    ),
    (
        lambda x, k: np.sum(compute(x * x)[k][None, :] + x[:, None], axis=0),
        (LINE, np.array([0, 6])),
        "is read at index 6, for element 1, but has 5 elements along axis 0",
    ),
    (lambda x: x[x.astype("i64").argmin()], (LINE[:0],), "but has 0 elements along axis 0"),
]


@pytest.mark.parametrize(("function", "given", "words"), ACCESSES)
def test_an_index_outside_is_told_in_the_function_s_words(function, given, words):
    for backend in ("reference", "openmp", "cuda-sim"):
        with pytest.raises(OutsideError, match="line ") as caught:
            wb.collective(function)(*given, backend=backend)
        assert words in str(caught.value)
        assert caught.value.outside.index in (7, 9, 3, 2, 12, -1, 4, 5, 6, 2**63 - 1)


def test_a_line_that_reads_in_two_ways_tells_no_wrong_number():
    """Two arrays of the same axes, one turned, are read in one line: their numbers differ."""

    def both(a, i, j):
        c = np.cumsum(a, axis=0)
        return np.stack([b[k, m] for b, k, m in ((c, i, j), (c.T, j, i))])

    with pytest.raises(OutsideError) as caught:
        wb.collective(both)(TABLE, np.array([0, 1]), np.array([0, 9]), backend="reference")
    assert "c is read at index 9, for element 1, but has 4 elements along one of its axes" in str(caught.value)
