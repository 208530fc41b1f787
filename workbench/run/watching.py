"""Watching: somebody who wants to hear, soon and often, that the state of a simulation has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.run.simulation import Simulation


@dataclass(slots=True, eq=False)
class Watch:
    """One watcher. `changed` is called in the thread that changed the state: it must return at once and never raise.

    `seconds` is the longest time between two whole steps at which others are served while a run goes on; `pace` the
    most steps per second that a run may do (None: as fast as it can); `scalars` that it follows scalars, so that those
    of slow steps are computed, too. All may be set at any time, by any thread.
    """

    changed: Callable[[], None]
    seconds: float
    pace: float | None = None
    scalars: bool = False


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

    def slice_seconds(self, longest: float) -> float:
        """How long a run may go on before it serves others: what the most eager watcher wants, at most `longest`."""
        return min([longest, *(watch.seconds for watch in self._all)])

    @property
    def pace(self) -> float | None:
        """Steps per second that a run may do: the slowest watcher's wish."""
        return min((watch.pace for watch in self._all if watch.pace is not None), default=None)

    @property
    def scalars(self) -> bool:
        """Whether somebody follows scalars."""
        return any(watch.scalars for watch in self._all)


def watch(simulation: Simulation, changed: Callable[[], None], seconds: float) -> Watch:
    """Call `changed()` after every change, in the thread that made it, at least every `seconds` of a run."""
    made = Watch(changed, seconds)
    simulation._state.watches.add(made)
    return made


def unwatch(simulation: Simulation, watch: Watch) -> None:
    """Call it no more."""
    simulation._state.watches.remove(watch)


def outdate(simulation: Simulation, why: str) -> None:
    """Its cell describes another program now: say so wherever the simulation is shown. "": it does not, any more."""
    simulation._state.outdated = why
    simulation._state.watches.tell()


def outdated(simulation: Simulation) -> str:
    """Why the simulation is no longer of the program that its cell describes; "" if it is."""
    return simulation._state.outdated


def failure_of(simulation: Simulation) -> BaseException | None:
    """What has ended its background run, if nobody has waited for that run yet."""
    background = simulation._background
    return None if background is None else background.failure


def is_closed(simulation: Simulation) -> bool:
    """Whether its memory was freed."""
    return simulation._state.closed
