"""The small programs on the compiled backends, at another optimisation level than users get, against the reference."""

from dataclasses import replace
from functools import cache

import pytest

from tests.agreement import first_difference
from tests.capabilities import backends_here
from tests.small_programs import SIZES, small_programs
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


@pytest.mark.parametrize("name", COMPARED)
def test_small_programs_have_the_bits_of_the_reference(name):
    programs = small_programs()
    compiled = optimised(name, 0).compile_many([plan for _, plan in programs])
    for (graph, plan), binary in zip(programs, compiled, strict=True):
        for number, extents in enumerate(SIZES[graph.dim]):
            if name == "openmp" or number or graph.dim > 1:
                for seed in (0, 4):  # with infinities and NaN, and without
                    found = first_difference(binary, graph, extents, seed, 1 + number % 2)
                    assert found is None, f"{graph.name}, {plan.choices.plan.preset}: {found}"
