"""Plane: the first two axes of towers as a Bokeh figure: how many steps each cell has done, and what is done now."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, HoverTool, LinearColorMapper, NoOverlap, Range1d
from bokeh.plotting import figure

from workbench.views.drawing.line_plot import colour_of
from workbench.views.tiles.drawing import SECTION
from workbench.views.tiles.pieces import TilesSummary
from workbench.views.tiles.towers import levels_done

_GREY = "#8a949f"  # seen on light and on dark pages
_DARKEST = 0xD8  # of 255, the opacity of a cell that has done all steps


class PlaneFigure:
    """The figure of one view; `plot` is what a layout shows."""

    def __init__(self, summary: TilesSummary, turn: int) -> None:
        assert summary.plane is not None
        self._summary, self._plane = summary, summary.plane
        self._done = ColumnDataSource(self._done_data(turn))
        self._now = ColumnDataSource(self._now_data(turn))
        self.plot = self._figure()

    def show(self, turn: int) -> None:
        """Show what is done after so many turns; only inside a change of the document."""
        self._done.data = self._done_data(turn)
        self._now.data = self._now_data(turn)

    def _done_data(self, turn: int) -> dict[str, list[Any]]:
        return {"image": [levels_done(self._summary, turn).T.astype("u1")]}

    def _now_data(self, turn: int) -> dict[str, list[Any]]:
        runs = self._plane.at(turn - 1)
        return {
            "left": [run.first for run in runs],
            "right": [run.last for run in runs],
            "bottom": [run.column for run in runs],
            "top": [run.column + 1 for run in runs],
            "colour": [colour_of(run.band) for run in runs],
            "step": [run.level for run in runs],
            "tower": [f"{run.tile} of stage {run.band}" for run in runs],
        }

    def _figure(self) -> Any:  # noqa: ANN401  # bokeh carries no annotations
        rows, columns, levels = self._summary.rows, self._plane.columns, self._summary.levels
        plot = figure(
            title="grey: steps done\ncolours: stages",  # two lines, which a narrow page has room for
            x_range=Range1d(0, rows),
            y_range=Range1d(0, columns),
            sizing_mode="stretch_width",
            height=300,
            tools="",
            toolbar_location=None,
            x_axis_label="x",
            y_axis_label="y",
        )
        plot.grid.visible = False
        plot.xaxis.major_label_policy = NoOverlap()
        shades = [f"{_GREY}{round(_DARKEST * level / levels):02x}" for level in range(levels + 1)]
        mapper = LinearColorMapper(palette=shades, low=-0.5, high=levels + 0.5)
        plot.image("image", x=0, y=0, dw=rows, dh=columns, color_mapper=mapper, source=self._done)
        now = plot.quad(
            left="left",
            right="right",
            bottom="bottom",
            top="top",
            fill_color="colour",
            line_color=None,
            source=self._now,
        )
        middle = self._plane.shown + 0.5
        for colour, width, dashed in SECTION:
            dash = "dashed" if dashed else "solid"
            plot.line([0, rows], [middle, middle], line_color=colour, line_width=width, line_dash=dash)
        plot.add_tools(HoverTool(renderers=[now], tooltips=[("tower", "@tower"), ("step", "@step")]))
        return plot
