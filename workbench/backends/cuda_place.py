"""CUDA place: the device and the stream on which an instance works, and whether CUDA still works there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from workbench.backends.cuda_errors import CudaErrors
from workbench.backends.cuda_modules import CudaModules


@dataclass(frozen=True, slots=True)
class CudaPlace:
    """Where an instance lives: the module cupy, the number of the device, and who knows whether CUDA still works.

    `check` raises BackendError after an error that lasts, and in a process that was forked from the one that found the
    device. threads: what each thread knows of its devices.
    """

    cupy: Any
    device: int
    errors: CudaErrors
    modules: CudaModules
    check: Callable[[], None]
    threads: threading.local

    def free_memory(self) -> int:
        """Bytes that arrays may take."""
        cupy = self.cupy
        with self.errors.as_ours(cupy, "asking the CUDA device"), cupy.cuda.Device(self.device):
            return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())


class OnDevice:
    """Within it CuPy works on the place's device and a stream; errors become ours. May be entered again inside.

    A call enters it several times, so it is no generator, which takes three times as long.
    """

    __slots__ = ("_device", "_name", "_place", "_stream")

    def __init__(self, place: CudaPlace, device: Any, stream: Any, name: str) -> None:  # noqa: ANN401  # of CuPy
        self._place, self._device, self._stream, self._name = place, device, stream, name

    def __enter__(self) -> None:
        place = self._place
        place.check()
        try:
            self._device.__enter__()
            try:
                self._give_context()
                self._stream.__enter__()
            except BaseException:
                self._device.__exit__(None, None, None)
                raise
        except BaseException as error:
            self._told(error)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            try:
                self._stream.__exit__(kind, error, traceback)
            finally:
                self._device.__exit__(kind, error, traceback)
        except BaseException as found:
            self._told(found)
            raise
        if error is not None:
            self._told(error)

    def _give_context(self) -> None:
        """Launches take for granted that the thread has a context, which CuPy's own arrays would have made it."""
        threads = self._place.threads
        known: set[int] | None = getattr(threads, "devices", None)
        if known is None:
            known = threads.devices = set()
        if self._place.device not in known:
            self._place.cupy.cuda.runtime.memGetInfo()
            known.add(self._place.device)

    def _told(self, error: BaseException) -> None:
        """Raise the error in our words, if it is one of CUDA."""
        place = self._place
        ours = place.errors.in_our_words(place.cupy, error, "the CUDA device", memory=self._name)
        if ours is not None:
            raise ours from error
