"""Hooks: how rooms below open views, which they do not know; all is imported at the first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.graph.display_hook import Bundle, set_drawer
from workbench.run import viewing

if TYPE_CHECKING:
    from workbench.run.simulation import Simulation


def install() -> None:
    """From now on `sim.view` opens a field view, and graphs, plans and texts draw themselves in notebooks."""
    viewing.set_opener(_open_view)
    set_drawer(_draw)


def _open_view(simulation: Simulation, name: str, *, palette: str, limits: tuple[float, float] | None) -> object:
    from workbench.views.field.open import open_field_view

    return open_field_view(simulation, name, palette=palette, limits=limits)


def _draw(value: Any) -> Bundle:  # noqa: ANN401  # what the drawer knows
    from workbench.views.display import draw

    return draw(value)
