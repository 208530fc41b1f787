"""Device text: what a compiler of CUDA gets of a plan, the same for those who run it and those who ask for figures."""

from __future__ import annotations

import re

from workbench.backends.nvrtc import CudaBinary, CudaCompiler, compile_cuda, compile_options, find_compilers
from workbench.codegen.cuda.render import inlined
from workbench.codegen.source import Source
from workbench.planning.plan import Plan

# Functions of CUDA's library begin with approximations that flush whatever one asks for; what follows makes up for it.
_FLUSHING = re.compile(r"\b[a-z][a-z0-9.]*\.ftz\b[a-z0-9.]*")
_APPROXIMATION = ".approx.ftz"


def device_text(plan: Plan, source: Source, index: str = "int32_t") -> tuple[str, tuple[str, ...]]:
    """The text and the compiler's flags, with element numbers of the type `index`."""
    return inlined(source.text), compile_options(plan.choices.plan.largest_block, index)


def compile_for_device(
    plan: Plan, source: Source, architecture: str, compiler: CudaCompiler | None = None
) -> CudaBinary:
    """Compile a plan's text to look at it; needs no GPU. BuildError if no compiler is here, or if it refuses.

    compiler: default NVRTC, because that is what compiles for a run, or nvcc where it is missing.
    """
    if compiler is None:
        compiler = next(iter(sorted(find_compilers(), key=lambda found: found.kind != "nvrtc")), None)
    text, flags = device_text(plan, source)
    return compile_cuda(text, architecture=architecture, compiler=compiler, flags=flags)


def flushing(ptx: str) -> tuple[str, ...]:
    """The instructions that take numbers below the normal ones for 0, which IEEE arithmetic does not; each once."""
    return tuple(sorted({found for found in _FLUSHING.findall(ptx) if _APPROXIMATION not in found}))
