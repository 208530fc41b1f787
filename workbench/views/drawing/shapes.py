"""Drawing: a picture made of lines, shapes and words; the same record becomes an SVG text and a PNG file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

from workbench.graph.display_hook import Bundle
from workbench.views.drawing.bitmap_font import CHARACTER_HEIGHT, CHARACTER_WIDTH, letters
from workbench.views.drawing.png import encode_rgb

Point = tuple[float, float]
Canvas = npt.NDArray[np.uint8]
_LETTERS = 0.86  # size of the letters by the height of their line, as in the table of letters
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_FINE = 2  # pixels of the raster across one of the file: their mean smooths edges


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, in a colour "#rrggbb"; `dashed` strokes are 6 pixels long."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed shape; an empty colour is not drawn."""

    points: tuple[Point, ...]
    fill: str
    outline: str = ""
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    centre: Point
    radius: float
    fill: str
    outline: str = ""
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Label:
    """Words in one line; `size` is the height of the letters' line in pixels, `at` its middle at the aligned end."""

    at: Point
    text: str
    colour: str
    size: float = 12.0
    align: Literal["left", "centre", "right"] = "left"
    upwards: bool = False


Shape = Line | Polygon | Disc | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are drawn; pixels from the upper left corner."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    title: str
    background: str = "#ffffff"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """The picture in a notebook, its title elsewhere; by its class labextension/style/still.css fits it there."""
        marked = to_svg(self).replace("<svg ", '<svg class="swb-drawing" ', 1)
        return {"text/plain": self.title, "image/svg+xml": marked}


def rectangle(x: float, y: float, width: float, height: float, fill: str, outline: str = "") -> Polygon:
    """A rectangle by its upper left corner."""
    return Polygon(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), fill, outline)


