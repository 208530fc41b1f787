"""Study figure: the scores of a study as a Bokeh figure in a pane; thin, the marks come ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure

from workbench.amounts import error_text
from workbench.graph.display_hook import Bundle
from workbench.views.drawing.shapes import Drawing
from workbench.views.page.bokeh_pane import BokehPane, Tool, ToolState
from workbench.views.study.choice_figure import ChoiceFigure
from workbench.views.study.drawing import COPIED, LINE, MEASURED, best_steps, family_lines, score_range
from workbench.views.study.frame import BEST, FAILED
from workbench.views.study.launch_figure import LaunchMapFigure
from workbench.views.study.summary import IndividualMark, Scores

_ROOM = 0.04  # of the axis, below its lower end, where failures stand
_TOOLS = (
    Tool("pause", "Pause", "Measure nothing more after this individual, until you resume"),
    Tool("stop", "Stop", "End the study; what it found stays"),
)
_USE = Tool("use", "Use the best now", "Simulations of this program that are open go on with the best choices so far")


class StudyFigure:
    """One figure of a study's summary."""

    def __init__(
        self, summarise: Callable[[], Scores], *, picture: Callable[[], Drawing], text: Callable[[], str], usable: bool
    ) -> None:
        """summarise: what is to be shown, called in the thread that shows it. usable: "Use the best now" is offered."""
        summary = summarise()
        self._summarise, self._usable, self._said = summarise, usable, ""
        self._passed = ColumnDataSource()
        self._failed = ColumnDataSource()
        self._best = ColumnDataSource()
        self._family = ColumnDataSource()
        self._plot = self._figure(summary.noun, summary.unit, usable)
        self._choices = ChoiceFigure(summary.noun, self._plot.x_range, summary.chosen, usable)
        self._launches = LaunchMapFigure(summary.launches)
        self._show(summary)
        label = f"study of {summary.program}: scores and choices of all individuals"
        layout = column(self._plot, self._choices.layout, self._launches.plot, sizing_mode="stretch_width")
        tools = (*_TOOLS, _USE) if usable else _TOOLS
        self._pane = BokehPane(layout, label=label, picture=picture, text=text, tools=tools)
        self._tell(summary)

    def on_tool(self, callback: Callable[[str, str], None]) -> None:
        """Call with the name of a control that is used."""
        self._pane.on_tool(callback)

    def update(self) -> None:
        """Show what is new; with a page, in the pane's thread, so that who measures does not wait."""

        def show() -> None:
            summary = self._summarise()
            self._show(summary)
            self._tell(summary)

        self._pane.patch(show)

    def say(self, line: str) -> None:
        """Show a further line below the figures from the next update on."""
        self._said = line

    def bundle(self) -> Bundle:
        """The forms in which a notebook shows it."""
        return self._pane._repr_mimebundle_()

    def close(self) -> None:
        """Free the pane."""
        self._pane.close()

    def _tell(self, summary: Scores) -> None:
        self._pane.say("\n".join(filter(None, (summary.text(), self._said))))
        over = summary.state not in ("running", "paused")
        paused = summary.state == "paused"
        states = [
            ToolState("pause", disabled=over, label="Resume" if paused else "Pause"),
            ToolState("stop", disabled=over),
        ]
        if self._usable:
            states.append(ToolState("use", disabled=summary.best is None))
        self._pane.show_tools(*states)

    def _show(self, summary: Scores) -> None:
        low, high = score_range(summary)
        self._plot.y_range.start, self._plot.y_range.end = low - _ROOM * (high - low), high
        passed = [mark for mark in summary.marks if mark.score is not None]
        failed = [mark for mark in summary.marks if mark.score is None]
        self._passed.data = {
            **_words(passed),
            "y": [mark.score for mark in passed],
            "low": [mark.low for mark in passed],
            "high": [mark.high for mark in passed],
            "colour": [BEST if mark == summary.best else COPIED if mark.copied else MEASURED for mark in passed],
            "size": [12 if mark == summary.best else 7 for mark in passed],
        }
        self._failed.data = {**_words(failed), "y": [low for _ in failed]}
        steps = best_steps(summary)
        self._best.data = {"x": [x for x, _ in steps], "y": [y for _, y in steps]}
        lines = family_lines(summary)
        self._family.data = {
            "x0": [line[0][0] for line in lines],
            "y0": [line[0][1] for line in lines],
            "x1": [line[1][0] for line in lines],
            "y1": [line[1][1] for line in lines],
        }
        self._plot.x_range.end = max(len(summary.marks), 10) + 0.5
        self._choices.show(summary.chosen)
        self._launches.show(summary.launches)

    def _figure(self, noun: str, unit: str, bred: bool) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        plot = figure(
            title="Scores in order,\nwith the family tree of the best" if bred else "Scores in order",
            x_range=Range1d(0.5, 10.5),
            y_range=Range1d(0, 1),
            sizing_mode="stretch_width",
            height=320,
            tools="pan,wheel_zoom,reset",
            toolbar_location="above",
            x_axis_label=noun,
            y_axis_label=unit,
        )
        plot.line("x", "y", source=self._best, line_color=LINE, line_width=2)
        plot.segment("x0", "y0", "x1", "y1", source=self._family, line_color=BEST, line_alpha=0.4)
        plot.segment("x", "low", "x", "high", source=self._passed, line_color=COPIED, line_width=2)
        dots = plot.scatter("x", "y", size="size", fill_color="colour", line_color=None, source=self._passed)
        crosses = plot.scatter("x", "y", marker="x", size=9, line_color=FAILED, line_width=2, source=self._failed)
        tooltips = [(noun, "@x"), ("score", f"@y {unit}"), ("status", "@status"), ("changes", "@changes")]
        plot.add_tools(HoverTool(renderers=[dots], tooltips=tooltips))
        failures = [(noun, "@x"), ("status", "@status"), ("changes", "@changes"), ("cause", "@tail")]
        plot.add_tools(HoverTool(renderers=[crosses], tooltips=failures))
        return plot


def _words(marks: list[IndividualMark]) -> dict[str, list[Any]]:
    return {
        "x": [mark.number for mark in marks],
        "status": [_status(mark) for mark in marks],
        "changes": [mark.changes or "the start" for mark in marks],
        "tail": [mark.tail for mark in marks],
    }


def _status(mark: IndividualMark) -> str:
    copied = " (measured before)" if mark.copied else ""
    return mark.status + copied + ("" if mark.error is None else f", error {error_text(mark.error)}")
