"""The openmp backend: a plan as C++17 through the host's compiler, all CPU threads, the time loop inside."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import partial

from workbench.backends.base import CompilerReport, Instance
from workbench.backends.compile_pool import Built, Compiler, Unit
from workbench.backends.compiler_words import vector_report
from workbench.backends.host_backend import HostBackend
from workbench.backends.in_files import FileStorage
from workbench.backends.kept_stages import STAGES
from workbench.backends.loaded_library import load_library
from workbench.backends.march_objects import with_march_objects
from workbench.backends.march_record import MarchRecord, check_march
from workbench.backends.openmp_call import OpenmpCall
from workbench.backends.openmp_instance import OpenmpInstance
from workbench.backends.teams import let_idle_threads_sleep
from workbench.backends.tile_sizes import tiling_text
from workbench.codegen.cpp.parts import parts_of
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.source import Source
from workbench.planning.lending import leaves_inputs_alone
from workbench.planning.loop_keys import tiles_of_loops
from workbench.planning.plan import Plan


class OpenmpBackend(HostBackend[Source, "OpenmpProgram"]):
    """Compiles plans with the host's compiler; `compiler` is for tests, the default is found when first needed."""

    name = "openmp"

    def compiler_report(self, plan: Plan, source: Source) -> CompilerReport:
        """What the compiler says of the plan's text, which is compiled if it is not in the cache."""
        del source
        program = self.compile(plan)
        return vector_report(program.source, program.built)

    def _render(self, plan: Plan) -> Source:
        return STAGES.rendered(plan, self.name, render_openmp)

    def _key(self, text: Source) -> str:
        return text.entry

    def _unit(self, texts: Sequence[Source], name: str, flags: tuple[str, ...]) -> Unit:
        cut = partial(parts_of, texts[0]) if len(texts) == 1 else None
        headers = tuple(dict.fromkeys(header for source in texts for header in source.headers))
        text = "\n".join(source.text for source in texts)
        return with_march_objects(Unit(name, text, flags=flags, headers=headers, cut=cut))

    def _launch_text(self, plan: Plan, text: Source) -> str:
        del text
        cpu, own = plan.choices.plan.cpu, tiles_of_loops(plan)
        return f"{cpu.threads} {cpu.tile}{tiling_text(plan)}{f' {own}' if own else ''}"

    def _program(self, plan: Plan, text: Source, built: Built, compiler: Compiler) -> OpenmpProgram:
        del compiler
        let_idle_threads_sleep()
        return OpenmpProgram(plan, text, built)


class OpenmpProgram:
    """A plan compiled to a shared library; makes any number of instances of any extents."""

    def __init__(self, plan: Plan, source: Source, built: Built) -> None:
        self.plan = plan
        self.source = source
        self.built = built
        library = load_library(built.path, self)
        check_march(library)
        self.entry = library[source.entry]
        self.entry.argtypes = (ctypes.POINTER(MarchRecord),)
        self.entry.restype = ctypes.c_int32
        self.zero = library.stencil_zero
        self.zero.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32)
        self.zero.restype = None

    @property
    def compile_seconds(self) -> float:
        """Seconds the compiler worked for this library, 0 if it came from the cache."""
        return 0.0 if self.built.from_cache else self.built.seconds

    @property
    def from_cache(self) -> bool:
        """Whether nothing had to be compiled."""
        return self.built.from_cache

    def compiler_words(self) -> Mapping[tuple[str, str], str]:
        """(kernel, sub-kernel) -> which of its inner loops have vectors."""
        return vector_report(self.source, self.built).of_subkernels(self.source)

    def free_memory(self, beside: Instance | None = None) -> int | None:
        """None: the memory is the host's."""
        del beside
        return None

    def instantiate(self, extents: tuple[int, ...], threads: int = 0, beside: Instance | None = None) -> OpenmpInstance:
        """Allocate a state. `threads` 0: as the plan's choices say, else all that this process may keep busy."""
        return OpenmpInstance(self, extents, threads)

    def instantiate_in_files(self, extents: tuple[int, ...], threads: int, storage: FileStorage) -> OpenmpInstance:
        """Allocate a state whose arrays lie in files."""
        return OpenmpInstance(self, extents, threads, storage=storage)

    def instantiate_for_calls(self, extents: tuple[int, ...], threads: int = 0) -> OpenmpCall | None:
        """Allocate what a call does not lend; None where the plan writes where an array is only read."""
        return OpenmpCall(self, extents, threads) if leaves_inputs_alone(self.plan) else None
