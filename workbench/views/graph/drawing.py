"""Graph drawing: the summary of a graph as one picture with its key, for notebooks without a live page."""

from __future__ import annotations

from collections.abc import Callable

from workbench.views.drawing.shapes import Drawing, Label, Line, Polygon, Shape, rectangle, text_width
from workbench.views.graph.label_places import lettered, mark_size, symbol_mark
from workbench.views.graph.layout import FRAME_MARGIN, GraphLayout, Hull
from workbench.views.graph.marks import (
    CHANGED,
    HULL,
    INK,
    INSTRUCTIONS,
    LINK,
    OUTLINES,
    STORAGES,
    backing,
    outline_of,
    shape_of,
    storage_label,
)
from workbench.views.graph.summary import GraphNode, GraphSummary

Placing = Callable[[float, float], tuple[float, float]]

_WIDEST, _HIGHEST = 1300.0, 800.0  # pixels of the graph itself
_MARGIN = 16.0
_LETTERS = 12.5  # the size of names, as wide as the lettering takes them to be
_HULL_FILL = "#f4f4f4"


def draw_graph(summary: GraphSummary, layout: GraphLayout) -> Drawing:
    """The picture: hulls, links, values, the key below; large graphs are drawn small, and then without words."""
    scale = min(1.0, _WIDEST / (layout.size[0] + 2 * FRAME_MARGIN[0]), _HIGHEST / max(layout.size[1], 1))
    aside, border = FRAME_MARGIN[0] * scale, FRAME_MARGIN[1] * scale  # where names may stand out
    width = max(layout.size[0] * scale + 2 * max(aside, _MARGIN), 560.0)
    left, top = (width - layout.size[0] * scale) / 2, _MARGIN + 24.0 + border

    def at(x: float, y: float) -> tuple[float, float]:
        return (left + x * scale, top + y * scale)

    shapes: list[Shape] = [Label((_MARGIN, _MARGIN + 4), summary.line, INK, 14)]
    for hull in layout.hulls:
        shapes.append(_hull(hull, at))
    shapes += [Line(tuple(at(*point) for point in link.points), LINK, max(0.5, scale)) for link in layout.links]
    for number, x, y in layout.places:
        shapes += _node(summary.nodes[number], at(x, y), scale, number in summary.changed)
    for word in lettered(summary, layout, (scale, scale)):
        x, y = at(word.x, word.y)
        shapes.append(Label((x + word.dx, y + word.dy), word.text, INK, _LETTERS, "centre"))
    bottom = top + layout.size[1] * scale + border
    key, height = _key(summary, layout, width, bottom)
    return Drawing(round(width), round(bottom + height + _MARGIN), (*shapes, *key), summary.line)


def _hull(hull: Hull, at: Placing) -> Shape:
    right, bottom = hull.x + hull.width, hull.y + hull.height
    corners = (at(hull.x, hull.y), at(right, hull.y), at(right, bottom), at(hull.x, bottom))
    return Polygon(corners, _HULL_FILL, HULL, 1.0)


def _node(node: GraphNode, at: tuple[float, float], scale: float, changed: bool) -> list[Shape]:
    (x, y), mark = at, mark_size((scale, scale))
    radius = mark / 2
    fill = STORAGES[storage_label(node.storage, node.forced)]
    shapes: list[Shape] = []
    if changed:
        shapes.append(shape_of("Arith", x, y, radius * 1.4, "", CHANGED))
    outline, wide = outline_of(node.type)
    shapes.append(shape_of(node.instruction, x, y, radius, fill, outline, max(1.0, wide * min(1.0, scale))))
    if node.sync_before or node.sync_after:
        side = x + (radius + 4) * (1 if node.sync_after else -1)
        shapes += [Line(((side + d, y - radius), (side + d, y + radius)), INK, 1.5) for d in (0, 3)]
    if node.symbol and mark >= symbol_mark(node.symbol):
        behind = backing(node.instruction, node.symbol, fill)
        if behind:
            width = text_width(node.symbol, 11)
            shapes.append(rectangle(x - width / 2, y - 6, width, 12, behind, ""))
        shapes.append(Label((x, y), node.symbol, INK, 11, "centre"))
    return shapes


def _key(summary: GraphSummary, layout: GraphLayout, width: float, top: float) -> tuple[list[Shape], float]:
    """Colours and shapes that occur, in as many rows as it takes; also the height."""
    shown = [summary.nodes[number] for number, _, _ in layout.places]
    storages = {storage_label(node.storage, node.forced) for node in shown}
    kinds = {node.instruction for node in shown}
    types = {node.type for node in shown}
    entries = [(name, "Arith", colour) for name, colour in STORAGES.items() if name in storages]
    entries += [(words, kind, "#d9d9d9") for kind, words in INSTRUCTIONS.items() if kind in kinds]
    marks = [(words, kind, colour, INK, 1.0) for words, kind, colour in entries]
    marks += [(name, "Arith", "#d9d9d9", *look) for name, look in OUTLINES.items() if name in types]
    shapes: list[Shape] = []
    x, y = _MARGIN, top
    for words, kind, colour, outline, wide in marks:
        taken = 32 + text_width(words, 12)
        if x + taken > width - _MARGIN and x > _MARGIN:
            x, y = _MARGIN, y + 20
        shapes += [shape_of(kind, x + 8, y + 8, 7, colour, outline, wide), Label((x + 20, y + 8), words, INK, 12)]
        x += taken
    return shapes, y + 20 - top
