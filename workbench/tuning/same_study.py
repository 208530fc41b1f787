"""Same study: whether measurements of now can stand beside those that a file has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import TuningError

_SAME = ("key", "backend", "extents", "bound", "bound_steps", "device", "compiler", "tunables")
_MOST = 100  # characters of what a file says


def check_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """TuningError with the first difference, if the study of a file is of something else than what is tuned now.

    before, now: as `Ledger.about` has it; `now` may have tuples for lists.
    """
    found = ""
    for name in filter(now.__contains__, _SAME):
        if before[name] != _plain(now[name]):
            found = f"{name}: {_short(before[name])}"
            break
    else:
        for name, old, new in zip(before["tunables"], before["values"], now["values"], strict=True):
            if old != _plain(new):
                found = f"values of {name}: {_short(', '.join(old))}; here they are {_short(', '.join(new))}"
                break
    if found:
        raise TuningError(f"the study at {path} has other {found}", advice="Pass another path= to begin a new study.")


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < _MOST else text[: _MOST - 3] + "..."
