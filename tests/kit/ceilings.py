"""Ceilings of this machine for tests that do not look at them, which else wait a second or two while it is measured."""

from workbench.backends import host
from workbench.backends.build_cache import BuildCache
from workbench.planning.cost import CacheLevel, HostFigures


def measure_ceilings_quickly(patch):
    """Measure in milliseconds, while `patch` lasts and in this process."""
    patch.setattr(host, "_COPY_BYTES", 1 << 16)
    patch.setattr(host, "_MOST_BYTES", 1 << 20)
    patch.setattr(host, "_MOVED_BYTES", 1 << 16)
    patch.setattr(host, "_LEVEL_BYTES", (1 << 12, 1 << 14))
    patch.setattr(host, "_TURNS", 1000)
    patch.setattr(host, "_REPEATS", 1)


def make_up_ceilings(folder):
    """Let a build cache know some, for processes that measure where nobody has."""
    levels = (CacheLevel(1 << 16, 1e11), CacheLevel(1 << 28, 1e10))
    host._keep(HostFigures(1e10, 1e11, "", levels), None, BuildCache(folder))
