"""The progress of a long run in its cell: a bar, speed, time left and how to stop; static HTML and text, no widget."""

from __future__ import annotations

import threading
import time
from html import escape
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from workbench.amounts import counted, in_digits, seconds_text
from workbench.events import Listener, Progress, RunEnded, RunEvent
from workbench.run.progress import ProgressLine, in_words

PATIENCE_SECONDS = 1.0  # shorter runs show nothing
_UPDATE_SECONDS = 0.25  # a front end draws each update anew; a bar needs no more
STOP_HINT = "To stop: the ■ button, or Esc I I; it ends at a whole step."

_STYLE = (
    "display:flex;flex-wrap:wrap;align-items:center;gap:0 .8em;font-variant-numeric:tabular-nums;"
    "font-size:13px;line-height:1.6"
)


class ProgressDisplays:
    """Makes the listeners of runs in one shell: displays in a notebook's cells, a line on stderr everywhere else."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._place = CellOutput(-1)

    def new_listener(self) -> Listener:
        """A listener for one run. The runs of one cell take turns in one place, so that a loop leaves one line."""
        if getattr(self._shell, "kernel", None) is None or threading.current_thread() is not threading.main_thread():
            return ProgressLine()
        if self._place.cell != self._shell.execution_count:
            self._place = CellOutput(self._shell.execution_count)
        return ProgressDisplay(self._place)


class CellOutput:
    """Where a cell shows progress: nothing until something is put there, afterwards always the same output."""

    def __init__(self, cell: int) -> None:
        self.cell = cell
        self._handle: Any = None

    def put(self, text: str, html: str) -> None:
        """Show this there, instead of what was there before."""
        shown = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


class ProgressDisplay:
    """Listens to one run; writes into its place once the run has taken PATIENCE_SECONDS, then a few times a second.

    Nothing waits for the page: a display is a message that is sent and forgotten. At the end one line remains that
    says how many steps were done, and why no more.
    """

    def __init__(self, place: CellOutput) -> None:
        self._place = place
        self._next = time.perf_counter() + PATIENCE_SECONDS
        self._shown = False

    def __call__(self, event: RunEvent) -> None:
        """Show the event if it is time."""
        if isinstance(event, RunEnded):
            if self._shown:
                text = ended_text(event)
                self._place.put(text, f'<div style="{_STYLE}">{escape(text)}</div>')
            return
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + _UPDATE_SECONDS
        self._shown = True
        self._place.put(f"{in_words(event)}\n{STOP_HINT}", progress_html(event))


def progress_html(event: Progress) -> str:
    """A bar (without an end: one that only moves), the words, and how to stop."""
    share = "" if not event.of else f' value="{event.steps}" max="{event.of}"'
    label = escape(f"steps of {event.name}", quote=True)
    return (
        f'<div style="{_STYLE}"><progress{share} aria-label="{label}" style="width:10em"></progress>'
        f'<span>{escape(in_words(event))}</span><span style="opacity:.7">{escape(STOP_HINT)}</span></div>'
    )


def ended_text(event: RunEnded) -> str:
    """One line: "wave: 1200 steps in 3.4 s, 353 steps/s", and why no more if it is not that all were done."""
    rate = f", {in_digits(event.steps / event.seconds, 3)} steps/s" if event.seconds > 0 else ""
    done = f"{event.name}: {counted(event.steps, 'step')} in {seconds_text(event.seconds)}{rate}"
    match event.reason:
        case "done":
            return done
        case "until":
            return f"{done}; ended as until= says"
        case "stopped":
            return f"{done}; stopped at a whole step, run again to go on"
        case "failed":
            return f"{done}; failed, the state is that of the last whole step"
