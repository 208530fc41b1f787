"""The cuda-sim backend: generated CUDA text on the CPU, each access checked for bounds, races and missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.backends.base import Array, CompilerReport, Instance, MarchRequest
from workbench.backends.checks import checked_extents
from workbench.backends.compile_pool import Built, Compiler, Unit, build
from workbench.backends.device_instance import DeviceInstance, layouts_of
from workbench.backends.host_backend import HostBackend
from workbench.backends.launch_sequence import DeviceLaunch, index_type
from workbench.backends.launch_text import launch_text
from workbench.backends.register_words import register_report
from workbench.backends.simulated_device import (
    ArrayArgument,
    LaunchShape,
    SectorCount,
    SimulatedDevice,
    SimulatorFault,
    ValueArgument,
    simulator_source,
)
from workbench.codegen.cuda.device import StepLaunches
from workbench.codegen.cuda.render import CudaText, cuda_headers, render_cuda
from workbench.codegen.source import Source
from workbench.errors import BackendError
from workbench.graph import StorageType
from workbench.planning.choices import BuildChoices
from workbench.planning.plan import Plan

_FLAGS = ("-O1",)  # checked accesses leave nothing to optimise, and most libraries run a few steps only


class KernelFaultError(BackendError):
    """A kernel did wrong: `fault` says what, `origin_lines` are the lines of the cell it came from."""

    def __init__(self, fault: SimulatorFault, source: Source) -> None:
        """The text names kernel, line of the generated text, block, thread, array and index."""
        self.fault = fault
        lines = source.text.splitlines()
        numbers = dict.fromkeys(n for n in (fault["line"], fault["other_line"]) if 0 < n <= len(lines))
        shown = "".join(f"\n    {n} | {lines[n - 1].strip()}" for n in numbers)
        origins = source.origins(fault["line"]) or source.origins(fault["other_line"])
        self.origin_lines = tuple(dict.fromkeys(line for o in origins for line in o.cell_lines))
        super().__init__(
            f"{fault['message']}{shown}",
            advice="Report this program: generated CUDA must be free of such faults.",
            line=self.origin_lines[0] if self.origin_lines else None,
        )


class CudaSimBackend(HostBackend[CudaText, "CudaSimProgram"]):
    """Simulates a CUDA device; `compiler` is for tests.

    Blocks run in an order shuffled by `seed`, which grows with every launch; 0 keeps the order of their index.
    """

    name = "cuda-sim"

    def __init__(self, compiler: Compiler | None = None, seed: int = 1) -> None:
        super().__init__(compiler)
        self.seed = seed

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """What a compiler for a device says of the text."""
        return register_report(plan, source)

    def _render(self, plan: Plan) -> CudaText:
        return render_cuda(plan)

    def _key(self, text: CudaText) -> str:
        return text.digest

    def _unit(self, texts: Sequence[CudaText], name: str, flags: tuple[str, ...]) -> Unit:
        del flags
        return simulator_unit(texts, name)

    def _build_choices(self, plan: Plan) -> BuildChoices:
        """None: checked accesses leave a compiler nothing to choose."""
        del plan
        return BuildChoices()

    def _launch_text(self, plan: Plan, text: CudaText) -> str:
        return launch_text(text.kernels, plan.choices.plan)

    def _program(self, plan: Plan, text: CudaText, built: Built, compiler: Compiler) -> CudaSimProgram:
        return CudaSimProgram(plan, text, built, compiler, self.seed)


def simulator_unit(texts: Iterable[CudaText], name: str, index: str = "int32_t") -> Unit:
    """One translation unit of several texts; lines are counted in each text, kernels have the text's prefix."""
    texts = tuple(texts)
    parts = [f'#line 1 "{text.digest}.cu"\n{text.named(prefix_of(text))}' for text in texts]
    kernels = {f"{prefix_of(text)}{kernel}": waits for text in texts for kernel, waits in text.waits}
    flags = (*_FLAGS, f"-DSTENCIL_INDEX={index}")
    unit = simulator_source(name, "\n".join(parts), kernels, flags)
    return replace(unit, headers=(*unit.headers, *cuda_headers()))


def prefix_of(text: CudaText) -> str:
    """What stands before the names of a text's kernels in a unit."""
    return f"plan_{text.digest}_"


class CudaSimProgram:
    """A plan's CUDA text compiled for the simulator; makes any number of instances of any extents."""

    def __init__(self, plan: Plan, text: CudaText, built: Built, compiler: Compiler, seed: int) -> None:
        self.plan = plan
        self.text = text
        self.built = built
        self.seed = seed
        self._compiler = compiler
        self._wide: Built | None = None

    @property
    def source(self) -> Source:
        """The generated text with its line map."""
        return self.text.source

    @property
    def compile_seconds(self) -> float:
        """Seconds the compiler worked for this library, 0 if it came from the cache."""
        return 0.0 if self.built.from_cache else self.built.seconds

    @property
    def from_cache(self) -> bool:
        """Whether nothing had to be compiled."""
        return self.built.from_cache

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """None: what the simulator's compiler says of checked accesses is true of no device."""
        return {}

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """None: the memory is the host's."""
        del beside
        return None

    def instantiate(
        self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None
    ) -> CudaSimInstance:
        """Allocate a state; `threads` is not used. Arrays of 2^31 elements need a second library, made here."""
        del threads, beside
        layouts = layouts_of(self.plan, checked_extents(self.plan.graph, extents))
        library = self.built if index_type(layouts.values()) == "int32_t" else self.wide()
        return CudaSimInstance(self, extents, library)

    def wide(self) -> Built:
        """The library with 64-bit element numbers."""
        if self._wide is None:
            (self._wide,) = build([simulator_unit([self.text], "wide", "int64_t")], self._compiler)
        return self._wide


