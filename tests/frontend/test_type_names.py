"""x.dtype in a function of arrays chooses as it does in NumPy."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits


def factor(x):
    """A number that tells which of the questions about the type hold."""
    asked = (
        x.dtype == np.float64,
        np.float64 == x.dtype,
        np.dtype("f8") == x.dtype,
        x.dtype != np.float32,
        x.dtype in (np.float32, np.int64),
        x.dtype == float,
        x.dtype == "float64",
        x.dtype.kind == "f",
        x.dtype.itemsize == 8,
        x.dtype == "nothing",
        x.dtype is None,
    )
    return x * np.float32(0) + sum(2**k for k, holds in enumerate(asked) if holds)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_questions_about_the_type_are_answered_as_by_numpy(dtype):
    x = np.ones(2, dtype)
    assert wb.collective(factor)(x, backend="reference")[0] == factor(x)[0]


def test_the_name_is_a_type_of_the_language_too():
    program = wb.collective(lambda x, k: (k.astype(x.dtype), x if x.dtype == "f32" else -x), backend="reference")
    cast, same = program(np.ones(2, np.float32), np.arange(2))
    assert (cast.dtype, same[0]) == (np.float32, 1)


def test_numpy_says_what_the_type_holds():
    """np.finfo(x.dtype) and its kin are answered while the function is traced."""

    def limits(x, k):
        assert np.issubdtype(x.dtype, np.floating)
        assert np.dtype(k.dtype) == k.dtype
        return np.maximum(x, np.finfo(x.dtype).eps), np.minimum(k, np.iinfo(k.dtype).max - 3), x * x.dtype.itemsize

    for given in ((np.zeros(2), np.array([1, 2**62])), (np.zeros(2, np.float32), np.array([1, 127], np.int8))):
        for found, expected in zip(wb.collective(limits)(*given, backend="reference"), limits(*given), strict=True):
            assert_same_bits(found, expected)
