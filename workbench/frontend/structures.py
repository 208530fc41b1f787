"""Structures: named tuples, data classes and structured arrays as arguments and results of functions of arrays.

While a function is traced, and in its memory, a structure is a tuple of arrays, one a component.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.graph.types import DD


class Structure(tuple[object, ...]):
    """The components of an argument, and `kind`, the class that `rebuilt` makes of them again."""

    kind: type


class _Fields:
    """What tells named tuples that stand for elements of a structured array from those of users.

    They are read as NumPy's are: a name takes a component, all else elements of each component.
    """

    __slots__ = ()

    def __getitem__(self, key: object) -> object:
        names: tuple[str, ...] = self._fields  # type: ignore[attr-defined]  # of the named tuple
        if not isinstance(key, str):
            return type(self)(*(component[key] for component in self))  # type: ignore[attr-defined]  # as above
        if key not in names:
            raise TraceError(f"the structured array has no field {key!r}", advice=f"Use one of {', '.join(names)}.")
        return getattr(self, key)


@cache
def _class_of(names: tuple[str, ...]) -> type:
    """The named tuple that a function sees for a structured array of these fields."""
    made = namedtuple("Record", names)  # type: ignore[misc]  # the fields are known when an array comes
    return type("Record", (_Fields, made), {"__slots__": ()})


def structure_of(value: object) -> Structure | None:
    """The components of a named tuple, a data class or a structured array; None for all else, arrays of dd among it."""
    kind: type
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind, parts = type(value), tuple(value)
    elif is_dataclass(value) and not isinstance(value, type):
        kind, parts = type(value), components_of(value)
    elif isinstance(value, np.ndarray) and _has_fields(value.dtype):
        kind, parts = _class_of(value.dtype.names), tuple(value[name] for name in value.dtype.names)
    else:
        return None
    made = Structure(parts)
    made.kind = kind
    return made


def _has_fields(dtype: np.dtype[Any]) -> bool:
    """Whether elements are records; (hi, lo) of f64 are numbers in double-double, which programs return so."""
    return bool(dtype.names) and dtype != DD.numpy and all(map(str.isidentifier, dtype.names or ()))


def components_of(value: object) -> tuple[object, ...]:
    """What a data class was made of, in its order."""
    return tuple(getattr(value, each.name) for each in fields(value) if each.init)  # type: ignore[arg-type]  # a data class


def names_of(kind: type, name: str, count: int) -> list[str]:
    """What to call the components of an argument in messages: scene.lights, or pair0 where they have no names."""
    if is_dataclass(kind):
        return [f"{name}.{each.name}" for each in fields(kind) if each.init]
    found = getattr(kind, "_fields", None)
    return [f"{name}{place}" for place in range(count)] if found is None else [f"{name}.{each}" for each in found]


def rebuilt(kind: type, parts: Sequence[object]) -> object:
    """A tuple, list, named tuple or data class of these components."""
    if is_dataclass(kind):
        names = [each.name for each in fields(kind) if each.init]
        return kind(**dict(zip(names, parts, strict=True)))
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def stands_for_fields(value: object) -> bool:
    """Whether a result was made as an element of a structured array is."""
    return isinstance(value, _Fields)


def structured(kind: Any, parts: list[object]) -> np.ndarray[Any, np.dtype[Any]]:  # noqa: ANN401  # a named tuple
    """A fresh structured array of these components, of one shape or that of the others."""
    arrays = [np.asarray(part) for part in parts]
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    made = np.empty(shape, [(name, each.dtype) for name, each in zip(kind._fields, arrays, strict=True)])
    for name, each in zip(kind._fields, arrays, strict=True):
        made[name] = each
    return made
