"""Graph figure: the summary of a graph as a Bokeh figure, and what of it changes."""

from __future__ import annotations

from html import escape
from typing import Any

from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    HoverTool,
    PanTool,
    Range1d,
    Scatter,
    Text,
    WheelZoomTool,
)
from bokeh.plotting import figure

from workbench.views.graph import GraphNode, GraphSummary
from workbench.views.graph_layout import GraphLayout, Hull
from workbench.views.graph_marks import (
    CHANGED,
    HULL,
    INK,
    INSTRUCTIONS,
    LINK,
    MARKS,
    SELECTED,
    STORAGES,
    storage_label,
)
from workbench.views.graph_words import details_text, storage_text

LOWEST, HIGHEST = 260, 460  # pixels
_NARROWEST, _SHALLOWEST = 620.0, 260.0  # of what is shown: a small graph is not blown up
_MARGIN = 60.0
_NODE_PIXELS = 34.0

_TOOLTIP = """
<div style="max-width: 420px; color: #212121; white-space: normal">
<div><b>@title</b> = @formula</div>
<div>@instruction, @type; @storage</div>
<div>@details</div>
</div>
"""

# Sizes follow the zoom in the page itself, so that a wheel's turn asks nobody.
_ZOOM = """
const across = plot.inner_width / Math.abs(x_range.end - x_range.start);
const down = plot.inner_height / Math.abs(y_range.end - y_range.start);
const scale = Math.min(across, down);
if (!(scale > 0)) return;
const size = Math.max(3, Math.min(PIXELS, 0.85 * 46 * scale));
marks.size = {value: size};
rings.size = {value: size + 10};
if (symbols.visible !== scale > 0.45) symbols.visible = scale > 0.45;
if (titles.visible !== scale > 0.35) titles.visible = scale > 0.35;
if (captions.visible !== scale > 0.12) captions.visible = scale > 0.12;
"""


