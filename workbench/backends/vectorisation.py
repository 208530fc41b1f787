"""Vectorisation: which inner loops of a generated text the compiler vectorised, and how wide, in its own words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from workbench.codegen.source import Source

# What the templates put before every loop over cells.
_MARK = re.compile(r"\s*#pragma omp simd( reduction\(\|:(made|large).*\))?")
_GCC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:optimized|note): +loop vectorized(?: using (?P<bytes>\d+) byte)?",
    re.MULTILINE,
)
_CLANG = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? remark: vectorized loop \(vectorization width: (?P<lanes>\d+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """A loop over cells at `line` of a text. `vectors` says how wide its vectors are, "" if it has none."""

    line: int
    vectors: str


def inner_loops(source: Source, report: str, file_name: str) -> tuple[InnerLoop, ...]:
    """The loops over cells of a C++ text, in order, and what `report` says of them.

    report: all that gcc printed under -fopt-info-vec, or clang under -Rpass=loop-vectorize, when it compiled the text
    as `file_name`.
    """
    told = _vectorised(report, file_name)
    lines = source.text.split("\n")
    starts = [n for n, line in enumerate(lines, start=1) if _MARK.fullmatch(line) and "for (" in lines[n]]
    # gcc names the first line of the body, clang that of the loop; the loop stands below the mark.
    return tuple(InnerLoop(n + 1, told.get(n + 1) or told.get(_body(lines, n + 1)) or "") for n in starts)


def _body(lines: list[str], loop: int) -> int:
    """The first line of a loop's body: the next one, or that in the function made before it, of which it is a call."""
    if not lines[loop].lstrip().startswith("compute(i"):
        return loop + 1
    return next(n + 1 for n in range(loop, 0, -1) if "const auto compute = " in lines[n - 1])


def _vectorised(report: str, file_name: str) -> dict[int, str]:
    """Line -> its widest vectors. One loop is listed several times: its body, and what is left of a row."""
    widest: dict[int, int] = {}
    for found in _GCC.finditer(report):
        if Path(found["file"]).name == file_name:
            line = int(found["line"])
            widest[line] = max(widest.get(line, 0), int(found["bytes"] or 0))
    texts = {line: f"{width} bytes" if width else "vectors" for line, width in widest.items()}
    for found in _CLANG.finditer(report):
        if Path(found["file"]).name == file_name:
            texts.setdefault(int(found["line"]), f"{found['lanes']} numbers")
    return texts
