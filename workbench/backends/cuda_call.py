"""CUDA call: a program that runs once at each call, on arrays that lie on the device already, which nobody copies."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench.backends.base import Array, MarchRequest, MarchResult, Number
from workbench.backends.cuda_instance import CudaInstance, CudaPlace
from workbench.backends.cuda_modules import LoadedKernels
from workbench.backends.global_words import number_in, words_of
from workbench.codegen.cuda.render import CudaText
from workbench.graph import StorageType
from workbench.planning.lending import lent_slots
from workbench.planning.plan import Plan


class CudaCall(CudaInstance):
    """See `CallInstance`. The memory of fields is lent at each call; all else stays.

    A short call costs what the host asks of the device, so each number goes there when it has changed, and the whole
    Globals block comes back once.
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
        super().__init__(plan, text, functions, extents, place, lent=True)
        with self._on_device():
            self._nothing = self._library.empty(0, np.uint8)  # in the place of what is not lent
        self._sent: list[tuple[Array, Any]] = []  # arrays of the host in this call, and their cells on the device

    def lend(self, name: str, values: Any) -> None:  # noqa: ANN401  # of NumPy or of CuPy
        """Let the field lie in an array of this device; one of the host or another device is sent there, once a call.

        Whoever has made an array of CuPy has done so in the stream that is current in this thread.
        """
        slot = next(s for s in self.plan.slots if s.field == name)
        self._memory[self._order[slot.index]] = self._cells_of(values)
        self._known_arguments.clear()  # both hold where arrays lie
        self._graphs.clear()

    def made(self, shape: tuple[int, ...], type_: StorageType) -> Any:  # noqa: ANN401  # an array of CuPy
        """A fresh array for a result; of dd it has the bytes."""
        with self._on_device():
            if type_.is_record:
                return self._library.empty(prod(shape) * type_.itemsize, np.uint8)
            return self._library.empty(shape, type_.numpy)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param; rounded to its type."""
        words = words_of(value, self._global(name).type).tobytes()
        if self._given.get(name) != words:
            super().write_global(name, value)
            self._given[name] = words

    def read_global(self, name: str) -> Number:
        """A scalar's value after `run`, or after a march."""
        if self._block is None:
            return super().read_global(name)
        slot = self._global(name)
        return number_in(self._block[slot.index : slot.index + slot.type.words], slot.type)

    def march(self, request: MarchRequest) -> MarchResult:
        """Run a part of the program, before `run`."""
        self._block = None
        return super().march(request)

    def run(self) -> None:
        """Run the program once, on the arrays that are lent. RunError if an index lies outside of what it reads."""
        try:
            self._run_once()
        finally:  # nothing of the caller is kept
            self._sent.clear()
            self._known_arguments.clear()
            for slot in lent_slots(self.plan):
                self._memory[self._order[slot.index]] = self._nothing

    def _run_once(self) -> None:
        kernel = self._kernels[self.plan.kernels[0].kernel.name]
        with self._on_device():
            for launch in (*self._begin(kernel), *self.sequence(kernel.observed)):
                self._launch(launch)
            self.rotate(kernel.observed)
            if not self.plan.graph.scalars and self.plan.outside < 0:
                self._wait()
                return
            self._block = self._to_host(self._globals)
            if self.plan.outside >= 0 and self._block[self.plan.outside]:
                self._take_note(kernel.name)

    def _cells_of(self, values: Any) -> Any:  # noqa: ANN401
        """The bytes of an array on this device."""
        cupy = self.place.cupy
        if isinstance(values, np.ndarray):
            sent = next((cells for other, cells in self._sent if other is values), None)
            if sent is None:
                with self._on_device():
                    sent = cupy.empty(values.nbytes, np.uint8)
                    self._from_host(sent, np.ascontiguousarray(values).reshape(-1).view(np.uint8))
                self._sent.append((values, sent))
            return sent
        with self.place.errors.as_ours(cupy, "the CUDA device"):
            cupy.cuda.get_current_stream().synchronize()
        if int(values.device.id) != self.place.device:
            return self._cells_of(values.get())
        with self._on_device():
            packed = values if values.flags.c_contiguous else values.copy()
            return packed.reshape(-1).view(np.uint8)
