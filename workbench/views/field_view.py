"""FieldView: a field that one looks at; what `sim.view` returns, with or without a page that can draw it live."""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from workbench.run.rewinding import remember, rewind
from workbench.run.simulation import Simulation
from workbench.run.snapshots import take_snapshot
from workbench.run.watching import Watch, is_closed, unwatch, watch
from workbench.views.controls import (
    Colours,
    Control,
    Cutting,
    HoldLimits,
    Pace,
    Pause,
    Play,
    Point,
    Reset,
    SetParam,
    Step,
    Turn,
    read_control,
    steer,
)
from workbench.views.feeder import Feeder
from workbench.views.field import AxisLabel, FieldSummary, Look, describe, summarise
from workbench.views.live import LIVE_ADVICE, MIME
from workbench.views.messages import Message, frame_message, opening_message, point_message, status_message
from workbench.views.palettes import PALETTES
from workbench.views.picture import png_of

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

    Nothing runs and nothing is sent until a page says that it is ready, so a notebook executed without one never
    waits. `close()` frees the page and the thread; the simulation goes on.
    """

    def __init__(self, simulation: Simulation, name: str, axes: tuple[AxisLabel, ...], look: Look) -> None:
        """Looks once at the present state; raises FieldError if that has no picture."""
        self._simulation, self._name, self._axes = simulation, name, axes
        self._unit = next((s.unit for s in simulation.graph.statics if s.name == name), "")
        self._look = look
        self._snapshot = take_snapshot(simulation, name)
        self._summary = summarise(self._snapshot, axes, self._unit, look)
        self._start = remember(simulation)
        self._page: Page | None = None
        self._lock = threading.Lock()
        self._feeder: Feeder | None = None
        self._watch: Watch | None = None
        self._pace: float | None = None
        self._told: Message | None = None
        self._closed = False

    @property
    def summary(self) -> FieldSummary:
        """What was seen last."""
        return self._summary

    @property
    def png(self) -> bytes:
        """The present state as a PNG file."""
        self._look_again()
        return png_of(self._summary)

    def attach(self, page: Page) -> None:
        """Be live on this page as soon as it says that it is ready."""
        self._page = page

    def close(self) -> None:
        """End the thread, free the page. Closing twice does nothing."""
        self._closed = True
        self.leave()
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
                self._watch = watch(self._simulation, self._feeder.changed, SLICE_SECONDS)
                self._watch.pace = self._pace
            self._feeder.post(self._open)

    def leave(self) -> None:
        """No page looks any more: nothing is computed or sent until one is ready again."""
        with self._lock:
            feeder, watched = self._feeder, self._watch
            self._feeder = self._watch = None
        if watched is not None:
            unwatch(self._simulation, watched)
        if feeder is not None:
            feeder.end()

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
        match control:
            case Play() | Pause() | Step() | Pace() | SetParam():
                self._steer(control)
            case Reset():
                rewind(self._simulation, self._start)
            case Cutting(axis, index):
                self._look = replace(self._look, cuts={**self._look.cuts, axis: index})
            case Turn(across, up):
                if across != up and {across, up} <= set(range(len(self._axes))):
                    self._look = replace(self._look, across=across, up=up)
            case HoldLimits(hold):
                limits = (self._summary.low, self._summary.high) if hold else None
                self._look = replace(self._look, limits=limits)
            case Colours(palette):
                if palette in PALETTES:
                    self._look = replace(self._look, palette=palette)
            case Point(column, row):
                self._send(point_message(column, row, self._summary.value_at(column, row)))

    def _steer(self, control: Play | Pause | Step | Pace | SetParam) -> None:
        watched = self._watch
        if watched is not None:
            steer(self._simulation, watched, control)
            self._pace = watched.pace

    def _open(self) -> None:
        self._told = None
        self._send(opening_message(self._simulation.graph, self._snapshot, self._axes))

    def _look_again(self) -> None:
        self._snapshot = take_snapshot(self._simulation, self._name)
        self._summary = summarise(self._snapshot, self._axes, self._unit, self._look)

    def _show(self, number: int) -> None:
        self._look_again()
        self._send(frame_message(number, self._summary))
        self._tell()

    def _tell(self) -> None:
        """Say what the run does, if that is new."""
        simulation = self._simulation
        told = status_message(simulation.running, simulation.paused, self._numbers(), self._look.limits is not None)
        if told != self._told:
            self._told = told
            self._send(told)

    def _numbers(self) -> Mapping[str, bool | int | float]:
        params = {static.name for static in self._simulation.graph.params}
        return {name: value for name, value in self._snapshot.numbers.items() if name in params}

    def _fail(self, text: str) -> None:
        self._send(Message({"type": "error", "text": text}))
        if is_closed(self._simulation):
            self._closed = True
            self.leave()

    def _send(self, message: Message) -> None:
        page = self._page
        if page is not None:
            page.send_message(message)

    # --- without a page ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return describe(self._summary)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """A live view where the page has the extension, a picture elsewhere, and words."""
        bundle: dict[str, object] = {
            "text/plain": describe(self._summary),
            "image/png": base64.b64encode(png_of(self._summary)).decode("ascii"),
        }
        if self._page is None:
            bundle["text/plain"] = f"{bundle['text/plain']}\n{LIVE_ADVICE}"
        else:
            bundle[MIME] = {"version": 1, "model_id": self._page.model_id}
        return bundle
