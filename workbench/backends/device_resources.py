"""Device resources: registers, spills and shared memory of each sub-kernel of a plan, compiled for a device.

Needs nvcc or NVRTC, but no GPU: the figures are ptxas's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.device_text import compile_for_device
from workbench.backends.nvrtc import CudaBinary, CudaCompiler
from workbench.backends.occupancy import limits_for, resident_threads
from workbench.codegen.cuda.render import CudaText, render_cuda
from workbench.planning.plan import Plan

_SWEEP = "sweep_"


@dataclass(frozen=True, slots=True)
class SubkernelResources:
    """What ptxas says of one `__global__` function of a plan.

    subkernel: the name as the plan has it, the first one where several share a text; that of the function where it is
    no sub-kernel (fills, trees, scalars).
    threads: per multiprocessor, as many as its registers allow (of blocks nothing is said); None for an architecture
    whose limits are not known here.
    """

    subkernel: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    threads: int | None


def subkernel_resources(
    plan: Plan, *, architecture: str = "sm_90", compiler: CudaCompiler | None = None
) -> tuple[SubkernelResources, ...]:
    """Compile the plan's CUDA text; sub-kernels first, in the order of the text.

    compiler: default NVRTC if it is there, for it is faster than nvcc. Raises BuildError without a compiler, or with
    the compiler's log if it refuses the text.
    """
    text = render_cuda(plan)
    return resources_of(text, compile_for_device(plan, text.source, architecture, compiler), architecture)


def resources_of(text: CudaText, binary: CudaBinary, architecture: str) -> tuple[SubkernelResources, ...]:
    """The same of a text that has been compiled for the architecture."""
    found = {entry.kernel: entry for entry in binary.resources}
    names = [name for name, _ in text.waits]
    device = limits_for(architecture)
    return tuple(
        SubkernelResources(
            name.removeprefix(_SWEEP),
            found[name].registers,
            found[name].spill_store_bytes,
            found[name].spill_load_bytes,
            found[name].shared_bytes,
            resident_threads(device, found[name].registers) if device else None,
        )
        for name in sorted(names, key=lambda name: not name.startswith(_SWEEP))
    )
