"""File systems: of which kind the one is that a folder lies on."""

from __future__ import annotations

from pathlib import Path

_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


def file_system(folder: Path) -> str:
    """Return its kind, by the longest mount point; "" where the system does not tell."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real, found = folder.resolve(), ("", "")
    for line in lines:
        _, point, kind, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        if real.is_relative_to(point) and len(point) >= len(found[0]):  # of one point the last mount is seen
            found = point, kind
    return found[1]


def lies_in_memory(folder: Path) -> bool:
    """Whether files in a folder take memory, and no disk."""
    return file_system(folder) in _IN_MEMORY
