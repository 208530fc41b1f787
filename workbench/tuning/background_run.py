"""A run in the background that can be paused and stopped: what a study of a machine and one of a program share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, Self

from workbench.arguments import explains_arguments
from workbench.errors import TuningError, shorten

State = Literal["running", "paused", "stopping", "done", "stopped", "failed", "watching"]


@explains_arguments
class BackgroundTask:
    """Work in a thread of its own, and those who listen to it. Any thread may use it.

    `state` says how it stands; `error` is what ended it, once that is "failed".
    """

    def __init__(self, state: State, kept: str = "Its results stay.") -> None:
        """Nothing runs until `_start`. kept: what is said to who interrupts it."""
        self.state: State = state
        self._kept = kept
        self.error: BaseException | None = None
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[Self], None]] = []

    @property
    def running(self) -> bool:
        """Whether it still works."""
        return self._thread is not None and not self._over.is_set()

    @property
    def failure(self) -> str:
        """What ended it, in one line; "" unless it failed."""
        if self.error is None:
            return ""
        return next(iter(str(self.error).splitlines()), type(self.error).__name__)

    def listen(self, listener: Callable[[Self], None]) -> None:
        """Call `listener` after each result and each change of state, in the thread of the run."""
        self._listeners.append(listener)

    def pause(self) -> Self:
        """Begin nothing more after what is under way, until `resume`. TuningError if another process runs it."""
        self._check_own()
        self._go.clear()
        self._say("paused")
        return self

    def resume(self) -> Self:
        """Go on after `pause`. TuningError if another process runs it."""
        self._check_own()
        self._go.set()
        self._say("running")
        return self

    def stop(self) -> Self:
        """End after what is under way; the results so far stay. TuningError if another process runs it."""
        self._check_own()
        self._stop.set()
        self._go.set()
        self._say("stopping")
        return self

    def wait(self, timeout: float | None = None) -> Self:
        """Wait for the end, or `timeout` seconds. An interrupt stops the run, unless another process runs it.

        Raises what ended it, if it failed.
        """
        if self._thread is not None:
            try:  # Thread.join, once it was interrupted, takes the thread for ended (Python issue 45274)
                self._over.wait(timeout)
            except KeyboardInterrupt as interrupt:
                self.stop()
                raise shorten(interrupt, f"It stops after what is under way. {self._kept}") from None
            if self.error is not None:
                raise self.error
        return self

    def _say(self, state: State) -> None:
        """Change the state of what still works; what stops goes on stopping."""
        with self._changed:
            if self.state not in ("running", "paused"):
                return
            self.state = state
            self._changed.notify_all()
        self._tell()

    def _check_own(self) -> None:
        if self.state == "watching":
            raise TuningError(
                "another process runs this study, which is only watched here",
                advice="Pause or stop it there, or interrupt that process; its results stay.",
            )

    def _start(self, work: Callable[[], State], name: str) -> None:
        """Call `work` in a thread of its own; it returns the state at the end."""

        def run() -> None:
            try:
                self._set(work())
            except BaseException as error:  # `wait` raises it in the thread that asks
                self.error = error
                self._set("failed")
            finally:
                self._over.set()

        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()

    def _set(self, state: State) -> None:
        with self._changed:
            self.state = state
            self._changed.notify_all()
        self._tell()

    def _tell(self: Self) -> None:
        for listener in tuple(self._listeners):
            listener(self)
