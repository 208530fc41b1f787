"""FieldView: a field that one looks at; what `sim.view` returns, with or without a page that can draw it live."""

from __future__ import annotations

import base64
import contextlib
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from workbench.run.guarding import Guard
from workbench.run.hooks import failure_of, is_closed, note_of, unwatch, watch
from workbench.run.playing import pace_of
from workbench.run.progress import silent
from workbench.run.rewinding import remember, rewind
from workbench.run.simulation import Simulation
from workbench.run.snapshots import needs_compiler, prepare_snapshot
from workbench.run.watching import Watch
from workbench.views.faults import fault_text
from workbench.views.field.animation import Recorder
from workbench.views.field.controls import (
    ChooseCharts,
    ChooseLimits,
    Colours,
    Control,
    Cutting,
    Export,
    Follow,
    Forget,
    Pace,
    Pause,
    Play,
    Point,
    RecordFrames,
    Reset,
    SetParam,
    Speed,
    StepOnce,
    Switch,
    Turn,
    Volume,
    read_control,
    steer,
)
from workbench.views.field.curves import Chart
from workbench.views.field.figure import svg_of
from workbench.views.field.files import KINDS, write_file
from workbench.views.field.looking import Looking, adjust
from workbench.views.field.messages import (
    RunStatus,
    charts_message,
    file_message,
    frame_message,
    opening_message,
    point_message,
    status_message,
)
from workbench.views.field.still import png_of
from workbench.views.field.summary import AxisLabel, FieldSummary, Look
from workbench.views.field.words import describe
from workbench.views.page.feeder import CLOSING_SECONDS, Feeder
from workbench.views.page.live import live_entries, still_entries
from workbench.views.page.message import Message

GROUPS = frozenset({"scalars", "probes", "profiles"})
CHART_WIDTH = 480  # pixels, until the page says how wide it is
CHART_SECONDS = 0.2  # between two drawings of the charts; curves are read, not watched
SLICE_SECONDS = 1 / 120  # of a run that is looked at; a frame waits for the end of one


class Page(Protocol):
    """The other end: something that shows messages. `send` is called in the view's own thread."""

    @property
    def model_id(self) -> str:
        """By which a notebook finds it again."""

    def send_message(self, message: Message) -> None:
        """Send; must not wait for an answer."""

    def close(self) -> None:
        """Take it off the page and free it."""


