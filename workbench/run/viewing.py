"""Viewing: where the room above enters how a simulation is shown, so that `sim.view` needs no import of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.run.simulation import Simulation

Opener = Callable[..., Any]
_openers: list[Opener] = []


def set_opener(opener: Opener) -> None:
    """From now on `opener(simulation, name, palette=, limits=)` makes the views."""
    _openers[:] = [opener]


def open_view(simulation: Simulation, name: str, palette: str, limits: tuple[float, float] | None) -> Any:  # noqa: ANN401  # a view, which the room above defines
    """A new view of one value."""
    return _openers[0](simulation, name, palette=palette, limits=limits)
