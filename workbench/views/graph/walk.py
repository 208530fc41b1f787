"""Graph walk: which value is under a pointer, beside another one, or meant by a few letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from workbench.views.graph.layout import NODE, GraphLayout, Hull
from workbench.views.graph.summary import GraphNode, GraphSummary

Direction = Literal["left", "right", "up", "down"]


def node_at(layout: GraphLayout, x: float, y: float, reach: float = NODE[0] / 2) -> int | None:
    """The node whose middle is nearest to a point, within `reach`."""
    near = min(layout.places, key=lambda place: (place[1] - x) ** 2 + (place[2] - y) ** 2, default=None)
    if near is None or (near[1] - x) ** 2 + (near[2] - y) ** 2 > reach**2:
        return None
    return near[0]


def hull_at(layout: GraphLayout, x: float, y: float) -> Hull | None:
    """The sub-kernel that a point lies in."""
    for hull in layout.hulls:
        if hull.x <= x <= hull.x + hull.width and hull.y <= y <= hull.y + hull.height:
            return hull
    return None


def neighbour(summary: GraphSummary, layout: GraphLayout, node: int | None, direction: Direction) -> int | None:
    """The value to go to from `node`: left to an operand, right to a consumer, up and down in the same column.

    From nowhere it is the leftmost value; at the border it is `node` itself.
    """
    at = {n: (x, y) for n, x, y in layout.places}
    if node not in at:
        return min(at, key=lambda n: at[n], default=None)
    x, y = at[node]
    match direction:
        case "left":
            found = [n for n in summary.nodes[node].operands if n in at]
            found = found or [n for n in at if at[n][0] < x - 1]
        case "right":
            found = [n for n in at if node in summary.nodes[n].operands]
            found = found or [n for n in at if at[n][0] > x + 1]
        case "up":
            found = [n for n in at if at[n][1] < y - 1]
        case "down":
            found = [n for n in at if at[n][1] > y + 1]
    steep = direction in ("up", "down")

    def distance(n: int) -> float:
        dx, dy = abs(at[n][0] - x), abs(at[n][1] - y)
        return 4 * dx + dy if steep else dx + dy

    return min(found, key=distance, default=node)


def search(summary: GraphSummary, wanted: str, after: int | None = None) -> int | None:
    """The next value, after `after` and around, whose name is `wanted`, else begins with it, else its formula has it.

    A number is a line of the cell; so is "line 7", as names have it.
    """
    wanted = wanted.strip()
    line = wanted.removeprefix("line").strip()
    if not wanted:
        return None
    nodes = summary.nodes
    tests: tuple[Callable[[GraphNode], bool], ...] = (
        lambda node: line.isdigit() and int(line) in node.cell_lines,
        lambda node: node.title == wanted or wanted == f"%{node.ref.node}",
        lambda node: node.title.startswith(wanted),
        lambda node: wanted in node.formula,
    )
    for test in tests:
        found = [node.ref.node for node in nodes if test(node)]
        if found:
            return next((n for n in found if after is not None and n > after), found[0])
    return None