class FieldView:
    """One value of a simulation, live where a page can draw it, else as a picture and in words.

    Nothing runs and nothing is sent until a page is ready, so that a notebook executed without a page never waits.
    `close()` frees the page and the thread; the simulation goes on.
    """

    def __init__(self, simulation: Simulation, name: str, axes: tuple[AxisLabel, ...], look: Look) -> None:
        """Looks once at the present state; raises FieldError if that has no picture."""
        self._simulation = simulation
        self._looking = Looking(simulation, name, axes, look)
        self._start = remember(simulation)  # None: no field has room for a copy
        self._page: Page | None = None
        self._lock = threading.Lock()
        self._feeder: Feeder | None = None
        self._watch: Watch | None = None
        self._guard: Guard | None = None
        self._speed = Speed()
        self._told: Message | None = None
        self._charts = ChooseCharts(frozenset({"probes"}), CHART_WIDTH)
        self._charts_sent = 0.0
        self._charts_due = False
        self._drawn: Message | None = None
        self._failure: BaseException | None = None
        self._waits_for = ""
        self._closed = False

    @property
    def summary(self) -> FieldSummary:
        """What was seen last."""
        return self._looking.summary

    @property
    def widget(self) -> Page | None:
        """The widget, for containers of ipywidgets; None without a page."""
        return self._page

    @property
    def png(self) -> bytes:
        """The present state as a PNG file."""
        return png_of(self._looking.again())

    @property
    def svg(self) -> str:
        """The present state with axes and numbers, and all charts, as SVG text."""
        return svg_of(self._looking.again(), self.charts)

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Curves of what was seen so far: scalars and probed cells over time, profiles through the last probe."""
        return self._looking.charts(GROUPS)

    def probe(self, *cell: int) -> Self:
        """Follow the value in this cell, one index for each axis; profiles go through it. Returns the view."""
        self._looking.probe(tuple(map(int, cell)))
        self._stir()
        return self

    def look(
        self,
        *,
        name: str | None = None,
        cuts: Mapping[int, int] | None = None,
        plane: tuple[int, int] | None = None,
        volume: bool = False,
        limits: tuple[float, float] | None = None,
    ) -> Self:
        """Show another value, of points as colours; cut axes; show two axes (right, up), three planes; hold limits."""
        if name is not None:
            self._looking.switch(name)
        for axis, index in (cuts or {}).items():
            self._looking.cut(axis, index)
        if plane is not None:
            self._looking.turn(*plane)
        if volume:
            self._looking.show_volume()
        if limits is not None:
            self._looking.hold_limits(limits)
        self._looking.again()
        self._stir()
        return self

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Write the present view: .png and .svg pictures, .npy all values exactly, .csv the curves of all charts."""
        summary = self._looking.again()
        kind = Path(path).suffix.removeprefix(".").lower()
        Path(path).write_bytes(write_file(kind, self._looking.snapshot, summary, self.charts))
        return self

    def record(self, path: str | os.PathLike[str], frames: int, every: int = 1) -> Self:
        """Run `frames` times `every` steps and write the pictures between them as a GIF file."""
        recorder = Recorder()
        recorder.append(self._looking.again())
        for _ in range(frames):
            self._simulation.run(every, progress=silent)
            recorder.append(self._looking.again())
        Path(path).write_bytes(recorder.gif())
        return self

    def attach(self, page: Page) -> None:
        """Be live on this page as soon as it says that it is ready."""
        self._page = page

    def close(self) -> None:
        """End the thread, free the page. Closing twice does nothing."""
        self._closed = True
        self.leave(CLOSING_SECONDS)
        page, self._page = self._page, None
        if page is not None:
            page.close()

    # --- what the page says; handlers of messages call these, so they return at once ---------------------------------

    def ready(self) -> None:
        """A page is there, for the first time or again: tell it everything."""
        with self._lock:
            if self._closed or self._page is None:
                return
            if self._feeder is None or not self._feeder.alive:
                self._feeder = Feeder(self._show, self._tell, self._fail)
                self._guard = None if self._start is None else Guard(self._simulation)  # which has copies, too
                self._watch = watch(self._simulation, self._feeder.changed, SLICE_SECONDS)
                self._watch.pace, self._watch.scalars = self._speed.pace, "scalars" in self._charts.groups
                self._watch.written = None if self._guard is None else self._guard.written
            self._feeder.post(self._open)

    def leave(self, seconds: float = 0.0) -> None:
        """No page looks any more: nothing is computed or sent until one is ready again.

        Waits at most so long for the thread; not at all when a page says so.
        """
        with self._lock:
            feeder, watched = self._feeder, self._watch
            self._feeder = self._watch = self._guard = None
        if watched is not None:
            unwatch(self._simulation, watched)
        if feeder is not None:
            feeder.end(seconds)

    def receive(self, message: Mapping[str, object]) -> None:
        """A message of the page; one that cannot be read is ignored."""
        feeder = self._feeder
        if feeder is None:
            return
        number = message.get("number")
        if message.get("type") == "drawn" and isinstance(number, int):
            feeder.acknowledge(number)
            return
        control = read_control(message)
        if control is not None:
            feeder.post(lambda: self._do(control))

    # --- in the feeder's thread --------------------------------------------------------------------------------------

    def _do(self, control: Control) -> None:
        looking = self._looking
        match control:
            case Play() | Pause() | StepOnce() | Pace() | SetParam():
                self._steer(control)
            case Reset():
                rewind(self._simulation, self._start)
                looking.start_over()
            case Switch(name):
                self._switch(name)
            case Cutting() | Turn() | Volume() | ChooseLimits() | Colours() | Forget():
                adjust(looking, control)
            case Point() | Follow():
                self._point(control)
            case ChooseCharts():
                self._charts = control
                if self._watch is not None:
                    self._watch.scalars = "scalars" in control.groups
            case RecordFrames(on):
                self._record(on)
            case Export(kind):
                self._export(kind)
        self._charts_due = True

    def _switch(self, name: str) -> None:
        """Show another value. It is compiled in the background, beside the present one; the latest request wins."""
        self._waits_for = name if needs_compiler(self._simulation, name) else ""
        if self._waits_for:
            threading.Thread(target=self._compile, args=(name, self._feeder), name="probe", daemon=True).start()
        else:
            self._switch_compiled(name)

    def _compile(self, name: str, feeder: Feeder | None) -> None:
        with contextlib.suppress(Exception):  # what fails here fails again in the switch, which tells it
            prepare_snapshot(self._simulation, name)
        if feeder is not None:
            feeder.post(lambda: self._switch_compiled(name) if self._waits_for == name else None)

    def _switch_compiled(self, name: str) -> None:
        """A recording is of one value, so it ends here and is handed over."""
        self._waits_for = ""
        if name != self.summary.name:
            self._record(False)
        self._looking.switch(name)

    def _steer(self, control: Play | Pause | StepOnce | Pace | SetParam) -> None:
        watched = self._watch
        if watched is not None:
            steer(self._simulation, watched, self._speed, control)

    def _point(self, control: Point | Follow) -> None:
        planes = self.summary.planes
        plane = planes[min(max(control.plane, 0), len(planes) - 1)]
        cell = plane.cell_at(control.column, control.row)
        if isinstance(control, Follow) and cell is not None:
            self._looking.probe(cell)
        self._send(point_message(cell, plane.value_at(control.column, control.row)))

    def _record(self, on: bool) -> None:
        if on:
            self._looking.record()
            return
        recorder = self._looking.recording()
        if recorder is not None:
            self._send(file_message(f"{self.summary.name}.gif", "image/gif", recorder.gif()))

    def _export(self, kind: str) -> None:
        summary = self._looking.again()
        charts = self._looking.charts(GROUPS if kind == "csv" else self._charts.groups)
        data = write_file(kind, self._looking.snapshot, summary, charts)
        self._send(file_message(f"{summary.name}-step-{summary.step}.{kind}", KINDS[kind].media_type, data))

    def _open(self) -> None:
        self._told = self._drawn = None
        self._charts_due = True
        graph, looking = self._simulation.graph, self._looking
        self._send(opening_message(graph, looking.snapshot, looking.axes, looking.names))

    def _show(self, number: int) -> None:
        self._send(frame_message(number, self._looking.again(self._turned_bad), self._looking.probes))
        self._charts_due = True
        self._tell()

    def _turned_bad(self, bad: bool) -> bool:
        """Hold a run that makes no finite numbers any more, and say so; whether it was set back."""
        guard, simulation = self._guard, self._simulation
        error = guard.look(bad) if guard is not None else None
        if guard is None or error is None:
            return False
        how = "Held" if simulation.paused else "The run that a cell waited for has ended" if guard.failed else ""
        told = f"\n{how} at step {simulation.steps}: Play goes on, Reset begins again." if how else ""
        self._send(Message({"type": "error", "text": f"{error}{told}"}))
        return True

    def _tell(self) -> None:
        """Say what the run does, if that is new, and draw the charts, now and then."""
        simulation, looking = self._simulation, self._looking
        running = simulation.running and not simulation.paused
        pace = pace_of(simulation) if running else self._speed.played
        seen = (looking.limits, looking.recorded, looking.probes)
        params = self._numbers()
        told = status_message(RunStatus(running, pace, *seen, self._waits_for, note_of(simulation, params)), params)
        if told != self._told:
            self._told = told
            self._send(told)
        failure = failure_of(simulation)
        if failure is not None and failure is not self._failure:
            # No cell waits for a run that a page has started, so it is said here.
            self._send(Message({"type": "error", "text": fault_text(failure, "the run has ended")}))
        self._failure = failure
        now = time.monotonic()
        if self._charts_due and now - self._charts_sent > CHART_SECONDS:
            self._charts_sent, self._charts_due = now, False
            drawn = charts_message(looking.charts(self._charts.groups), self._charts.width)
            if drawn != self._drawn:
                self._drawn = drawn
                self._send(drawn)

    def _numbers(self) -> Mapping[str, bool | int | float]:
        params = {static.name for static in self._simulation.graph.params}
        return {name: value for name, value in self._looking.snapshot.numbers.items() if name in params}

    def _stir(self) -> None:
        """Something is looked at in another way: show it, if a page looks."""
        feeder = self._feeder
        if feeder is not None:
            feeder.changed()

    def _fail(self, text: str) -> None:
        ended = is_closed(self._simulation)
        self._send(Message({"type": "error", "text": text, "ended": ended}))
        if ended:
            self._closed = True
            self.leave()

    def _send(self, message: Message) -> None:
        page = self._page
        if page is not None:
            page.send_message(message)

    # --- without a page ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return describe(self.summary)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """A live view where the page has the extension, a picture elsewhere, and words."""
        bundle: dict[str, object] = {
            "text/plain": describe(self.summary),
            "image/png": base64.b64encode(png_of(self.summary)).decode("ascii"),
        }
        if self._page is None:
            bundle |= still_entries(describe(self.summary), closed=self._closed)
        else:
            bundle |= live_entries(self._page.model_id)
        return bundle
