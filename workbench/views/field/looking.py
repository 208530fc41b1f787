"""Looking: what is looked at, how, and what was seen on the way; the state behind a field view, without any page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from workbench.errors import RunError
from workbench.graph import Graph
from workbench.run.hooks import lies_in_files
from workbench.run.parts import FieldParts, Part, part_of
from workbench.run.simulation import Simulation
from workbench.run.snapshots import Snapshot, take_snapshots
from workbench.run.state import STEP
from workbench.run.until import time_name
from workbench.views.field.animation import Recorder
from workbench.views.field.controls import ChooseLimits, Colours, Cutting, Forget, Turn, Volume
from workbench.views.field.curves import Chart, TimeSeries, lines_through, profiles
from workbench.views.field.flags import Wrong, cell_text, find_wrong
from workbench.views.field.palettes import PALETTES
from workbench.views.field.scatter import names_beside, summarise_particles
from workbench.views.field.summary import AxisLabel, Clock, FieldSummary, Limits, Look, parts_shown, summarise

MOST_PROBES = 8  # as many curves as one can tell apart


class Looking:
    """One value of a simulation and the look at it. Any thread may use it; reading waits for a whole step.

    Probes and scalars have one value for each look, not for each step; a look at which a scalar is not up to date gives
    it none.
    """

    def __init__(self, simulation: Simulation, name: str, axes: tuple[AxisLabel, ...], look: Look) -> None:
        """Looks once; raises FieldError if the value has no picture."""
        self._simulation, self._axes = simulation, axes
        self._in_files = lies_in_files(simulation)
        self._has_profiles = False  # whether profiles were drawn last, whose lines are then read with each look
        self._lock = threading.RLock()
        self._name, self._look_now = name, look
        self._limits: Limits = "growing" if look.limits is None else "held"
        self._clock = _clock_of(simulation.graph)
        self._wrong: Wrong | None = None
        self._seen_step: int | None = None
        self._good: int | None = None
        self._probes: dict[tuple[int, ...], TimeSeries] = {}
        clock = None if self._clock is None else self._clock.name
        self._scalars = {static.name: TimeSeries() for static in simulation.graph.scalars if static.name != clock}
        self._recorder: Recorder | None = None
        self._snapshot: Snapshot
        self._summary: FieldSummary
        self.again()

    # --- what was seen -----------------------------------------------------------------------------------------------

    @property
    def summary(self) -> FieldSummary:
        """What was seen last."""
        return self._summary

    @property
    def snapshot(self) -> Snapshot:
        """The record it was made of."""
        return self._snapshot

    @property
    def axes(self) -> tuple[AxisLabel, ...]:
        """The axes of the domain."""
        return self._axes

    @property
    def names(self) -> tuple[str, ...]:
        """What one may look at instead; of points, what else may colour them."""
        graph = self._simulation.graph
        if self._in_files:  # whose intermediates take whole fields
            return tuple(static.name for static in graph.fields)
        return pictured_names(graph) if self._look_now.window is None else names_beside(graph, self._name)

    @property
    def limits(self) -> Limits:
        """How the limits follow the values."""
        return self._limits

    @property
    def probes(self) -> tuple[tuple[int, ...], ...]:
        """The cells that are followed."""
        return tuple(self._probes)

    @property
    def recorded(self) -> int | None:
        """Frames recorded so far; None: nothing is recorded."""
        recorder = self._recorder
        return None if recorder is None else len(recorder)

    def again(self, turned_bad: Callable[[bool], bool] = lambda _: False) -> FieldSummary:
        """Look at the present state.

        turned_bad: called with whether a value is seen to be no finite number for the first time; says whether it has
        set the simulation back, which is then looked at anew.
        """
        with self._lock:
            self._show(self._name, turned_bad)
            if self._recorder is not None:
                self._recorder.append(self._summary)
            return self._summary

    def charts(self, groups: frozenset[str]) -> tuple[Chart, ...]:
        """Curves of what was seen, of these groups: scalars, probes, profiles."""
        with self._lock:
            self._has_profiles = "profiles" in groups and self._look_now.window is None
            if self._has_profiles:
                self._read(*lines_through(self._axes, self.point))
            time, unit = self._along()
            charts = []
            if "scalars" in groups:
                for static in self._simulation.graph.scalars:
                    if static.name in self._scalars:
                        curve = self._scalars[static.name].curve(static.name)
                        charts.append(Chart("scalars", static.name, time, unit, static.name, static.unit, (curve,)))
            if "probes" in groups and self._probes:
                curves = tuple(history.curve(cell_text(cell)) for cell, history in self._probes.items())
                name, where = self._name, "in probed cells" if self._look_now.window is None else "of probed particles"
                charts.append(Chart("probes", f"{name} {where}", time, unit, name, self._summary.unit, curves))
            if self._has_profiles:
                charts += profiles(self._snapshot, self._axes, self._summary.unit, self.point)
            return tuple(charts)

    @property
    def point(self) -> tuple[int, ...]:
        """The cell that profiles go through: that of the last probe, else where the axes are cut or their middles."""
        if self._probes:
            return next(reversed(self._probes))
        cuts = self._look_now.cuts
        return tuple(min(cuts.get(axis, label.cells // 2), label.cells - 1) for axis, label in enumerate(self._axes))

    # --- how one looks -----------------------------------------------------------------------------------------------

    def switch(self, name: str) -> None:
        """Look at another value; raises FieldError if that has no picture, and then nothing has changed."""
        with self._lock:
            if name == self._name:
                return
            before, self._seen_step, self._good = (self._seen_step, self._good), None, None
            try:
                self._show(name)
            except BaseException:
                self._seen_step, self._good = before
                raise
            self._look_now = replace(self._look_now, limits=None)
            self._limits = "growing" if self._limits == "held" else self._limits
            self._probes = {cell: TimeSeries() for cell in self._probes}
            for cell, history in self._probes.items():
                self._follow(history, cell)
            self._recorder = None

    def cut(self, axis: int, index: int) -> None:
        """Cut an axis at a cell."""
        with self._lock:
            self._look_now = replace(self._look_now, cuts={**self._look_now.cuts, axis: index})

    def turn(self, across: int, up: int) -> None:
        """Show these axes; what cannot be is ignored."""
        if across != up and {across, up} <= set(range(len(self._axes))):
            with self._lock:
                self._look_now = replace(self._look_now, across=across, up=up, volume=False)

    def show_volume(self) -> None:
        """Show three planes through one cell, where there are three axes."""
        with self._lock:
            self._look_now = replace(self._look_now, across=0, up=1, volume=len(self._axes) == 3)

    def hold_limits(self, limits: tuple[float, float]) -> None:
        """Keep these limits of the colours."""
        with self._lock:
            self._limits = "held"
            self._look_now = replace(self._look_now, limits=limits, reach=None)

    def choose_limits(self, limits: Limits) -> None:
        """Let the limits grow from now on, or follow each picture, or stay as they are."""
        with self._lock:
            self._limits = limits
            now = (self._summary.low, self._summary.high)
            self._look_now = replace(self._look_now, limits=now if limits == "held" else None, reach=None)

    def colour(self, palette: str) -> None:
        """Use this palette; an unknown one is ignored."""
        if palette in PALETTES:
            with self._lock:
                self._look_now = replace(self._look_now, palette=palette)

    def probe(self, cell: tuple[int, ...]) -> None:
        """Follow this cell from now on; in a volume, the planes go through it."""
        if len(cell) != len(self._axes) or not all(
            0 <= index < label.cells for index, label in zip(cell, self._axes, strict=True)
        ):
            sizes = " x ".join(str(label.cells) for label in self._axes)
            raise RunError(f"cell {cell} is not one of {sizes}", advice="Pass one index for each axis, from 0.")
        with self._lock:
            if cell not in self._probes:
                if len(self._probes) >= MOST_PROBES:
                    del self._probes[next(iter(self._probes))]
                self._probes[cell] = TimeSeries()
                step = self._seen_step
                self._read(cell)
                if self._seen_step == step:  # else followed there
                    self._follow(self._probes[cell], cell)
            if self._look_now.volume:
                self._look_now = replace(self._look_now, cuts=dict(enumerate(cell)))

    def forget(self) -> None:
        """Follow no cell any more."""
        with self._lock:
            self._probes = {}

    def start_over(self) -> None:
        """The state was set back: forget what was seen before."""
        with self._lock:
            self._wrong = self._seen_step = self._good = None
            self._look_now = replace(self._look_now, reach=None)
            self._probes = {cell: TimeSeries() for cell in self._probes}
            self._scalars = {name: TimeSeries() for name in self._scalars}

    def record(self) -> None:
        """Record what is seen from now on."""
        with self._lock:
            self._recorder = Recorder()
            self._recorder.append(self._summary)

    def recording(self) -> Recorder | None:
        """End recording; what was recorded, if anything."""
        with self._lock:
            recorder, self._recorder = self._recorder, None
            return recorder

    # --- inside ------------------------------------------------------------------------------------------------------

    def _show(self, name: str, turned_bad: Callable[[bool], bool] = lambda _: False) -> None:
        look, unit = self._look_now, self._unit(name)
        names = (name,) if look.window is None else (name, look.window.name)
        snapshot, *vectors = take_snapshots(self._simulation, names, self._parts() if self._in_files else ())
        if self._seen_step is not None and snapshot.steps < self._seen_step:
            self.start_over()
        look = self._look_now
        if name != self._name:
            look = replace(look, limits=None, reach=None)
        wrong = self._wrong if name == self._name else None
        if vectors:
            summary = summarise_particles(snapshot, vectors[0], self._axes, unit, look, wrong, self._clock)
        else:
            summary = summarise(snapshot, self._axes, unit, look, wrong, self._clock)
        if wrong is None:
            wrong = None if summary.all_well else self._find_wrong(summary, (snapshot, *vectors))
            if turned_bad(wrong is not None):
                self._show(name)
                return
            summary = summary if wrong is None else replace(summary, wrong=wrong)
            self._good = snapshot.steps if wrong is None else self._good
        fresh = snapshot.steps != self._seen_step
        self._name, self._snapshot, self._summary = name, snapshot, summary
        self._wrong, self._seen_step = wrong, snapshot.steps
        ends = [end for plane in summary.planes for end in (plane.minimum, plane.maximum) if end is not None]
        if self._limits == "growing" and ends:
            ends += look.reach or ()
            self._look_now = replace(self._look_now, reach=(min(ends), max(ends)))
        if fresh:
            for name_ in self._scalars.keys() - snapshot.stale:
                self._scalars[name_].append(self._place(), float(snapshot.numbers[name_]))
            for cell, history in self._probes.items():
                self._follow(history, cell)

    def _find_wrong(self, summary: FieldSummary, seen: tuple[Snapshot, ...]) -> Wrong | None:
        """In all cells; of a field in a file, in those that are shown."""
        for plane in summary.planes if summary.sampled else ():
            shown = find_wrong(plane.values[::-1], summary.step, self._good)
            cell = None if shown is None else plane.cell_at(shown.cell[1], len(plane.values) - 1 - shown.cell[0])
            if shown is not None and cell is not None:
                return replace(shown, cell=cell)
        for each in seen:
            if not isinstance(each.values, FieldParts):
                found = find_wrong(each.values, each.steps, self._good, bool(self._look_now.window))
                if found is not None:
                    return found
        return None

    def _parts(self) -> tuple[Part, ...]:
        """What is read of a field in a file: what is shown, cells that are followed, and lines of profiles."""
        lines = lines_through(self._axes, self.point) if self._has_profiles else ()
        return (*parts_shown(self._look_now, self._axes), *self._probes, *lines)

    def _read(self, *parts: Part) -> None:
        """Look anew if the last look at a field in a file did not read these parts."""
        values = self._snapshot.values
        if isinstance(values, FieldParts) and not all(part in values for part in parts):
            self._show(self._name)

    def _follow(self, history: TimeSeries, cell: tuple[int, ...]) -> None:
        history.append(self._place(), float(part_of(self._snapshot.values, cell)))

    def _place(self) -> float:
        """Where the present is on the axis of histories."""
        time = self._summary.time
        return float(self._snapshot.steps) if time is None else time

    def _along(self) -> tuple[str, str]:
        """Name and unit of the axis of histories."""
        if self._summary.time is None or self._clock is None:
            return "step", ""
        return self._clock.name, self._clock.unit

    def _unit(self, name: str) -> str:
        return next((static.unit for static in self._simulation.graph.statics if static.name == name), "")


def adjust(looking: Looking, control: Cutting | Turn | Volume | ChooseLimits | Colours | Forget) -> None:
    """Do what a page asks for and concerns only the look."""
    match control:
        case Cutting(axis, index):
            looking.cut(axis, index)
        case Turn(across, up):
            looking.turn(across, up)
        case Volume():
            looking.show_volume()
        case ChooseLimits(limits):
            looking.choose_limits(limits)
        case Colours(palette):
            looking.colour(palette)
        case Forget():
            looking.forget()


def _clock_of(graph: Graph) -> Clock | None:
    name = time_name(graph)
    return Clock(name, graph.static(name).unit) if name else None


def pictured_names(graph: Graph) -> tuple[str, ...]:
    """Fields, then the named intermediates of a step that have one value in each cell: all that has a picture."""
    names = [static.name for static in graph.fields]
    for kernel in graph.kernels:
        for node in kernel.nodes if kernel.name == STEP else ():
            if node.type is not None and node.space is not None and not node.space.is_global:
                names += [name for name in node.names if name not in names]
    return tuple(dict.fromkeys(names))
