"""Arrays in a GPU's memory that cannot be read say so in our words."""

import sys

import numpy as np
import pytest

from workbench.errors import FieldError
from workbench.run.arrays import lies_on_device, to_host


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


def test_arrays_of_cupy_are_told_by_their_type(monkeypatch):
    """Each is asked for nothing, as its interface takes microseconds to make."""
    monkeypatch.setattr(GradientTensor, "__module__", "cupy._core.core")

    class Stream:
        __module__ = "cupy.cuda.stream"

    array = GradientTensor()
    with pytest.raises(RuntimeError):
        array.__cuda_array_interface__  # noqa: B018  # to see that it would be an error
    assert lies_on_device(array)
    assert not lies_on_device(Stream())
    assert lies_on_device(DeviceArray())
    assert not lies_on_device(np.arange(3.0))
