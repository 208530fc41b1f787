"""One call: what a program needs to run once on arrays of the caller; what lies where it runs is not copied."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from workbench.backends.base import (
    Array,
    CallInstance,
    DeviceCells,
    Instance,
    LendingProgram,
    MarchRequest,
    Number,
)
from workbench.backends.looping import bare_instance
from workbench.errors import NoRoomError
from workbench.graph import Static
from workbench.graph.arithmetic import stored
from workbench.pipeline import Compiled
from workbench.planning.extents import check_extents
from workbench.run.arrays import device_array, to_host
from workbench.run.creation import allocate
from workbench.run.memory import check_memory
from workbench.run.room import with_room

MAIN = "main"
"""The kernel of a program that runs once at each call."""


def step_of(static: Static, values: Any) -> int | None:  # noqa: ANN401  # of NumPy, or of CuPy
    """Elements between neighbours along the last axis, of an array that could be read where it lies.

    None of one that is dense, and of one that must be copied: from a device, of dd, or not of whole elements apart.
    """
    if not isinstance(values, np.ndarray) or values.flags.c_contiguous or static.type.is_record:
        return None
    item = values.itemsize
    if any(stride % item for stride in values.strides):
        return None
    return 1 if values.shape[-1] == 1 else values.strides[-1] // item


class OneCall(Protocol):
    """Memory for one call at a time: give all arrays and params, `run`, take the results."""

    def give(self, static: Static, values: Any) -> None:  # noqa: ANN401  # of NumPy, or of CuPy
        """The values of an array that the program reads, of its type and extents; they stay as they are."""

    def give_whole(self, arrays: Sequence[Any]) -> None:
        """Arrays of all `whole` statics of `open_call`, as `give` takes them."""

    def dense(self, name: str, values: Array) -> Array:
        """The values side by side in memory, if they are lent; name: of the copy, whose memory stays."""

    def set(self, name: str, value: Number) -> None:
        """The value of a param."""

    def run(self) -> None:
        """Run the program once. RunError if an index lies outside of what it reads."""

    def result(self, static: Static, *, on_device: bool = False) -> Any:  # noqa: ANN401
        """A fresh array of what the program has stored, 0-d for one number.

        on_device: where the program has it: of CuPy on a GPU, but for numbers and dd. Else of NumPy.
        """

    def results(self, *, on_device: bool = False) -> list[Any]:
        """All that `result` gives, in the order of `open_call`."""

    def close(self) -> None:
        """Free the memory."""


def open_call(
    compiled: Compiled,
    extents: tuple[int, ...],
    threads: int,
    results: tuple[Static, ...],
    whole: tuple[Static, ...] = (),
) -> OneCall:
    """Memory for calls of these extents. Raises NoRoomError if there is too little.

    whole: inputs that are dense as a rule, and not empty.
    """
    return with_room(
        lambda: _open(compiled, extents, threads, results, whole),
        f"a call of {compiled.graph.name} with the axes {extents}",
    )


def _open(
    compiled: Compiled,
    extents: tuple[int, ...],
    threads: int,
    results: tuple[Static, ...],
    whole: tuple[Static, ...],
) -> OneCall:
    program = compiled.program
    if isinstance(program, LendingProgram):
        check_extents(compiled.plan, extents)
        check_memory(compiled.plan, extents, compiled.selection.name, program.free_memory())
        instance = program.instantiate_for_calls(extents, threads)
        if instance is not None:
            space = compiled.graph.space
            shapes = {s.name: s.space.extents_in(space, extents) for s in results if s.role == "field"}
            return _Lending(instance, shapes, {s.name: s for s in results}, whole)
    return _Copying(allocate(compiled, extents, threads), results, whole)


class _Lending:
    """The program works on the caller's arrays, and makes its results in fresh ones."""

    def __init__(
        self,
        instance: CallInstance,
        shapes: dict[str, tuple[int, ...]],
        results: dict[str, Static],
        whole: tuple[Static, ...],
    ) -> None:
        self._instance = instance
        self._whole = {static.name: static for static in whole}
        self._returned = tuple(results.values())
        self._readers = [None if s.role == "field" else instance.number(s.name) for s in self._returned]
        are_found = all(s.role == "field" or read for s, read in zip(self._returned, self._readers, strict=True))
        self._is_as_made = are_found and not instance.on_device and not any(s.type.parts for s in self._returned)
        self._wanted = [(shape, results[name].type) for name, shape in shapes.items()]
        self._shapes = shapes
        self._results: list[Any] = []  # of `shapes` in turn
        self._places = {name: place for place, name in enumerate(shapes)}
        self._copies: dict[str, Array] = {}
        self.set = instance.write_global

    def give(self, static: Static, values: Any) -> None:  # noqa: ANN401
        """Lend the array; one that is misaligned, not where the program runs or strided is copied.

        Strided ones are lent where the program reads this one by strides of its own.
        """
        if not isinstance(values, np.ndarray):
            if self._instance.on_device and not static.type.is_record:
                self._instance.lend(static.name, values)
                return
            values = to_host(static.name, values)
        step = self._instance.steps.get(static.name)
        if step is None:
            self._instance.lend(static.name, self.dense(static.name, values))
        elif values.flags.aligned and (
            step == 0 or step * values.itemsize == values.strides[-1] or values.shape[-1] == 1
        ):
            self._instance.lend(static.name, values)
        else:
            self._instance.lend(static.name, self._copied(static.name, values, step or 1))

    def give_whole(self, arrays: Sequence[Any]) -> None:
        """Lend them, those that cannot be lent as they are one by one."""
        self._instance.lend_all(self._whole, arrays, self._give_named)

    def _give_named(self, name: str, values: Any) -> None:  # noqa: ANN401
        self.give(self._whole[name], _readable(name, values))

    def dense(self, name: str, values: Array) -> Array:
        """The array itself if it is dense and aligned, else a copy.

        Memory of the copy stays for the next call: to get pages of the system takes ten times as long as to copy.
        """
        return values if values.flags.c_contiguous and values.flags.aligned else self._copied(name, values, 1)

    def _copied(self, name: str, values: Array, step: int) -> Array:
        """A copy in which neighbours along the last axis are so many elements apart."""
        copied = self._copies.get(name)
        if copied is None:
            wanted = f"a copy of {name}, {values.dtype} of shape {values.shape}"
            shape = (*values.shape[:-1], values.shape[-1] * abs(step))
            made = with_room(partial(np.empty, shape, values.dtype), wanted)
            copied = self._copies[name] = made if step == 1 else made[..., ::step]
        np.copyto(copied, values)
        return copied

    def run(self) -> None:
        """Run the program, which writes into arrays that it alone has."""
        try:
            self._results = self._fresh()
        except (MemoryError, NoRoomError):
            wanted = " and ".join(f"{type_.numpy} of shape {shape}" for shape, type_ in self._wanted)
            self._results = with_room(self._fresh, f"results, {wanted}")
        self._instance.lend_all(self._shapes, self._results, self._instance.lend)
        self._instance.run()

    def _fresh(self) -> list[Any]:
        return self._instance.made(self._wanted) if self._wanted else []

    def result(self, static: Static, *, on_device: bool = False) -> Any:  # noqa: ANN401
        """The array that was written, fetched from a device unless it may stay there."""
        if static.role != "field":
            return np.asarray(stored(self._instance.read_global(static.name), static.type))
        place = self._places[static.name]
        made, self._results[place] = self._results[place], None
        if type(made) is np.ndarray and not static.type.parts:  # as on the host in most calls
            return made
        if on_device and not static.type.is_record:
            return made
        found = made if isinstance(made, np.ndarray) else to_host(static.name, made)
        return found.view(static.type.numpy).reshape(self._shapes[static.name]) if static.type.is_record else found

    def results(self, *, on_device: bool = False) -> list[Any]:
        """The arrays that were written, and numbers."""
        if not self._is_as_made:
            return [self.result(static, on_device=on_device) for static in self._returned]
        made, self._results = self._results, []
        take = iter(made).__next__
        return [take() if read is None else read() for read in self._readers]

    def close(self) -> None:
        """Free the memory."""
        self._copies.clear()
        self._instance.close()


