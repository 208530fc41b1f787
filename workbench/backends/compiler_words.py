"""Compiler words: what compilers say of the loops of a text: vectors on the CPU, registers on a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from workbench.backends.base import CompilerReport
from workbench.backends.compile_pool import Built, Unit
from workbench.backends.device_text import compile_for_device
from workbench.backends.nvrtc import KernelResources
from workbench.backends.vectorisation import InnerLoop, inner_loops
from workbench.codegen.functions import functions_in
from workbench.codegen.source import Source
from workbench.planning.plan import Plan

ARCHITECTURE = "sm_90"


def vector_report(source: Source, built: Built) -> CompilerReport:
    """Read what the host's compiler said when it built a text."""
    loops = inner_loops(source, built.report, Unit(built.name, "").file_name)
    said = {}
    for function in functions_in(source):
        inside = [loop for loop in loops if function.first <= loop.line <= function.last]
        if inside:
            said[function.name] = vector_sentence(tuple(inside))
    return CompilerReport("the host's C++ compiler", MappingProxyType(said))


def register_report(plan: Plan, source: Source) -> CompilerReport:
    """Compile a CUDA text with the compiler that is here; needs no GPU. BuildError if there is none, or it refuses."""
    binary = compile_for_device(plan, source, ARCHITECTURE)
    return resource_report(f"{binary.compiler.name} for {ARCHITECTURE}", binary.resources)


def resource_report(title: str, resources: Iterable[KernelResources]) -> CompilerReport:
    """The registers of all kernels of a text."""
    return CompilerReport(title, MappingProxyType({each.kernel: resource_sentence(each) for each in resources}))


def vector_sentence(loops: tuple[InnerLoop, ...]) -> str:
    """How many of some loops have vectors, and which have none."""
    plain = [loop.line for loop in loops if not loop.vectors]
    widths = ", ".join(dict.fromkeys(loop.vectors for loop in loops if loop.vectors))
    if not plain:
        count = "inner loop" if len(loops) == 1 else f"all {len(loops)} inner loops"
        return f"{count} vectorised, {widths} at a time"
    where = f"line{'s' if len(plain) > 1 else ''} {', '.join(map(str, plain))}"
    if len(plain) == len(loops):
        return f"not vectorised ({where})"
    return f"{len(loops) - len(plain)} of {len(loops)} inner loops vectorised, {widths} at a time; not {where}"


def resource_sentence(resources: KernelResources) -> str:
    """Registers of a thread, and whether some of its values had to go to memory."""
    spilled = resources.spill_store_bytes + resources.spill_load_bytes
    spills = f"spills {resources.spill_store_bytes} + {resources.spill_load_bytes} bytes" if spilled else "no spills"
    shared = f", {resources.shared_bytes} bytes shared" if resources.shared_bytes else ""
    return f"{resources.registers} registers, {spills}{shared}"