def to_svg(drawing: Drawing) -> str:
    """The drawing as an SVG file's text, its title as what a screen reader says."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(drawing.title)}>',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="100%" height="100%" fill="{drawing.background}"/>',
        *(_svg(shape) for shape in drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg(shape: Shape) -> str:
    match shape:
        case Line(points, colour, width, dashed):
            dash = ' stroke-dasharray="6 4"' if dashed else ""
            style = f'fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}'
            return f'<polyline points="{_points(points)}" {style}/>'
        case Polygon(points, fill, outline, width):
            return f'<polygon points="{_points(points)}" {_paint(fill, outline, width)}/>'
        case Disc((x, y), radius, fill, outline, width):
            return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" {_paint(fill, outline, width)}/>'
        case Label((x, y), text, colour, size, align, upwards):
            anchor = {"left": "start", "centre": "middle", "right": "end"}[align]
            turn = f' transform="rotate(-90 {x:g} {y:g})"' if upwards else ""
            # As wide as text_width says in every reader's letters, so that what was laid out does not overlap there.
            letters = f'font-size="{size * _LETTERS:.4g}" textLength="{text_width(text, size):g}"'
            style = f'fill="{colour}" {letters} font-family="{_FONTS}" text-anchor="{anchor}"'
            return f'<text x="{x:g}" y="{y:g}" dy="0.35em" {style}{turn}>{escape(text)}</text>'


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _paint(fill: str, outline: str, width: float) -> str:
    stroke = f' stroke="{outline}" stroke-width="{width:g}"' if outline else ""
    return f'fill="{fill or "none"}"{stroke}'


def to_png(drawing: Drawing) -> bytes:
    """The drawing as a PNG file.

    Shapes become pixels here, because a polygon of pillow also has the pixels of its right and lower edge: neighbours
    would overlap. Letters come from a table, because no font is on every machine.
    """
    canvas = np.empty((drawing.height * _FINE, drawing.width * _FINE, 3), np.uint8)
    canvas[:] = _rgb(drawing.background)
    for shape in drawing.shapes:
        _draw(canvas, shape)
    total = np.zeros((drawing.height, drawing.width, 3), np.uint16)
    for i, j in np.ndindex(_FINE, _FINE):
        total += canvas[i::_FINE, j::_FINE]
    return encode_rgb((total // _FINE**2).astype(np.uint8))


def _draw(canvas: Canvas, shape: Shape) -> None:
    match shape:
        case Line(points, colour, width, dashed):
            _stroke(canvas, points, colour, width, dashed)
        case Polygon(points, fill, outline, width):
            if fill:
                _fill(canvas, points, fill)
            if outline:
                _stroke(canvas, (*points, points[0]), outline, width, False)
        case Disc((x, y), radius, fill, outline, width):
            count = max(12, int(3 * radius))
            angles = [2 * math.pi * k / count for k in range(count)]
            round_points = tuple((x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles)
            _draw(canvas, Polygon(round_points, fill, outline, width))
        case Label():
            _write(canvas, shape)


def _stroke(canvas: Canvas, points: tuple[Point, ...], colour: str, width: float, dashed: bool) -> None:
    """A round brush set down every half pixel of the raster."""
    if len(points) < 2:
        return
    path = np.asarray(points, float) * _FINE
    lengths = np.hypot(*np.diff(path, axis=0).T)
    travelled = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0, travelled[-1], max(2, int(2 * travelled[-1])))
    if dashed:
        at = at[at % (10 * _FINE) < 6 * _FINE]
    centres = np.stack([np.interp(at, travelled, path[:, 0]), np.interp(at, travelled, path[:, 1])], axis=1)
    radius = max(0.5, width * _FINE / 2)
    reach = np.arange(-math.ceil(radius), math.ceil(radius) + 1)
    brush = np.array([(dx, dy) for dx in reach for dy in reach if dx * dx + dy * dy <= radius * radius])
    pixels = (np.floor(centres)[:, np.newaxis] + brush).reshape(-1, 2).astype(int)
    rows, columns = canvas.shape[:2]
    inside = (pixels[:, 0] >= 0) & (pixels[:, 0] < columns) & (pixels[:, 1] >= 0) & (pixels[:, 1] < rows)
    canvas[pixels[inside, 1], pixels[inside, 0]] = _rgb(colour)


def _fill(canvas: Canvas, points: tuple[Point, ...], colour: str) -> None:
    """Even-odd rule at the middle of each pixel of the raster."""
    path = np.asarray(points, float) * _FINE
    rows, columns = canvas.shape[:2]
    left, top = np.maximum(np.floor(path.min(axis=0)).astype(int), 0)
    right, bottom = np.minimum(np.ceil(path.max(axis=0)).astype(int), (columns, rows))
    if right <= left or bottom <= top:
        return
    x = np.arange(left, right)[np.newaxis, :] + 0.5
    y = np.arange(top, bottom)[:, np.newaxis] + 0.5
    inside = np.zeros((bottom - top, right - left), bool)
    for (x0, y0), (x1, y1) in zip(path, np.roll(path, -1, axis=0), strict=True):
        if y0 != y1:
            crossed = (y0 <= y) != (y1 <= y)
            inside ^= crossed & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    canvas[top:bottom, left:right][inside] = _rgb(colour)


def _write(canvas: Canvas, label: Label) -> None:
    """Letters of one fixed size table, scaled to the wanted height by taking the nearest pixel."""
    if not label.text:
        return
    mask = letters(label.text)
    factor = label.size * _FINE / CHARACTER_HEIGHT
    height, width = max(1, round(mask.shape[0] * factor)), max(1, round(mask.shape[1] * factor))
    mask = mask[np.arange(height) * mask.shape[0] // height][:, np.arange(width) * mask.shape[1] // width]
    along = {"left": 0.0, "centre": width / 2, "right": float(width)}[label.align]
    x, y = label.at[0] * _FINE, label.at[1] * _FINE
    if label.upwards:
        mask = np.rot90(mask)
        left, top = round(x - height / 2), round(y - width + along)
    else:
        left, top = round(x - along), round(y - height / 2)
    found = np.argwhere(mask) + np.array([top, left])
    rows, columns = canvas.shape[:2]
    keep = (found >= 0).all(axis=1) & (found[:, 0] < rows) & (found[:, 1] < columns)
    canvas[found[keep, 0], found[keep, 1]] = _rgb(label.colour)


def text_width(text: str, size: float = 12.0) -> float:
    """Pixels that a text takes, in the PNG and in the SVG."""
    return len(text) * CHARACTER_WIDTH * size / CHARACTER_HEIGHT


def _rgb(colour: str) -> Canvas:
    return np.frombuffer(bytes.fromhex(colour.removeprefix("#")), np.uint8)
