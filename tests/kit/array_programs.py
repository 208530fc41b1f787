"""Programs made of functions of arrays, once for all cases, as a user calls one with arrays of many shapes."""

from functools import cache

import workbench as wb


@cache
def program_of(function):
    """The program of a function; it is traced and planned at the first call for arguments of some types."""
    return wb.collective(function)
