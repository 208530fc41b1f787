"""Results: errors that were measured, kept in a file line by line, so that an exam of days goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.experiments.exam.accuracy import Setting


class ExamResults:
    """What was measured so far, one JSON object a line; `path` None keeps nothing.

    A result belongs to a setting, a number of cells and the solver's program: where its formulas have changed since, it
    is measured again. A line that is no whole object, because its writer was stopped, counts as none.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Reads the file if there is one. OSError where it cannot be read."""
        self._path = path
        self._errors: dict[tuple[object, ...], float] = {}
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        for line in text.splitlines():
            record = _record(line)
            if record is not None:
                self._errors[record] = json.loads(line)["error"]

    def __len__(self) -> int:
        return len(self._errors)

    def get(self, setting: Setting, program: str, cells: int) -> float | None:
        """The error that was measured, or None."""
        return self._errors.get(_key({**asdict(setting), "program": program, "cells": cells}))

    def keep(self, setting: Setting, program: str, cells: int, error: float, seconds: float) -> None:
        """Add one, in the file too: flushed, so that it is there when the process is stopped. OSError as of `open`."""
        record = {**asdict(setting), "program": program, "cells": cells, "error": error, "seconds": round(seconds, 3)}
        self._errors[_key(record)] = error
        if self._path is not None:
            with self._path.open("a+", encoding="utf-8") as file:
                file.seek(0)
                whole = file.read()[-1:] in ("", "\n")
                file.write(("" if whole else "\n") + json.dumps(record) + "\n")


_PARTS = ("problem", "placement", "dim", "scheme", "backend", "dtype", "program", "cells")


def _key(record: dict[str, Any]) -> tuple[object, ...]:
    return tuple(record[part] for part in _PARTS)


def _record(line: str) -> tuple[object, ...] | None:
    """The key of a line, or None if it is none."""
    try:
        record = json.loads(line)
        return _key(record) if isinstance(record["error"], float) else None
    except (ValueError, KeyError, TypeError):
        return None
