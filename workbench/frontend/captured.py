"""Captured names: what a cell took from the notebook, and whether it is still the same there."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from types import FunctionType

import numpy as np

from workbench.errors import warn_user
from workbench.frontend.cell import Traced
from workbench.frontend.scope import Captured, shown_value, text_of

_OF_CELLS = "Run the cell again, or declare {} as a param."
OF_FUNCTIONS = "Run the cell of the function again, or let the function have {} as an argument."
"""What to do about a name of a cell, and about one of a function of arrays."""


class CapturedNameWarning(UserWarning):
    """A name that the cell took from the notebook has another value now; the machine keeps the old one."""


class CapturedNames:
    """The names of a function, to be looked at in each call: as a rule each still is the same object."""

    __slots__ = ("_is_told_by_identity", "_names", "_values", "traced")

    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self._names = [each.name for each in traced.captured]
        self._values = [each.value for each in traced.captured]
        self._is_told_by_identity = not any(each.text for each in traced.captured)  # else it may change in place

    def are_same(self, namespace: Mapping[str, object]) -> bool:
        """Whether all are the objects that they were; others may mean the same."""
        return self._is_told_by_identity and all(map(is_, map(namespace.get, self._names), self._values))


def warn_of_changed_names(
    machine: str, traced: Traced | None, namespace: Mapping[str, object] | None, advice: str = _OF_CELLS
) -> None:
    """Warn the caller's caller of each name that has another value in the notebook now than when it was traced.

    advice: what to do, with a place for the name.
    """
    if traced is None or namespace is None:
        return
    for name in traced.captured:
        now = namespace.get(name.name, name.value)
        now = now.item() if isinstance(now, np.generic) else now
        if not _same(now, name):
            shown = (text_of(now) or "another one") if name.text else shown_value(now)
            warn_user(
                f"{name.name} was {name.shown} when {machine} was traced and is {shown} now; "
                f"the machine keeps {name.shown}. {advice.format(name.name)}",
                CapturedNameWarning,
            )


def _same(now: object, name: Captured) -> bool:
    """Whether a name still means what it meant; a function that was defined again by the same text does."""
    before = name.value
    if isinstance(now, FunctionType) and isinstance(before, FunctionType):
        return now.__code__ == before.__code__
    if name.text:
        return text_of(now) == name.text
    if isinstance(before, np.ndarray):  # a change in place is seen by each call
        return now is before
    return now is before or repr(now) == repr(before)
