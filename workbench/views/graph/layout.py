"""Graph layout: where the values of a summary are drawn, each sub-kernel's in a hull of its own, folded or open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.views.graph.layered_layout import Arranged, Box, Edge, arrange
from workbench.views.graph.summary import GraphNode, GraphSummary

NODE: Box = (46.0, 46.0)
FRAME_MARGIN: Box = (90.0, 50.0)  # about all of it, for names at the border
LETTER_SIZE = 11
LETTER, LINE = 6.8, 14.0  # pixels across such a letter and down its line, in the widest of the usual monospace fonts
LONGEST_NAME = 18  # letters of a value's name that are drawn
_NARROWEST, _SHALLOWEST = 620.0, 260.0  # of what is shown: a small graph is not blown up
_FOLDED_LETTERS = (20, 27)
_FOLDED_HEIGHT = 60.0
_GAP: Box = (34.0, 14.0)
_OVER_GAP = 22.0  # of a name that may stand over the gaps beside its value
_HULL_GAP: Box = (56.0, 44.0)  # captions stand above their hulls
_PADDING = 16.0
_NO_OPERATIONS = ("Shift", "Broadcast", "Replicate", "Gather", "Imm", "LoadIndex")

COMFORTABLE = 150  # values drawn one by one unless a reader asks for more

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Hull:
    """The rectangle of sub-kernel number `group`, by its upper left corner; `folded`: drawn instead of its values."""

    group: int
    x: float
    y: float
    width: float
    height: float
    folded: bool
    members: int


@dataclass(frozen=True, slots=True)
class Link:
    """A line from what is used to what uses it; ends are nodes, or None where a folded sub-kernel stands for them."""

    start: int | None
    end: int | None
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Pixels at scale one, y downwards. `places`: (node, x, y) of the middles of all that is drawn by itself."""

    places: tuple[tuple[int, float, float], ...]
    hulls: tuple[Hull, ...]
    links: tuple[Link, ...]
    size: Box

    def node_place(self, node: int) -> Point | None:
        """Where a node is drawn, None if it is not."""
        return next(((x, y) for number, x, y in self.places if number == node), None)

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of what is shown at first: all of it, with room for names at the border."""
        width, height = self.size
        across, down = max(width + 2 * FRAME_MARGIN[0], _NARROWEST), max(height + 2 * FRAME_MARGIN[1], _SHALLOWEST)
        return ((width - across) / 2, (height - down) / 2, (width + across) / 2, (height + down) / 2)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is drawn: `home` of each node (-1: none), its sub-kernel; edges between drawn nodes; who is folded."""

    home: tuple[int, ...]
    members: dict[int, tuple[int, ...]]
    free: tuple[int, ...]
    edges: tuple[Edge, ...]
    shut: frozenset[int]

    def vertex(self, node: int) -> tuple[str, int]:
        """What stands for a node in the drawing of the whole: itself or its sub-kernel."""
        return ("node", node) if self.home[node] < 0 else ("group", self.home[node])


@dataclass(frozen=True, slots=True)
class _Inside:
    """An open sub-kernel, drawn by itself."""

    nodes: tuple[int, ...]
    edges: tuple[Edge, ...]
    arranged: Arranged


def lay_out_graph(summary: GraphSummary, folded: Collection[str] = (), with_numbers: bool = False) -> GraphLayout:
    """Places for a summary.

    folded: names of sub-kernels drawn as one box. with_numbers: draw values known before the step, too. A value that
    several sub-kernels recompute is drawn once, in the first of them.
    """
    parts = _parts(summary, folded, with_numbers)
    inside = {number: _arrange_inside(summary, parts, number) for number in parts.members if number not in parts.shut}
    vertices = [*(("group", number) for number in parts.members), *(("node", n) for n in parts.free)]
    number_of = {vertex: i for i, vertex in enumerate(vertices)}
    pairs = dict.fromkeys((number_of[parts.vertex(a)], number_of[parts.vertex(b)]) for a, b in parts.edges)
    outer = [pair for pair in pairs if pair[0] != pair[1]]
    boxes = [_box_of(summary, vertex, inside) for vertex in vertices]
    whole = arrange(boxes, outer, _HULL_GAP)
    at: dict[int, Point] = {}
    hulls: list[Hull] = []
    bends: dict[Edge, tuple[Point, ...]] = {}
    for (kind, number), (x, y), (width, height) in zip(vertices, whole.places, boxes, strict=True):
        if kind == "node":
            at[number] = (x, y)
            continue
        hull = Hull(
            number, x - width / 2, y - height / 2, width, height, number in parts.shut, len(parts.members[number])
        )
        hulls.append(hull)
        if number in inside:
            _fill_hull(hull, inside[number], at, bends)
    lanes = {(vertices[a], vertices[b]): lane for (a, b), lane in zip(outer, whole.bends, strict=True)}
    for a, b in parts.edges:
        bends.setdefault((a, b), lanes.get((parts.vertex(a), parts.vertex(b)), ()))
    places = tuple((n, x, y) for n, (x, y) in sorted(at.items()))
    return GraphLayout(places, tuple(hulls), _links(parts, hulls, at, bends), whole.size)


