"""Ownership: one thread at a time touches a simulation; the others' requests are served at slice borders, in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from workbench.backends.base import StopFlag
from workbench.errors import RunError
from workbench.forking import renew_when_forked

Result = TypeVar("Result")
_RESERVED = -1


class Owner:
    """Guards one state.

    Idle: `do` runs an action at once, under a lock. Owned (a run is going on): the owner runs actions at once, all
    other threads post theirs and wait until the owner calls `serve`, which it does at whole steps only. `slice_end`
    asks the owner to do that after the step of now, and not only when a slice of its run has ended.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._arrived = threading.Condition(self._lock)
        self._released = threading.Condition(self._lock)
        self._owner: int | None = None
        self.slice_end = StopFlag()
        self._commands: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._lost = False
        renew_when_forked(self)

    def renew_in_child(self) -> None:
        """In a forked process: the thread of a run is not there, and may have left half a step behind."""
        self._lost = self._lost or self._owner not in (None, threading.get_ident())
        if self._lost:
            self._owner = None
        self._lock = threading.RLock()
        self._arrived, self._released = threading.Condition(self._lock), threading.Condition(self._lock)
        self._commands = deque()

    def _refuse_lost(self) -> None:
        if self._lost:
            raise RunError(
                "this simulation was running when its process was forked; the run goes on there, not here",
                advice='Make a simulation in the new process, or start it by multiprocessing.get_context("spawn").',
            )

    @property
    def owned(self) -> bool:
        """Whether a run is going on."""
        return self._owner is not None

    @property
    def waiting(self) -> bool:
        """Whether a thread waits to be served."""
        return bool(self._commands)

    def do(self, action: Callable[[], Result], *, at_once: bool = False) -> Result:
        """Run `action` when the state is that of a whole step, and return or raise what it does.

        at_once: at the next whole step. Only for what is rare: to ask so again and again stops the run.
        """
        with self._lock:
            self._refuse_lost()
            if self._owner is None or self._owner == threading.get_ident():
                return action()
            future: Future[Result] = Future()
            self._commands.append((action, future))
            self._arrived.notify_all()
            if at_once:
                self.slice_end.set()
        return future.result()

    def reserve(self, what: str) -> None:
        """Take the state for a run whose thread will `adopt` it. Raises RunError if a run is going on already."""
        with self._lock:
            self._refuse_lost()
            if self._owner == threading.get_ident():
                raise RunError(
                    f"{what} is running, and this is called during that run (in its progress callback)",
                    advice="Call it after the run has ended; set() and reading work in the callback.",
                )
            if self._owner is not None:
                raise RunError(
                    f"{what} is running already, in another thread",
                    advice="Call wait() or stop() first; set() and reading work meanwhile.",
                )
            self._owner = _RESERVED

    def adopt(self) -> None:
        """Become the owner of what was reserved."""
        with self._lock:
            self._owner = threading.get_ident()

    def serve(self) -> None:
        """Run what was posted, in order. An action's exception goes to who posted it, not to the owner."""
        self.slice_end.clear()
        while self._commands:
            action, future = self._commands.popleft()
            try:
                future.set_result(action())
            except Exception as error:
                future.set_exception(error)

    def wait_released(self, timeout: float | None) -> None:
        """Wait until no thread owns the state, at most so long; at once for the owner itself."""
        with self._lock:
            if self._owner != threading.get_ident():
                self._released.wait_for(lambda: self._owner is None, timeout)

    def sleep(self, seconds: float) -> None:
        """Wait until something is posted, at most so long."""
        with self._lock:
            if not self._commands:
                self._arrived.wait(seconds)

    def release(self) -> None:
        """Serve what is left and give the state back."""
        while True:
            self.serve()
            with self._lock:
                if not self._commands:
                    self._owner = None
                    self._released.notify_all()
                    return
