"""Gas input: what users give to the hydrodynamics solver, checked: arrays, numbers and functions of their own."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import FieldError, ShapeError, StencilError, TraceError
from workbench.language import Tensor, components

Quantity = Any  # a traced value, an array or a number
Array = NDArray[np.float64]
_LETTERS = ("x", "y", "z")


def plain_gas(density: object, velocity: object, pressure: object, gamma: object) -> tuple[Array, list[Array], Array]:
    """Density, the components of velocity and pressure as arrays of one shape, all finite, two of them positive.

    velocity: a tuple of components, an array whose first axis counts them, or in one dimension the component itself.
    Raises FieldError or ShapeError that names the quantity, and the cell where there is one.
    """
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 1 < gamma < math.inf:
        raise FieldError(f"gamma is {gamma!r}, but an ideal gas has more than 1", advice="Pass gamma=1.4 or the like.")
    first, last = _numbers("density", density), _numbers("pressure", pressure)
    middle = _velocity(velocity, max(first.ndim, last.ndim))
    named = {"density": first, **{f"velocity{a}": part for a, part in enumerate(middle)}, "pressure": last}
    shapes = {name: array.shape for name, array in named.items() if array.shape}
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"the shapes differ: {listed}", advice="Pass arrays of one shape, or numbers.") from None
    for name, array in named.items():
        positive = not name.startswith("velocity")
        wrong = ~np.isfinite(array) | ((array <= 0) & positive)
        if wrong.any():
            cell = tuple(int(i) for i in np.argwhere(wrong)[0])
            must = "positive and finite" if positive else "finite"
            raise FieldError(
                f"{name} is {array[cell]} in cell {cell}, but must be {must}", advice="Correct the initial state."
            )
    density_, *velocity_, pressure_ = (np.broadcast_to(array, shape) for array in named.values())
    return density_, velocity_, pressure_


def _numbers(name: str, given: object) -> Array:
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ShapeError(f"{name} is no array: {error}", advice="Pass an array, or a number.") from error
    if array.dtype.kind not in "biuf":
        raise FieldError(f"{name} was given {array.dtype} values", advice="Pass an array of real numbers, or a number.")
    return array.astype(np.float64, copy=False)


def _velocity(given: object, axes: int) -> list[Array]:
    """The components; `axes` is how many the arrays of density and pressure have, 0 for numbers."""
    if isinstance(given, np.ndarray) and given.ndim > 1:
        if axes not in (0, given.ndim - 1):
            raise ShapeError(
                f"velocity is one array of shape {given.shape}, but there are {axes} axes with a component each",
                advice="Pass a tuple with an array or number for each axis.",
            )
        given = tuple(given)
    parts = tuple(given) if isinstance(given, tuple | list | Tensor) else (given,)
    if not parts:
        raise ShapeError("velocity has no components", advice="Pass a tuple with one for each axis.")
    return [_numbers(f"velocity{a}", part) for a, part in enumerate(parts)]


def courant_number(stable: float, dim: int, cfl: float | None) -> float:
    """The default of the param cfl. Unsplit, d fluxes leave a cell in one step: above 1/d every scheme is unstable.

    At 1/d a chequerboard of sound is neither damped nor amplified: below, waves across the grid are smoother.
    """
    if cfl is None:
        return min(0.5 if dim < 3 else 0.3, stable)
    if isinstance(cfl, bool) or not isinstance(cfl, int | float | np.floating) or not 0 < cfl <= 1:
        raise StencilError(f"cfl={cfl!r} is no Courant number", advice="Pass a number above 0, at most 1/dim.")
    if cfl > stable:
        warnings.warn(f"cfl={cfl!r} is above {stable:.3g}: unstable in {dim} dimensions", stacklevel=3)
    return cfl


def need_function(what: str, given: object, example: str) -> None:
    """Raise StencilError unless `given` can be called."""
    if not callable(given):
        raise StencilError(f"{what}={given!r} is no function", advice=f"Pass {example} or a function of your own.")


def faces_by(reconstruction: Callable[..., object], variable: Quantity, axis: int) -> tuple[Quantity, Quantity]:
    """The values at each cell's lower and upper face. Raises TraceError that names the function if they are none."""
    name = f"reconstruction {_name(reconstruction)}"
    _need_arguments(name, reconstruction, (variable, axis), "variable, axis")
    faces = reconstruction(variable, axis)
    if not isinstance(faces, tuple | list) or len(faces) != 2 or not all(_is_value(face) for face in faces):
        raise TraceError(
            f"{name} gives {_described(faces, 2)}, not a pair",
            advice="Return (value at the cell's lower face, value at its upper face).",
        )
    return faces[0], faces[1]


