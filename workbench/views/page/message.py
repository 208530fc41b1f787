"""Message: one piece of what a view says to its page; the view and the page give it its form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON object (NaN and infinity are not JSON: None and text stand for them), and bytes beside it.

    apart: the bytes are pictures, which the worker of a page may get by a way of its own (notebook/direct_frames.py).
    """

    content: Mapping[str, object]
    buffers: tuple[bytes | memoryview, ...] = ()
    apart: bool = False
