"""Processors: as many as there are threads, for libraries that take all there are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def processors_of(threads: int) -> Iterator[None]:
    """Inside, this thread and those that it starts have so many processors; all where no system call says so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:threads])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
