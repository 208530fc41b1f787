"""Graph figure: the summary of a graph as a Bokeh figure, and what of it changes."""

from __future__ import annotations

from html import escape
from typing import Any

from bokeh.core.properties import value
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJS,
    CustomJSFilter,
    HoverTool,
    PanTool,
    Range1d,
    Scatter,
    Text,
    WheelZoomTool,
)
from bokeh.plotting import figure

from workbench.views.graph.label_places import LARGEST_MARK, Lettering, letterings, symbol_mark
from workbench.views.graph.layout import LETTER_SIZE, NODE, GraphLayout, Hull, caption
from workbench.views.graph.marks import (
    CHANGED,
    HULL,
    INK,
    INSTRUCTIONS,
    LINK,
    MARKS,
    SELECTED,
    STORAGES,
    backing,
    outline_of,
    storage_label,
)
from workbench.views.graph.summary import GraphNode, GraphSummary
from workbench.views.graph.words import details_text, storage_text

LOWEST, HIGHEST = 260, 520  # pixels
_FONT = value("DejaVu Sans Mono, Menlo, Consolas, monospace")

_TOOLTIP = """
<div style="max-width: 420px; color: #212121; white-space: normal">
<div><b>@name</b> = @formula</div>
<div>@instruction, @type; @storage</div>
<div>@details</div>
</div>
"""
_HULL_TOOLTIP = """
<div style="max-width: 420px; color: #212121; white-space: normal">
<div><b>@name</b></div>
<div>@details</div>
</div>
"""

# Sizes and names follow the zoom in the page itself, so that a wheel's turn needs no answer from the kernel. `shown` is
# no property of Bokeh's and therefore never sent.
_ZOOM = """
const across = plot.inner_width / Math.abs(x_range.end - x_range.start);
const down = plot.inner_height / Math.abs(y_range.end - y_range.start);
const scale = Math.min(across, down);
if (!(scale > 0)) return;
const size = Math.max(3, Math.min(MOST, 0.85 * NODE * scale));
marks.size = {value: size};
rings.size = {value: size + 10};
let shown = -1;
scales.data.across.forEach((least, set) => {
    if (least <= across && scales.data.down[set] <= down) shown = set;
});
const mark = Math.round(size);
if (words.shown !== shown) { words.shown = shown; words.change.emit(); }
if (symbols.mark !== mark) { symbols.mark = mark; symbols.change.emit(); }
"""
_SHOWN = "return source.data.set.map(set => set === source.shown);"
_READABLE = "return source.data.least.map(least => least <= (source.mark ?? 0));"


