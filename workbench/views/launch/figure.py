"""Launch figure: the summary of launches as Bokeh figures that are kept up to date; no controls, no machine."""

from __future__ import annotations

import numpy as np
from bokeh.models import (
    Column,
    ColumnDataSource,
    CustomJSTickFormatter,
    FactorRange,
    HoverTool,
    NoOverlap,
    NumeralTickFormatter,
    Range1d,
    Row,
)
from bokeh.plotting import figure

from workbench.amounts import in_digits
from workbench.backends.launch_trace import LaunchTrace
from workbench.backends.occupancy import WARP
from workbench.graph.spaces import axis_name
from workbench.run.calling import Terms
from workbench.views.graph.layout import shortened
from workbench.views.launch.drawing import LINE, POINT, footprint, owner_colour, plane_of
from workbench.views.launch.summary import LaunchSummary, OccupancyCurve

_WRAP = {"flex-wrap": "wrap"}
_UNITS = {"shared memory a block": " bytes"}  # others are counted
_LONGEST_NAME = 20  # letters beside a bar; the pointer shows all


class LaunchFigure:
    """Curves of occupancy, all launches, owners of cells and coalescing. `root` is what a pane shows."""

    def __init__(self, summary: LaunchSummary) -> None:
        self._curves = tuple(_CurveFigure(number) for number in range(3))
        self._launches = _LaunchesFigure()
        self._cells = _CellsFigure()
        self._accesses = _AccessesFigure()
        upper = Row(*(each.plot for each in self._curves), sizing_mode="stretch_width", styles=_WRAP)
        lower = Row(
            self._launches.plot, self._cells.plot, self._accesses.plot, sizing_mode="stretch_width", styles=_WRAP
        )
        self.root = Column(upper, lower, sizing_mode="stretch_width")
        self.show(summary)

    def show(self, summary: LaunchSummary) -> None:
        """Bring every figure up to date; figures with nothing to show are hidden."""
        for number, each in enumerate(self._curves):
            each.show(summary.curves[number] if summary.curves else None)
        self._launches.show(summary)
        self._cells.show(summary.trace, summary.terms)
        self._accesses.show(summary.trace)


class _CurveFigure:
    """Occupancy against one thing."""

    def __init__(self, number: int) -> None:
        self._line = ColumnDataSource({"x": [], "y": []})
        self._point = ColumnDataSource({"x": [], "y": []})
        self.plot = figure(
            height=190,
            min_width=240,
            sizing_mode="stretch_width",
            y_range=Range1d(0, 1.08),
            tools="",
            toolbar_location=None,
        )
        self.plot.yaxis.formatter = NumeralTickFormatter(format="0%")
        self.plot.yaxis.axis_label = "occupancy" if number == 0 else None
        steps = self.plot.step("x", "y", source=self._line, mode="after", color=LINE, line_width=2)
        self.plot.scatter("x", "y", source=self._point, size=11, color=POINT, line_color="white")
        self.plot.add_tools(
            HoverTool(renderers=[steps], tooltips=[("", "@x: @y{0%}")], mode="vline", line_policy="prev")
        )

    def show(self, curve: OccupancyCurve | None) -> None:
        self.plot.visible = curve is not None
        if curve is not None:
            self._line.data = {"x": [x for x, _ in curve.points], "y": [y for _, y in curve.points]}
            self._point.data = {"x": [curve.at[0]], "y": [curve.at[1]]}
            self.plot.xaxis.axis_label = f"{curve.what}, now {curve.at[0]}{_UNITS.get(curve.what, '')}"
            if curve.what == "shared memory a block":
                last = curve.points[-1][0]
                self.plot.xaxis.ticker = [n for n in range(0, last + 1, 1 << max(last.bit_length() - 2, 10))]
                self.plot.xaxis.formatter = NumeralTickFormatter(format="0 ib")


class _BarsFigure:
    """Named bars, the first on top; the pointer over one shows its name and what it is about."""

    def __init__(self, height: int, end: float, title: str | None = None) -> None:
        self._source = ColumnDataSource({"name": [], "x": [], "about": [], "colour": []})
        self._names = FactorRange()
        self.plot = figure(
            height=height,
            min_width=300,
            sizing_mode="stretch_width",
            x_range=Range1d(0, end),
            y_range=self._names,
            tools="",
            toolbar_location=None,
            title=title,
        )
        self.plot.xaxis.major_label_policy = NoOverlap()
        bars = self.plot.hbar("name", right="x", height=0.7, source=self._source, color="colour")
        self.plot.add_tools(HoverTool(renderers=[bars], tooltips=[("", "@name"), ("", "@about")]))

    def _show_bars(self, names: list[str], values: list[float], about: list[str], colours: list[str]) -> None:
        self._names.factors = list(dict.fromkeys(names))[::-1]  # two bars of one name share a place
        self._source.data = {"name": names, "x": values, "about": about, "colour": colours}