def _parts(summary: GraphSummary, folded: Collection[str], with_numbers: bool) -> _Parts:
    home = _homes(summary)
    shown = [n for n, node in enumerate(summary.nodes) if with_numbers or not node.is_number]
    known = set(shown)
    edges = tuple((o, n) for n in shown for o in summary.nodes[n].operands if o in known)
    members = {number: tuple(n for n in shown if home[n] == number) for number in range(len(summary.groups))}
    shut = frozenset(n for n, group in enumerate(summary.groups) if group.ref.name in folded)
    free = tuple(n for n in shown if home[n] < 0)
    return _Parts(home, {n: nodes for n, nodes in members.items() if nodes}, free, edges, shut)


def _arrange_inside(summary: GraphSummary, parts: _Parts, number: int) -> _Inside:
    nodes = parts.members[number]
    index = {n: i for i, n in enumerate(nodes)}
    edges = tuple((a, b) for a, b in parts.edges if a in index and b in index)
    arranged = arrange([_node_box(summary.nodes[n]) for n in nodes], [(index[a], index[b]) for a, b in edges], _GAP)
    return _Inside(nodes, edges, arranged)


def _box_of(summary: GraphSummary, vertex: tuple[str, int], inside: dict[int, _Inside]) -> Box:
    kind, number = vertex
    if kind == "node":
        return _node_box(summary.nodes[number])
    if number not in inside:
        fewest, most = _FOLDED_LETTERS
        return (LETTER * min(max(len(caption(summary, number)), fewest), most) + 14, _FOLDED_HEIGHT)
    width, height = inside[number].arranged.size
    return (width + 2 * _PADDING, height + 2 * _PADDING)


def _node_box(node: GraphNode) -> Box:
    """As wide as its name needs."""
    name = shortened(drawn_title(node), LONGEST_NAME)
    return (max(NODE[0], len(name) * LETTER - _OVER_GAP), NODE[1])


def drawn_title(node: GraphNode) -> str:
    """What stands above a value: its name, unless that is in its mark already."""
    return node.title if node.title != node.symbol else ""


def caption(summary: GraphSummary, group: int) -> str:
    """Number and name of a sub-kernel."""
    return f"{group + 1}: {summary.groups[group].label}"


def shortened(text: str, most: int) -> str:
    """At most so many letters; what is left out is an ellipsis at the end."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _fill_hull(hull: Hull, inside: _Inside, at: dict[int, Point], bends: dict[Edge, tuple[Point, ...]]) -> None:
    left, top = hull.x + _PADDING, hull.y + _PADDING
    for n, (x, y) in zip(inside.nodes, inside.arranged.places, strict=True):
        at[n] = (left + x, top + y)
    for edge, route in zip(inside.edges, inside.arranged.bends, strict=True):
        bends[edge] = tuple((left + x, top + y) for x, y in route)


def _links(
    parts: _Parts, hulls: list[Hull], at: dict[int, Point], bends: dict[Edge, tuple[Point, ...]]
) -> tuple[Link, ...]:
    """One line an edge; where a folded sub-kernel stands for many ends, equal lines are one."""
    box = {hull.group: hull for hull in hulls}
    links: dict[tuple[object, ...], Link] = {}
    for a, b in parts.edges:
        start, end = (a if a in at else None), (b if b in at else None)
        if start is None and end is None and parts.home[a] == parts.home[b]:
            continue
        first = at[a] if a in at else _port(box[parts.home[a]], right=True)
        last = at[b] if b in at else _port(box[parts.home[b]], right=False)
        links[start, end, first, last] = Link(start, end, (first, *bends[a, b], last))
    return tuple(links.values())


def _port(hull: Hull, right: bool) -> Point:
    return (hull.x + (hull.width if right else 0.0), hull.y + hull.height / 2)


def default_folds(summary: GraphSummary) -> frozenset[str]:
    """The sub-kernels that are folded until a reader opens them: none of a graph that fits on a page, else all."""
    drawn = sum(1 for node in summary.nodes if not node.is_number)
    return frozenset() if drawn <= COMFORTABLE else frozenset(group.ref.name for group in summary.groups)


def _homes(summary: GraphSummary) -> tuple[int, ...]:
    """For each node the sub-kernel in whose hull it is drawn, -1 for none."""
    number = {group.ref.name: i for i, group in enumerate(summary.groups)}
    home = [min((number[name] for name in node.subkernels), default=-1) for node in summary.nodes]
    users: list[list[int]] = [[] for _ in summary.nodes]
    for node in reversed(summary.nodes):
        n = node.ref.node
        # Values read elsewhere and plain numbers are no operations; they belong where what uses them is computed.
        if home[n] < 0 and node.storage == "Delayed" and node.instruction in _NO_OPERATIONS:
            home[n] = min((home[m] for m in users[n] if home[m] >= 0), default=-1)
        for operand in node.operands:
            users[operand].append(n)
    return tuple(home)
