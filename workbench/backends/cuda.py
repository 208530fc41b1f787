"""The cuda backend: generated CUDA text through NVRTC and CuPy; see `cuda_instance` for what runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from threading import Event, local
from typing import Any

from workbench.backends.base import Availability, CompilerReport, Identity, Instance
from workbench.backends.checks import checked_extents
from workbench.backends.cubins import Cubin, Cubins
from workbench.backends.cuda_availability import obstacle, wheels_in_conflict
from workbench.backends.cuda_call import CudaCall
from workbench.backends.cuda_errors import INSTALL, REINSTALL, RESTART, CudaErrors, first_line
from workbench.backends.cuda_instance import CudaInstance
from workbench.backends.cuda_modules import CudaModules, LoadedKernels
from workbench.backends.cuda_place import CudaPlace
from workbench.backends.device_instance import layouts_of
from workbench.backends.device_text import device_text
from workbench.backends.launch_sequence import index_type
from workbench.backends.launch_text import launch_text
from workbench.backends.nvrtc import KernelResources
from workbench.backends.phenotype import memory_text, phenotype_key
from workbench.backends.register_words import register_report, resource_report
from workbench.codegen.cuda.render import CudaText, render_cuda
from workbench.codegen.source import Source
from workbench.errors import BackendError
from workbench.planning.lending import leaves_inputs_alone
from workbench.planning.plan import Plan

_FORKED = (
    "this process was forked from one that uses CUDA, which works in that one only",
    'Start it by multiprocessing.get_context("spawn").',
)


class CudaBackend:
    """Compiles for the current CUDA device. In tests `library` stands for the module cupy, `cubins` for NVRTC."""

    name = "cuda"

    def __init__(self, library: Any = None, cubins: Callable[[int], Cubins] = Cubins) -> None:  # noqa: ANN401  # the module cupy
        self._library = library
        self._make_cubins = cubins
        self._cubins: Cubins | None = None
        self._process = 0  # that has found the device
        self._works = False  # once it has compiled
        self._errors = CudaErrors()
        self._modules = CudaModules(self._errors)
        self._threads = local()

    def availability(self) -> Availability:
        """Whether CuPy, driver, device and NVRTC are there and fit; the first look compiles an empty kernel."""
        if self._library is None and find_spec("cupy") is None:
            return Availability(False, "CuPy is not installed", INSTALL)
        if self._process not in (0, os.getpid()):
            return Availability(False, *_FORKED)
        if self._errors.lasting:
            return Availability(False, *self._ended())
        try:
            missing = obstacle(self._found())
            if missing is None and not self._works:
                architecture = self.architecture(self._device())
                self.cubins().obtain("empty", 'extern "C" __global__ void empty() {}\n', architecture, ())
                self._works = True
        except BackendError as error:
            return Availability(False, error.what, error.advice)
        except Exception as error:  # CuPy fails in many ways where libraries are missing
            return Availability(False, f"CuPy cannot use a CUDA device: {first_line(error)}", INSTALL)
        return missing or Availability(True)

    def identity(self) -> Identity:
        """The name of the current device, and the version of NVRTC with what it compiles for."""
        cupy, device = self._found(), self._device()
        with self._errors.as_ours(cupy, "asking the CUDA device", advice="Type: workbench doctor."):
            name = cupy.cuda.runtime.getDeviceProperties(device)["name"]
        text = name.decode() if isinstance(name, bytes) else str(name)
        return Identity(text, f"{self.cubins().version} {self.architecture(device)}")

    def compile(self, plan: Plan, cancel: Event | None = None) -> CudaProgram:
        """Render, and compile for the current device; needs no memory of it. A known text comes from the build cache.

        `cancel` comes too late for a compiler that runs in this process.
        """
        del cancel
        text = render_cuda(plan)
        return CudaProgram(plan, text, self, self.architecture(self._device()))

    def compile_many(self, plans: Sequence[Plan]) -> tuple[CudaProgram, ...]:
        """The same for many plans, one after the other: NVRTC is fast enough."""
        return tuple(self.compile(plan) for plan in plans)

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """What the compiler says of the text, for a usual device."""
        return register_report(plan, source)

    def phenotype(self, plan: Plan) -> str:
        """Key of what would run on the current device. Renders; compiles nothing."""
        choices, text = plan.choices.plan, render_cuda(plan)
        compiler = f"{self.cubins().version} {self.architecture(self._device())}"
        _, flags = device_text(plan, text.source)
        return phenotype_key(
            text.digest, compiler, " ".join(flags), memory_text(plan), launch_text(text.kernels, choices)
        )

    def cubin(self, text: CudaText, plan: Plan, index: str, architecture: str) -> Cubin:
        """The text compiled for an architecture, with element numbers of the type `index`."""
        code, flags = device_text(plan, text.source, index)
        return self.cubins().obtain(plan.graph.name, code, architecture, flags)

    def load(self, cubin: Cubin, device: int) -> LoadedKernels:
        """The kernels of a cubin by name, on that device."""
        return self._modules.load(self._found(), cubin, device)

    def place(self, beside: Instance | None = None) -> CudaPlace:
        """The device of another instance, else the one that is current in this thread."""
        device = beside.place.device if isinstance(beside, CudaInstance) else self._device()
        process = self._process
        return CudaPlace(
            self._found(), device, self._errors, self._modules, lambda: self._check(process), self._threads
        )

    def cubins(self) -> Cubins:
        """NVRTC of the same version of CUDA as CuPy. BuildError if there is none."""
        if self._cubins is None:
            cupy = self._found()
            with self._errors.as_ours(cupy, "CuPy", advice=INSTALL):
                self._cubins = self._make_cubins(int(cupy.cuda.runtime.runtimeGetVersion()) // 1000)
        return self._cubins

    def architecture(self, device: int) -> str:
        """What to compile for, so that this device can load it."""
        cupy = self._found()
        with self._errors.as_ours(cupy, "asking the CUDA device", advice="Type: workbench doctor."):
            return self.cubins().architecture(int(cupy.cuda.Device(device).compute_capability))

    def _check(self, process: int) -> None:
        """Raise BackendError unless CUDA works in this process, as it did in the given one."""
        _refuse_forked(process)
        if self._errors.lasting:
            what, advice = self._ended()
            raise BackendError(what, advice=advice)

    def _ended(self) -> tuple[str, str]:
        return f"an earlier error ended the use of CUDA: {self._errors.lasting}", RESTART

    def _device(self) -> int:
        cupy = self._found()
        with self._errors.as_ours(cupy, "finding the CUDA device", advice="Type: workbench doctor."):
            return int(cupy.cuda.Device().id)

    def load_library(self) -> None:
        """Import CuPy and ask CUDA nothing, so that processes forked from this one may use it. BackendError as ever."""
        if self._library is None:
            try:
                with warnings.catch_warnings():  # of 25 lines, for which ours stands
                    warnings.filterwarnings("ignore", "(?s).*multiple CuPy packages", UserWarning)
                    self._library = import_module("cupy")
            except Exception as error:  # a NumPy or a library that does not fit comes as whatever it is
                cause = error.__cause__ or error  # CuPy's own words for all of them are the same
                raise BackendError(
                    f"CuPy cannot be imported: {type(cause).__name__}: {first_line(cause)}", advice=REINSTALL
                ) from error
            conflict = wheels_in_conflict()
            if conflict:
                warnings.warn(conflict, RuntimeWarning, stacklevel=2)

    def _found(self) -> Any:  # noqa: ANN401  # the module cupy
        self.load_library()
        self._process = self._process or os.getpid()
        _refuse_forked(self._process)
        return self._library


def _refuse_forked(process: int) -> None:
    """Raise BackendError unless it is this process: CUDA does not work in one that is forked after it was used."""
    if process != os.getpid():
        raise BackendError(_FORKED[0], advice=_FORKED[1])


class CudaProgram:
    """A plan's CUDA text compiled for a device; makes any number of instances of any extents."""

    def __init__(self, plan: Plan, text: CudaText, backend: CudaBackend, architecture: str) -> None:
        self.plan = plan
        self.text = text
        self._backend = backend
        self._cubin = backend.cubin(text, plan, "int32_t", architecture)
        self._cubins = {("int32_t", architecture): self._cubin}

    @property
    def source(self) -> Source:
        """The generated text with its line map."""
        return self.text.source

    @property
    def compile_seconds(self) -> float:
        """Seconds that NVRTC worked, 0 if the cubin came from the build cache."""
        return self._cubin.seconds

    @property
    def from_cache(self) -> bool:
        """Whether nothing had to be compiled."""
        return self._cubin.from_cache

    def resources(self) -> tuple[KernelResources, ...]:
        """Registers, spills and static shared memory of every kernel, as ptxas said when it made the cubin."""
        return self._cubin.resources

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> what ptxas said of it; asks no device."""
        return resource_report("ptxas", self.resources()).of_subkernels(self.source)

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """What the device has left, and CuPy's pool of what was freed."""
        return self._backend.place(beside).free_memory()

    def instantiate(self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None) -> CudaInstance:
        """Allocate a state on the device of `beside`, else on this thread's current one; `threads` is not used.

        Arrays of 2^31 elements need a second cubin, made here.
        """
        del threads
        place = self._backend.place(beside)
        return CudaInstance(self.plan, self.text, self._functions(place, extents), extents, place)

    def instantiate_for_calls(self, extents: tuple[int, ...], threads: int = 0) -> CudaCall | None:
        """Allocate what a call does not lend; None where the plan writes where an array is only read."""
        del threads
        if not leaves_inputs_alone(self.plan):
            return None
        place = self._backend.place()
        return CudaCall(self.plan, self.text, self._functions(place, extents), extents, place)

    def _functions(self, place: CudaPlace, extents: tuple[int, ...]) -> LoadedKernels:
        index = index_type(layouts_of(self.plan, checked_extents(self.plan.graph, extents)).values())
        key = (index, self._backend.architecture(place.device))
        if key not in self._cubins:
            self._cubins[key] = self._backend.cubin(self.text, self.plan, *key)
        return self._backend.load(self._cubins[key], place.device)