class _LaunchesFigure(_BarsFigure):
    """One bar a launch: occupancy on a device, cells on CPU threads."""

    def __init__(self) -> None:
        super().__init__(height=220, end=1)

    def show(self, summary: LaunchSummary) -> None:
        device, cells = summary.device is not None, summary.terms.cells
        names = [f"{number + 1} {shortened(row.name, _LONGEST_NAME)}" for number, row in enumerate(summary.rows)]
        values = [row.occupancy.share if row.occupancy else row.cells for row in summary.rows]
        about = [
            f"{row.name}: grid {row.grid}, block {row.block}, {in_digits(row.items, 3)} {cells} a thread, "
            f"{row.registers} registers a thread, limit: {row.occupancy.limit}"
            if row.occupancy
            else f"{row.name}: {row.cells} {cells}, "
            + (f"{row.tasks} tasks" if row.tasks else "tasks as the code decides")
            for row in summary.rows
        ]
        colours = [POINT if device and number == summary.shown else LINE for number in range(len(names))]
        self._show_bars(names, values, about, colours)
        self.plot.x_range.end = 1.02 if device else 1.05 * max([1, *values])
        self.plot.xaxis.formatter = NumeralTickFormatter(format="0%") if device else _thousands()
        self.plot.xaxis.axis_label = "occupancy of each launch" if device else f"number of {cells}"


def _thousands() -> CustomJSTickFormatter:
    """ "200 k", "1 M": Bokeh's own abbreviation of a million is that of a thousandth."""
    code = "return tick >= 1e6 ? `${tick / 1e6} M` : tick >= 1e3 ? `${tick / 1e3} k` : `${tick}`;"
    return CustomJSTickFormatter(code=code)


class _CellsFigure:
    """Which thread stored to which cell of a small grid, or to which element of small arrays."""

    def __init__(self) -> None:
        empty: dict[str, list[object]] = {name: [] for name in ("x", "y", "colour", "block", "warp", "lane", "thread")}
        self._cells = ColumnDataSource(empty)
        self._reads = ColumnDataSource({"x": [], "y": []})
        self._probed = ColumnDataSource({"x": [], "y": []})
        self.plot = figure(
            height=260,
            min_width=320,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
        )
        self.plot.y_range.flipped = True
        self.plot.grid.visible = False
        cells = self.plot.rect("x", "y", 0.94, 0.94, source=self._cells, color="colour", line_color=None)
        self.plot.scatter("x", "y", source=self._reads, size=6, color="#222222")
        self.plot.rect("x", "y", 0.94, 0.94, source=self._probed, fill_color=None, line_color=POINT, line_width=3)
        self._hover = HoverTool(renderers=[cells])
        self.plot.add_tools(self._hover)

    def show(self, trace: LaunchTrace | None, terms: Terms) -> None:
        self.plot.visible = trace is not None
        if trace is None:
            return
        plane, cuts = plane_of(trace)
        rows, columns = np.indices(plane.shape)
        threads, size = plane.ravel(), trace.block_threads
        inside = threads % size
        self._cells.data = {
            "x": columns.ravel(),
            "y": rows.ravel(),
            "colour": [owner_colour(int(thread), size) for thread in threads],
            "block": threads // size,
            "warp": inside // WARP,
            "lane": inside % WARP,
            "thread": inside,
        }
        read = footprint(trace)
        self._reads.data = {"x": [column for _, column in read], "y": [row for row, _ in read]}
        row, column = (0, *trace.probed)[-2:]
        self._probed.data = {"x": [column], "y": [row]}
        axes = trace.thread_of.ndim
        where = f", through {cuts}" if cuts else ""
        self.plot.title.text = f"Who stores to which {terms.place}{where}"
        grid, others = terms.place == "cell", f"{terms.place}s"
        self.plot.xaxis.axis_label = f"{axis_name(axes - 1)} (cells): side by side in memory" if grid else others
        self.plot.yaxis.axis_label = "" if axes < 2 else f"{axis_name(axes - 2)} (cells)" if grid else "rows"
        at = "@y, @x" if axes > 1 else "@x"
        about = [(terms.place, at), ("block", "@block"), ("warp, lane", "@warp, @lane"), ("thread", "@thread")]
        self._hover.tooltips = about


class _AccessesFigure(_BarsFigure):
    """How well each line of the text coalesces."""

    def __init__(self) -> None:
        super().__init__(height=260, end=1.02, title="Coalescing, line by line")
        self.plot.xaxis.formatter = NumeralTickFormatter(format="0%")
        self.plot.xaxis.axis_label = "sectors needed, of those moved"

    def show(self, trace: LaunchTrace | None) -> None:
        self.plot.visible = trace is not None
        if trace is None:
            return
        kinds = {True: "store", False: "load"}
        self._show_bars(
            [f"line {access.line}: {kinds[access.store]} {access.array}" for access in trace.accesses],
            [access.efficiency for access in trace.accesses],
            [f"{access.sectors} sectors of 32 bytes, {access.least} would do" for access in trace.accesses],
            ["#009e73" if access.store else LINE for access in trace.accesses],
        )
