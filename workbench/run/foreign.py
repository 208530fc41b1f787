"""Foreign: natives of foreign functions, called between the programs of a function with what these have made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import RunError
from workbench.frontend.axis_table import AnyOrigin, extent_of
from workbench.frontend.collective import StaticKind, TracedCall, TracedFunction
from workbench.graph import StorageType
from workbench.run.arrays import device_array, lies_on_device, to_host
from workbench.run.lengths import extents_of, paths_of, shapes_of, value_at


class PreparedNative:
    """The native that is called before a program. Safe from any thread if the native is."""

    def __init__(self, traced: TracedCall, program: TracedFunction, names: Sequence[str]) -> None:
        """`program`: before which it is called. names: of the arguments, and behind them of all that is made."""
        self._call, self._made, self._program = traced.call, traced.made, program
        self._paths = paths_of(program, names)
        self._given = traced.given

    def run(self, values: Sequence[object]) -> list[Any]:
        """What the native returns for these values: arrays, dense and of the types and shapes of the fallback.

        Arrays that it is given are views that cannot be written. RunError with the line for what it raises, and for
        results of other types and shapes; ShapeError where lengths differ that the program joins.
        """
        call, shapes = self._call, shapes_of(self._program, self._paths, values)
        extents_of((*self._program.lengths, *self._program.sizes), shapes)
        given = [self._argument(each, values, shapes) for each in self._given]
        try:
            found = call.native(*given)
        except Exception as error:
            raise self._error(f"raised {type(error).__name__}: {error}", "Look at what it is given.") from error
        parts = found if isinstance(found, tuple | list) and call.kind is not None else (found,)
        if len(parts) != len(self._made):
            raise self._error(
                f"returned {len(parts)} values, but its fallback {len(self._made)}", "Let both return the same."
            )
        wanted = [(type_, tuple(extent_of(each, shapes) for each in lengths)) for _, type_, lengths in self._made]
        return [self._result(part, *each) for part, each in zip(parts, wanted, strict=True)]

    def _argument(
        self, given: str | AnyOrigin | StaticKind, values: Sequence[object], shapes: Mapping[str, tuple[int, ...]]
    ) -> Any:  # noqa: ANN401  # an array of NumPy or of CuPy, a number, or a constant
        if isinstance(given, StaticKind):
            return given.value
        if not isinstance(given, str):
            return extent_of(given, shapes)
        leaf, value = given, value_at(values, self._paths[given])
        if not np.shape(value):
            return to_host(leaf, value)[()] if lies_on_device(value) else value
        if self._call.on_device:
            return device_array(leaf, value)
        array = to_host(leaf, value).view()
        array.flags.writeable = False
        return array

    def _result(self, value: Any, type_: StorageType, shape: tuple[int, ...]) -> Any:  # noqa: ANN401  # of any library
        """A result as programs read it."""
        on_device = self._call.on_device and bool(shape) and lies_on_device(value)
        array = value if on_device else to_host(f"a result of {self._call.name}", value)
        found = array.dtype, tuple(array.shape)
        if found != (type_.numpy, shape):
            raise self._error(
                f"returned {found[0]} of shape {found[1]}, but its fallback {type_.numpy} of shape {shape}",
                "Let both return the same, by astype and reshape.",
            )
        if not shape:
            return array[()]
        return array if on_device else np.ascontiguousarray(array)

    def _error(self, what: str, advice: str) -> RunError:
        return RunError(f"{self._call.name}, for {self._call.text}, {what}", advice=advice, line=self._call.line)
