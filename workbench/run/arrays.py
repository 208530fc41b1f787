"""Arrays of others: anything that holds numbers becomes a NumPy array on the host; the only place that knows CuPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.errors import FieldError


def to_host(name: str, value: object) -> Array:
    """Return `value` (number, sequence, NumPy, CuPy, DLPack, xarray) as a NumPy array; shares memory where possible.

    `name` is what the value is for. Raises FieldError for ragged sequences and masked cells.
    """
    if lies_on_device(value):
        return _from_device(name, value)
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    # To import numpy.ma takes a fifth of a first call of a small program, and without it no array is masked.
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise FieldError(
            f"{name} was given a masked array with {int(np.sum(value.mask))} masked cells",
            advice="Fill the masked cells: pass value.filled(0.0).",
        )
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise FieldError(
            f"{name} was given a {type(value).__name__} that is no array: {error}",
            advice="Pass a number or an array whose rows have equal length.",
        ) from error


def lies_on_device(value: object) -> bool:
    """Whether it is an array of CuPy, numba or torch in a GPU's memory."""
    kind: Any = type(value)
    if _is_of_cupy(kind):
        return True
    try:
        return hasattr(value, "__cuda_array_interface__")
    except RuntimeError:  # torch's, for a tensor that needs a gradient
        return True


@lru_cache(maxsize=64)
def _is_of_cupy(kind: Any) -> bool:  # noqa: ANN401  # a type
    """Whether it is CuPy's type of arrays, all of which lie on a GPU: to ask one of them takes microseconds."""
    return str(kind.__module__).split(".")[0] == "cupy" and hasattr(kind, "__cuda_array_interface__")


def device_array(name: str, value: object) -> Any:  # noqa: ANN401  # of CuPy
    """An array in a GPU's memory as one of CuPy, without a copy. FieldError if it cannot be read."""
    if hasattr(value, "get") and hasattr(value, "strides"):
        return value  # of CuPy already, which need not be found again at each call
    with _read_from_device(name, value):
        import cupy

        return cupy.asarray(value)


def _from_device(name: str, value: object) -> Array:
    """A copy of an array in a GPU's memory."""
    with _read_from_device(name, value):
        host: Array = device_array(name, value).get()
    return host


@contextmanager
def _read_from_device(name: str, value: object) -> Iterator[None]:
    """Errors of CuPy in our words."""
    try:
        yield
    except (ImportError, RuntimeError) as error:  # errors of CUDA are RuntimeErrors
        raise FieldError(
            f"{name} was given a {type(value).__name__} on a GPU, which cannot be read: {error}",
            advice="Pass it as an array of NumPy: value.copy_to_host(), value.detach().cpu().numpy(), value.get().",
        ) from error


def to_data_set(
    fields: dict[str, tuple[tuple[str, ...], Array]],
    scalars: dict[str, Array],
    coordinates: dict[str, tuple[tuple[str, ...], Array, str]],
    units: dict[str, str],
) -> Any:  # noqa: ANN401  # an xarray.Dataset; xarray is no dependency
    """Return an xarray.Dataset. fields: name -> (axes, values); coordinates: name -> (axes, values, unit)."""
    try:
        import xarray
    except ModuleNotFoundError as error:
        raise FieldError(
            "xarray is not installed", advice="Type: pip install xarray. Or use to_dict(), which needs nothing."
        ) from error
    variables = {name: (axes, values, _unit(units.get(name, ""))) for name, (axes, values) in fields.items()}
    variables |= {name: ((), values, _unit(units.get(name, ""))) for name, values in scalars.items()}
    labels = {name: (along, values, _unit(unit)) for name, (along, values, unit) in coordinates.items()}
    return xarray.Dataset(variables, coords=labels)


def _unit(unit: str) -> dict[str, str]:
    return {"units": unit} if unit else {}
