"""One call: what a program needs to run once on arrays of the caller; on the host nothing is copied."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from workbench.backends.base import Array, CallInstance, Instance, LendingProgram, MarchRequest, Number
from workbench.graph import Static
from workbench.graph.arithmetic import stored
from workbench.pipeline import Compiled
from workbench.planning.extents import check_extents
from workbench.run.creation import allocate
from workbench.run.memory import check_memory

MAIN = "main"
"""The kernel of a program that runs once at each call."""


class OneCall(Protocol):
    """Memory for one call at a time: give all arrays and params, `run`, take the results."""

    def give(self, static: Static, values: Array) -> None:
        """The values of an array that the program reads, of its type and extents; they stay as they are."""

    def set(self, name: str, value: Number) -> None:
        """The value of a param."""

    def run(self) -> None:
        """Run the program once. RunError if an index lies outside of what it reads."""

    def result(self, static: Static) -> Array:
        """A fresh array of what the program has stored, 0-d for one number."""

    def close(self) -> None:
        """Free the memory."""


def open_call(compiled: Compiled, extents: tuple[int, ...], threads: int, results: tuple[Static, ...]) -> OneCall:
    """Memory for calls of these extents. Raises ShapeError if there is too little."""
    program = compiled.program
    if isinstance(program, LendingProgram):
        check_extents(compiled.plan, extents)
        check_memory(compiled.plan, extents, compiled.selection.name, program.free_memory())
        instance = program.instantiate_for_calls(extents, threads)
        if instance is not None:
            space = compiled.graph.space
            shapes = {s.name: s.space.extents_in(space, extents) for s in results if s.role == "field"}
            return _Lending(instance, shapes, {s.name: s for s in results})
    return _Copying(allocate(compiled, extents, threads))


class _Lending:
    """The program works on the caller's arrays, and makes its results in fresh ones."""

    def __init__(self, instance: CallInstance, shapes: dict[str, tuple[int, ...]], results: dict[str, Static]) -> None:
        self._instance = instance
        self._made = [(name, shape, results[name].type.numpy) for name, shape in shapes.items()]
        self._results: dict[str, Array] = {}
        self.set = instance.write_global

    def give(self, static: Static, values: Array) -> None:
        """Lend the array; one that is strided or misaligned is copied."""
        if not (values.flags.c_contiguous and values.flags.aligned):
            values = np.array(values, order="C")
        self._instance.lend(static.name, values)

    def run(self) -> None:
        """Run the program, which writes into arrays that nobody else has."""
        for name, shape, dtype in self._made:
            made = self._results[name] = np.empty(shape, dtype)
            self._instance.lend(name, made)
        self._instance.run()

    def result(self, static: Static) -> Array:
        """The array that was written."""
        if static.role == "field":
            return self._results.pop(static.name)
        return np.asarray(stored(self._instance.read_global(static.name), static.type))

    def close(self) -> None:
        """Free the memory."""
        self._instance.close()


class _Copying:
    """The program has memory of its own: arrays are copied in and out."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._request = MarchRequest(MAIN, 1)
        self.set = instance.write_global

    def give(self, static: Static, values: Array) -> None:
        """Copy the array in."""
        self._instance.write_field(static.name, values)

    def run(self) -> None:
        """Run the program."""
        self._instance.march(self._request)

    def result(self, static: Static) -> Array:
        """Copy the array out."""
        if static.role == "field":
            return self._instance.read_field(static.name)
        return np.asarray(stored(self._instance.read_global(static.name), static.type))

    def close(self) -> None:
        """Free the memory."""
        self._instance.close()
