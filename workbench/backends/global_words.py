"""Global words: numbers in the words of 8 bytes of a Globals block, each in its own type at the low end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.backends.base import Array, Number
from workbench.graph.arithmetic import constant, python_number
from workbench.graph.operators import cast
from workbench.graph.types import F64, StorageType


def number_in(words: Array, type_: StorageType) -> Number:
    """The number that these words (u64, as many as the type takes) hold."""
    return python_number(words.view(type_.numpy)[0], type_)


def words_of(value: Number, type_: StorageType) -> Array:
    """A fresh array of the words that hold a number, rounded to its type."""
    if type(value) is float and type_ == F64:
        return np.array([value]).view(np.uint64)
    words: Array = np.zeros(type_.words, np.uint64)
    words.view(type_.numpy)[0] = rounded(value, type_)
    return words


def rounded(value: Number, type_: StorageType) -> Array:
    """The number in its type, 0-d."""
    with np.errstate(all="ignore"):
        return np.asarray(constant(value, type_) if type_.is_record else cast(np.asarray(value), type_))


def columns_of(rows: Array, types: Sequence[StorageType]) -> tuple[Array, ...]:
    """The numbers of each type in turn: rows (observations, words), u64 -> an array of the type's dtype for each."""
    columns, first = [], 0
    for type_ in types:
        words = np.ascontiguousarray(rows[:, first : first + type_.words])
        columns.append(words.ravel().view(type_.numpy)[:: 8 * type_.words // type_.itemsize].copy())
        first += type_.words
    return tuple(columns)
