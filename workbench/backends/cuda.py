"""The cuda backend: generated CUDA text through CuPy and NVRTC, steps on a stream, short ones as CUDA graphs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import gcd, prod
from threading import Event
from typing import Any

import numpy as np

from workbench.backends.base import Array, Availability, CompilerReport, LaunchTime, MarchRequest
from workbench.backends.checks import checked_extents
from workbench.backends.compiler_words import register_report, resource_report
from workbench.backends.device_instance import DeviceInstance, layout_of
from workbench.backends.event_clock import EventClock
from workbench.backends.launch_sequence import DeviceLaunch, index_type
from workbench.backends.nvrtc import KernelResources, compile_options, with_prelude
from workbench.backends.phenotype import launch_text, memory_text, phenotype_key
from workbench.codegen.device import StepLaunches
from workbench.codegen.render_cuda import CudaText, inlined, render_cuda
from workbench.codegen.source import Source
from workbench.errors import BackendError, BuildError
from workbench.planning.plan import Plan

SLICE_SECONDS = 0.05  # of steps given to the device before the host looks at stop and time again
GRAPH_STEPS = 16  # at least so many in a graph, because its launch costs as much as some kernels
SHORT_CELLS = 1 << 22  # up to so many cells a launch takes a device about as long as the host needs to ask for it
_INSTALL = "Install the extra cuda (pip install 'stencil-workbench[cuda]') on a machine with an NVIDIA GPU."
_FORKED = (
    "this process was forked from one that uses CUDA, which works in that one only",
    'Start it by multiprocessing.get_context("spawn").',
)


class CudaBackend:
    """Runs on the current CUDA device; `library` stands for the module cupy in tests."""

    name = "cuda"

    def __init__(self, library: Any = None) -> None:  # noqa: ANN401  # the module cupy
        self._library = library
        self._process = 0  # that has found the device
        self._modules: dict[tuple[str, tuple[str, ...], int], _Module] = {}

    def availability(self) -> Availability:
        """Whether CuPy is installed and finds a device; the first look imports CuPy if it is there."""
        if self._library is None and find_spec("cupy") is None:
            return Availability(False, "CuPy is not installed", _INSTALL)
        if self._process not in (0, os.getpid()):
            return Availability(False, *_FORKED)
        try:
            count = self._found().cuda.runtime.getDeviceCount()
        except Exception as error:  # CuPy fails in many ways where driver or libraries are missing
            first = (str(error).splitlines() or [type(error).__name__])[0]
            return Availability(False, f"CuPy cannot use a CUDA device: {first}", "Install an NVIDIA driver.")
        if count == 0:
            return Availability(False, "there is no CUDA device", "Use a machine with an NVIDIA GPU.")
        return Availability(True)

    def compile(self, plan: Plan, cancel: Event | None = None) -> CudaProgram:
        """Render and build for the current device; a text that this process has built already is not built again.

        `cancel` comes too late for a compiler that runs in this process.
        """
        del cancel
        text = render_cuda(plan)
        return CudaProgram(plan, text, self, self.module(text, plan, "int32_t"))

    def compile_many(self, plans: Sequence[Plan]) -> tuple[CudaProgram, ...]:
        """The same for many plans, one after the other: NVRTC is fast enough."""
        return tuple(self.compile(plan) for plan in plans)

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """What the compiler says of the text, for a usual device."""
        return register_report(plan, source)

    def phenotype(self, plan: Plan) -> str:
        """Key of what would run on the current device. Renders; compiles nothing."""
        cuda, choices, text = self._found().cuda, plan.choices.plan, render_cuda(plan)
        compiler = f"{cuda.nvrtc.getVersion()} {cuda.Device().compute_capability}"
        options = compile_options(choices.largest_block, "int32_t")
        return phenotype_key(
            text.digest, compiler, " ".join(options), memory_text(plan), launch_text(text.kernels, choices)
        )

    def module(self, text: CudaText, plan: Plan, index: str) -> _Module:
        """The text built for the current device, with element numbers of the type `index`."""
        cupy = self._found()
        options = compile_options(plan.choices.plan.largest_block, index)
        key = (text.digest, options, int(cupy.cuda.Device().id))
        known = self._modules.get(key)
        if known is not None:
            return _Module(known.functions, 0.0, True)
        begin = time.monotonic()
        code = with_prelude(inlined(text.source.text), "kernels.cu")
        try:
            module = cupy.RawModule(code=code, options=options, backend="nvrtc")
            functions = {name: module.get_function(name) for name, _ in text.waits}
        except cupy.cuda.compiler.CompileException as error:
            raise BuildError(
                f"NVRTC refused the generated text of {plan.graph.name!r}:\n{error}",
                advice="Report this text with the program that made it; another backend may do meanwhile.",
            ) from error
        made = self._modules[key] = _Module(functions, time.monotonic() - begin, False)
        return made

    def library(self) -> Any:  # noqa: ANN401  # the module cupy
        """CuPy."""
        return self._found()

    def _found(self) -> Any:  # noqa: ANN401  # the module cupy
        if self._library is None:
            try:
                self._library = import_module("cupy")
            except ImportError as error:
                raise BackendError(f"CuPy cannot be imported: {error}", advice=_INSTALL) from error
        self._process = self._process or os.getpid()
        _refuse_forked(self._process)
        return self._library


def _refuse_forked(process: int) -> None:
    """Raise BackendError unless it is this process: CUDA does not work in one that is forked after it was used."""
    if process != os.getpid():
        raise BackendError(_FORKED[0], advice=_FORKED[1])


@dataclass(frozen=True, slots=True)
class _Module:
    """Loaded kernels by name; how long the compiler took, and whether this process had them already."""

    functions: dict[str, Any]
    seconds: float
    from_cache: bool


class CudaProgram:
    """A plan's CUDA text built for a device; makes any number of instances of any extents."""

    def __init__(self, plan: Plan, text: CudaText, backend: CudaBackend, module: _Module) -> None:
        self.plan = plan
        self.text = text
        self._backend = backend
        self._module = module

    @property
    def source(self) -> Source:
        """The generated text with its line map."""
        return self.text.source

    @property
    def compile_seconds(self) -> float:
        """Seconds that building took, 0 if this process had the binary. CuPy keeps binaries between processes."""
        return self._module.seconds

    @property
    def from_cache(self) -> bool:
        """Whether this process had the binary already."""
        return self._module.from_cache

    def resources(self) -> tuple[KernelResources, ...]:
        """Registers and static shared memory of every kernel, as the driver says; what spills is its local memory."""
        driver = self._backend.library().cuda.driver
        shared, local, registers = 1, 3, 4  # CUfunction_attribute
        found = []
        for name, function in self._module.functions.items():
            numbers = [int(driver.funcGetAttribute(number, function.ptr)) for number in (registers, local, shared)]
            found.append(KernelResources(name, numbers[0], numbers[1], 0, numbers[2]))
        return tuple(found)

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> registers and what spills, as the driver says."""
        return resource_report("the driver", self.resources()).of_subkernels(self.source)

    def instantiate(self, extents: tuple[int, ...], threads: int = 0) -> CudaInstance:
        """Allocate a state; `threads` is not used. Arrays of 2^31 elements need a second binary, made here."""
        del threads
        index = index_type(layout_of(self.plan, checked_extents(self.plan.graph, extents)))
        module = self._module if index == "int32_t" else self._backend.module(self.text, self.plan, index)
        return CudaInstance(self, self._backend.library(), module.functions, extents)


class CudaInstance(DeviceInstance):
    """The state of one simulation in a device's memory, with a stream of its own.

    Steps of a small domain run as CUDA graphs: a graph holds a multiple of the rotation's period, so that it ends with
    the arrays where it began, and one is captured for each arrangement that a batch begins with. Params lie in the
    Globals block: changing one needs no new capture.
    """

    def __init__(self, program: CudaProgram, cupy: Any, functions: dict[str, Any], extents: tuple[int, ...]) -> None:  # noqa: ANN401  # the module cupy
        self._cupy = cupy
        self._process = os.getpid()
        self._functions = functions
        self._device = cupy.cuda.Device()
        self._stream = cupy.cuda.Stream()  # waits for the default stream, on which users write to device views
        self._graphs: dict[tuple[int, tuple[int, ...]], Any] = {}
        self._known_arguments: dict[tuple[int, tuple[int, ...]], tuple[Any, ...]] = {}
        self._paces: dict[tuple[str, int], _Pace] = {}
        self._pace: _Pace | None = None  # of the batch that runs
        self._batch_begin = 0.0
        self._clock: EventClock | None = None
        self._times: tuple[LaunchTime, ...] = ()
        super().__init__(program.plan, program.text.kernels, extents, cupy)
        self._shape_argument = np.frombuffer(self.shape, np.dtype([("words", np.int64, (len(self.shape) // 8,))]))
        self._is_short = prod(self.extents) <= SHORT_CELLS

    @property
    def graphs(self) -> int:
        """How many CUDA graphs were captured."""
        return len(self._graphs)

    def time_launches(self, wanted: bool) -> None:
        """Time one step of every batch by events around its launches, which then are no part of a graph."""
        if wanted and self._clock is None:
            self._clock = EventClock(self._cupy.cuda, self.plan)
        elif not wanted:
            self._clock = None

    def launch_times(self) -> tuple[LaunchTime, ...]:
        """Seconds on the device of the steps that were timed so far; empty unless `time_launches` asked for them."""
        return self._times

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        self._graphs.clear()
        self._known_arguments.clear()
        super().close()

    @contextmanager
    def _on_device(self) -> Iterator[None]:
        _refuse_forked(self._process)
        cuda = self._cupy.cuda
        try:
            with self._device, self._stream:
                yield
        except cuda.memory.OutOfMemoryError as error:
            raise BackendError(
                f"the device has no memory for {self.plan.graph.name} with extents {self.extents}: {error}",
                advice="Use smaller extents or float32, or close other simulations.",
            ) from error
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise BackendError(
                f"the CUDA device failed: {error}", advice="Run the same on the backend cuda-sim, which names the line."
            ) from error

    def _to_host(self, cells: Any) -> Array:  # noqa: ANN401  # a CuPy array
        found: Array = self._cupy.asnumpy(cells)
        return found

    def _batch(self, request: MarchRequest, left: int, seconds: float) -> int:
        pace = self._paces.setdefault((request.kernel, request.observe_every), _Pace())
        self._batch_begin, self._pace = time.monotonic(), pace
        return pace.next_batch(left, min(SLICE_SECONDS, max(seconds, 0.0)))

    def _wait(self) -> None:
        self._stream.synchronize()
        if self._clock is not None:
            self._times = self._clock.read()
        if self._pace is not None:
            self._pace.measured(time.monotonic() - self._batch_begin)
            self._pace = None

    def _run(self, step: StepLaunches, count: int) -> None:
        if self._clock is not None and count:
            kernel = next(k for k in self._kernels.values() if step is k.plain or step is k.observed)
            self._clock.begin(kernel.name, step is not kernel.plain, self._stream)
            self._launch_all(step, self._clock)
            count -= 1
        many = _steps_in_graph(step)
        if self._is_short and count >= 2 * many:
            graph = self._graph(step, many)
            while count >= many:
                graph.launch(self._stream)
                count -= many
        for _ in range(count):
            self._launch_all(step)

    def _graph(self, step: StepLaunches, many: int) -> Any:  # noqa: ANN401  # a CuPy graph
        key = (id(step), tuple(self._order))
        if key not in self._graphs:
            self._stream.begin_capture()
            try:
                for _ in range(many):
                    self._launch_all(step)
            finally:
                graph = self._stream.end_capture()
            self._graphs[key] = graph
        return self._graphs[key]

    def _launch_all(self, step: StepLaunches, clock: EventClock | None = None) -> None:
        for launch in self.sequence(step):
            self._launch(launch)
            if clock is not None:
                clock.mark(launch.code, self._stream)
        self.rotate(step)

    def _launch(self, launch: DeviceLaunch) -> None:
        self._functions[launch.kernel](launch.grid, launch.block, self._arguments(launch))

    def _arguments(self, launch: DeviceLaunch) -> tuple[Any, ...]:
        """Made once for each arrangement of the arrays: making them takes the host longer than a launch."""
        key = (id(launch), tuple(self._order))
        if key not in self._known_arguments:
            rest = tuple(np.int64(n) for n in launch.numbers) or (self._shape_argument,)
            self._known_arguments[key] = (*self.operands(launch), self._globals, *rest)
        return self._known_arguments[key]


class _Pace:
    """How many steps of one kind a device does in a slice; grows by a factor at most: not all may be alike."""

    growth = 8

    def __init__(self) -> None:
        self._steps = 0
        self._step_seconds = 0.0

    def next_batch(self, left: int, seconds: float) -> int:
        """Steps that should take as long as `seconds`, at least one."""
        wanted = seconds / self._step_seconds if self._step_seconds > 0.0 else 1.0
        self._steps = max(1, min(left, self.growth * self._steps, int(wanted)))
        return self._steps

    def measured(self, seconds: float) -> None:
        """Take note of what the last batch took; the first ones contain captures and so are forgotten fast."""
        now, known = seconds / self._steps, self._step_seconds
        self._step_seconds = now if known <= 0.0 else min(now, (now + known) / 2)


def _steps_in_graph(step: StepLaunches) -> int:
    """The smallest multiple of the rotation's period that is not below GRAPH_STEPS."""
    period = rotation_period(step.rotation)
    return period * -(-GRAPH_STEPS // period)


def rotation_period(rotation: tuple[int, ...]) -> int:
    """After so many steps every slot holds the array that it began with."""
    period, seen = 1, set[int]()
    for first in range(len(rotation)):
        length, slot = 0, first
        while slot not in seen:
            seen.add(slot)
            slot = rotation[slot]
            length += 1
        if length:
            period = period * length // gcd(period, length)
    return period
