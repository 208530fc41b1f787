"""Faults: what a view says when something in it fails that is no refusal: what happened, where, and what to do."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from workbench.errors import StencilError

Seen = TypeVar("Seen")


def call_all(callbacks: tuple[Callable[[Seen], None], ...], seen: Seen) -> Exception | None:
    """Call each with `seen`, also after one has failed; returns the first failure."""
    failed: Exception | None = None
    for callback in callbacks:
        try:
            callback(seen)
        except Exception as error:
            failed = failed or error
    return failed


def fault_text(error: BaseException, what: str = "this view goes on") -> str:
    """The text of a StencilError; of anything else its kind, its words and its place, and `what` goes on."""
    if isinstance(error, StencilError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    words = f": {error}" if str(error) else ""
    advice = "Report this, and run the cell again if it shows wrong things."
    if isinstance(error, MemoryError):
        advice = "Close other views, or take fewer cells."
    return f"{type(error).__name__}{words}{place}; {what}\n{advice}"