class GraphFigure:
    """One Bokeh figure; `show` changes what it draws. The caller holds the document's lock."""

    def __init__(self, layout: GraphLayout) -> None:
        """As high as this layout needs, within limits."""
        self.nodes = ColumnDataSource(_node_columns(()))
        self._links = ColumnDataSource({"xs": [], "ys": []})
        self._near = ColumnDataSource({"xs": [], "ys": []})
        self._hulls = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": [], "alpha": []})
        self._folded = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": [], "name": [], "details": []})
        self._words = ColumnDataSource(_word_columns(()))
        self._scales = ColumnDataSource({"across": [], "down": []})
        self._symbols = ColumnDataSource({"x": [], "y": [], "text": [], "least": [], "back": []})
        self._rings = ColumnDataSource({"x": [], "y": [], "colour": [], "dash": []})
        self._barriers = ColumnDataSource({"x": [], "y": [], "text": []})
        self._fitted: tuple[float, float, float, float] | None = None
        self.plot: Any = figure(
            height=round(min(max(layout.frame[3] - layout.frame[1], LOWEST), HIGHEST)),
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
        folded = plot.quad("left", "right", "top", "bottom", source=self._folded, fill_alpha=0, line_alpha=0)
        plot.multi_line("xs", "ys", source=self._links, line_color=LINK, line_width=1)
        plot.multi_line("xs", "ys", source=self._near, line_color=SELECTED, line_width=2.5)
        rings = Scatter(
            x="x", y="y", marker="circle", size=44, fill_alpha=0, line_color="colour", line_width=3, line_dash="dash"
        )
        plot.add_glyph(self._rings, rings)
        marks = Scatter(
            x="x",
            y="y",
            marker="marker",
            size=LARGEST_MARK,
            fill_color="fill",
            line_color="outline",
            line_width="width",
        )
        drawn = plot.add_glyph(self.nodes, marks)
        symbols = Text(
            x="x", y="y", text="text", text_align="center", text_baseline="middle", text_color=INK,
            text_font=_FONT, text_font_size="10px", background_fill_color="back",
        )  # fmt: skip
        readable = CDSView(filter=CustomJSFilter(code=_READABLE))
        plot.add_glyph(self._symbols, symbols, view=readable)
        words = Text(
            x="x", y="y", text="text", x_offset="dx", y_offset="dy", text_align="center", text_baseline="middle",
            text_font=_FONT, text_font_size=f"{LETTER_SIZE}px", text_font_style="style",
        )  # fmt: skip
        shown = CDSView(filter=CustomJSFilter(code=_SHOWN))
        plot.add_glyph(self._words, words, view=shown)
        barriers = plot.text("x", "y", "text", source=self._barriers, text_align="center", text_baseline="middle")
        barriers.glyph.text_font_size = "20px"
        self._inked = (words, barriers.glyph)
        self.ink(dark=False)
        plot.add_tools(
            PanTool(),
            WheelZoomTool(modifiers={"ctrl": True}),
            HoverTool(renderers=[drawn], tooltips=_TOOLTIP, attachment="vertical"),
            HoverTool(renderers=[folded], tooltips=_HULL_TOOLTIP, attachment="vertical"),
        )
        zoom = CustomJS(
            args={
                "plot": plot, "x_range": plot.x_range, "y_range": plot.y_range, "marks": marks, "rings": rings,
                "symbols": self._symbols, "words": self._words, "scales": self._scales,
            },
            code=_ZOOM.replace("MOST", str(LARGEST_MARK)).replace("NODE", str(NODE[0])),
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
        self.nodes.data = _node_columns(tuple((summary.nodes[n], x, y) for n, x, y in layout.places), summary.cell)
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
        self._folded.data = _folded_columns(summary, tuple(hull for hull in layout.hulls if hull.folded))
        sets = letterings(summary, layout)
        self._scales.data = {"across": [each.scale[0] for each in sets], "down": [each.scale[1] for each in sets]}
        self._words.data = _word_columns(sets)
        self._symbols.data = {
            "x": [x for _, x, _ in layout.places],
            "y": [y for _, _, y in layout.places],
            "text": [summary.nodes[n].symbol for n, _, _ in layout.places],
            "least": [symbol_mark(summary.nodes[n].symbol) for n, _, _ in layout.places],
            "back": [_backing(summary.nodes[n]) for n, _, _ in layout.places],
        }
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
        left, top, right, bottom = layout.frame
        self._look(left, right, bottom, top)
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


def _node_columns(placed: tuple[tuple[GraphNode, float, float], ...], cell: str = "a cell") -> dict[str, list[Any]]:
    nodes = [node for node, _, _ in placed]
    return {
        "x": [x for _, x, _ in placed],
        "y": [y for _, _, y in placed],
        "marker": [MARKS[node.instruction].bokeh for node in nodes],
        "fill": [STORAGES[storage_label(node.storage, node.forced)] for node in nodes],
        "outline": [outline_of(node.type)[0] for node in nodes],
        "width": [outline_of(node.type)[1] for node in nodes],
        "name": [node.label for node in nodes],
        "formula": [escape(node.formula) for node in nodes],
        "instruction": [INSTRUCTIONS[node.instruction] for node in nodes],
        "type": [node.type for node in nodes],
        "storage": [escape(storage_text(node)) for node in nodes],
        "details": [escape(details_text(node, cell)) for node in nodes],
    }


def _word_columns(sets: tuple[Lettering, ...]) -> dict[str, list[Any]]:
    """All words of all scales; `set` is the number of their lettering."""
    rows = [(number, word) for number, each in enumerate(sets) for word in each.words]
    return {
        "set": [number for number, _ in rows],
        "x": [word.x for _, word in rows],
        "y": [word.y for _, word in rows],
        "dx": [round(word.dx, 1) for _, word in rows],
        "dy": [round(word.dy, 1) for _, word in rows],
        "text": [word.text for _, word in rows],
        "style": ["bold" if word.bold else "normal" for _, word in rows],
    }


def _folded_columns(summary: GraphSummary, hulls: tuple[Hull, ...]) -> dict[str, list[Any]]:
    groups = [summary.groups[hull.group] for hull in hulls]
    return {
        "left": [hull.x for hull in hulls],
        "right": [hull.x + hull.width for hull in hulls],
        "top": [hull.y for hull in hulls],
        "bottom": [hull.y + hull.height for hull in hulls],
        "name": [escape(caption(summary, hull.group)) for hull in hulls],
        "details": [
            f"{hull.members} values; {group.bytes_moved:g} bytes, {group.flops:g} flops, {group.loads:g} loads "
            + summary.cell
            for hull, group in zip(hulls, groups, strict=True)
        ],
    }


def _backing(node: GraphNode) -> str:
    fill = STORAGES[storage_label(node.storage, node.forced)]
    return backing(node.instruction, node.symbol, fill) or "#00000000"
