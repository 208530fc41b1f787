"""Launch figure: a study's launch map as a Bokeh figure below the choices; thin, the cells come ready."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, FactorRange, HoverTool
from bokeh.plotting import figure

from workbench.views.study.frame import BEST, FAILED
from workbench.views.study.launch_map import LaunchMap

_ROW_PIXELS = 26
_FRAME_PIXELS = 90  # title and axis


class LaunchMapFigure:
    """One figure: a cell for each pair of launch numbers, hidden while there is none. The best one is framed."""

    def __init__(self, shown: LaunchMap) -> None:
        self._cells = ColumnDataSource()
        self._columns, self._rows = FactorRange(), FactorRange()
        self.plot = self._figure()
        self.show(shown)

    def show(self, shown: LaunchMap) -> None:
        """Show another map."""
        best = shown.best
        self._columns.factors, self._rows.factors = list(shown.columns), list(shown.rows)
        self.plot.xaxis.axis_label, self.plot.yaxis.axis_label = shown.across, shown.upwards
        self.plot.height = _FRAME_PIXELS + _ROW_PIXELS * max(2, len(shown.rows))
        self.plot.visible = bool(shown.cells)
        self._cells.data = {
            "x": [shown.columns[cell.across] for cell in shown.cells],
            "y": [shown.rows[cell.upwards] for cell in shown.cells],
            "score": [cell.score for cell in shown.cells],
            "number": [cell.number or "none" for cell in shown.cells],
            "tried": [cell.tried for cell in shown.cells],
            "failed": [cell.failed for cell in shown.cells],
            "colour": [cell.colour or FAILED for cell in shown.cells],
            "edge": [BEST if cell == best else None for cell in shown.cells],
        }

    def _figure(self) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        plot = figure(
            title="Best score\nby launch numbers",
            x_range=self._columns,
            y_range=self._rows,
            height=_FRAME_PIXELS,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
        )
        plot.grid.visible = False
        cells = plot.rect(
            "x", "y", width=0.94, height=0.88, fill_color="colour", line_color="edge", line_width=3, source=self._cells
        )
        tips = [
            ("launch", "@x, @y"),
            ("best", "@score Gcells/s, number @number"),
            ("tried", "@tried"),
            ("failed", "@failed"),
        ]
        plot.add_tools(HoverTool(renderers=[cells], tooltips=tips))
        return plot
