"""Label places: which names of a drawn graph are shown at which scale, so that none covers another or a mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from workbench.views.graph.layout import (
    FRAME_MARGIN,
    LETTER,
    LINE,
    LONGEST_NAME,
    NODE,
    GraphLayout,
    Hull,
    caption,
    drawn_title,
    shortened,
)
from workbench.views.graph.summary import GraphNode, GraphSummary

# Pixels a unit of the layout takes across and down, each 1.25 times the one before: the steps at which names change.
SCALES = tuple(round(0.1 * 1.25**step, 3) for step in range(13))
_STRETCHES = (1.0, 0.6, 0.36, 1.6)  # across by down: frames are seldom as wide as their graph
_MANY = 400  # marks of a graph whose names are placed for equal scales only
LARGEST_MARK = 34.0
_SYMBOL_LETTER = 6.1  # pixels across a letter of a symbol, of 10 px
_FEWEST = 9  # letters of a caption that says more than its number
_LONGEST_BESIDE = (24, 18, 14, 12, 11, 10, 9, 8)  # letters of number and name of a folded sub-kernel outside its box
_CELL = 48.0  # pixels; boxes are looked up by the cells that they touch

Scale = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A name or a caption: its middle is (dx, dy) pixels from the point (x, y) of the layout. `bold`: of a value."""

    text: str
    x: float
    y: float
    dx: float
    dy: float
    bold: bool = False

    def box(self, scale: Scale) -> Box:
        """The pixels that it covers; (0, 0) is the layout's upper left corner."""
        x, y = self.x * scale[0] + self.dx, self.y * scale[1] + self.dy
        width = len(self.text) * LETTER
        return (x - width / 2, y - LINE / 2, x + width / 2, y + LINE / 2)


@dataclass(frozen=True, slots=True)
class Lettering:
    """The words to show from this scale on, until a larger one of the same graph is reached in both directions."""

    scale: Scale
    words: tuple[PlacedLabel, ...]


def mark_size(scale: Scale) -> float:
    """Pixels across the mark of a value."""
    return max(3.0, min(LARGEST_MARK, 0.85 * NODE[0] * min(scale)))


def symbol_mark(symbol: str) -> float:
    """Pixels across the smallest mark in which a symbol can be read."""
    return max(14.0, len(symbol) * _SYMBOL_LETTER - 4)


def letterings(summary: GraphSummary, layout: GraphLayout) -> tuple[Lettering, ...]:
    """Words for all scales, the best last: a page shows the last one whose scale is not above its own."""
    stretches = _STRETCHES if len(layout.places) <= _MANY else (1.0,)
    scales = sorted(((s * stretch, s) for s in SCALES for stretch in stretches), key=lambda each: each[0] * each[1])
    return tuple(Lettering(scale, lettered(summary, layout, scale)) for scale in scales)


def lettered(summary: GraphSummary, layout: GraphLayout, scale: Scale) -> tuple[PlacedLabel, ...]:
    """The words that have room at a scale, names shortened where that helps.

    None covers another word, a mark or a folded sub-kernel, or leaves the frame, at this scale and any larger one.
    State comes first, then sub-kernels, then other values, stored ones before the rest.
    """
    width, height = layout.size
    across, down = FRAME_MARGIN[0] * scale[0], FRAME_MARGIN[1] * scale[1]
    taken = _Taken((-across, -down, width * scale[0] + across, height * scale[1] + down))
    radius = mark_size(scale) / 2
    for _, x, y in layout.places:
        taken.add((x * scale[0] - radius, y * scale[1] - radius, x * scale[0] + radius, y * scale[1] + radius))
    words: list[PlacedLabel] = []
    for hull in layout.hulls:
        if hull.folded:
            left, top = hull.x * scale[0], hull.y * scale[1]
            taken.add((left, top, left + hull.width * scale[0], top + hull.height * scale[1]))
            words += _inside(summary, hull, scale)
    nameless = [hull for hull in layout.hulls if not (hull.folded and _name_fits(hull, scale))]
    titled = [(summary.nodes[n], x, y, _title(summary.nodes[n], 2 * radius)) for n, x, y in layout.places]
    named = sorted((each for each in titled if each[3]), key=lambda each: (_rank(each[0]), each[1], each[2]))
    first = [_titles(title, x, y, radius) for node, x, y, title in named if _rank(node) == 0]
    last = [_titles(title, x, y, radius) for node, x, y, title in named if _rank(node) > 0]
    words += _placed(first, taken, scale)
    taken, over = _most_named(summary, nameless, taken, scale)
    words += over
    words += _placed(last, taken, scale)
    return tuple(words)


def _most_named(
    summary: GraphSummary, hulls: list[Hull], taken: _Taken, scale: Scale
) -> tuple[_Taken, list[PlacedLabel]]:
    """Names beside sub-kernels, and what is taken then: the longest with which most of them have one.

    A long name may leave no room for that of another one, and so may the name that is placed first.
    """
    best, words = taken, list[PlacedLabel]()
    for most, order in product(_LONGEST_BESIDE, (hulls, hulls[::-1])):
        if len(words) == len(hulls):
            break
        now = taken.copy()
        found = _placed([_beside(summary, hull, scale, most) for hull in order], now, scale)
        if len(found) > len(words):
            best, words = now, found
    return best, words


