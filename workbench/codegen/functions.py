"""Functions: where the functions of a generated text stand, and which sub-kernels each of them computes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from workbench.codegen.source import Source

_DEFINITION = re.compile(
    r'^(?:struct (?P<struct>\w+)|(?:static|extern "C"|STENCIL_PROCEDURE) .*\b(?P<function>\w+)\()', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class TextFunction:
    """A function of a text from line `first` to `last`; `subkernels` are (kernel, sub-kernel) whose loops it holds."""

    name: str
    first: int
    last: int
    subkernels: tuple[tuple[str, str], ...]


def functions_in(source: Source) -> tuple[TextFunction, ...]:
    """The definitions of a generated text in order."""
    lines = source.text.split("\n")
    starts = []
    for found in _DEFINITION.finditer(source.text):
        name = found["struct"] or found["function"]
        if name:
            starts.append((source.text.count("\n", 0, found.start()) + 1, name))
    functions = []
    for (first, name), (following, _) in pairwise([*starts, (len(lines) + 1, "")]):
        last = next((n for n in range(first, following) if lines[n - 1].startswith("}")), 0)
        if last:
            # Functions that fill ghost cells carry a name in their place.
            inside = [o for o in source.lines if first <= o.line <= last and name.startswith("sweep_")]
            subkernels = tuple(dict.fromkeys((o.kernel, o.subkernel) for o in inside))
            functions.append(TextFunction(name, first, last, subkernels))
    return tuple(functions)
