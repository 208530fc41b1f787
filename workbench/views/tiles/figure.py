"""Tiles figure: the pieces as a Bokeh figure, with a bar of turns below it to be moved along."""

from __future__ import annotations

from typing import Any, Protocol

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, HoverTool, NoOverlap, Range1d
from bokeh.plotting import figure

from workbench.graph.display_hook import Bundle
from workbench.views.drawing.line_plot import colour_of
from workbench.views.drawing.shapes import Drawing
from workbench.views.page.bokeh_pane import BokehPane, Tool, ToolState
from workbench.views.tiles.drawing import axis_labels, colour_number, tile_edges
from workbench.views.tiles.pieces import TilesSummary
from workbench.views.tiles.plane import PlaneFigure

_TOOLS = (
    Tool("play", "Play", "Turns follow each other"),
    Tool("back", "One back", "One turn back"),
    Tool("on", "One on", "One turn further"),
)
_KEYS = ("ArrowLeft", "ArrowRight", "Home", "End", " ")
_PALE, _EDGE, _BAR = "#8a949f", "#8a949f", "#1a6fb5"


class Turned(Protocol):
    """A view that goes from turn to turn, as far as its figure needs it."""

    summary: TilesSummary
    turn: int

    @property
    def playing(self) -> bool:
        """Whether turns follow each other by themselves."""

    @property
    def drawing(self) -> Drawing:
        """The picture of now."""

    def show(self, turn: int) -> None:
        """Show what is done after so many turns."""

    def play(self) -> None:
        """Let turns follow each other."""

    def pause(self) -> None:
        """Stay where it is."""


class TilesFigure:
    """The figure of one view."""

    def __init__(self, view: Turned) -> None:
        summary = view.summary
        self._view = view
        band = "band" if summary.plane is None else "stage"
        self._pieces = ColumnDataSource(
            {
                "left": [piece.first for piece in summary.pieces],
                "right": [piece.last for piece in summary.pieces],
                "bottom": [piece.level for piece in summary.pieces],
                "top": [piece.level + 1 for piece in summary.pieces],
                "colour": [colour_of(colour_number(summary, piece)) for piece in summary.pieces],
                "alpha": self._alphas(),
                "line": self._lines(),
                "thread": [piece.thread for piece in summary.pieces],
                "tile": [f"{piece.tile} of {band} {piece.band}" for piece in summary.pieces],
                "turn": [piece.turn + 1 for piece in summary.pieces],
            }
        )
        self._bar = ColumnDataSource({"right": [view.turn]})
        plot, self._slider = self._plot(), self._turns()
        self._plane = None if summary.plane is None else PlaneFigure(summary, view.turn)
        above = [] if self._plane is None else [self._plane.plot]
        layout = column(*above, plot, self._slider, sizing_mode="stretch_width")
        self._pane = BokehPane(
            layout,
            label=f"tiles of {summary.machine}",
            picture=lambda: view.drawing,
            text=lambda: str(view),
            keys=_KEYS,
            tools=_TOOLS,
        )
        for event in ("tap", "pan"):
            self._pane.on_event(self._slider, event, self._move)
        self._pane.on_tool(lambda name, _: self._use(name))
        self._pane.on_key(self._key)
        self._tell()

    def update(self) -> None:
        """Show the turn of the view."""

        def show() -> None:
            count = len(self._view.summary.pieces)
            self._pieces.patch(
                {"alpha": [(slice(0, count), self._alphas())], "line": [(slice(0, count), self._lines())]}
            )
            self._bar.data = {"right": [self._view.turn]}
            if self._plane is not None:
                self._plane.show(self._view.turn)

        self._pane.patch(show)
        self._tell()

    def bundle(self) -> Bundle:
        """The forms in which a notebook shows it."""
        return self._pane._repr_mimebundle_()

    def close(self) -> None:
        """Free the pane."""
        self._pane.close()

    def _alphas(self) -> list[float]:
        return [1.0 if piece.turn < self._view.turn else 0.0 for piece in self._view.summary.pieces]

    def _lines(self) -> list[float]:
        """The width of outlines: those of the last turn are seen."""
        last = self._view.turn - 1
        return [2.0 if piece.turn == last else 0.0 for piece in self._view.summary.pieces]

    def _tell(self) -> None:
        view = self._view
        self._pane.say(str(view))
        self._pane.show_tools(
            ToolState("play", label="Pause" if view.playing else "Play"),
            ToolState("back", disabled=view.turn <= 0),
            ToolState("on", disabled=view.turn >= view.summary.turns),
        )

    def _use(self, name: str) -> None:
        view = self._view
        match name:
            case "play":
                if view.playing:
                    view.pause()
                else:
                    view.play()
            case "back" | "on":
                view.pause()
                view.show(view.turn + (1 if name == "on" else -1))
            case _:
                return
        self._tell()

    def _key(self, key: str) -> None:
        ends = {"Home": 0, "End": self._view.summary.turns}
        if key in ends:
            self._view.pause()
            self._view.show(ends[key])
        else:
            self._use({"ArrowLeft": "back", "ArrowRight": "on", " ": "play"}.get(key, ""))

    def _move(self, event: Any) -> None:  # noqa: ANN401  # Bokeh's
        if event.x is not None:
            self._view.pause()
            self._view.show(round(event.x))

    def _plot(self) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        summary = self._view.summary
        across, upwards = axis_labels(summary)
        what = "threads" if summary.plane is None else "stages"
        plot = figure(
            title=f"colours: {what}",  # short, for narrow pages; whose they are is said below
            x_range=Range1d(0, summary.rows),
            y_range=Range1d(0, summary.levels),
            sizing_mode="stretch_width",
            height=340,
            tools="",
            toolbar_location=None,
            x_axis_label=across,
            y_axis_label=upwards,
        )
        plot.grid.visible = False
        plot.xaxis.major_label_policy = NoOverlap()
        quads = plot.quad(
            left="left",
            right="right",
            bottom="bottom",
            top="top",
            fill_color="colour",
            fill_alpha="alpha",
            line_color=_EDGE,
            line_width="line",
            source=self._pieces,
        )
        edges = list(tile_edges(summary))
        plot.segment(
            [a[0] for a, _ in edges],
            [a[1] for a, _ in edges],
            [b[0] for _, b in edges],
            [b[1] for _, b in edges],
            line_color=_PALE,
        )
        tips = [("turn", "@turn"), ("rows", "@left to @right")]
        named = [("thread", "@thread"), ("tile", "@tile")] if summary.plane is None else [("tower", "@tile")]
        plot.add_tools(HoverTool(renderers=[quads], tooltips=[*named, *tips]))
        return plot

    def _turns(self) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        bar = figure(
            x_range=Range1d(0, self._view.summary.turns),
            y_range=Range1d(0, 1),
            sizing_mode="stretch_width",
            height=64,
            tools="pan",
            toolbar_location=None,
            x_axis_label="turns done: click or drag",
        )
        bar.x_range.bounds = "auto"
        bar.toolbar.active_drag = None
        bar.yaxis.visible = False
        bar.xaxis.major_label_policy = NoOverlap()
        bar.grid.visible = False
        bar.quad(left=0, right="right", bottom=0.2, top=0.8, fill_color=_BAR, line_color=None, source=self._bar)
        return bar
