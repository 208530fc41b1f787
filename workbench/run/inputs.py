"""Inputs: the arrays of a function of arrays, where their values stand among the arguments and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from workbench.frontend.axis_table import LeastOrigin, View, extent_of, slice_of
from workbench.frontend.collective import TracedFunction
from workbench.frontend.readings import Reading
from workbench.graph import Graph, Static
from workbench.run.arrays import device_array, to_host
from workbench.run.lengths import Path, value_at
from workbench.run.one_call import OneCall, step_of
from workbench.run.values import fit


def values_at(paths: Sequence[Path]) -> Callable[[Sequence[object]], list[Any]]:
    """How to find the values at these places among arguments, those side by side in one tuple at once."""
    parts = [(prefix, [path[-1] for path in same]) for prefix, same in groupby(paths, lambda path: path[:-1])]
    found = [(prefix, itemgetter(*numbers), len(numbers) == 1) for prefix, numbers in parts]

    def values(arguments: Sequence[object]) -> list[Any]:
        taken: list[Any] = []
        for prefix, take, is_one in found:
            where: Any = arguments
            for step in prefix:
                where = where[step]
            if is_one:
                taken.append(take(where))
            else:
                taken += take(where)
        return taken

    return values


@dataclass(frozen=True, slots=True)
class GivenArray:
    """A static that is an array, where its values stand among the arguments, and in which order of axes.

    elements: which axes are gone after the cuts, of which one element is left. dtype: the static's.
    """

    static: Static
    dtype: np.dtype[Any]
    path: Path
    positions: tuple[int, ...] | None
    cuts: tuple[tuple[slice, ...], ...]
    elements: tuple[int | slice, ...] | None
    shape: tuple[int, ...] | None

    def of(self, arguments: Sequence[object]) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
        """Its values, a view of the argument where NumPy has one."""
        array = value_at(arguments, self.path)
        if not isinstance(array, np.ndarray):
            array = device_array(self.static.name, array)
        if self.shape is not None:
            array = array.reshape(self.shape)
        for cut in self.cuts:
            array = array[cut]
        if self.elements is not None:
            array = array[self.elements] if array.size else _of_none(array, self.elements)
        if array.dtype != self.dtype:  # the precision of the value was chosen
            array = fit(self.static.name, to_host(self.static.name, array), self.static.type)
        return array if self.positions is None else array.transpose(self.positions)


@dataclass(frozen=True, slots=True)
class SharedRows:
    """Several inputs that are rows of one slice of an argument, as u[2:, 1:-1] and u[:-2, 1:-1] are.

    It is copied once, if together they have as many rows as it has. columns: what all of them take of each row.
    """

    inputs: tuple[GivenArray, ...]
    columns: tuple[slice, ...]

    def give(self, instance: OneCall, arguments: Sequence[object]) -> None:
        """Give each of them to the call."""
        first = self.inputs[0]
        array = value_at(arguments, first.path)
        rows = [each.cuts[0][0] for each in self.inputs]
        count = (first.shape or array.shape)[0]
        is_fitting = isinstance(array, np.ndarray) and array.dtype == first.dtype
        if not is_fitting or sum(len(range(*each.indices(count))) for each in rows) < count:
            for each in self.inputs:
                instance.give(each.static, each.of(arguments))
            return
        whole = array if first.shape is None else array.reshape(first.shape)
        copied = instance.dense(f"{first.static.name} and others", whole[(slice(None), *self.columns)])
        for each, part in zip(self.inputs, rows, strict=True):
            instance.give(each.static, copied[part])


def inputs_of(
    function: TracedFunction, graph: Graph, paths: Mapping[str, Path], shapes: Mapping[str, tuple[int, ...]]
) -> list[GivenArray]:
    """All arrays of a graph of the function."""
    return [
        GivenArray(
            graph.static(reading.static),
            graph.static(reading.static).type.numpy,
            paths[reading.argument],
            _moved(reading.positions),
            _cuts(reading, shapes),
            _elements(reading),
            tuple(extent_of(each, shapes) for each in reading.shape) or None,
        )
        for reading in function.readings
    ]


def whole_inputs(inputs: Sequence[GivenArray], arguments: Sequence[object]) -> tuple[GivenArray, ...]:
    """Those that are an argument as it is, dense and not empty, and so in each call of equal shapes and types."""
    found = []
    for each in inputs:
        given = value_at(arguments, each.path)
        if type(given) is np.ndarray and given.flags.c_contiguous and given.size:
            read = each.of(arguments)
            if (read.shape, read.strides, read.ctypes.data) == (given.shape, given.strides, given.ctypes.data):
                found.append(each)
    return tuple(sorted(found, key=lambda each: each.path))


def steps_of(
    function: TracedFunction,
    graph: Graph,
    paths: Mapping[str, Path],
    shapes: Mapping[str, tuple[int, ...]],
    arguments: Sequence[object],
) -> dict[str, int]:
    """Of the arrays that are not dense, but whose elements could be read where they lie: elements between neighbours.

    By their statics, along the last axis. Arrays of equal types, shapes and strides have equal ones.
    """
    steps = {}
    for each in inputs_of(function, graph, paths, shapes):
        step = step_of(each.static, each.of(arguments))
        if step is not None:
            steps[each.static.name] = step
    return steps


def with_shared_rows(inputs: Sequence[GivenArray], strided: Set[str]) -> tuple[list[GivenArray], list[SharedRows]]:
    """The inputs that are given one by one, and those that share rows. strided: those that are not copied."""
    groups: dict[object, list[GivenArray]] = {}
    for each in inputs:
        groups.setdefault(None if each.static.name in strided else _rows_of(each), []).append(each)
    shared = [SharedRows(tuple(group), group[0].cuts[0][1:]) for key, group in groups.items() if key and len(group) > 1]
    taken = {each.static.name for rows in shared for each in rows.inputs}
    return [each for each in inputs if each.static.name not in taken], shared


def _rows_of(given: GivenArray) -> object:
    """What inputs share that are neighbouring rows of one slice; None for one of another kind."""
    if given.positions is not None or given.elements is not None or len(given.cuts) != 1:
        return None
    rows, *columns = given.cuts[0]
    if rows.step not in (None, 1) or all(each == slice(None) for each in columns):
        return None
    parts = tuple((each.start, each.stop, each.step) for each in columns)
    return given.path, given.shape, given.static.type, parts


def _moved(positions: tuple[int, ...]) -> tuple[int, ...] | None:
    """How axes are transposed that are left of the argument's, by their positions there."""
    found = tuple(sorted(positions).index(position) for position in positions)
    return None if found == tuple(range(len(found))) else found


def _elements(reading: Reading) -> tuple[int | slice, ...] | None:
    kept = reading.positions
    rank = len(reading.cuts)
    return None if len(kept) == rank else tuple(slice(None) if k in kept else 0 for k in range(rank))


def _of_none(array: Any, elements: tuple[int | slice, ...]) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """What stands for elements that are not there, where they meet arrays without elements alone."""
    left = [length for length, part in zip(array.shape, elements, strict=True) if isinstance(part, slice)]
    return np.zeros(left, array.dtype)


def _cuts(reading: Reading, shapes: Mapping[str, tuple[int, ...]]) -> tuple[tuple[slice, ...], ...]:
    """Subscripts of all axes, one after the other, that make the array of the argument."""
    most = max(map(len, reading.cuts), default=0)
    padded = [[_slice(cut, shapes) for cut in chain] + [slice(None)] * (most - len(chain)) for chain in reading.cuts]
    return tuple(zip(*padded, strict=True))


def _slice(cut: View, shapes: Mapping[str, tuple[int, ...]]) -> slice:
    return slice(extent_of(cut, shapes)) if isinstance(cut, LeastOrigin) else slice_of(cut, shapes)
