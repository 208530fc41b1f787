"""Memory: what a simulation will need, what there is, and a refusal before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.amounts import bytes_text
from workbench.errors import NoRoomError
from workbench.pipeline import memory_of
from workbench.planning.plan import Plan

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_CGROUP_USE = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
LARGEST_ARRAY = 2**62  # bytes; offsets in compiled code are signed 64-bit integers


def bytes_available() -> int | None:
    """Host memory that this process may still take; None where the system does not say."""
    found = [free for free in (_physical(), _control_group()) if free is not None]
    return min(found) if found else None


def check_memory(plan: Plan, extents: tuple[int, ...], backend: str, device: int | None = None) -> None:
    """Raise NoRoomError if arrays of these extents cannot fit into memory, as they lie on that backend.

    device: bytes that a device with memory of its own has left; None: the arrays lie in the host's memory.
    """
    needed, available = memory_of(plan, extents, backend), bytes_available() if device is None else device
    if needed >= LARGEST_ARRAY or (available is not None and needed > available):
        where = "" if device is None else " on the device"
        there = "" if available is None else f", and {bytes_text(available, 4)} are available{where}"
        raise NoRoomError(
            f"{plan.graph.name} with shape {extents} needs {bytes_text(needed, 4)} ({len(plan.slots)} arrays){there}",
            advice="Choose a smaller shape, float32 fields, or fewer Manifest values.",
        )


def _physical() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        return None


def _control_group() -> int | None:
    """What a container's limit leaves; None without one.."""
    for limit, use in zip(_CGROUP_LIMITS, _CGROUP_USE, strict=True):
        try:
            allowed = Path(limit).read_text(encoding="ascii").strip()
            used = int(Path(use).read_text(encoding="ascii"))
            cached = _cached(Path(limit).with_name("memory.stat"))
        except (OSError, ValueError):
            continue
        if allowed.isdigit() and int(allowed) < 2**60:
            return max(int(allowed) - used + cached, 0)
    return None


def _cached(statistics: Path) -> int:
    """Bytes of files that the kernel gives back when memory is short."""
    entries = dict(line.split()[:2] for line in statistics.read_text(encoding="ascii").splitlines() if " " in line)
    return int(entries.get("inactive_file", 0)) + int(entries.get("active_file", 0))
