"""Difference: two generated texts side by side, row by row, and which rows are worth seeing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

RowKind = Literal["same", "changed", "removed", "added"]
CONTEXT = 3  # equal lines shown round a change

# Names made of a text's own hash differ between any two texts and say nothing.
_HASHED = re.compile(r"plan_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class LinePair:
    """Line numbers (from 1) side by side; 0 where a side has none."""

    kind: RowKind
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FoldedLines:
    """Rows `first` to `last` (indices, included) that are the same on both sides and far from any change."""

    first: int
    last: int


def compare_lines(before: Sequence[str], after: Sequence[str]) -> tuple[LinePair, ...]:
    """All rows of both texts in order; lines that only differ in a name made of a hash are the same."""
    old, new = ([_HASHED.sub("plan", line) for line in lines] for lines in (before, after))
    rows: list[LinePair] = []
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        both = min(b - a, d - c)
        kind: RowKind = "same" if old[a:b] == new[c:d] else "changed"
        rows += [LinePair(kind, a + k + 1, c + k + 1) for k in range(both)]
        rows += [LinePair("removed", line + 1, 0) for line in range(a + both, b)]
        rows += [LinePair("added", 0, line + 1) for line in range(c + both, d)]
    return tuple(rows)


def folds_of(rows: Sequence[LinePair], context: int = CONTEXT) -> tuple[FoldedLines, ...]:
    """Stretches of equal rows that hide at first: at least two rows, `context` away from every change."""
    changed = [index for index, row in enumerate(rows) if row.kind != "same"]
    folds: list[FoldedLines] = []
    start = 0
    for index in (*changed, len(rows) + context):
        first = start + context if start else 0
        last = index - context - 1
        if last - first >= 1:
            folds.append(FoldedLines(first, min(last, len(rows) - 1)))
        start = index + 1
    return tuple(folds)


def count_changes(rows: Sequence[LinePair]) -> tuple[int, int]:
    """Lines that the first text has and the second has not as they were, and the other way round."""
    gone = sum(1 for row in rows if row.kind != "same" and row.before)
    new = sum(1 for row in rows if row.kind != "same" and row.after)
    return gone, new
