"""Held arrays: arrays of NumPy that a function of arrays reads and that no argument gives, such as np.eye(3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.axis_table import Origin
from workbench.frontend.positions import FunctionPositions
from workbench.frontend.trace import Term
from workbench.graph import storage_type


class HeldArrays:
    """Those of one attempt to trace a function; to its programs they are arguments.

    surroundings: the names that the function sees. An array of one of them is called so in graphs and generated code,
    and each call reads what it holds then; any other is copied when it is used. found: the arrays by the names of
    their arguments.
    """

    def __init__(self, positions: FunctionPositions, surroundings: Mapping[str, object]) -> None:
        self._positions, self._surroundings = positions, surroundings
        self.found: dict[str, np.ndarray] = {}
        self.leaves: dict[str, tuple[str]] = {}

    def term(self, value: object) -> Term:
        """The array as a value of the program; a list of numbers as an array. Raises TraceError for anything else."""
        array = _array_of(value)
        name = next((name for name, known in self._surroundings.items() if known is array), "")
        for leaf, (argument,) in self.leaves.items():
            if self.found[argument] is array or (not name and _is_same(self.found[argument], array)):
                return self._read(leaf, array)
        if not name:  # the function's own, which it may change after this use
            array = array.copy()
        leaf = self._free_name(name or "array")
        self.leaves[leaf] = (f"held:{leaf}",)  # no argument is called so
        self.found[f"held:{leaf}"] = array
        return self._read(leaf, array)

    def _read(self, leaf: str, array: np.ndarray) -> Term:
        table = self._positions.table
        origins = [Origin("", 1) if n == 1 else Origin(leaf, axis) for axis, n in enumerate(array.shape)]
        return self._positions.argument(leaf, storage_type(array.dtype), [table.length(each) for each in origins])

    def _free_name(self, name: str) -> str:
        free, number = name, 1
        while free in self._positions.trace.statics:
            number += 1
            free = f"{name}_{number}"
        return free


def _array_of(value: object) -> np.ndarray:
    """The value itself, or a list as an array of its numbers."""
    shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
    array = np.asarray(value) if isinstance(value, list) and _is_numbers(value) else value
    if not isinstance(array, np.ndarray):
        raise TraceError(
            f"{type(value).__name__} cannot be combined with a traced value",
            advice="Give it to the function as an argument, or write generate(n, f) where f is of an element's index.",
        )
    try:
        storage_type(array.dtype)
    except KeyError:
        raise TraceError(
            f"{type(value).__name__}{shape} of {array.dtype} values, which no program holds",
            advice="Use bool, integers, f32 or f64; complex numbers are two arrays.",
        ) from None
    return array


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have equal bits."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def _is_numbers(values: list[object]) -> bool:
    """Whether it is numbers alone, in lists of equal lengths."""
    if values and all(isinstance(each, list) for each in values):
        lengths = {len(each) for each in values if isinstance(each, list)}
        return len(lengths) == 1 and all(_is_numbers(each) for each in values if isinstance(each, list))
    return bool(values) and all(isinstance(each, bool | int | float | np.generic) for each in values)
