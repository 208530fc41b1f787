"""Register words: what compilers say of the kernels of a text for a GPU: registers, and what does not fit into them."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from workbench.backends.base import CompilerReport
from workbench.backends.device_text import compile_for_device
from workbench.backends.nvrtc import KernelResources
from workbench.codegen.source import Source
from workbench.planning.plan import Plan

ARCHITECTURE = "sm_90"


def register_report(plan: Plan, source: Source) -> CompilerReport:
    """Compile a CUDA text with the compiler that is here; needs no GPU. BuildError if there is none, or it refuses."""
    binary = compile_for_device(plan, source, ARCHITECTURE)
    return resource_report(f"{binary.compiler.name} for {ARCHITECTURE}", binary.resources)


def resource_report(title: str, resources: Iterable[KernelResources]) -> CompilerReport:
    """The registers of all kernels of a text."""
    return CompilerReport(title, MappingProxyType({each.kernel: resource_sentence(each) for each in resources}))


def resource_sentence(resources: KernelResources) -> str:
    """Registers of a thread, and whether some of its values had to go to memory."""
    spilled = resources.spill_store_bytes + resources.spill_load_bytes
    spills = f"spills {resources.spill_store_bytes} + {resources.spill_load_bytes} bytes" if spilled else "no spills"
    shared = f", {resources.shared_bytes} bytes shared" if resources.shared_bytes else ""
    return f"{resources.registers} registers, {spills}{shared}"
