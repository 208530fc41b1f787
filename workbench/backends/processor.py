"""The host's processor: what tells one CPU model from another, and how many threads this process may keep busy."""

import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from workbench.planning.schedules.locality import CACHE_BYTES, FIRST_CACHE_BYTES

_MOST_OF_LAST = 32 << 20  # bytes
_OF_FEW_CORES = 48 << 20  # bytes of a third cache; larger ones are those of many cores together

# Lines of /proc/cpuinfo that say what a compiler may use; clock rates and the like change from look to look.
_TELLING = (
    "model name",
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "flags",
    "Features",
    "CPU implementer",
    "CPU part",
)


def processor_text() -> str:
    """A text that is equal on equal CPUs: model and feature flags. Read in well under a millisecond on Linux."""
    if platform.system() == "Darwin":
        return _darwin_processor()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return telling_lines(lines)
    except OSError:
        return f"{platform.machine()} {platform.processor()}"


def processor_name() -> str:
    """The model as its maker calls it, as far as the system tells."""
    lines = dict(line.split(":", 1) for line in processor_text().splitlines() if ":" in line)
    names = (text.strip() for key, text in lines.items() if key.strip() == "model name")
    return next(names, "") or platform.processor() or platform.machine()


def telling_lines(lines: Iterable[str]) -> str:
    """Model and flags of the first processor in the text of /proc/cpuinfo, other processors left unread."""
    kept = []
    for line in lines:
        if not line.strip():
            break
        if line.partition(":")[0].strip() in _TELLING:
            kept.append(" ".join(line.split()))
    return "\n".join(kept)


def _darwin_processor() -> str:
    names = ("machdep.cpu.brand_string", "hw.cpufamily", "hw.cpusubfamily")
    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", *names], capture_output=True, text=True, timeout=10.0)
    except (OSError, subprocess.SubprocessError):
        return platform.machine()
    return f"{platform.machine()} {' '.join(done.stdout.split())}"


def first_cache_bytes() -> int:
    """Bytes of a core's first cache for data, FIRST_CACHE_BYTES where the system does not say."""
    return _cache_sizes().get("1", FIRST_CACHE_BYTES)


def cache_bytes() -> int:
    """Bytes of a core's second cache, CACHE_BYTES where the system does not say."""
    return _cache_sizes().get("2", CACHE_BYTES)


def shared_cache_bytes(threads: int) -> int:
    """Bytes that each of so many threads may fill of the third cache, 0 where the system tells of none.

    At most an eighth, of few cores' a quarter: cores that this process does not see, of other machines on the same
    processor, use it too.
    """
    return _cache_sizes().get("3", 0) // max(4 if third_cache_is_near() else 8, 2 * threads)


def third_cache_is_near() -> bool:
    """Whether few cores share the third cache, so that it gives them data nearly as fast as their second ones do.

    Told by its size: one of many cores is spread over all of them, and each has a small part of what it moves.
    """
    return 0 < _cache_sizes().get("3", 0) <= _OF_FEW_CORES


def last_cache_bytes() -> int:
    """Bytes of the last cache that this process may count on, CACHE_BYTES where the system does not say.

    At most 32 MiB: a guest is told of a cache as large as all cores of a processor have together, most of them others'.
    """
    return min(max(_cache_sizes().values(), default=CACHE_BYTES), _MOST_OF_LAST)


@cache
def _cache_sizes() -> dict[str, int]:
    """Bytes of the first core's caches for data, by level, as Linux tells them."""
    found = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index[0-9]*"):
        try:
            kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size.endswith("K") and size[:-1].isdigit():
            found[level] = int(size[:-1]) << 10
    return found


def available_threads() -> int:
    """Threads this process may keep busy: the smaller of its CPU affinity and its control groups' quota, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = group_quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    # Whole CPUs only: a team with one thread too many waits at every barrier for the one that is held back.
    return max(1, allowed if quota is None else min(allowed, int(quota)))


def group_quota(membership: Path, root: Path) -> float | None:
    """CPUs that the control groups (version 1 or 2) of this process allow, None if they set no limit.

    `membership` is a file such as /proc/self/cgroup, `root` where the group hierarchies are mounted. A group's
    ancestors limit it too; groups outside the container's view count as the root.
    """
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    limits: list[float] = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            hierarchies = [root, root / "unified"]
        elif "cpu" in controllers.split(","):
            hierarchies = [root / controllers, root / "cpu"]
        else:
            continue
        for hierarchy in hierarchies:
            group = hierarchy / path.lstrip("/")
            for folder in (group, *group.parents):
                if not folder.is_relative_to(hierarchy):
                    break
                limit = _folder_quota(folder)
                if limit is not None:
                    limits.append(limit)
    return min(limits, default=None)


def _folder_quota(folder: Path) -> float | None:
    """Quota over period of one group: `cpu.max` in version 2, two files in version 1; "max" and -1 mean no limit."""
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            quota = (folder / "cpu.cfs_quota_us").read_text(encoding="ascii").strip()
            period = (folder / "cpu.cfs_period_us").read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None
    try:
        return int(quota) / int(period) if int(quota) > 0 else None
    except (ValueError, ZeroDivisionError):
        return None
