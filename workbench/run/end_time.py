"""End time: what a run until a time tells the program, so that a last step can be cut to fit."""

from __future__ import annotations

from math import inf

from workbench.backends.base import Number
from workbench.run.state import State

UNTIL = "until"


class ParamSet:
    """While inside, the param "until" (where there is one) holds the end of the run."""

    def __init__(self, state: State, end: float | None) -> None:
        self._state = state
        self._end = end if any(p.name == UNTIL for p in state.graph.params) else None
        self._before: Number = inf

    def __enter__(self) -> None:
        if self._end is not None:
            self._before = self._state.instance.read_global(UNTIL)
            self._state.instance.write_global(UNTIL, self._end)

    def __exit__(self, *_: object) -> None:
        if self._end is not None:
            self._state.instance.write_global(UNTIL, self._before)
