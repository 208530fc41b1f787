"""`workbench cuda-check`: what each sub-kernel of a machine needs of a device, as its compiler says; no GPU needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.backends.device_resources import SubkernelResources, resources_of
from workbench.backends.device_text import compile_for_device, flushing
from workbench.codegen.cuda.render import render_cuda
from workbench.machine import Machine


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """One machine compiled for one architecture.

    flushing: instructions that take the smallest numbers for 0, of which IEEE arithmetic has none; empty also where the
    compiler does not tell (nvcc).
    """

    machine: str
    dim: int
    dtype: str
    architecture: str
    resources: tuple[SubkernelResources, ...]
    flushing: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.machine} {self.dim}-D {self.dtype} for {self.architecture}"
        names = ("registers", "spill stores (B)", "spill loads (B)", "shared memory (B)", "threads per multiprocessor")
        width = 2 + max((len(head), *(2 + len(entry.subkernel) for entry in self.resources)))
        lines = [f"{head:<{width}}{'  '.join(names)}"]
        for entry in self.resources:
            figures = (
                entry.registers,
                entry.spill_store_bytes,
                entry.spill_load_bytes,
                entry.shared_bytes,
                "?" if entry.threads is None else entry.threads,
            )
            cells = (f"{figure:>{len(name)}}" for name, figure in zip(names, figures, strict=True))
            lines.append(f"  {entry.subkernel:<{width - 2}}{'  '.join(cells)}")
        if self.flushing:
            lines.append(f"  FAILED: not IEEE arithmetic, these flush to zero: {', '.join(self.flushing)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return asdict(self)


def check_machines(
    machines: Iterable[Machine], architectures: Sequence[str] = ("sm_90",), say: Callable[[str], None] = lambda _: None
) -> tuple[DeviceCheck, ...]:
    """Compile each machine and say its table. Raises BuildError without a compiler or for text that it refuses."""
    checks = []
    for machine in machines:
        plan = machine.plan("cuda")
        text = render_cuda(plan)
        dtype = str(plan.graph.fields[0].type) if plan.graph.fields else ""
        for architecture in architectures:
            binary = compile_for_device(plan, text.source, architecture)
            resources = resources_of(text, binary, architecture)
            found = flushing(binary.ptx)
            checks.append(DeviceCheck(machine.name, plan.graph.dim, dtype, architecture, resources, found))
            say(str(checks[-1]))
    return tuple(checks)
