"""Compiler words: what the host's compiler says of the loops of a text: whether they have vectors."""

from __future__ import annotations

from types import MappingProxyType

from workbench.backends.base import CompilerReport
from workbench.backends.compile_pool import Built, Unit
from workbench.backends.vectorisation import InnerLoop, inner_loops
from workbench.codegen.functions import functions_in
from workbench.codegen.source import Source


def vector_report(source: Source, built: Built) -> CompilerReport:
    """Read what the host's compiler said when it built a text."""
    loops = inner_loops(source, built.report, Unit(built.name, "").file_name)
    said = {}
    for function in functions_in(source):
        inside = [loop for loop in loops if function.first <= loop.line <= function.last]
        if inside:
            said[function.name] = vector_sentence(tuple(inside))
    return CompilerReport("the host's C++ compiler", MappingProxyType(said))


def vector_sentence(loops: tuple[InnerLoop, ...]) -> str:
    """How many of some loops have vectors, and which have none."""
    plain = [loop.line for loop in loops if not loop.vectors]
    widths = ", ".join(dict.fromkeys(loop.vectors for loop in loops if loop.vectors))
    if not plain:
        count = "inner loop" if len(loops) == 1 else f"all {len(loops)} inner loops"
        return f"{count} vectorised, {widths} at a time"
    where = f"line{'s' if len(plain) > 1 else ''} {', '.join(map(str, plain))}"
    if len(plain) == len(loops):
        return f"not vectorised ({where})"
    return f"{len(loops) - len(plain)} of {len(loops)} inner loops vectorised, {widths} at a time; not {where}"
