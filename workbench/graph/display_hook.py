"""Display hook: views/ registers here how notebooks draw values, so that graph/ imports no view."""

from __future__ import annotations

from collections.abc import Callable

Bundle = dict[str, object]
"""Media type -> content, as IPython's display protocol has it."""

Drawer = Callable[[object], Bundle]
_drawers: list[Drawer] = []


def set_drawer(drawer: Drawer) -> None:
    """From now on `drawer(value)` makes the forms in which notebooks show a value."""
    _drawers[:] = [drawer]


def bundle_of(value: object) -> Bundle:
    """How a notebook shows a value; its text alone until a module that draws is loaded."""
    return _drawers[0](value) if _drawers else {"text/plain": str(value)}
