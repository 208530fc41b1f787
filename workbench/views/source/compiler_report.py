"""Compiler report: what compilers say about every sub-kernel of a plan: vectors on the CPU, registers on a GPU."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from workbench.backends.compile_pool import Source as Unit
from workbench.backends.cuda import compile_options
from workbench.backends.nvrtc import KernelResources, compile_cuda, find_compilers
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.vectorisation import InnerLoop, inner_loops
from workbench.codegen.render_cuda import inlined
from workbench.codegen.source import Source
from workbench.errors import StencilError
from workbench.planning.plan import Plan
from workbench.views.source.summary import functions_of

ARCHITECTURE = "sm_90"
_KEPT = 64
_COMPILERS = {"nvcc": "nvcc", "nvrtc": "NVRTC"}


@dataclass(frozen=True, slots=True)
class CompilerReport:
    """What was said. `functions`: name in the text -> sentence; `problem`: why nothing is known; `title`: who spoke."""

    title: str
    functions: Mapping[str, str]
    problem: str = ""


_known: OrderedDict[tuple[str, str], CompilerReport] = OrderedDict()
_lock = threading.Lock()


def report_of(plan: Plan, source: Source) -> CompilerReport:
    """Compile the text as its backend would, or take it from the build cache, and read what the compiler says.

    Takes as long as the compiler does, up to minutes for large programs; later calls for one text return at once.
    Refusals of the compiler, or there being none, are told in `problem`.
    """
    key = (source.language, source.text)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    try:
        report = _cuda_report(plan, source) if source.language == "cuda" else _openmp_report(plan)
    except StencilError as error:
        return CompilerReport("", MappingProxyType({}), str(error))
    with _lock:
        _known[key] = report
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return report


def known_report(source: Source) -> CompilerReport | None:
    """What `report_of` has found already; compiles nothing."""
    with _lock:
        return _known.get((source.language, source.text))


def _openmp_report(plan: Plan) -> CompilerReport:
    program = OpenmpBackend().compile(plan)
    source, built = program.source, program.built
    loops = inner_loops(source, built.report, Unit(built.name, "").file_name)
    return CompilerReport("the host's C++ compiler", MappingProxyType(_by_function(source, loops)))


def _by_function(source: Source, loops: tuple[InnerLoop, ...]) -> dict[str, str]:
    said = {}
    for function in functions_of(source):
        inside = [loop for loop in loops if function.first <= loop.line <= function.last]
        if inside:
            said[function.name] = vector_sentence(tuple(inside))
    return said


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


def _cuda_report(plan: Plan, source: Source) -> CompilerReport:
    flags = compile_options(plan.choices.plan.largest_block, "int32_t")[1:]  # compile_cuda names the standard itself
    # NVRTC first: it is what compiles for a run.
    found = sorted(find_compilers(), key=lambda compiler: compiler.kind != "nvrtc")
    chosen = found[0] if found else None
    binary = compile_cuda(inlined(source.text), architecture=ARCHITECTURE, compiler=chosen, flags=flags)
    said = {found.kernel: resource_sentence(found) for found in binary.resources}
    return CompilerReport(f"{_COMPILERS[binary.compiler.kind]} for {ARCHITECTURE}", MappingProxyType(said))


def resource_sentence(resources: KernelResources) -> str:
    """Registers of a thread, and whether some of its values had to go to memory."""
    spilled = resources.spill_store_bytes + resources.spill_load_bytes
    spills = f"spills {resources.spill_store_bytes} + {resources.spill_load_bytes} bytes" if spilled else "no spills"
    shared = f", {resources.shared_bytes} bytes shared" if resources.shared_bytes else ""
    return f"{resources.registers} registers, {spills}{shared}"
