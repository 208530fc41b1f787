"""Background: a run in a thread of its own, which may be paused, resumed, stopped and waited for."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

from workbench.events import RunEnded
from workbench.run.marching import March
from workbench.run.ownership import Owner
from workbench.run.scheduling import let_others_go_first


class BackgroundRun:
    """One run in a thread. The thread owns the simulation from the constructor's return to its end."""

    def __init__(self, march: March, owner: Owner, name: str, around: AbstractContextManager[None]) -> None:
        """Starts at once; `around` is entered and left in the thread. Raises RunError if a run goes on already."""
        owner.reserve(name)
        self.march = march
        self._owner = owner
        self._around = around
        self._ended: RunEnded | None = None
        self._error: BaseException | None = None
        # A daemon, so that an endless run does not keep the interpreter alive; run/alive.py stops it in time.
        self._thread = threading.Thread(target=self._run, name=f"simulation {name}", daemon=True)
        try:
            self._thread.start()
        except BaseException:  # no thread, no owner
            owner.release()
            raise

    @property
    def alive(self) -> bool:
        """Whether the thread has not ended yet."""
        return self._thread.is_alive()

    @property
    def failure(self) -> BaseException | None:
        """What ended the run, until a caller waits for it."""
        return self._error

    @property
    def owned_here(self) -> bool:
        """Whether the caller is the run's own thread (a listener, for instance)."""
        return self._thread is threading.current_thread()

    def join(self, seconds: float) -> None:
        """Wait for the end, at most so long; says and raises nothing."""
        self._thread.join(seconds)

    def wait(self, timeout: float | None = None) -> RunEnded | None:
        """Wait for the end; None if it has not come in time. Raises, once, what ended the run."""
        self._thread.join(timeout)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._ended

    def _run(self) -> None:
        self._owner.adopt()
        let_others_go_first()
        try:
            with self._around:
                self._ended = self.march.advance()
        except BaseException as error:  # it is raised in the caller that waits, whatever it is
            self._error = error
        finally:
            self._owner.release()
