"""CUDA modules: cubins loaded onto a device, shared by all who run them, unloaded when the last of them is gone.

A search over many plans loads thousands of modules in one process; each has memory of its own on the device. CuPy
unloads a module as soon as nothing refers to it, in whatever thread that is, and there only warns where the module's
device has no context or work is being captured. So it happens at set moments.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from workbench.backends.cubins import Cubin
from workbench.backends.cuda_errors import CudaErrors
from workbench.errors import BackendError
from workbench.forking import forkable_lock


class LoadedKernels:
    """The kernels of one cubin on one device, by name; loaded as long as something refers to this."""

    __slots__ = ("__weakref__", "_functions")

    def __init__(self, functions: dict[str, Any]) -> None:
        self._functions = functions

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # CuPy carries no annotations
        return self._functions[name]


class CudaModules:
    """All modules that this process has loaded."""

    def __init__(self, errors: CudaErrors) -> None:
        self._errors = errors
        self._lock = forkable_lock()
        self._loaded: weakref.WeakValueDictionary[tuple[str, int], LoadedKernels] = weakref.WeakValueDictionary()
        self._unused: deque[tuple[int, dict[str, Any]]] = deque()

    def load(self, cupy: Any, cubin: Cubin, device: int) -> LoadedKernels:  # noqa: ANN401
        """The kernels of a cubin on a device, loaded unless they are there. BackendError if the device refuses it."""
        self.unload(cupy)
        key = (cubin.key, device)
        with self._lock:
            found = self._loaded.get(key)
            if found is None:
                with self._errors.as_ours(cupy, "loading kernels onto the CUDA device"), cupy.cuda.Device(device):
                    module = cupy.cuda.Module()
                    module.load(cubin.binary)
                    functions = {each.kernel: module.get_function(each.kernel) for each in cubin.resources}
                found = self._loaded[key] = LoadedKernels(functions)
                # Garbage may be collected at any time, in the midst of a capture too: it is only noted here.
                weakref.finalize(found, self._unused.append, (device, functions)).atexit = False
        return found

    def unload(self, cupy: Any) -> None:  # noqa: ANN401
        """Unload what nothing refers to any more. To be called in no capture; does nothing after an error that lasts.

        BackendError if CUDA fails; what could not be unloaded then waits for the next time.
        """
        while self._unused and not self._errors.lasting:
            try:
                device, functions = self._unused.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                with self._errors.as_ours(cupy, "unloading kernels"), cupy.cuda.Device(device):
                    cupy.cuda.runtime.memGetInfo()  # gives this thread a context, which unloading takes for granted
                    functions.clear()
            except BackendError:
                self._unused.append((device, functions))
                raise
