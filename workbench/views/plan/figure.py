"""Plan charts: memory over a step and the roofline as Bokeh figures in one pane; thin, the marks come ready."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, NoOverlap, Range1d
from bokeh.plotting import figure

from workbench.amounts import bytes_text
from workbench.views.drawing.shapes import Drawing
from workbench.views.page.bokeh_pane import BokehPane
from workbench.views.plan.drawing import (
    FIELD_COLOUR,
    MEASURED_COLOUR,
    OTHER_COLOUR,
    PREDICTED_COLOUR,
    bars_of,
    roofline_of,
)
from workbench.views.plan.summary import PlanSummary

_LANE_PIXELS = 30
_LABEL_LETTERS = 14
_MOST_LABELS = 16  # marks; names of more would cover each other, and a pointer shows them
_HOLLOW = "#00000000"  # what is below shows through, on a light page and on a dark one
_QUIET = 0.35  # opacity of what is not selected while something is


class PlanCharts:
    """Two figures of one summary. `chosen(names)`: sub-kernels that were clicked, in the pane's thread."""

    def __init__(
        self,
        summary: PlanSummary,
        *,
        picture: Callable[[], Drawing],
        text: Callable[[], str],
        chosen: Callable[[str], None],
    ) -> None:
        self._chosen = chosen
        self._selected: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._places: tuple[tuple[float, float], ...] = ()
        self._bars = ColumnDataSource(_bar_columns(summary))
        self._marks = ColumnDataSource(_mark_columns(summary, ()))
        self._roofs = ColumnDataSource({"x": [], "y": [], "width": []})
        self._memory = self._memory_figure()
        self._roofline = self._roofline_figure()
        self.show(summary)
        layout = column(self._memory, self._roofline, sizing_mode="stretch_width")
        label = f"plan of {summary.machine}: memory over the step, and roofline"
        self.pane = BokehPane(layout, label=label, picture=picture, text=text)
        self.pane.on_event(self._roofline, "tap", self._tapped)

    def update(self, summary: PlanSummary, selected: tuple[str, ...]) -> None:
        """Show another summary, and which sub-kernels are selected, in one message."""
        self._selected = selected
        self.pane.patch(lambda: self.show(summary))

    def close(self) -> None:
        """Free the pane."""
        self.pane.close()

    def show(self, summary: PlanSummary) -> None:
        """Put a summary into the figures."""
        self._bars.data = _bar_columns(summary)
        self._marks.data = _mark_columns(summary, self._selected)
        found = roofline_of(summary)
        roofs = (found.roof, *found.cache_roofs)
        self._roofs.data = {
            "x": [[x for x, _ in roof] for roof in roofs],
            "y": [[y / 1e9 for _, y in roof] for roof in roofs],
            "width": [2.0, *(1.0 for _ in found.cache_roofs)],
        }
        self._names = tuple(mark.name for mark in found.marks)
        self._places = tuple((mark.intensity, mark.speed / 1e9) for mark in found.marks)
        _limit(self._roofline.x_range, found.x_range)
        _limit(self._roofline.y_range, (found.y_range[0] / 1e9, found.y_range[1] / 1e9))
        self._label_lanes(summary)

    def _label_lanes(self, summary: PlanSummary) -> None:
        memory, lanes, launches = self._memory, len(summary.arrays), len(summary.launches)
        memory.height = 110 + _LANE_PIXELS * lanes
        _limit(memory.y_range, (lanes, 0))
        _limit(memory.x_range, (0, max(1, launches)))
        memory.yaxis.ticker = FixedTicker(ticks=[lane + 0.5 for lane in range(lanes)])
        memory.yaxis.major_label_overrides = {lane + 0.5: _short(text) for lane, text in enumerate(summary.arrays)}
        memory.xaxis.ticker = FixedTicker(ticks=[number + 0.5 for number in range(launches)])
        memory.xaxis.major_label_overrides = {
            number + 0.5: f"{text}\n{bytes_text(used)} in use"
            for number, (text, used) in enumerate(zip(summary.launches, summary.live, strict=True))
        }

    def _memory_figure(self) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        plot = figure(
            title="Memory over the step",
            x_range=Range1d(0, 1),
            y_range=Range1d(1, 0),
            sizing_mode="stretch_width",
            height=150,
            tools="pan,xwheel_zoom,reset",
            toolbar_location="above",
            x_axis_label="launches, in order",
            y_axis_label="arrays",
        )
        plot.xaxis.major_label_policy = NoOverlap()
        boxes = plot.quad(
            left="left", right="right", top="top", bottom="bottom", fill_color="colour", line_color="#212121",
            source=self._bars,
        )  # fmt: skip
        plot.text(
            x="left", y="middle", text="name", source=self._bars, text_color="#000000", text_font_size="12px",
            text_baseline="middle", x_offset=4,
        )  # fmt: skip
        plot.add_tools(HoverTool(renderers=[boxes], tooltips=[("value", "@name"), ("size", "@size")]))
        return plot

    def _roofline_figure(self) -> Any:  # noqa: ANN401
        plot = figure(
            title="Roofline of this host",
            x_axis_type="log",
            y_axis_type="log",
            x_range=Range1d(0.01, 10),
            y_range=Range1d(0.1, 100),
            sizing_mode="stretch_width",
            height=300,
            tools="pan,wheel_zoom,reset",
            toolbar_location="above",
            x_axis_label="intensity (flops a byte)",
            y_axis_label="speed (Gflop/s)",
        )
        plot.xaxis.major_label_policy = NoOverlap()
        plot.multi_line("x", "y", source=self._roofs, line_width="width", line_color="#7f7f7f")
        dots = plot.scatter(
            x="x", y="y", size=12, fill_color="fill", line_color="line", line_width="width", alpha="alpha",
            source=self._marks,
        )  # fmt: skip
        tooltips = [
            ("sub-kernel", "@name"),
            ("time", "@words, @kind"),
            ("speed", "@y Gflop/s"),
            ("intensity", "@x flops a byte"),
        ]
        plot.add_tools(HoverTool(renderers=[dots], tooltips=tooltips))
        return plot

    def _tapped(self, event: Any) -> None:  # noqa: ANN401  # bokeh.events.Tap
        """The mark that is nearest on the logarithmic axes, if it is near."""
        x_range, y_range = self._roofline.x_range, self._roofline.y_range
        if event.x is None or event.y is None or event.x <= 0 or event.y <= 0:
            return

        def far(place: tuple[float, float]) -> float:
            x = _share(event.x, x_range.start, x_range.end) - _share(place[0], x_range.start, x_range.end)
            y = _share(event.y, y_range.start, y_range.end) - _share(place[1], y_range.start, y_range.end)
            return max(abs(x), abs(y))

        near = min(zip(self._places, self._names, strict=True), key=lambda found: far(found[0]), default=None)
        if near is not None and far(near[0]) < 0.05:
            self._chosen(near[1])