def _placed(named: Iterable[Iterable[PlacedLabel]], taken: _Taken, scale: Scale) -> list[PlacedLabel]:
    """Of each thing to name the first word that has room."""
    found = (next((word for word in words if taken.add_free(word.box(scale))), None) for words in named)
    return [word for word in found if word is not None]


def _rank(node: GraphNode) -> int:
    if node.instruction in ("Load", "Store"):
        return 0
    return 1 if node.storage == "Manifest" else 2


def _title(node: GraphNode, mark: float) -> str:
    """What stands above a value: its name, unless that is in its mark and can be read there."""
    return drawn_title(node) if mark >= symbol_mark(node.symbol) else node.title


def _titles(title: str, x: float, y: float, radius: float) -> Iterator[PlacedLabel]:
    for text in _cuts(title, (LONGEST_NAME, 12, 8, 5)):
        for dx in _shifts(text, radius):
            yield PlacedLabel(text, x, y, dx, -radius - LINE / 2 - 1, bold=True)


def _inside(summary: GraphSummary, hull: Hull, scale: Scale) -> Iterator[PlacedLabel]:
    """In a folded sub-kernel: what it makes and how much that is, as far as there is room."""
    letters = int((hull.width * scale[0] - 4) / LETTER)
    height = hull.height * scale[1] - 2
    number = str(hull.group + 1)
    x, y = hull.x + hull.width / 2, hull.y + hull.height / 2
    if letters < len(number) or height < LINE:
        return
    named = _name_fits(hull, scale)
    first = shortened(caption(summary, hull.group), letters) if named else number
    second = _amount(summary, hull, letters)
    if named and second and height >= 2 * LINE:
        yield PlacedLabel(first, x, y, 0.0, -LINE / 2)
        yield PlacedLabel(second, x, y, 0.0, LINE / 2)
    else:
        yield PlacedLabel(first, x, y, 0.0, 0.0)


def _name_fits(hull: Hull, scale: Scale) -> bool:
    """Whether a folded sub-kernel has room for more than its number."""
    return hull.width * scale[0] - 4 >= _FEWEST * LETTER


def _amount(summary: GraphSummary, hull: Hull, letters: int) -> str:
    values, moved = f"{hull.members} values", f"{summary.groups[hull.group].bytes_moved:g} bytes {summary.cell}"
    return next((text for text in (f"{values}, {moved}", moved, values) if len(text) <= letters), "")


def _beside(summary: GraphSummary, hull: Hull, scale: Scale, most: int) -> Iterator[PlacedLabel]:
    """Over an open sub-kernel, at its left corner; over or under a folded one that has room for a number only."""
    if hull.folded:
        for text in _cuts(caption(summary, hull.group), (m for m in _LONGEST_BESIDE if m <= most)):
            for y, dy in ((hull.y, -LINE / 2 - 1), (hull.y + hull.height, LINE / 2 + 1)):
                for dx in _shifts(text, hull.width * scale[0] / 2):
                    yield PlacedLabel(text, hull.x + hull.width / 2, y, dx, dy)
        return
    room = max(16, int(hull.width * scale[0] / LETTER))
    name = caption(summary, hull.group)
    for text in (*_cuts(name, (min(room, 60), min(room, 24), 12)), str(hull.group + 1)):
        yield PlacedLabel(text, hull.x, hull.y, len(text) * LETTER / 2, -LINE / 2 - 1)


def _shifts(text: str, radius: float) -> tuple[float, ...]:
    """Over the middle of what it names, else from one of its edges on; so names keep the order of their marks."""
    aside = len(text) * LETTER / 2 - radius
    return (0.0, aside, -aside) if aside > 0 else (0.0,)


def _cuts(text: str, most: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(shortened(text, each) for each in most))


class _Taken:
    """Boxes that have their place, in a frame that nothing may leave."""

    def __init__(self, frame: Box) -> None:
        self._frame = frame
        self._cells: dict[tuple[int, int], list[Box]] = {}

    def copy(self) -> _Taken:
        made = _Taken(self._frame)
        made._cells = {cell: list(boxes) for cell, boxes in self._cells.items()}
        return made

    def add(self, box: Box) -> None:
        for cell in _touched(box):
            self._cells.setdefault(cell, []).append(box)

    def add_free(self, box: Box) -> bool:
        left, top, right, bottom = self._frame
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        if any(overlap(box, other) for cell in _touched(box) for other in self._cells.get(cell, ())):
            return False
        self.add(box)
        return True


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have a pixel in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _touched(box: Box) -> Iterator[tuple[int, int]]:
    for row in range(int(box[1] // _CELL), int(box[3] // _CELL) + 1):
        for column in range(int(box[0] // _CELL), int(box[2] // _CELL) + 1):
            yield (row, column)