def flux_by(riemann: Callable[..., object], left: Any, right: Any, axis: int) -> tuple[Quantity, Any, Quantity]:  # noqa: ANN401  # states
    """The fluxes of mass, momentum (a vector) and energy. Raises TraceError that names the function for others."""
    name = f"riemann solver {_name(riemann)}"
    _need_arguments(name, riemann, (left, right, axis), "left, right, axis")
    flux = riemann(left, right, axis)
    mass, momentum, energy = flux if isinstance(flux, tuple | list) and len(flux) == 3 else (None, None, None)
    parts = [mass, *(momentum if isinstance(momentum, tuple | list | Tensor) else (None,)), energy]
    if len(parts) != 2 + len(left.velocity) or not all(_is_value(part) for part in parts):
        raise TraceError(
            f"{name} gives {_described(flux, 3)}, not the fluxes of mass, momentum and energy",
            advice="Return hydro.Conserved(mass, components((...)), energy), as state.flux(axis) is.",
        )
    return mass, components(momentum), energy


def _is_value(given: object) -> bool:
    """Whether it is a value per cell, which has neighbours, and no number, string or None."""
    return hasattr(given, "at")


def _need_arguments(name: str, function: Callable[..., object], arguments: Sequence[object], shown: str) -> None:
    """Raise TraceError unless the function can be called so."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        raise TraceError(f"{name} does not take ({shown})", advice="Write a function of these.") from None
    except ValueError:  # some builtins do not say what they take
        return


def gas_outside(outside: Callable[..., object], places: list[Quantity], time: Quantity) -> tuple[Any, Any, Any]:
    """(density, (velocity, ...), pressure) of outside(x, y, ..., time). Raises TraceError that names the function."""
    name, axes = _name(outside), len(places)
    letters = ", ".join(_LETTERS[:axes]) if axes <= len(_LETTERS) else f"{axes} places"
    _need_arguments(f"boundary {name}", outside, (*places, time), f"{letters}, time")
    gas = outside(*places, time)
    density, velocity, pressure = gas if isinstance(gas, tuple | list) and len(gas) == 3 else (None, None, None)
    if axes == 1 and density is not None and not isinstance(velocity, tuple | list | Tensor):
        velocity = (velocity,)
    if not isinstance(velocity, tuple | list | Tensor) or len(velocity) != axes:
        raise TraceError(
            f"boundary {name} gives {_described(gas, 3)}, not (density, ({axes} velocit{'y' if axes == 1 else 'ies'}), "
            "pressure)",
            advice="Return a tuple of these, the second one a tuple itself.",
        )
    for quantity, value in (("density", density), ("pressure", pressure)):
        if isinstance(value, int | float) and not 0 < value < math.inf:
            raise TraceError(
                f"boundary {name} gives {quantity} {value!r}, but it must be positive and finite",
                advice="Correct the gas outside.",
            )
    return density, velocity, pressure


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", repr(function))


def _described(result: object, expected: int) -> str:
    """What came instead of `expected` values of the right kind."""
    if isinstance(result, tuple | list):
        return f"{len(result)} values" + " of another kind" * (len(result) == expected)
    return "None" if result is None else "one value"
