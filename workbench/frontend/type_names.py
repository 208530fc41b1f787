"""Type name: what `x.dtype` is in a function of arrays: the name of a storage type, which compares as NumPy's dtype."""

from __future__ import annotations

from contextlib import suppress

from workbench.graph import StorageType, storage_type


class TypeName(str):
    """The name of a storage type, such as "f64"; equal to each spelling of it: x.dtype == np.float64."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether the other one names the same type; what names none is unequal."""
        with suppress(KeyError):
            return storage_type(other) is self._type
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def kind(self) -> str:
        """NumPy's letter for the kind: "b", "i", "u" or "f"; "V" of dd."""
        return self._type.numpy.kind

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._type.numpy.itemsize

    @property
    def _type(self) -> StorageType:
        return storage_type(str(self))
