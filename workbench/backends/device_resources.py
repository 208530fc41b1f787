"""Device resources: registers, spills and shared memory of each sub-kernel of a plan, compiled for a device.

Needs nvcc or NVRTC, but no GPU: the figures are ptxas's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.backends.nvrtc import CudaCompiler, compile_cuda, compile_options, find_compilers
from workbench.codegen.render_cuda import inlined, render_cuda
from workbench.planning.plan import Plan

_SWEEP = "sweep_"
_REGISTERS, _PARTITIONS = 65536, 4  # of a multiprocessor, in equal parts, on all architectures since sm_50
_WARP, _GRANULE = 32, 256  # threads; registers are given to warps, each from one part, in pieces of this size


@dataclass(frozen=True, slots=True)
class SubkernelResources:
    """What ptxas says of one `__global__` function of a plan.

    subkernel: the name as the plan has it, the first one where several share a text; that of the function where it is
    no sub-kernel (fills, trees, scalars).
    threads: per multiprocessor, as many as its registers allow (of blocks nothing is said).
    """

    subkernel: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int

    @property
    def threads(self) -> int:
        """Threads that the registers of one multiprocessor suffice for, at most 2048."""
        a_warp = -(-self.registers * _WARP // _GRANULE) * _GRANULE
        return min(2048, _REGISTERS // _PARTITIONS // a_warp * _PARTITIONS * _WARP)


def subkernel_resources(
    plan: Plan, *, architecture: str = "sm_90", compiler: CudaCompiler | None = None
) -> tuple[SubkernelResources, ...]:
    """Compile the plan's CUDA text; sub-kernels first, in the order of the text.

    compiler: default NVRTC if it is there, for it is faster than nvcc. Raises BuildError without a compiler, or with
    the compiler's log if it refuses the text.
    """
    if compiler is None:
        compiler = next(iter(reversed(find_compilers())), None)
    text = render_cuda(plan)
    flags = compile_options(plan.choices.plan.largest_block, "int32_t")
    binary = compile_cuda(inlined(text.source.text), architecture=architecture, compiler=compiler, flags=flags)
    found = {entry.kernel: entry for entry in binary.resources}
    names = [name for name, _ in text.waits]
    return tuple(
        SubkernelResources(
            name.removeprefix(_SWEEP),
            found[name].registers,
            found[name].spill_store_bytes,
            found[name].spill_load_bytes,
            found[name].shared_bytes,
        )
        for name in sorted(names, key=lambda name: not name.startswith(_SWEEP))
    )
