"""Events: frozen records of what happens while something long runs; listeners show them, nobody else needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

RunEnd = Literal["done", "until", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a slice border: `steps` of `of` done (None: no end was named) after `seconds`, at `rate` steps/s."""

    name: str
    steps: int
    of: int | None
    seconds: float
    rate: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The end of a run: `steps` whole steps in `seconds`; `reason` says why no more."""

    name: str
    steps: int
    seconds: float
    reason: RunEnd


RunEvent = Progress | RunEnded
Listener = Callable[[RunEvent], None]
"""Called in the thread that runs, between two slices; what it raises ends the run at a whole step."""
