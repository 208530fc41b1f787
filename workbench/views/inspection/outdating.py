"""Outdating: views go on showing the program of before when a cell is changed, and say so."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Protocol

from workbench.planning.plan import Plan


class Shown(Protocol):
    """An inspection, as far as it is told."""

    outdated: str

    @property
    def plan(self) -> Plan:
        """Of the program that its views show."""

    def outdate(self, why: str) -> None:
        """Its views say `why`."""


_inspections: weakref.WeakSet[Shown] = weakref.WeakSet()
_lock = threading.Lock()


def remember(inspection: Shown) -> None:
    """Tell its views, for as long as it is referenced, when their cell is changed."""
    with _lock:
        _inspections.add(inspection)


def outdate_views(before: str, after: str, name: str) -> None:
    """The cell of `name` was changed: its program had the fingerprint `before` and now has `after`.

    Views of the program of now, which may have been told of another one, are up to date again.
    """
    with _lock:
        living = tuple(_inspections)
    for inspection in living:
        program = inspection.plan.graph.fingerprint()
        with contextlib.suppress(Exception):  # a view failed, which the inspection has told; the cell goes on
            if program == after:
                inspection.outdate("")
            elif program == before:
                inspection.outdate(
                    f"{name} was changed, and this view shows the program of before. "
                    f"Open a new one: run the cell that made this view again, or {name}.inspect()."
                )


def noted(inspection: Shown, text: str) -> str:
    """`text`, and below it that the cell was changed, if it was."""
    return f"{text}\n{inspection.outdated}" if inspection.outdated else text
