"""Watching: callbacks that are told whenever the state of a simulation has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Watch:
    """One callback. `changed` is called in the thread that changed the state: it must return at once and never raise.

    `seconds`: a running march stops at least this often, at a whole step, to call `changed` and to serve commands.
    `pace`: most steps per second of a run, None for no limit. `scalars`: whether scalars are shown, so that diagnostic
    ones are evaluated in slow runs too. `written` is called like `changed`, but before the next step, when a value was
    set from outside. All may be set at any time, by any thread.
    """

    changed: Callable[[], None]
    seconds: float
    pace: float | None = None
    scalars: bool = False
    written: Callable[[], None] | None = None


@dataclass(slots=True)
class Watches:
    """All watches of one simulation; any thread may add and remove them."""

    _all: tuple[Watch, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, watch: Watch) -> None:
        """Call `watch` at every change from now on."""
        with self._lock:
            self._all = (*self._all, watch)

    def remove(self, watch: Watch) -> None:
        """Call it no more; does nothing if it was removed before."""
        with self._lock:
            self._all = tuple(other for other in self._all if other is not watch)

    def tell(self) -> None:
        """The state has changed."""
        for watch in self._all:
            watch.changed()

    def tell_written(self) -> None:
        """The state was changed by something other than a step: call `written`, then `changed`."""
        for watch in self._all:
            if watch.written is not None:
                watch.written()
        self.tell()

    def slice_seconds(self, longest: float) -> float:
        """How long a run may go on before it serves commands: the least `seconds` of all watches, at most `longest`."""
        return min([longest, *(watch.seconds for watch in self._all)])

    @property
    def pace(self) -> float | None:
        """Steps per second that a run may do: the least that a watch asks for."""
        return min((watch.pace for watch in self._all if watch.pace is not None), default=None)

    @property
    def scalars(self) -> bool:
        """Whether a watch shows scalars."""
        return any(watch.scalars for watch in self._all)
