"""Storage types: what one cell or one Global holds, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class StorageType:
    """One storage type. `components` lists the NumPy dtype of each stored part; `parts` names several.

    members: of a pair, its two types. Values of a pair are what folds, scans and segments of records combine; no static
    has its type.
    """

    name: str
    kind: str  # "bool", "int", "uint", "float" or "pair"
    bits: int
    components: tuple[str, ...]
    parts: tuple[str, ...] = ()
    members: tuple[StorageType, ...] = ()

    @property
    def itemsize(self) -> int:
        """Bytes of one value as stored in an array; the components of a record lie side by side."""
        return self.numpy.itemsize

    @property
    def words(self) -> int:
        """Words of 8 bytes that one number takes in a Globals block."""
        return len(self.components)

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy dtype: of the component, or of a record with the parts as its fields, laid out as a struct of C is."""
        return _numpy_of(self)

    @property
    def is_record(self) -> bool:
        """Whether a value is one number of several components."""
        return len(self.parts) > 1

    @property
    def is_pair(self) -> bool:
        """Whether a value is two, each of a type of its own."""
        return bool(self.members)

    @property
    def is_native(self) -> bool:
        """Whether NumPy has numbers of the type; the constants of any other float type are f64."""
        return not self.is_record and not self.is_pair and self.components != ("object",)

    @property
    def is_float(self) -> bool:
        """Whether arithmetic rounds."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic wraps; bool is not an integer."""
        return self.kind in ("int", "uint")

    def __hash__(self) -> int:
        return hash(self.name)  # which Python keeps: types are parts of keys of thousands of nodes

    def __str__(self) -> str:
        return self.name


@cache
def _numpy_of(type_: StorageType) -> np.dtype[Any]:
    if type_.members:
        fields = [(name, each.numpy) for name, each in zip(PAIR_PARTS, type_.members, strict=True)]
        return np.dtype(fields, align=True)
    if type_.is_record:
        return np.dtype(list(zip(type_.parts, type_.components, strict=True)))
    return np.dtype(type_.components[0])


PAIR_PARTS = ("first", "second")
"""The fields of a pair, in NumPy and in generated text."""


def pair_of(first: StorageType, second: StorageType) -> StorageType:
    """Return the type of pairs; a record of more components is a pair of its first one and a pair of the others."""
    components = (*first.components, *second.components)
    return StorageType(f"pair({first}, {second})", "pair", 0, components, members=(first, second))


BOOL = StorageType("bool", "bool", 1, ("bool",))
I8 = StorageType("i8", "int", 8, ("int8",))
I16 = StorageType("i16", "int", 16, ("int16",))
I32 = StorageType("i32", "int", 32, ("int32",))
I64 = StorageType("i64", "int", 64, ("int64",))
U8 = StorageType("u8", "uint", 8, ("uint8",))
U16 = StorageType("u16", "uint", 16, ("uint16",))
U32 = StorageType("u32", "uint", 32, ("uint32",))
U64 = StorageType("u64", "uint", 64, ("uint64",))
F32 = StorageType("f32", "float", 32, ("float32",))
F64 = StorageType("f64", "float", 64, ("float64",))
DD = StorageType("dd", "float", 128, ("float64", "float64"), ("hi", "lo"))

TYPES: tuple[StorageType, ...] = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64)
"""The scalar types."""
BY_NAME: dict[str, StorageType] = {t.name: t for t in (*TYPES, DD)}
_BY_NUMPY: dict[str, StorageType] = {t.components[0]: t for t in TYPES}


def storage_type(spelling: object) -> StorageType:
    """Return the type that `spelling` names: "f32", "float32", numpy.float32, numpy.dtype or a StorageType.

    Raises KeyError for anything else; callers that face a user turn it into an error with a line.
    """
    if isinstance(spelling, StorageType):
        return spelling
    if isinstance(spelling, str) and spelling in BY_NAME:
        return BY_NAME[spelling]
    if spelling is float or spelling is int or spelling is bool:
        return {float: F64, int: I64, bool: BOOL}[spelling]
    try:
        dtype = np.dtype(spelling)  # type: ignore[call-overload]  # any spelling NumPy knows
        return DD if dtype == DD.numpy else _BY_NUMPY[dtype.name]
    except TypeError as error:
        raise KeyError(spelling) from error
