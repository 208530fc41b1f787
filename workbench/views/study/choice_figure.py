"""Choice figure: a study's choice map and its births as Bokeh figures below the scores; thin, the rows come ready."""

from __future__ import annotations

from typing import Any

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FactorRange, HoverTool
from bokeh.plotting import figure

from workbench.views.study.choice_map import ChoiceMap
from workbench.views.study.drawing import MEASURED
from workbench.views.study.frame import BEST, FAILED

_ROW_PIXELS = 22
_FRAME_PIXELS = 84  # title and axis


class ChoiceFigure:
    """Two figures: what was chosen by number, the rows that matter most at the top, and births by kind."""

    def __init__(self, noun: str, numbers: Any, shown: ChoiceMap, bred: bool) -> None:  # noqa: ANN401  # a Bokeh range
        """numbers: the axis of the scores, which the map follows. bred: whether there are births."""
        self._cells, self._bars = ColumnDataSource(), ColumnDataSource()
        self._rows, self._kinds = FactorRange(), FactorRange()
        self._map = self._map_figure(noun, numbers)
        self._births = self._births_figure(noun)
        self.layout = column(*([self._map, self._births] if bred else [self._map]), sizing_mode="stretch_width")
        self.show(shown)

    def show(self, shown: ChoiceMap) -> None:
        """Show another map."""
        labels = [row.label for row in shown.rows]
        names = [f"{label} ({k + 1})" if labels.count(label) > 1 else label for k, label in enumerate(labels)]
        self._rows.factors = names[::-1]  # the most important at the top
        self._map.height = _FRAME_PIXELS + _ROW_PIXELS * max(3, len(names))
        self._map.visible = bool(names)
        weighed = any(row.share is not None for row in shown.rows)
        self._map.title.text = "Changed choices,\nshare of variance" if weighed else "Changed choices"
        self._cells.data = {
            "x": [cell.number for cell in shown.cells],
            "y": [names[cell.row] for cell in shown.cells],
            "name": [shown.rows[cell.row].name for cell in shown.cells],
            "called": [shown.rows[cell.row].called for cell in shown.cells],
            "value": [cell.value for cell in shown.cells],
            "first": [shown.rows[cell.row].start for cell in shown.cells],
            "colour": [cell.colour for cell in shown.cells],
        }
        births = shown.births
        self._kinds.factors = [one.kind for one in births][::-1]
        self._births.height = _FRAME_PIXELS + _ROW_PIXELS * max(2, len(births))
        self._bars.data = {
            "kind": [one.kind for one in births],
            "better": [one.better for one in births],
            "passed": [one.passed for one in births],
            "failed": [one.failed for one in births],
        }

    def _map_figure(self, noun: str, numbers: Any) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        plot = figure(
            title="Changed choices",
            x_range=numbers,
            y_range=self._rows,
            height=_FRAME_PIXELS,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
            x_axis_label=noun,
        )
        plot.xgrid.visible = False
        cells = plot.rect("x", "y", width=0.9, height=0.8, fill_color="colour", line_color=None, source=self._cells)
        tips = [(noun, "@x"), ("choice", "@called"), ("name", "@name"), ("value", "@value"), ("of the first", "@first")]
        plot.add_tools(HoverTool(renderers=[cells], tooltips=tips))
        return plot

    def _births_figure(self, noun: str) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        plot = figure(
            title="Births: raised best,\npassed, failed",
            y_range=self._kinds,
            height=_FRAME_PIXELS,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
            x_axis_label=f"{noun}s",
        )
        plot.x_range.start = 0
        kinds = ["better", "passed", "failed"]
        bars = plot.hbar_stack(
            kinds, y="kind", height=0.6, color=[BEST, MEASURED, FAILED], line_color=None, source=self._bars
        )
        tips = [("born by", "@kind"), ("raised the best", "@better"), ("passed", "@passed"), ("failed", "@failed")]
        plot.add_tools(HoverTool(renderers=bars, tooltips=tips))
        return plot
