"""Compiled backends, at another level of optimisation than users get."""

from dataclasses import replace
from functools import cache

from tests.kit.capabilities import backends_here
from workbench.backends.cache_folder import default_cache
from workbench.backends.compile_pool import Compiler
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.registry import get_backend
from workbench.backends.toolchain import Missing, find_toolchain

COMPARED = tuple(name for name in backends_here() if name not in ("reference", "cuda"))


@cache
def optimised(name, level):
    """The backend; openmp with this level of optimisation instead of its own, for those who compile many texts once."""
    found = find_toolchain()
    if name != "openmp" or isinstance(found, Missing):
        return get_backend(name)
    flags = tuple(f"-O{level}" if f == "-O3" else f for f in found.flags)
    return OpenmpBackend(Compiler(replace(found, flags=flags), default_cache()))