class _Copying:
    """The program has memory of its own: arrays are copied in and out, those on its device without the host."""

    def __init__(self, instance: Instance, results: tuple[Static, ...], whole: tuple[Static, ...]) -> None:
        self._instance, bare = instance, bare_instance(instance)
        self._returned, self._whole = results, whole
        self._cells = bare if isinstance(bare, DeviceCells) else None
        self._sent: list[tuple[Array, str]] = []
        self._request = MarchRequest(MAIN, 1)
        self.set = instance.write_global

    def give(self, static: Static, values: Any) -> None:  # noqa: ANN401
        """Copy the array in; one of the host that is given twice is sent to a device once."""
        if self._cells is None or static.type.is_record:
            self._instance.write_field(static.name, to_host(static.name, values))
            return
        sent = next((name for other, name in self._sent if other is values), None)
        if sent is not None:
            self._cells.take_cells(static.name, self._cells.device_view(sent))
        elif isinstance(values, np.ndarray):
            self._instance.write_field(static.name, values)
            self._sent.append((values, static.name))
        else:
            self._cells.take_cells(static.name, values)

    def give_whole(self, arrays: Sequence[Any]) -> None:
        """Copy them in."""
        for static, values in zip(self._whole, arrays, strict=True):
            self.give(static, _readable(static.name, values))

    def dense(self, name: str, values: Array) -> Array:
        """The values as they are."""
        return values

    def run(self) -> None:
        """Run the program."""
        self._sent.clear()  # nothing of the caller is kept
        self._instance.march(self._request)

    def result(self, static: Static, *, on_device: bool = False) -> Any:  # noqa: ANN401
        """Copy the array out."""
        if static.role == "field":
            if on_device and self._cells is not None and not static.type.is_record:
                return self._cells.give_cells(static.name)
            return self._instance.read_field(static.name)
        return np.asarray(stored(self._instance.read_global(static.name), static.type))

    def results(self, *, on_device: bool = False) -> list[Any]:
        """Copy all out."""
        return [self.result(static, on_device=on_device) for static in self._returned]

    def close(self) -> None:
        """Free the memory."""
        self._instance.close()


def _readable(name: str, values: Any) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    return values if isinstance(values, np.ndarray) else device_array(name, values)
