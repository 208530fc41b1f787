"""Feeder: the thread between a simulation and a page; neither ever waits for the other."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable

from workbench.run.scheduling import page_first
from workbench.views.faults import fault_text
from workbench.views.page.flow import Flow

CLOSING_SECONDS = 2.0  # that closing a view waits for its thread
STATUS_SECONDS = 0.2  # how soon a page learns that a run has ended
REPEAT_SECONDS = 1.0  # between two times that the same failure is told

Command = Callable[[], None]


class Feeder:
    """Runs commands of the page in order and sends frames while something changes.

    `show(number)` makes and sends one frame, `tell()` sends what else has changed, `fail(text)` shows an error; all
    three are called in this thread only. Every other method returns at once and may be called by any thread, so
    nothing that handles messages touches arrays. Whatever these calls or a command raise is told by `fail`, and the
    thread goes on.
    """

    def __init__(
        self, show: Callable[[int], None], tell: Command, fail: Callable[[str], None], name: str = "field view"
    ) -> None:
        """Starts at once; the thread is called `name`."""
        self._show, self._tell, self._fail = show, tell, fail
        self._flow = Flow()
        self._woken = threading.Condition()
        self._commands: deque[Command] = deque()
        self._changed = False
        self._ended = False
        self._failed = ("", -1e9)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def changed(self) -> None:
        """There is something new to show; called by simulations after every slice."""
        if self._changed:
            return
        with self._woken:
            self._changed = True
            self._woken.notify()

    def post(self, command: Command) -> None:
        """Do this as soon as possible, then show what came of it."""
        with self._woken:
            self._flow.ask(time.monotonic())
            self._commands.append(command)
            self._woken.notify()

    def acknowledge(self, number: int) -> None:
        """The page has drawn this frame."""
        with self._woken:
            self._flow.acknowledge(number, time.monotonic())
            self._woken.notify()

    def end(self, timeout: float = CLOSING_SECONDS) -> None:
        """Send no more and end the thread; waits for that, at most so long, unless called in that thread."""
        with self._woken:
            self._ended = True
            self._woken.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    @property
    def alive(self) -> bool:
        """Whether the thread has not ended."""
        return self._thread.is_alive()

    def _run(self) -> None:
        with page_first():
            while not self._ended:
                self._attempt(self._once)

    def _attempt(self, command: Command) -> None:
        try:
            command()
        except Exception as error:  # is shown to the user, be it a refusal, no memory or a fault of ours
            self._told_failure(fault_text(error))

    def _told_failure(self, text: str) -> None:
        """What fails for each frame is told once a second."""
        before, at = self._failed
        now = time.monotonic()
        if text == before and now - at < REPEAT_SECONDS:
            return
        self._failed = (text, now)
        with contextlib.suppress(Exception):  # no page hears it any more
            self._fail(text)

    def _once(self) -> None:
        """Wait for something to do, at most STATUS_SECONDS, and do it."""
        with self._woken:
            now = time.monotonic()
            wait = self._flow.seconds_to_wait(now) if self._changed else STATUS_SECONDS
            if not self._commands and not self._ended and wait > 0:
                self._woken.wait(min(wait, STATUS_SECONDS))
            commands = tuple(self._commands)
            self._commands.clear()
            now = time.monotonic()
            number = 0
            if not self._ended and (self._changed or commands) and self._flow.seconds_to_wait(now) == 0:
                number = self._flow.send(now)
                self._changed = False
            elif commands:
                self._changed = True
        for command in commands:
            self._attempt(command)
        if number:
            self._show(number)
        elif not self._ended:
            self._tell()
