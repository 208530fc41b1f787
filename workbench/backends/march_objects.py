"""March objects: what every march with as many axes is made of, compiled once and linked to each program.

A compiler takes a third less time for a short program without it. A text that leaves this machine has all of it inside.
A long program is planned while the object for its march is compiled.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import replace

from workbench.backends.cache_folder import in_use
from workbench.backends.compile_pool import Unit, build_objects, default_compiler
from workbench.backends.processor import available_threads
from workbench.codegen.cpp.headers import openmp_headers
from workbench.errors import BuildError
from workbench.planning.choices import CompilerKind

MOST_AXES = 3
"""As `stencil_openmp.h` declares. A unit with a march of more axes has all inside."""

_MARCH = re.compile(r"\brun_march<(\d+)>")
_FLAGS = ("-fno-exceptions",)
_TEXT = """#include "stencil_openmp.h"
namespace stencil {
STENCIL_OF_MARCH(, %d)
int64_t next_task(Team& team, Share& share) __attribute__((used));
void before_task(Files& files, int64_t task, int64_t tasks, const void* array) __attribute__((used));
void after_task(Files& files, int64_t task, int64_t tasks, const void* array) __attribute__((used));
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


def begin_march_object(axes: int, kind: CompilerKind) -> None:
    """Begin to compile, in a thread of its own, what the march of a program of so many axes links.

    Who needs it then waits for it; where it fails it is compiled again there, which says why. Nothing where a compiler
    would take the processor from this thread. The process ends without it.
    """
    if axes <= MOST_AXES and available_threads() > 1:
        threading.Thread(target=_make, args=(axes, kind), name="march object").start()


def _make(axes: int, kind: CompilerKind) -> None:
    unit = Unit("begun", "", objects=(march_object(axes),))
    with suppress(BuildError):
        compiler = default_compiler(kind)
        build_objects(unit, compiler, in_use(compiler.cache), _process_ends)


def _process_ends() -> bool:
    return not threading.main_thread().is_alive()
