"""Graph marks: shapes of instructions and colours of storage, the same in the live view and in pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.views.drawing.shapes import Disc, Drawing, Polygon, Shape

# M. Okabe, K. Ito, Color Universal Design, 2008: told apart by readers of every kind of colour vision, and on both
# dark and light paper; the letters inside are black on all of them.
MANIFEST = "#e69f00"
DELAYED = "#56b4e9"
FORCED_MANIFEST = "#d55e00"
FORCED_DELAYED = "#b3b3b3"
EXISTING = "#009e73"
GLOBAL = "#cc79a7"
INK = "#000000"
SINGLE = "#f0e442"
DOUBLE_DOUBLE = "#0072b2"
LINK = "#8c8c8c"
HULL = "#8a8a8a"
CHANGED = "#0072b2"
SELECTED = "#0072b2"


@dataclass(frozen=True, slots=True)
class Mark:
    """A shape: its name in Bokeh, and its corners about (0, 0) for a radius of 1, y downwards; none for a disc."""

    bokeh: str
    corners: tuple[tuple[float, float], ...]


def _regular(count: int, turn: float) -> tuple[tuple[float, float], ...]:
    angles = [turn + 2 * math.pi * k / count for k in range(count)]
    return tuple((round(math.cos(a), 4), round(math.sin(a), 4)) for a in angles)


_UP = math.pi / 2
_ARM = 3 / 8
_PLUS = (
    *((_ARM, 1.0), (_ARM, _ARM), (1.0, _ARM), (1.0, -_ARM), (_ARM, -_ARM), (_ARM, -1.0)),
    *((-_ARM, -1.0), (-_ARM, -_ARM), (-1.0, -_ARM), (-1.0, _ARM), (-_ARM, _ARM), (-_ARM, 1.0)),
)
# None of Bokeh's marks with a line or a dot inside: the symbol of the value stands there.
MARKS: dict[str, Mark] = {
    "Arith": Mark("circle", ()),
    "Load": Mark("square", _regular(4, math.pi / 4)),
    "Store": Mark(
        "square_pin", ((-0.9, -0.9), (0, -0.5), (0.9, -0.9), (0.5, 0), (0.9, 0.9), (0, 0.5), (-0.9, 0.9), (-0.5, 0))
    ),
    "Shift": Mark("triangle", _regular(3, -_UP)),
    "Extend": Mark("hex", _regular(6, 0.0)),
    "Reduce": Mark("diamond", _regular(4, 0.0)),
    "Fold": Mark("diamond", _regular(4, 0.0)),
    "Scan": Mark("diamond", _regular(4, 0.0)),
    "SegmentedReduce": Mark("diamond", _regular(4, 0.0)),
    "Scatter": Mark("diamond", _regular(4, 0.0)),
    "Join": Mark("diamond", _regular(4, 0.0)),
    "Rank": Mark("diamond", _regular(4, 0.0)),
    "Gather": Mark("triangle", _regular(3, -_UP)),
    "Broadcast": Mark("inverted_triangle", _regular(3, _UP)),
    "Replicate": Mark("inverted_triangle", _regular(3, _UP)),
    "Loop": Mark("circle", ()),
    "Imm": Mark("plus", _PLUS),
    "LoadIndex": Mark(
        "star",
        tuple(
            p
            for pair in zip(
                _regular(5, -_UP), tuple((0.4 * x, 0.4 * y) for x, y in _regular(5, -_UP + math.pi / 5)), strict=True
            )
            for p in pair
        ),
    ),
    "LoadSize": Mark("triangle_pin", ((-1, 0.58), (0, 0.4), (1, 0.58), (0.34, -0.2), (0, -1.15), (-0.34, -0.2))),
}
_NARROW = (
    "Shift",
    "Gather",
    "Scan",
    "SegmentedReduce",
    "Scatter",
    "Join",
    "Rank",
    "Broadcast",
    "Reduce",
    "LoadSize",
    "LoadIndex",
)  # where a second letter touches the outline
INSTRUCTIONS: dict[str, str] = {
    "Arith": "arithmetic",
    "Load": "read a field or number",
    "Store": "write it",
    "Shift": "read at a neighbour",
    "Scan": "values combined up to each one",
    "SegmentedReduce": "values of each segment to one",
    "Scatter": "values sent to computed places",
    "Join": "arrays one after another",
    "Rank": "places of values in a sorted order",
    "Gather": "read at a computed place",
    "Extend": "fill ghost cells",
    "Reduce": "all values to one number",
    "Fold": "values along some axes to one",
    "Broadcast": "one number to all places",
    "Replicate": "the same along further axes",
    "Imm": "constant",
    "LoadIndex": "index along an axis",
    "LoadSize": "extent",
    "Loop": "turns of a loop",
}
STORAGES: dict[str, str] = {
    "Manifest": MANIFEST,
    "Delayed": DELAYED,
    "Manifest, forced": FORCED_MANIFEST,
    "Delayed, forced": FORCED_DELAYED,
    "Existing": EXISTING,
    "Global": GLOBAL,
}

OUTLINES: dict[str, tuple[str, float]] = {"f32": (SINGLE, 3.0), "dd": (DOUBLE_DOUBLE, 4.0)}
"""Colour and width of the outline that says a float type; all others have a thin one in ink."""


def outline_of(type_: str) -> tuple[str, float]:
    """Colour and width of the outline of a value of this type."""
    return OUTLINES.get(type_, (INK, 1.0))


def storage_label(storage: str, forced: str) -> str:
    """One of STORAGES: what the colour says. A Store has no value and counts as forced."""
    if storage in ("Existing", "Global"):
        return storage
    return f"{storage or 'Delayed'}, forced" if forced else storage


def backing(instruction: str, symbol: str, fill: str) -> str:
    """The colour below a symbol that is wider than its mark, so that no outline crosses it; "" for all others."""
    return fill if len(symbol) > 1 and instruction in _NARROW else ""


def shape_of(
    instruction: str, x: float, y: float, radius: float, fill: str, outline: str = INK, width: float = 1.0
) -> Shape:
    """An instruction's mark for a drawing."""
    mark = MARKS[instruction]
    if not mark.corners:
        return Disc((x, y), 0.9 * radius, fill, outline, width)
    return Polygon(tuple((x + radius * cx, y + radius * cy) for cx, cy in mark.corners), fill, outline, width)


def key(instructions: tuple[str, ...], storages: tuple[str, ...]) -> tuple[tuple[str, Drawing], ...]:
    """The legend: a word and a small picture for each colour and each shape that occurs, and the float types."""
    colours = [(name, "Arith", STORAGES[name]) for name in STORAGES if name in storages]
    shapes = [(INSTRUCTIONS[name], name, "#d9d9d9") for name in INSTRUCTIONS if name in instructions]
    pictures = [(words, shape_of(mark, 8, 8, 7, fill)) for words, mark, fill in (*colours, *shapes)]
    pictures += [(name, shape_of("Arith", 8, 8, 6, "#d9d9d9", *look)) for name, look in OUTLINES.items()]
    return tuple((words, Drawing(16, 16, (shape,), words, background="none")) for words, shape in pictures)
