"""Marks: what a node carries beside its meaning, where it was written and what was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the cell something was written; lines count from 1 as the user sees them, columns from 0."""

    line: int
    column: int = 0
    end_column: int = 0


NOWHERE = Span(0)
Allocation = Literal["manifest", "delayed", "rolling"]
"""Stored; recomputed; or stored where it rolls between loops that run together, and recomputed where it does not."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a person asked for at a node; `line` is where. None and False mean nothing was asked."""

    allocation: Allocation | None = None
    sync_before: bool = False
    sync_after: bool = False
    line: int = 0

    def over(self, earlier: Hint) -> Hint:
        """What both ask for; where they differ, what this one does."""
        return Hint(
            self.allocation or earlier.allocation,
            self.sync_before or earlier.sync_before,
            self.sync_after or earlier.sync_after,
            self.line or earlier.line,
        )


NO_HINT = Hint()
Mark = TypeVar("Mark")


def joined(known: tuple[Mark, ...], others: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return those known, and behind them the others that are none of them; the same tuple where there are no such."""
    for each in others:
        if each not in known:
            known = (*known, each)
    return known
