"""`workbench cuda-check`: what each sub-kernel of a machine needs of a device, as its compiler says; no GPU needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.backends.device_resources import SubkernelResources, subkernel_resources
from workbench.machine import Machine


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """One machine compiled for one architecture."""

    machine: str
    dim: int
    dtype: str
    architecture: str
    resources: tuple[SubkernelResources, ...]

    def __str__(self) -> str:
        head = f"{self.machine} {self.dim}-D {self.dtype} for {self.architecture}"
        names = ("registers", "spill stores", "spill loads", "shared", "threads")
        lines = [f"{head:<36}{'  '.join(names)}"]
        for entry in self.resources:
            figures = (
                entry.registers,
                entry.spill_store_bytes,
                entry.spill_load_bytes,
                entry.shared_bytes,
                entry.threads,
            )
            cells = (f"{figure:>{len(name)}}" for name, figure in zip(names, figures, strict=True))
            lines.append(f"  {entry.subkernel:<34}{'  '.join(cells)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        entries = [{**asdict(entry), "threads": entry.threads} for entry in self.resources]
        return {**asdict(self), "resources": entries}


def check_machines(
    machines: Sequence[Machine], architecture: str = "sm_90", say: Callable[[str], None] = lambda _: None
) -> tuple[DeviceCheck, ...]:
    """Compile each machine and say its table. Raises BuildError without a compiler or for text that it refuses."""
    checks = []
    for machine in machines:
        plan = machine.plan("cuda")
        dtype = str(plan.graph.fields[0].type) if plan.graph.fields else ""
        resources = subkernel_resources(plan, architecture=architecture)
        checks.append(DeviceCheck(machine.name, plan.graph.dim, dtype, architecture, resources))
        say(str(checks[-1]))
    return tuple(checks)
