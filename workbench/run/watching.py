"""Watching: somebody who wants to hear, soon and often, that the state of a simulation has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Watch:
    """One watcher. `changed` is called in the thread that changed the state: it must return at once and never raise.

    `seconds` is the longest time between two whole steps at which others are served while a run goes on; `pace` the
    most steps per second that a run may do (None: as fast as it can); `scalars` that it follows scalars, so that those
    of slow steps are computed, too. `written` is called as `changed` is, where a value was set from outside: before the
    next step. All may be set at any time, by any thread.
    """

    changed: Callable[[], None]
    seconds: float
    pace: float | None = None
    scalars: bool = False
    written: Callable[[], None] | None = None


@dataclass(slots=True)
class Watches:
    """All watchers of one simulation; any thread may come and go."""

    _all: tuple[Watch, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, watch: Watch) -> None:
        """Tell `watch` of every change from now on."""
        with self._lock:
            self._all = (*self._all, watch)

    def remove(self, watch: Watch) -> None:
        """Tell it no more; nothing happens if it is gone already."""
        with self._lock:
            self._all = tuple(other for other in self._all if other is not watch)

    def tell(self) -> None:
        """The state has changed."""
        for watch in self._all:
            watch.changed()

    def tell_written(self) -> None:
        """Something else than the kernel step has changed the state; the watches hear of a change as well."""
        for watch in self._all:
            if watch.written is not None:
                watch.written()
        self.tell()

    def slice_seconds(self, longest: float) -> float:
        """How long a run may go on before it serves others: what the most eager watcher wants, at most `longest`."""
        return min([longest, *(watch.seconds for watch in self._all)])

    @property
    def pace(self) -> float | None:
        """Steps per second that a run may do: the least that a watcher asks for."""
        return min((watch.pace for watch in self._all if watch.pace is not None), default=None)

    @property
    def scalars(self) -> bool:
        """Whether somebody follows scalars."""
        return any(watch.scalars for watch in self._all)
