"""Parts of a listing: what its page offers to choose and to press, and how a large text or table travels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.views.page.message import Message


@dataclass(frozen=True, slots=True)
class ListingOption:
    """One of several things to choose: what is sent back, and what is read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A list to choose from, with its present value."""

    name: str
    label: str
    value: str
    options: tuple[ListingOption, ...]


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press; `title` explains it, or why it cannot be pressed."""

    name: str
    label: str
    title: str
    disabled: bool = False


def with_body(kind: str, body: Mapping[str, object]) -> Message:
    """Large ones travel as bytes, which nothing on the way parses."""
    return Message({"type": kind}, (json.dumps(body, separators=(",", ":")).encode(),))
