"""Arrays in a GPU's memory that cannot be read say so in our words."""

import sys

import numpy as np
import pytest

from workbench.errors import FieldError
from workbench.run.arrays import to_host


class DeviceArray:
    """As numba's, where CuPy is not installed."""

    __cuda_array_interface__ = None

    def __array__(self, *_, **__):
        raise TypeError("not on the host")


class GradientTensor(DeviceArray):
    """As torch's tensors that need a gradient."""

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")


@pytest.mark.parametrize("kind", [DeviceArray, GradientTensor])
def test_without_cupy(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(FieldError, match=rf"u was given a {kind.__name__} on a GPU(.|\n)*\nPass it as an array"):
        to_host("u", kind())


def test_arrays_of_the_host_are_as_before():
    values = np.arange(3.0)
    assert to_host("u", values) is values
