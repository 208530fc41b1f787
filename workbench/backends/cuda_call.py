"""CUDA call: a program that runs once at each call, on arrays that lie on the device already, without copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench.backends.base import Array, MarchRequest, MarchResult, Number
from workbench.backends.cuda_instance import CudaInstance
from workbench.backends.cuda_modules import LoadedKernels
from workbench.backends.cuda_place import CudaPlace
from workbench.backends.global_words import words_of
from workbench.codegen.cuda.render import CudaText
from workbench.graph import StorageType
from workbench.planning.lending import lent_slots
from workbench.planning.plan import Plan


class CudaCall(CudaInstance):
    """See `CallInstance`. The memory of fields is lent at each call; all else stays.

    A short call costs what the host asks of the device: for each result its memory, the launches, a number when it has
    changed, and one wait at the end, with the Globals block if it is read.
    """

    on_device = True
    steps: Mapping[str, int] = MappingProxyType({})

    def __init__(
        self,
        plan: Plan,
        text: CudaText,
        functions: LoadedKernels,
        extents: tuple[int, ...],
        place: CudaPlace,
    ) -> None:
        self._given: dict[str, bytes] = {}  # the words of each param as they lie on the device
        self._block: Array | None = None  # the Globals block after the last run, until something else happens
        self._is_ready = False
        super().__init__(plan, text, functions, extents, place, lent=True)
        self._is_ready = True
        with self._on_device():
            self._nothing = self._library.empty(0, np.uint8)  # in the place of what is not lent
        self._sent: list[tuple[Array, Any]] = []  # arrays of the host in this call, and their cells on the device
        self._has_met = False  # whether this call's stream comes after what the caller has asked for
        self._slots = {slot.field: slot.index for slot in lent_slots(plan)}  # which no rotation moves
        self._is_short = False  # graphs hold where arrays lie, which differs from call to call
        self._kernel = self._kernels[plan.kernels[0].kernel.name]
        self._needs_block = any(not each.inner for each in plan.graph.scalars) or plan.outside >= 0

    def lend(self, name: str, values: Any) -> None:  # noqa: ANN401  # of NumPy or of CuPy
        """Let the field lie in an array of this device; one of the host or another device is sent there, once a call.

        An array of CuPy must have been made in the stream that is current in this thread.
        """
        slot = self._slots[name]
        cells = self._memory[slot] = self._cells_of(values)
        self._words.lie("slot", slot, cells.data.ptr)

    def lend_all(self, names: Iterable[str], arrays: Sequence[Any], otherwise: Callable[[str, Any], None]) -> None:
        """Each is looked at where it is lent."""
        for name, values in zip(names, arrays, strict=True):
            otherwise(name, values)

    def number(self, name: str) -> None:
        """The Globals block lies on the device."""

    def made(self, wanted: Sequence[tuple[tuple[int, ...], StorageType]]) -> list[Any]:  # arrays of CuPy
        """Fresh arrays for results; of dd they have the bytes."""
        empty = self._library.empty
        with self._on_device():
            return [
                empty(prod(shape) * type_.itemsize, np.uint8) if type_.is_record else empty(shape, type_.numpy)
                for shape, type_ in wanted
            ]

    def write_global(self, name: str, value: Number) -> None:
        """Set a param; rounded to its type."""
        slot = self._global(name)
        found = words_of(value, slot.type)
        words = found.tobytes()
        if self._given.get(name) != words:
            if self._is_ready:
                with self._on_device():
                    self._globals_on_host.send(slot.index, found)
            else:
                super().write_global(name, value)
            self._given[name], self._block = words, None

    def read_global(self, name: str) -> Number:
        """A scalar's value after `run`, or after a march."""
        return super().read_global(name) if self._block is None else self._number(self._block, name)

    def march(self, request: MarchRequest) -> MarchResult:
        """Run a part of the program, before `run`."""
        self._block = None
        return super().march(request)

    def run(self) -> None:
        """Run the program once, on the arrays that are lent. RunError if an index lies outside of what it reads."""
        try:
            with self._on_device():
                self._run_once()
        finally:  # nothing of the caller is kept
            self._sent.clear()
            self._has_met = False
            for slot in self._slots.values():
                self._memory[slot] = self._nothing

    def _run_once(self) -> None:
        kernel = self._kernel
        self._launch_in_order(self._begin(kernel))
        self._launch_all(kernel.observed)
        if self._needs_block:
            self._block = self._globals_now()
            self._take_note(kernel.name, self._block)
        else:
            self._block = None
            self._wait()

    def _looked(self, request: MarchRequest) -> Array:
        self._block = self._globals_now()  # of which a loop reads next whether it goes on
        self._take_note(request.kernel, self._block)
        return self._block

    def _cells_of(self, values: Any) -> Any:  # noqa: ANN401
        """An array of this device with the cells side by side."""
        cupy = self.place.cupy
        if isinstance(values, np.ndarray):
            sent = next((cells for other, cells in self._sent if other is values), None)
            if sent is None:
                with self._on_device():
                    sent = cupy.empty(values.nbytes, np.uint8)
                    self._from_host(sent, np.ascontiguousarray(values).reshape(-1).view(np.uint8))
                self._sent.append((values, sent))
            return sent
        if not self._has_met:
            self._meet_caller()
        if int(values.device.id) != self.place.device:
            return self._cells_of(values.get())
        if values.flags.c_contiguous:
            return values
        with self._on_device():
            return values.copy()

    def _meet_caller(self) -> None:
        """Come after what the current stream of this thread was asked for; for the default one each launch waits."""
        cupy = self.place.cupy
        stream = cupy.cuda.get_current_stream()
        if stream.ptr:
            with self.place.errors.as_ours(cupy, "the CUDA device"):
                stream.synchronize()
        self._has_met = True
