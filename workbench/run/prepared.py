"""Prepared: a function of arrays for arrays of certain shapes and types; a call copies in, runs, and copies out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.backends.run_once import run_once
from workbench.errors import FieldError, OutsideError, RunError, TurnsError
from workbench.frontend.captured import CapturedNames
from workbench.frontend.collective import TracedFunction
from workbench.frontend.readings import told
from workbench.frontend.returned import Result
from workbench.graph import Join, Static
from workbench.graph.extended_numbers import DoubleDouble
from workbench.graph.operators import cast
from workbench.pipeline import Compiled
from workbench.run.arrays import to_host
from workbench.run.inputs import inputs_of, values_at, whole_inputs, with_shared_rows
from workbench.run.lengths import Path, value_at
from workbench.run.one_call import MAIN, OneCall, open_call
from workbench.run.room import register

_KEPT = 2
"""Instances that wait for the next call: one, and one more where threads call at the same time."""


@dataclass(frozen=True, slots=True)
class _Output:
    """A static that is a result, and how its axes become those of the array that is returned.

    is_joined: what np.concatenate and its kin make, which lies in the order of its rows, as in NumPy. is_as_made:
    whether its axes already are those. Else: order, of the axes that the function names before those of one element
    that it has no name for; named: how many have one; subscript: where None makes axes; each None for nothing to do.
    """

    static: Static
    is_joined: bool
    is_as_made: bool
    order: tuple[int, ...] | None
    named: int | None
    subscript: tuple[slice | None, ...] | None


def _output(static: Static, result: Result, is_joined: bool) -> _Output:
    rank = static.space.rank if static.role == "field" else 0
    named = [axis for axis in result.axes if axis is not None]
    order = (*named, *(axis for axis in range(rank) if axis not in named))
    subscript = tuple(None if axis is None else slice(None) for axis in result.axes)
    return _Output(
        static,
        is_joined,
        result.axes == tuple(range(rank)),
        None if order == tuple(range(rank)) else order,
        None if len(named) == rank else len(named),
        subscript if None in subscript else None,
    )


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
        arguments: Sequence[object],
    ) -> None:
        """`paths` says where the values of arrays and params stand among the arguments that `run` gets.

        shapes: of the arrays that are given, by the names of their leaves. arguments: those of the first call.
        """
        self.held: tuple[object, ...] = ()  # further arguments, which are the same in each call
        self._compiled, self._extents, self._threads = compiled, extents, threads
        self._graph = graph = compiled.graph
        self._rebuild, self._function = function.rebuild, function
        self.names = CapturedNames(function.traced)
        strided = {each.name for each in compiled.plan.strided}
        self._inputs, self._shared = with_shared_rows(inputs_of(function, graph, paths, shapes), strided)
        self._whole = () if 0 in extents else whole_inputs(self._inputs, arguments)
        self._arrays_of = values_at([each.path for each in self._whole])
        self._others = [each for each in self._inputs if each not in self._whole]
        params = sorted(graph.params, key=lambda static: paths[static.name])
        self._params = [(static.name, paths[static.name]) for static in params]
        self._param_names = [static.name for static in params]
        self._numbers_of = values_at([paths[static.name] for static in params])
        stored = [(name, kernel.nodes[node]) for kernel in graph.kernels for name, node in kernel.stores()]
        joined = {name for name, node in stored if isinstance(node.instruction, Join)}
        self._outputs = [_output(graph.static(r.static), r, r.static in joined) for r in function.results]
        self._are_as_made = all(each.is_as_made for each in self._outputs)
        self._idle: list[OneCall] = []
        register(self)

    def run(self, arguments: Sequence[object], *, on_device: bool = False) -> object:
        """What the function returns for these arguments; on_device: its arrays as in `OneCall.result`."""
        if self.held:
            arguments = (*arguments, *self.held)
        if 0 in self._extents:
            return self._rebuild(self._interpreted(arguments))
        try:
            instance = self._idle.pop()
        except IndexError:
            instance = self._opened()
        try:
            if self._whole:
                instance.give_whole(self._arrays_of(arguments))
            for given in self._others:
                instance.give(given.static, given.of(arguments))
            for rows in self._shared:
                rows.give(instance, arguments)
            for name, value in zip(self._param_names, self._numbers_of(arguments), strict=True):
                instance.set(name, value if type(value) is float else _number(name, value))
            self._once(instance, arguments)
            found = instance.results(on_device=on_device)
            if not self._are_as_made:
                found = [_arranged(array, each) for array, each in zip(found, self._outputs, strict=True)]
        except BaseException:
            instance.close()
            raise
        if len(self._idle) < _KEPT:
            self._idle.append(instance)
        else:
            instance.close()
        return self._rebuild(found)

    def _opened(self) -> OneCall:
        results, whole = (tuple(each.static for each in some) for some in (self._outputs, self._whole))
        return open_call(self._compiled, self._extents, self._threads, results, whole)

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
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, np.void | np.ndarray) and value.dtype.names:
        return DoubleDouble(*value.item())
    if type(value) is int:
        raise FieldError(
            f"{name} was given a whole number of {value.bit_length()} bits, but an i64 holds 63 and a sign",
            advice=f"Give a float, {name}=float(...), or a smaller number.",
        )
    return value


def _arranged(array: Any, output: _Output) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """The array with its axes as the function returns them; axes of one element that it has no name for are dropped.

    In memory it stays as the program made it: a transposed result is in the order of its columns, as in NumPy.
    """
    if output.is_as_made:
        return array
    made = array if output.order is None else array.transpose(output.order)
    if output.named is not None:
        made = made.reshape(made.shape[: output.named])
    if output.subscript is not None:
        made = made[output.subscript]
    return made.copy() if output.is_joined and not made.flags.c_contiguous else made
