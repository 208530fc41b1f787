"""Viewing: the hook by which views/ registers how to open a view, so that run/ imports no view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Opener = Callable[..., Any]
_openers: list[Opener] = []


def set_opener(opener: Opener) -> None:
    """From now on `opener(simulation, name, palette=, limits=)` makes the views."""
    _openers[:] = [opener]


def open_view(simulation: Any, name: str, palette: str, limits: tuple[float, float] | None) -> Any:  # noqa: ANN401  # a Simulation and its view
    """A new view of one value of a Simulation. RunError for what takes whole fields where these lie in files."""
    return _openers[0](simulation, name, palette=palette, limits=limits)
