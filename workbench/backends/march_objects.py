"""March objects: what every march with as many axes is made of, compiled once and linked to each program.

A compiler takes a third less time for a short program without it. A text that leaves this machine has all of it inside.
"""

from __future__ import annotations

import re
from dataclasses import replace

from workbench.backends.compile_pool import Unit
from workbench.codegen.cpp.headers import openmp_headers

MOST_AXES = 3
"""As `stencil_openmp.h` declares. A unit with a march of more axes has all inside."""

_MARCH = re.compile(r"\brun_march<(\d+)>")
_FLAGS = ("-fno-exceptions",)
_TEXT = """#include "stencil_openmp.h"
namespace stencil {
STENCIL_OF_MARCH(, %d)
int64_t next_task(Team& team, Share& share) __attribute__((used));
bool arrives_last(Team& team) __attribute__((used));
}  // namespace stencil
"""


def with_march_objects(unit: Unit) -> Unit:
    """The unit of texts for CPU threads, which takes from objects what they have of its marches."""
    axes = sorted({int(found) for found in _MARCH.findall(unit.text)})
    if not axes or axes[-1] > MOST_AXES:
        return unit
    bits = sum(1 << each - 1 for each in axes)
    return replace(unit, flags=(f"-DSTENCIL_APART={bits}", *unit.flags), objects=tuple(map(march_object, axes)))


def march_object(axes: int) -> Unit:
    """The object for marches with so many axes, 1 to `MOST_AXES`."""
    text = _TEXT % axes
    return Unit(f"march of {axes} axes", text, flags=_FLAGS, headers=openmp_headers(text))
