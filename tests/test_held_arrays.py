"""Arrays of NumPy that a function of arrays reads and that no argument gives."""

import warnings

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import ShapeError, TraceError
from workbench.frontend.captured import CapturedNameWarning

X = np.linspace(-1.0, 2.0, 12)
A = X.reshape(3, 4)
WEIGHTS = np.array([0.25, 0.5, 0.25])
PLACES = np.array([3, 1, 1])
MASK = X > 0
TABLE = np.arange(5.0)
BACKENDS = ("reference", "openmp", "cuda-sim")


def of_the_module(x, a):
    return (
        x[:3] * WEIGHTS + WEIGHTS,
        np.convolve(x, WEIGHTS, "same"),
        x[PLACES],
        a[:, PLACES],
        a[PLACES - 1, PLACES],
        np.where(MASK, x, 0),
        x[MASK] * 2,
        a[np.ix_([0, 2], [1, 3])],
    )


def of_its_own(x, a):
    unit = np.eye(3)
    return (
        unit @ a,
        a - [1.0, 2.0, 3.0, 4.0],
        a * [[1], [2], [3]],
        x + np.arange(12),
        np.linspace(0, 1, 12) - x,
        np.interp(x, [0, 0.5, 1], [1, 2, 0]),
        np.stack([x, np.ones(12)]),
        a + np.ones((1, 4)),
        a.T * np.float32(2) + np.array(3.0),
    )


@pytest.mark.parametrize("function", [of_the_module, of_its_own])
def test_they_are_read_as_arguments_are(function):
    wanted, first = function(X, A), None
    for backend in BACKENDS:
        found = wb.collective(function)(X, A, backend=backend)
        assert [each.shape for each in found] == [each.shape for each in wanted]
        for mine, theirs, other in zip(found, wanted, first or found, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-15, atol=1e-15)
            assert_same_bits(mine, other)
        first = first or found


def test_a_list_and_an_array_of_the_same_numbers_are_one():
    machine = wb.collective(lambda a: (a - [1.0, 2.0, 3.0, 4.0], a * np.arange(1.0, 5.0))).machine(A)
    assert [each.name for each in machine.graph.fields if each.name not in ("result0", "result1")] == ["a", "array"]


def test_an_array_of_the_module_has_its_name():
    machine = wb.collective(lambda x: x[:3] * WEIGHTS).machine(X)
    assert "WEIGHTS" in [each.name for each in machine.graph.fields]
    assert "WEIGHTS" in machine.source("openmp").text


def test_a_function_may_change_an_array_of_its_own_after_it_was_used():
    def counted(x):
        ones, found = np.zeros(3), []
        for k in range(3):
            ones[k] = 1.0
            found.append(x[:3] * ones)
        return tuple(found)

    for mine, theirs in zip(wb.collective(counted)(X), counted(X), strict=True):
        assert_same_bits(mine, theirs)


def test_a_call_reads_what_an_array_holds_then_and_tells_when_the_name_is_another_array():
    weights = np.array([1.0, 2.0, 3.0])

    def weighed(x):
        return x[:3] * weights

    function = wb.collective(weighed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_bits(function(X), X[:3] * weights)
        weights[1] = 7.0
        assert_same_bits(function(X), X[:3] * weights)
    before, weights = weights, np.array([4.0, 5.0, 6.0])
    with pytest.warns(CapturedNameWarning, match=r"weights was an array of shape \(3,\)"):
        assert_same_bits(function(X), X[:3] * before)


def test_a_lambda_tells_of_other_numbers_too():
    rate = 2.0
    function = wb.collective(lambda x: x * rate)
    assert_same_bits(function(X), 2 * X)
    rate = 3.0
    with pytest.warns(CapturedNameWarning, match=r"rate was 2\.0"):
        assert_same_bits(function(X), 2 * X)


def test_what_is_computed_after_a_selection_reads_them_too():
    found = wb.collective(lambda x: np.convolve(x[x > 0], TABLE))(X)
    np.testing.assert_allclose(found, np.convolve(X[X > 0], TABLE), rtol=1e-15)


def test_arrays_of_other_lengths_are_errors_of_the_call():
    with pytest.raises(ShapeError) as caught:
        wb.collective(lambda x: x + TABLE)(X)
    assert "TABLE along axis 0 has 5" in str(caught.value)
    assert "x along axis 0 has 12" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "words", "advice"),
    [
        (lambda x: x + np.array([1j] * 12), "complex128 values, which no program holds", "two arrays"),
        (lambda x: x + np.array(["a"] * 12), "<U1 values", "Use bool, integers, f32 or f64"),
        (lambda x: x * ["a", "b"], "list cannot be combined", "as an argument"),
        (lambda x: x * [[1, 2], [3]], "list cannot be combined", "as an argument"),
        (lambda x: x * (1, 2), "tuple cannot be combined", "as an argument"),
        (lambda x: x + np.zeros(12, [("a", "f8"), ("b", "i4")]), "values, which no program holds", "Use bool"),
    ],
)
def test_what_no_program_holds_is_an_error_with_the_line(function, words, advice):
    with pytest.raises(TraceError) as caught:
        wb.collective(function)(X, backend="reference")
    assert words in str(caught.value)
    assert advice in str(caught.value)
    assert "line " in str(caught.value)
