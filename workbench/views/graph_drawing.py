"""Graph drawing: the summary of a graph as one picture with its key, for notebooks without a live page."""

from __future__ import annotations

from collections.abc import Callable

from workbench.views.drawing import Drawing, Label, Line, Polygon, Shape, text_width
from workbench.views.graph import GraphNode, GraphSummary
from workbench.views.graph_layout import GraphLayout, Hull
from workbench.views.graph_marks import (
    CHANGED,
    HULL,
    INK,
    INSTRUCTIONS,
    LINK,
    STORAGES,
    shape_of,
    storage_label,
)

Placing = Callable[[float, float], tuple[float, float]]

_WIDEST, _HIGHEST = 1300.0, 800.0  # pixels of the graph itself
_READABLE = 0.5  # of scale one; smaller letters are left out
_MARGIN = 16.0
_RADIUS = 17.0
_HULL_FILL = "#f4f4f4"


def draw_graph(summary: GraphSummary, layout: GraphLayout) -> Drawing:
    """The picture: hulls, links, values, the key below; large graphs are drawn small, and then without words."""
    scale = min(1.0, _WIDEST / max(layout.size[0], 1), _HIGHEST / max(layout.size[1], 1))
    left, top = _MARGIN, _MARGIN + 46.0
    width = max(layout.size[0] * scale + 2 * _MARGIN, 560.0)

    def at(x: float, y: float) -> tuple[float, float]:
        return (left + x * scale, top + y * scale)

    shapes: list[Shape] = [Label((left, _MARGIN + 4), summary.line, INK, 14)]
    for hull in layout.hulls:
        shapes += _hull(summary, hull, at, scale)
    shapes += [Line(tuple(at(*point) for point in link.points), LINK, max(0.5, scale)) for link in layout.links]
    for number, x, y in layout.places:
        shapes += _node(summary.nodes[number], at(x, y), scale, number in summary.changed)
    bottom = top + layout.size[1] * scale + 18
    key, height = _key(summary, layout, width, bottom)
    return Drawing(round(width), round(bottom + height + _MARGIN), (*shapes, *key), summary.line)


def _hull(summary: GraphSummary, hull: Hull, at: Placing, scale: float) -> list[Shape]:
    group = summary.groups[hull.group]
    corners = (
        at(hull.x, hull.y),
        at(hull.x + hull.width, hull.y),
        at(hull.x + hull.width, hull.y + hull.height),
        at(hull.x, hull.y + hull.height),
    )
    shapes: list[Shape] = [Polygon(corners, _HULL_FILL, HULL, 1.0)]
    if scale < _READABLE:
        return shapes
    room = hull.width * scale
    if hull.folded:
        x, y = at(hull.x + hull.width / 2, hull.y + hull.height / 2)
        shapes.append(Label((x, y - 8), _cut(group.label, room), INK, 12, "centre"))
        shapes.append(Label((x, y + 8), f"{hull.members} values", INK, 11, "centre"))
    else:
        x, y = at(hull.x, hull.y)
        shapes.append(Label((x, y - 9), _cut(f"{hull.group + 1}: {group.label}", room + 20), INK, 11))
    return shapes


def _node(node: GraphNode, at: tuple[float, float], scale: float, changed: bool) -> list[Shape]:
    (x, y), radius = at, max(1.5, _RADIUS * scale)
    fill = STORAGES[storage_label(node.storage, node.forced)]
    shapes: list[Shape] = []
    if changed:
        shapes.append(shape_of("Arith", x, y, radius * 1.4, "", CHANGED))
    shapes.append(shape_of(node.instruction, x, y, radius, fill))
    if node.sync_before or node.sync_after:
        side = x + (radius + 4) * (1 if node.sync_after else -1)
        shapes += [Line(((side + d, y - radius), (side + d, y + radius)), INK, 1.5) for d in (0, 3)]
    if scale >= _READABLE:
        shapes.append(Label((x, y), node.symbol[:5], INK, max(8, 11 * scale), "centre"))
        if node.title and node.title != node.symbol:
            shapes.append(Label((x, y - radius - 7), node.title, INK, 12, "centre"))
    return shapes


def _key(summary: GraphSummary, layout: GraphLayout, width: float, top: float) -> tuple[list[Shape], float]:
    """Colours and shapes that occur, in as many rows as it takes; also the height."""
    shown = [summary.nodes[number] for number, _, _ in layout.places]
    storages = {storage_label(node.storage, node.forced) for node in shown}
    kinds = {node.instruction for node in shown}
    entries = [(name, "Arith", colour) for name, colour in STORAGES.items() if name in storages]
    entries += [(words, kind, "#d9d9d9") for kind, words in INSTRUCTIONS.items() if kind in kinds]
    shapes: list[Shape] = []
    x, y = _MARGIN, top
    for words, kind, colour in entries:
        taken = 32 + text_width(words, 12)
        if x + taken > width - _MARGIN and x > _MARGIN:
            x, y = _MARGIN, y + 20
        shapes += [shape_of(kind, x + 8, y + 8, 7, colour), Label((x + 20, y + 8), words, INK, 12)]
        x += taken
    return shapes, y + 20 - top


def _cut(text: str, room: float) -> str:
    most = max(4, int(room / text_width("m", 12)))
    return text if len(text) <= most else f"{text[: most - 1]}…"
