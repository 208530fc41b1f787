"""The sequences of `elementary.py` run on NumPy arrays: what elementary functions mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.graph.elementary import SEQUENCES
from workbench.graph.types import BOOL, F32, F64, U32, U64, StorageType

Array = np.ndarray[Any, np.dtype[Any]]

_TYPES = {type_.numpy: type_ for type_ in (F32, F64, U32, U64, BOOL)}
_AS_WIDE = {F32: U32, F64: U64, U32: F32, U64: F64}


@dataclass(frozen=True, slots=True, eq=False)
class ArrayNumber:
    """A value of a sequence: an array of floats, of unsigned numbers or of conditions."""

    array: Array

    @property
    def type(self) -> StorageType:
        """The storage type."""
        return _TYPES[self.array.dtype]

    def number(self, value: float) -> ArrayNumber:
        """A constant of the same type."""
        return ArrayNumber(np.asarray(self.array.dtype.type(value)))

    def _operand(self, other: ArrayNumber | float) -> Array:
        # A 0-d array has its type beside an array in every NumPy, as long as both are of one kind.
        return (other if isinstance(other, ArrayNumber) else self.number(other)).array

    def _made(self, result: object) -> ArrayNumber:
        return ArrayNumber(np.asarray(result))

    def __add__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array + self._operand(other))

    def __sub__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array - self._operand(other))

    def __mul__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array * self._operand(other))

    def __truediv__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array / self._operand(other))

    def __and__(self, other: int) -> ArrayNumber:
        return self._made(self.array & self._operand(other))

    def __or__(self, other: int) -> ArrayNumber:
        return self._made(self.array | self._operand(other))

    def __rshift__(self, count: int) -> ArrayNumber:
        return self._made(self.array >> self._operand(count))

    def __lshift__(self, count: int) -> ArrayNumber:
        return self._made(self.array << self._operand(count))

    def __lt__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array < self._operand(other))

    def __gt__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array > self._operand(other))

    def __ge__(self, other: ArrayNumber | float) -> ArrayNumber:
        return self._made(self.array >= self._operand(other))

    def equals(self, other: ArrayNumber | float) -> ArrayNumber:
        """Whether both are equal."""
        return self._made(self.array == self._operand(other))

    def choose(self, yes: ArrayNumber, no: ArrayNumber) -> ArrayNumber:
        """One of two values, by this condition."""
        return self._made(np.where(self.array, yes.array, no.array))

    def absolute(self) -> ArrayNumber:
        """The float without its sign."""
        return self._made(np.abs(self.array))

    def with_sign_of(self, other: ArrayNumber) -> ArrayNumber:
        """This, which is not negative, with the sign of another float."""
        return self._made(np.copysign(self.array, other.array))

    def bits(self) -> ArrayNumber:
        """The bits of a float, as an unsigned number as wide."""
        return self._made(self.array.view(_AS_WIDE[self.type].numpy))

    from_bits = bits


def meaning(operator: str) -> Callable[[Array], Array]:
    """The operator as a function of arrays of f32 or f64, whose result has their type and shape."""
    sequence = SEQUENCES[operator]

    def function(a: Array) -> Array:
        with np.errstate(all="ignore"):
            return sequence(ArrayNumber(np.asarray(a))).array

    return function
