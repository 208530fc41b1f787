"""Template store: where templates that were compiled to Python are kept for other processes; the backends say where.

To compile the templates of a text takes as long as all else that is done for a small program, and each process did it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class TemplateStore(Protocol):
    """Small JSON objects by names; what cannot be read is None, what cannot be written is lost (BuildCache)."""

    def read_note(self, name: str) -> Mapping[str, object] | None:
        """The object of that name."""

    def write_note(self, name: str, note: Mapping[str, object]) -> None:
        """Keep it."""


_stores: list[Callable[[], TemplateStore]] = []


def keep_templates_in(find: Callable[[], TemplateStore]) -> None:
    """From now on keep compiled templates in what `find` returns, which must be a folder of code that may be run."""
    _stores[:] = [find]


def template_store() -> TemplateStore | None:
    """Where they are kept; None if it was not said where."""
    return _stores[0]() if _stores else None