class GraphFigure:
    """One Bokeh figure; `show` changes what it draws. Whoever calls holds the document's lock."""

    def __init__(self, layout: GraphLayout) -> None:
        """As high as this layout needs, within limits."""
        self.nodes = ColumnDataSource(_node_columns(()))
        self._links = ColumnDataSource({"xs": [], "ys": []})
        self._near = ColumnDataSource({"xs": [], "ys": []})
        self._hulls = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": [], "alpha": []})
        self._captions = ColumnDataSource({"x": [], "y": [], "text": [], "baseline": [], "align": []})
        self._rings = ColumnDataSource({"x": [], "y": [], "colour": [], "dash": []})
        self._barriers = ColumnDataSource({"x": [], "y": [], "text": []})
        self._fitted: tuple[float, float, float, float] | None = None
        self.plot: Any = figure(
            height=round(min(max(layout.size[1] + 2 * _MARGIN, LOWEST), HIGHEST)),
            sizing_mode="stretch_width",
            toolbar_location=None,
            tools=[],
            x_range=Range1d(0, 1),
            y_range=Range1d(1, 0),
            x_axis_type=None,
            y_axis_type=None,
            lod_threshold=1000,
            lod_factor=5,
            lod_timeout=250,
            output_backend="canvas",
        )
        self.plot.grid.visible = False
        self._draw()

    def _draw(self) -> None:
        plot = self.plot
        plot.quad(
            "left", "right", "top", "bottom", source=self._hulls, fill_color=HULL, fill_alpha="alpha", line_color=HULL
        )
        plot.multi_line("xs", "ys", source=self._links, line_color=LINK, line_width=1)
        plot.multi_line("xs", "ys", source=self._near, line_color=SELECTED, line_width=2.5)
        rings = Scatter(
            x="x", y="y", marker="circle", size=44, fill_alpha=0, line_color="colour", line_width=3, line_dash="dash"
        )
        plot.add_glyph(self._rings, rings)
        marks = Scatter(x="x", y="y", marker="marker", size=_NODE_PIXELS, fill_color="fill", line_color=INK)
        drawn = plot.add_glyph(self.nodes, marks)
        captions = plot.text(
            "x", "y", "text", source=self._captions, text_baseline="baseline", text_align="align", text_font_size="11px"
        )
        symbols = plot.add_glyph(
            self.nodes,
            Text(
                x="x",
                y="y",
                text="symbol",
                text_align="center",
                text_baseline="middle",
                text_font_size="11px",
                text_color=INK,
            ),
        )
        titles = plot.text(
            "x", "y", "title", source=self.nodes, y_offset=-19, text_align="center", text_baseline="bottom",
            text_font_size="12px", text_font_style="bold",
        )  # fmt: skip
        barriers = plot.text("x", "y", "text", source=self._barriers, text_align="center", text_baseline="middle")
        barriers.glyph.text_font_size = "20px"
        self._inked = (captions.glyph, titles.glyph, barriers.glyph)
        self.ink(dark=False)
        plot.add_tools(
            PanTool(),
            WheelZoomTool(modifiers={"ctrl": True}),
            HoverTool(renderers=[drawn], tooltips=_TOOLTIP, attachment="vertical"),
        )
        zoom = CustomJS(
            args={
                "plot": plot, "x_range": plot.x_range, "y_range": plot.y_range, "marks": marks, "rings": rings,
                "symbols": symbols, "titles": titles, "captions": captions,
            },
            code=_ZOOM.replace("PIXELS", str(_NODE_PIXELS)),
        )  # fmt: skip
        for each in (plot.x_range, plot.y_range):
            each.js_on_change("start", zoom)
            each.js_on_change("end", zoom)
        plot.js_on_change("inner_width", zoom)
        plot.js_on_change("inner_height", zoom)

    def ink(self, dark: bool) -> None:
        """Words that can be read on this paper."""
        for glyph in self._inked:
            glyph.text_color = "#e0e0e0" if dark else "#212121"

    def show(self, summary: GraphSummary, layout: GraphLayout, selected: frozenset[int]) -> None:
        """Draw this instead of what was there; the part that is looked at stays unless the reader had not moved."""
        self.nodes.data = _node_columns(tuple((summary.nodes[n], x, y) for n, x, y in layout.places))
        self._links.data = {
            "xs": [[x for x, _ in link.points] for link in layout.links],
            "ys": [[y for _, y in link.points] for link in layout.links],
        }
        self._hulls.data = {
            "left": [hull.x for hull in layout.hulls],
            "right": [hull.x + hull.width for hull in layout.hulls],
            "top": [hull.y for hull in layout.hulls],
            "bottom": [hull.y + hull.height for hull in layout.hulls],
            "alpha": [0.3 if hull.folded else 0.1 for hull in layout.hulls],
        }
        self._captions.data = _captions(summary, layout.hulls)
        barriers = [
            (n, x, y) for n, x, y in layout.places if summary.nodes[n].sync_before or summary.nodes[n].sync_after
        ]
        self._barriers.data = {
            "x": [x + (26 if summary.nodes[n].sync_after else -26) for n, x, y in barriers],
            "y": [y for _, _, y in barriers],
            "text": ["‖" for _ in barriers],
        }
        self.select(summary, layout, selected)
        if self._view() == self._fitted or self._fitted is None:
            self.fit(layout)

    def select(self, summary: GraphSummary, layout: GraphLayout, selected: frozenset[int]) -> None:
        """Rings about what is selected and what has changed; lines from and to what is selected."""
        ringed = [(x, y, SELECTED, "solid") for n, x, y in layout.places if n in selected]
        ringed += [(x, y, CHANGED, "dashed") for n, x, y in layout.places if n in summary.changed and n not in selected]
        self._rings.data = {
            "x": [r[0] for r in ringed],
            "y": [r[1] for r in ringed],
            "colour": [r[2] for r in ringed],
            "dash": [r[3] for r in ringed],
        }
        near = [link for link in layout.links if link.start in selected or link.end in selected]
        self._near.data = {
            "xs": [[x for x, _ in link.points] for link in near],
            "ys": [[y for _, y in link.points] for link in near],
        }

    def fit(self, layout: GraphLayout) -> None:
        """Look at all of it."""
        width, height = layout.size
        across = max(width + 2 * _MARGIN, _NARROWEST)
        down = max(height + 2 * _MARGIN, _SHALLOWEST)
        x, y = width / 2, height / 2
        self._look(x - across / 2, x + across / 2, y + down / 2, y - down / 2)
        self._fitted = self._view()

    def zoom(self, factor: float) -> None:
        """Show `factor` times as much, about the middle."""
        left, right, bottom, top = self._view()
        x, y = (left + right) / 2, (top + bottom) / 2
        across, down = (right - left) / 2 * factor, (bottom - top) / 2 * factor
        self._look(x - across, x + across, y + down, y - down)

    def move(self, across: float, down: float) -> None:
        """Look further to the right and down, in parts of what is shown."""
        left, right, bottom, top = self._view()
        dx, dy = across * (right - left), down * (bottom - top)
        self._look(left + dx, right + dx, bottom + dy, top + dy)

    def reveal(self, x: float, y: float) -> None:
        """Move so far that this point is seen."""
        left, right, bottom, top = self._view()
        if not (left < x < right and top < y < bottom):
            across, down = (right - left) / 2, (bottom - top) / 2
            self._look(x - across, x + across, y + down, y - down)

    def _view(self) -> tuple[float, float, float, float]:
        x, y = self.plot.x_range, self.plot.y_range
        return (x.start, x.end, y.start, y.end)

    def _look(self, left: float, right: float, bottom: float, top: float) -> None:
        self.plot.x_range.update(start=left, end=right)
        self.plot.y_range.update(start=bottom, end=top)


def _node_columns(placed: tuple[tuple[GraphNode, float, float], ...]) -> dict[str, list[Any]]:
    nodes = [node for node, _, _ in placed]
    return {
        "x": [x for _, x, _ in placed],
        "y": [y for _, _, y in placed],
        "marker": [MARKS[node.instruction].bokeh for node in nodes],
        "fill": [STORAGES[storage_label(node.storage, node.forced)] for node in nodes],
        "symbol": [node.symbol for node in nodes],
        "title": [node.title if node.title != node.symbol else "" for node in nodes],
        "formula": [escape(node.formula) for node in nodes],
        "instruction": [INSTRUCTIONS[node.instruction] for node in nodes],
        "type": [node.type for node in nodes],
        "storage": [escape(storage_text(node)) for node in nodes],
        "details": [escape(details_text(node)) for node in nodes],
    }


def _captions(summary: GraphSummary, hulls: tuple[Hull, ...]) -> dict[str, list[Any]]:
    rows = []
    for hull in hulls:
        group = summary.groups[hull.group]
        text = f"{hull.group + 1}: {group.label}"
        if hull.folded:
            lines = (_cut(text, 20), f"{hull.members} values, {group.bytes_moved:g} B")
            rows.append((hull.x + hull.width / 2, hull.y + hull.height / 2, "\n".join(lines), "middle", "center"))
        else:
            rows.append((hull.x, hull.y - 4, _cut(text, max(16, int(hull.width / 7))), "bottom", "left"))
    names = ("x", "y", "text", "baseline", "align")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
