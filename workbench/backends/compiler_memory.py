"""Compiler memory: how much a compiler may take before it is stopped, lest a huge kernel stop the whole machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.amounts import bytes_text
from workbench.errors import BuildError

VARIABLE = "WORKBENCH_COMPILER_MEMORY"
_LEAST = 2 * 10**9  # ordinary kernels take a few hundred MB; address space is more than what is touched
_ENOUGH_TO_START = 100 << 20  # with less, g++ 12 does not even compile the smallest kernel (measured)
_UNKNOWN = 8 * 10**9  # where the system does not tell how much memory there is
# What g++, clang++ and the linker say when they get no more; the last is the driver's word on a killed child.
_EXHAUSTED = re.compile(r"out of memory|memory exhausted|bad_alloc|[Cc]annot allocate memory|Killed signal terminated")


def memory_limit(environ: Mapping[str, str] = os.environ, group: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Bytes of address space that one compiler may have; 0 for no bound.

    $WORKBENCH_COMPILER_MEMORY says it in GB; else half of this machine's (or container's) memory, at least 2 GB.
    Raises BuildError if the variable holds no number.
    """
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return max(_LEAST, _machine_memory(group) // 2)
    try:
        wanted = float(text)
    except ValueError:
        wanted = -1.0
    if not 0 <= wanted < 1e6:
        raise BuildError(f"{VARIABLE} is {text!r}", advice=f"Give GB, as in {VARIABLE}=8; 0 takes the bound away.")
    return int(wanted * 1e9)


def _machine_memory(group: Path) -> int:
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        physical = _UNKNOWN
    try:
        return min(physical, int(group.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no control groups, or "max"
        return physical


def bounded(command: Sequence[str], limit: int) -> list[str]:
    """The command with a bound on the address space of it and of each of its children.

    Set by a shell that becomes the command, because the child of a process with threads must not run Python before
    it becomes another program. Systems whose shell knows no such bound run it without one.
    """
    if limit == 0:
        return list(command)
    return ["/bin/sh", "-c", f'ulimit -v {limit >> 10} 2>/dev/null; exec "$@"', "sh", *command]


def is_exhausted(report: str, limit: int) -> bool:
    """Whether a compiler that failed got no more memory, by its messages.

    Under a limit that is too small for any kernel it may crash anywhere, and says no more than that.
    """
    return _EXHAUSTED.search(report) is not None or (0 < limit < _ENOUGH_TO_START)


def exhausted(name: str, limit: int) -> BuildError:
    """The error for a compiler that wanted more than it may have."""
    if 0 < limit < _ENOUGH_TO_START:
        return BuildError(
            f"compiling {name!r} failed: {VARIABLE} allows {bytes_text(limit)}, in which no kernel compiles",
            advice=f"Allow more: {VARIABLE}=4; or unset it, then half of the memory may be taken.",
        )
    allowed = f"the {bytes_text(limit)} that it may take" if limit else "the memory that there is"
    return BuildError(
        f"compiling {name!r} needed more than {allowed}",
        advice="Make some values Manifest, so that the generated sub-kernels get smaller"
        + (f", or allow more: {VARIABLE}={max(4, 2 * limit // 10**9)}." if limit else "."),
    )
