"""Captured names: what a cell took from the notebook, and whether it is still the same there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import FunctionType

import numpy as np

from workbench.frontend.cell import Traced


class CapturedNameWarning(UserWarning):
    """A name that the cell took from the notebook has another value now; the machine keeps the old one."""


def warn_of_changed_names(machine: str, traced: Traced | None, namespace: Mapping[str, object] | None) -> None:
    """Warn the caller's caller of each name that has another value in the notebook now than when it was traced."""
    if traced is None or namespace is None:
        return
    for name in traced.captured:
        now = namespace.get(name.name, name.value)
        now = now.item() if isinstance(now, np.generic) else now
        if not _same(now, name.value):
            warnings.warn(
                f"{name.name} was {name.value!r} when {machine} was traced and is {now!r} now; "
                f"the machine keeps {name.value!r}. Run the cell again, or declare {name.name} as a param.",
                CapturedNameWarning,
                stacklevel=3,
            )


def _same(now: object, before: object) -> bool:
    """Whether a name still means what it meant; a function that was defined again by the same text does."""
    if isinstance(now, FunctionType) and isinstance(before, FunctionType):
        return now.__code__ == before.__code__
    return now is before or repr(now) == repr(before)