def _short(text: str) -> str:
    """Names of an array are many at times; the table has them all."""
    return text if len(text) <= _LABEL_LETTERS else f"{text[: _LABEL_LETTERS - 1]}…"


def _share(value: float, low: float, high: float) -> float:
    """How far along a logarithmic axis."""
    return log(value / low) / log(high / low)


def _limit(axis_range: Any, limits: tuple[float, float]) -> None:  # noqa: ANN401  # a Range1d
    """Show these limits, and come back to them by the reset button."""
    axis_range.update(start=limits[0], end=limits[1], reset_start=limits[0], reset_end=limits[1])


def _bar_columns(summary: PlanSummary) -> dict[str, list[Any]]:
    bars = bars_of(summary)
    return {
        "left": [bar.left for bar in bars],
        "right": [bar.right for bar in bars],
        "top": [bar.array + 0.12 for bar in bars],
        "bottom": [bar.array + 0.88 for bar in bars],
        "middle": [bar.array + 0.5 for bar in bars],
        "name": [bar.name for bar in bars],
        "size": [bytes_text(bar.size) for bar in bars],
        "colour": [FIELD_COLOUR if bar.lasting else OTHER_COLOUR for bar in bars],
    }


def _mark_columns(summary: PlanSummary, selected: tuple[str, ...]) -> dict[str, list[Any]]:
    marks = roofline_of(summary).marks
    colours = [PREDICTED_COLOUR if mark.kind == "predicted" else MEASURED_COLOUR for mark in marks]
    return {
        "x": [mark.intensity for mark in marks],
        "y": [mark.speed / 1e9 for mark in marks],
        "name": [mark.name for mark in marks],
        "kind": [mark.kind for mark in marks],
        "label": [mark.name if mark.kind == "predicted" and len(marks) <= _MOST_LABELS else "" for mark in marks],
        "words": [mark.words for mark in marks],
        "fill": [_HOLLOW if mark.kind == "predicted" else c for mark, c in zip(marks, colours, strict=True)],
        "line": colours,
        "width": [4 if mark.name in selected else 2 for mark in marks],
        "alpha": [1.0 if not selected or mark.name in selected else _QUIET for mark in marks],
    }
