"""Prepared: a function of arrays for arrays of certain shapes and types; a call copies in, runs, and copies out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.backends.run_once import run_once
from workbench.errors import FieldError, OutsideError, RunError, TurnsError
from workbench.frontend.axis_table import (
    LeastOrigin,
    View,
    extent_of,
    slice_of,
)
from workbench.frontend.collective import TracedFunction
from workbench.frontend.readings import Reading, told
from workbench.frontend.returned import Result
from workbench.graph import Graph, Join, Static
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.operators import cast
from workbench.pipeline import Compiled
from workbench.run.arrays import device_array, to_host
from workbench.run.lengths import Path, value_at
from workbench.run.one_call import MAIN, OneCall, open_call, step_of
from workbench.run.room import register
from workbench.run.values import fit

_KEPT = 2
"""Instances that wait for the next call: one, and one more where threads call at the same time."""


@dataclass(frozen=True, slots=True)
class _Input:
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
class _SharedRows:
    """Several inputs that are rows of one slice of an argument, as u[2:, 1:-1] and u[:-2, 1:-1] are.

    It is copied once, if together they have as many rows as it has. columns: what all of them take of each row.
    """

    inputs: tuple[_Input, ...]
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


def _inputs(
    function: TracedFunction, graph: Graph, paths: Mapping[str, Path], shapes: Mapping[str, tuple[int, ...]]
) -> list[_Input]:
    """All arrays of a graph of the function."""
    return [
        _Input(
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
    for each in _inputs(function, graph, paths, shapes):
        step = step_of(each.static, each.of(arguments))
        if step is not None:
            steps[each.static.name] = step
    return steps


def _with_shared_rows(inputs: Sequence[_Input], strided: Set[str]) -> tuple[list[_Input], list[_SharedRows]]:
    """The inputs that are given one by one, and those that share rows. strided: those that are not copied."""
    groups: dict[object, list[_Input]] = {}
    for each in inputs:
        groups.setdefault(None if each.static.name in strided else _rows_of(each), []).append(each)
    shared = [
        _SharedRows(tuple(group), group[0].cuts[0][1:]) for key, group in groups.items() if key and len(group) > 1
    ]
    taken = {each.static.name for rows in shared for each in rows.inputs}
    return [each for each in inputs if each.static.name not in taken], shared


def _rows_of(given: _Input) -> object:
    """What inputs share that are neighbouring rows of one slice; None for one of another kind."""
    if given.positions is not None or given.elements is not None or len(given.cuts) != 1:
        return None
    rows, *columns = given.cuts[0]
    if rows.step not in (None, 1) or all(each == slice(None) for each in columns):
        return None
    parts = tuple((each.start, each.stop, each.step) for each in columns)
    return given.path, given.shape, given.static.type, parts


@dataclass(frozen=True, slots=True)
class _Output:
    """A static that is a result, and how its axes become those of the array that is returned.

    is_joined: what np.concatenate and its kin make, which lies in the order of its rows, as in NumPy. is_as_made:
    whether its axes already are those.
    """

    static: Static
    result: Result
    is_joined: bool
    is_as_made: bool


def _output(static: Static, result: Result, is_joined: bool) -> _Output:
    rank = static.space.rank if static.role == "field" else 0
    return _Output(static, result, is_joined, result.axes == tuple(range(rank)))


class Prepared:
    """What calls of equal shapes and types share: the compiled program, and memory that waits for the next call.

    `run` takes arguments of exactly the types and shapes that it was made for, and returns fresh arrays. Safe from any
    thread: calls at the same time have memory of their own.
    """

    def __init__(
        self,
        function: TracedFunction,
        compiled: Compiled,
        paths: Mapping[str, Path],
        extents: tuple[int, ...],
        threads: int,
        shapes: Mapping[str, tuple[int, ...]],
    ) -> None:
        """`paths` says where the values of arrays and params stand among the arguments that `run` gets.

        shapes: of the arrays that are given, by the names of their leaves.
        """
        self._compiled, self._extents, self._threads = compiled, extents, threads
        self._graph = graph = compiled.graph
        self._rebuild, self._function = function.rebuild, function
        self.traced = function.traced
        strided = {each.name for each in compiled.plan.strided}
        self._inputs, self._shared = _with_shared_rows(_inputs(function, graph, paths, shapes), strided)
        self._params = [(static.name, paths[static.name]) for static in graph.params]
        stored = [(name, kernel.nodes[node]) for kernel in graph.kernels for name, node in kernel.stores()]
        joined = {name for name, node in stored if isinstance(node.instruction, Join)}
        self._outputs = [_output(graph.static(r.static), r, r.static in joined) for r in function.results]
        self._idle: list[OneCall] = []
        register(self)

    def run(self, arguments: Sequence[object], *, on_device: bool = False) -> object:
        """What the function returns for these arguments; on_device: its arrays as in `OneCall.result`."""
        if 0 in self._extents:
            return self._rebuild(self._interpreted(arguments))
        try:
            instance = self._idle.pop()
        except IndexError:
            statics = tuple(each.static for each in self._outputs)
            instance = open_call(self._compiled, self._extents, self._threads, statics)
        try:
            for given in self._inputs:
                instance.give(given.static, given.of(arguments))
            for rows in self._shared:
                rows.give(instance, arguments)
            for name, path in self._params:
                instance.set(name, _number(name, value_at(arguments, path)))
            self._once(instance, arguments)
            found = [_arranged(instance.result(each.static, on_device=on_device), each) for each in self._outputs]
        except BaseException:
            instance.close()
            raise
        if len(self._idle) < _KEPT:
            self._idle.append(instance)
        else:
            instance.close()
        return self._rebuild(found)

    def _once(self, instance: OneCall, arguments: Sequence[object]) -> None:
        """Run the program once. What is wrong with an index, the interpreter says with the value and the element."""
        try:
            instance.run()
        except TurnsError:
            raise
        except RunError:
            self._interpreted(arguments)
            raise

    def _interpreted(self, arguments: Sequence[object]) -> list[Array]:
        """The meaning of the program: also where an axis has no element, for which nothing is compiled."""
        graph = self._graph
        inputs = [*self._inputs, *(given for rows in self._shared for given in rows.inputs)]
        state = {given.static.name: to_host(given.static.name, given.of(arguments)) for given in inputs}
        for name, path in self._params:
            state[name] = cast(np.asarray(_number(name, value_at(arguments, path))), graph.static(name).type)
        with np.errstate(all="ignore"):
            try:
                after = run_once(graph, MAIN, self._extents, state)
            except OutsideError as error:
                raise told(error, self._function.readings, self._function.accesses) from None
        return [_arranged(np.asarray(after[each.static.name]), each) for each in self._outputs]

    def give_up(self) -> None:
        """Free the memory that waits; later calls take theirs anew."""
        while True:
            try:
                instance = self._idle.pop()
            except IndexError:
                return
            instance.close()


def _number(name: str, value: Any) -> Any:  # noqa: ANN401  # a number of Python or NumPy
    """The number of a param; FieldError for a whole one of Python that an i64 cannot hold."""
    if isinstance(value, np.void | np.ndarray) and value.dtype.names:
        return DoubleDouble(*value.item())
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise FieldError(
            f"{name} was given a whole number of {value.bit_length()} bits, but an i64 holds 63 and a sign",
            advice=f"Give a float, {name}=float(...), or a smaller number.",
        )
    return value


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


def _arranged(array: Any, output: _Output) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """The array with its axes as the function returns them; axes of one element that it has no name for are dropped.

    In memory it stays as the program made it: a transposed result is in the order of its columns, as in NumPy.
    """
    if output.is_as_made:
        return array
    result = output.result
    named = [axis for axis in result.axes if axis is not None]
    hidden = tuple(axis for axis in range(array.ndim) if axis not in named)
    moved = array.transpose((*named, *hidden)).reshape([array.shape[axis] for axis in named])
    made = moved[tuple(None if axis is None else slice(None) for axis in result.axes)]
    return made.copy() if output.is_joined and not made.flags.c_contiguous else made
