"""Programs made of functions of arrays, once for all cases, as a user calls one with arrays of many shapes."""

from functools import cache

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.array_function import Collective


@cache
def program_of(function):
    """The program of a function; it is traced and planned at the first call for arguments of some types."""
    return wb.collective(function)


def same_bits(function, *arrays, backends=(("openmp", 1), ("openmp", 3))):
    """The results of the reference, after each backend with its threads has given the same bits."""
    program = function if isinstance(function, Collective) else program_of(function)
    expected = program(*arrays, backend="reference")
    for backend, threads in backends:
        found = program(*arrays, backend=backend, threads=threads)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for mine, exact in pairs:
            assert_same_bits(mine, exact, f"{backend}, {threads} threads")
    return expected
