"""Type name: what `x.dtype` is in a function of arrays: a storage type, which NumPy takes for its own dtype."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.graph import StorageType, storage_type


@dataclass(frozen=True, slots=True, eq=False)
class TypeName:
    """A storage type, such as f64; equal to each spelling of it: x.dtype == np.float64. np.finfo(x.dtype) knows it."""

    type: StorageType

    def __eq__(self, other: object) -> bool:
        """Whether the other one names the same type; what names none is unequal."""
        with suppress(KeyError):
            return storage_type(other) is self.type
        return False

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return str(self.type)

    def __repr__(self) -> str:
        return repr(str(self))

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type, which np.dtype, np.finfo and np.issubdtype ask for."""
        return self.type.numpy

    @property
    def kind(self) -> str:
        """NumPy's letter for the kind: "b", "i", "u" or "f"; "V" of dd."""
        return self.type.numpy.kind

    @property
    def name(self) -> str:
        """NumPy's name: "float64"."""
        return self.type.numpy.name

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.type.numpy.itemsize