Recorder = Callable[[DeviceLaunch, np.ndarray[Any, np.dtype[np.void]], tuple[SectorCount, ...]], None]
"""Gets every access of each launch (TRACE_DTYPE, in the order simulated) and how warps touch memory."""


class CudaSimInstance(DeviceInstance):
    """The state of one simulation in the host's memory, with a simulated device of its own."""

    def __init__(self, program: CudaSimProgram, extents: tuple[int, ...], library: Built) -> None:
        super().__init__(program.plan, program.text.kernels, extents, np)
        self._program = program
        self._prefix = prefix_of(program.text)
        self._seed = program.seed
        self._written = set(range(len(self._memory)))  # arrays that the host has filled since a kernel saw them
        self.device = SimulatedDevice(library.path)
        self.recorder: Recorder | None = None

    def write_field(self, name: str, values: Array) -> None:
        """Copy `values` into the field's domain; FieldError or ShapeError if dtype or shape differ."""
        super().write_field(name, values)
        self._written.update(self._order)

    def take_cells(self, name: str, cells: Array) -> None:
        """Copy an array into the field's domain."""
        super().take_cells(name, cells)
        self._written.update(self._order)

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        super().close()
        self.device.close()

    def _on_device(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def _wait(self) -> None:
        """Every launch ends before it returns."""

    def _to_host(self, cells: Array) -> Array:
        return cells.copy(order="C")

    def _from_host(self, cells: Array, values: Array) -> None:
        cells[...] = values

    def _between(self, cells: Array, others: Array) -> None:
        cells[...] = others

    def _let_go(self) -> None:
        """NumPy gives memory back by itself."""

    def _batch(self, request: MarchRequest, left: int, seconds: float) -> int:
        return self.steps_together(request.kernel)

    def operands(self, launch: DeviceLaunch) -> list[Array]:
        """The arrays of a launch as they lie now, each with the cell type that the kernel expects."""
        found = []
        for operand in launch.arrays:
            if operand.kind == "slot":
                elements = self.layouts[self.plan.slots[operand.index].axes].elements
                found.append(self._typed(self._memory[self._order[operand.index]], operand.type, elements))
            elif operand.kind == "lists":
                found.append(self._lists[operand.index])
            elif operand.kind == "scratch":
                (scratch,) = self._scratch
                found.append(self._typed(scratch, operand.type, scratch.size // operand.type.itemsize))
            elif operand.kind == "ahead":
                found.append(self._levels)
            else:
                found.append(self._typed(self._partials[operand.index], operand.type, self._partial_cells))
        return found

    def _typed(self, cells: Array, type_: StorageType, count: int) -> Array:
        """The first cells of an array, in their type; a complex number stands for a dd, of as many bytes."""
        given = cells[: count * type_.itemsize]
        if type_.is_pair:
            return given.view(type_.numpy)
        return given.view(np.complex128 if type_.is_record else type_.numpy)

    def _run(self, step: StepLaunches, count: int) -> None:
        for _ in range(count):
            self._launch_in_order(self.sequence(step))
            self.rotate(step)

    def _launch_in_order(self, launches: tuple[DeviceLaunch, ...]) -> None:
        for launch in launches:
            self._launch(launch)

    def _launch(self, launch: DeviceLaunch) -> None:
        arguments: list[ArrayArgument | ValueArgument] = []
        for number, (operand, cells) in enumerate(zip(launch.arrays, self.operands(launch), strict=True)):
            memory = self._order[operand.index] if operand.kind == "slot" else -1
            filled = memory in self._written
            self._written.discard(memory)
            arguments.append(ArrayArgument(operand.parameter, cells, number in launch.undefined, filled))
        arguments.append(ArrayArgument("globals", self._globals))
        if launch.numbers:
            arguments += [
                ValueArgument(f"number {k}", int(n).to_bytes(8, "little", signed=True))
                for k, n in enumerate(launch.numbers)
            ]
        else:
            arguments += [ValueArgument("shape", shape) for shape in self.shapes_of(launch)]
        others = (("grown", launch.grown), ("stage", launch.stage))
        arguments += [ValueArgument(name, words) for name, words in others if words]
        seed = self._seed
        self._seed += seed > 0
        shape = LaunchShape(launch.grid, launch.block, seed)
        recorder, kernel = self.recorder, f"{self._prefix}{launch.kernel}"
        faults = self.device.launch(kernel, shape, arguments, trace=recorder is not None, sectors=recorder is not None)
        if recorder is not None and not faults:
            recorder(launch, self.device.trace(), self.device.sectors())
            self.device.reset()
        if faults:
            fault = self.device.faults()[0]
            self.device.reset()
            kernel = fault["kernel"].removeprefix(self._prefix)
            message = fault["message"].replace(fault["kernel"], kernel)
            raise KernelFaultError(
                SimulatorFault(**{**fault, "kernel": kernel, "message": message}), self._program.source
            )
