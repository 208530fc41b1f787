"""Figure: pictures and charts as SVG text, with axes, numbers and names; by the standard library alone."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from html import escape

import numpy as np

from workbench.views.drawing.numbers import beside, shares, short, ticks
from workbench.views.drawing.png import encode_png
from workbench.views.field.curves import Chart
from workbench.views.field.palettes import LEVELS, colour_table
from workbench.views.field.picture import drawn
from workbench.views.field.summary import FieldSummary, Numbers
from workbench.views.field.words import describe, time_text

# M. Okabe, K. Ito, "Color Universal Design", 2008: told apart by colour-blind readers, on light and on dark paper.
CURVE_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a900")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
CHART_HEIGHT = 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 14.0, 24.0, 40.0
_BAR, _BAR_NUMBERS, _BAR_NAME = 12.0, 58.0, 16.0
_PICTURE_SIDE = 420.0  # pixels of the longer side of a picture
_LINE_HEIGHT = 260.0
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'


def svg_of(summary: FieldSummary, charts: Iterable[Chart] = (), *, paper: bool = True) -> str:
    """Everything seen below each other: title, pictures with axes and colour bar, charts. paper: white behind it."""
    blocks = [_picture(plane, last=plane is summary.planes[-1]) for plane in summary.planes]
    rows = [_row(blocks)]
    rows += [_row([chart_block(chart, _PICTURE_SIDE + _LEFT + _RIGHT)]) for chart in charts]
    width = max(row[1] for row in rows)
    body, top = [], 26.0
    for text, _, height in rows:
        body.append(f'<g transform="translate(0 {top:g})">{text}</g>')
        top += height + 8
    words = escape(f"{summary.subject}, step {summary.step}{time_text(summary)}")
    title = f'<text x="{_LEFT:g}" y="18" font-weight="600">{words}</text>'
    back = '<rect width="100%" height="100%" fill="#ffffff"/>' if paper else ""
    colour = "#1a1a1a" if paper else "currentColor"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {top:g}" width="{width:g}" height="{top:g}" '
        f'role="img" {_FONT} fill="{colour}"><title>{escape(summary.subject)}</title><desc>{escape(describe(summary))}'
        f"</desc>{back}{title}{''.join(body)}</svg>"
    )


def chart_svg(chart: Chart, width: float) -> str:
    """One chart alone, `width` pixels wide, in the colour of the text around it."""
    text, _, height = chart_block(chart, width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" {_FONT} fill="currentColor"><title>{escape(chart_words(chart))}</title>'
        f"{text}</svg>"
    )


def chart_words(chart: Chart) -> str:
    """A chart in one line, for screen readers."""
    values = ", ".join(f"{c.name} now {short(float(c.values[-1]))}" for c in chart.curves if c.values.size)
    return f"{chart.title} over {chart.across}" + (f": {values}" if chart.group != "profiles" else "")


Block = tuple[str, float, float]
"""SVG text with its width and height."""


def chart_block(chart: Chart, width: float) -> Block:
    """A chart with frame, numbers, names and a legend that says the last values."""
    inner = width - _LEFT - _RIGHT
    finite = [curve.values[np.isfinite(curve.values)] for curve in chart.curves]
    low, high = _span([float(f(v)) for v in finite if v.size for f in (np.min, np.max)])
    ends = [curve.places[index] for curve in chart.curves if curve.places.size for index in (0, -1)]
    first, last = _span(ends)
    parts = [_frame(inner, CHART_HEIGHT)]
    counted = all(bool((curve.places == np.floor(curve.places)).all()) for curve in chart.curves)
    parts += _across_numbers(first, last, inner, CHART_HEIGHT, counted=counted)
    parts += _up_numbers(low, high, CHART_HEIGHT)
    parts.append(
        _names(_titled(chart.across, chart.across_unit), _titled(chart.up, chart.up_unit), inner, CHART_HEIGHT)
    )
    for number, curve in enumerate(chart.curves):
        x = (curve.places - first) / (last - first) * inner
        y = _heights(curve.values, low, high, CHART_HEIGHT)
        dash = DASHES[number // 2 % len(DASHES)]
        parts.append(_polyline(x, y, CURVE_COLOURS[number % len(CURVE_COLOURS)], dash))
    legend, lines = _legend(chart, inner)
    top = _TOP + 16 * lines
    return (
        f'<g transform="translate({_LEFT:g} {top:g})">{"".join(parts)}</g>{legend}',
        width,
        top + CHART_HEIGHT + _BOTTOM,
    )


def _legend(chart: Chart, inner: float) -> tuple[str, int]:
    """The title and, below it, one word for each curve, in as many lines as it takes."""
    parts = [f'<text x="{_LEFT:g}" y="14" font-weight="600">{escape(chart.title)}</text>']
    if chart.group == "profiles":
        return "".join(parts), 0
    x, line = 0.0, 0
    for number, curve in enumerate(chart.curves):
        words = f"{curve.name}: {short(float(curve.values[-1]))}" if curve.values.size else curve.name
        long = 30 + 6.6 * len(words)
        if x and x + long > inner:
            x, line = 0.0, line + 1
        colour, dash = CURVE_COLOURS[number % len(CURVE_COLOURS)], DASHES[number // 2 % len(DASHES)]
        y = 30 + 16 * line
        parts.append(
            f'<path d="M{_LEFT + x:.4g} {y - 4}h18" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
            f'<text x="{_LEFT + x + 22:.4g}" y="{y}">{escape(words)}</text>'
        )
        x += long
    return "".join(parts), line + 1


def _picture(summary: FieldSummary, last: bool) -> Block:
    """One plane or line with its axes; the last one has the colour bar."""
    if summary.up is None:
        return _line(summary)
    codes, colours = drawn(summary)
    rows, columns = codes.shape
    ratio = min(4.0, max(0.25, columns / rows))
    wide, high = (_PICTURE_SIDE, _PICTURE_SIDE / ratio) if ratio >= 1 else (_PICTURE_SIDE * ratio, _PICTURE_SIDE)
    table = colour_table(summary.palette)
    across, up = summary.across, summary.up
    parts = [_image(encode_png(codes, colours), 0, 0, wide, high), _frame(wide, high)]
    parts += _across_numbers(across.first, across.last, wide, high, across.cells)
    parts += _up_numbers(up.first, up.last, high, up.cells)
    parts.append(_names(_titled(across.name, across.unit), _titled(up.name, up.unit), wide, high))
    cuts = ", ".join([*(f"{cut.label.name} = cell {cut.index}" for cut in summary.cuts), *_thinned(summary)])
    parts.append(f'<text x="0" y="-6">{escape(cuts)}</text>' if cuts else "")
    width = _LEFT + wide + _RIGHT
    if last:
        levels = np.arange(LEVELS - 1, -1, -1, dtype=np.uint8)[:, np.newaxis]
        bar = _image(encode_png(levels, table), 0, 0, _BAR, high) + _frame(_BAR, high)
        numbers = "".join(
            f'<text x="{_BAR + 6:g}" y="{(1 - share) * high + 4:.5g}">{text}</text>'
            for text, share in _marks(summary.low, summary.high, 6)
        )
        title = escape(_titled(summary.name, summary.unit))
        place = f"translate({_BAR + _BAR_NUMBERS + 4:g} {high / 2:.5g}) rotate(-90)"
        name = f'<text transform="{place}" text-anchor="middle">{title}</text>'
        parts.append(f'<g transform="translate({wide + 14:g} 0)">{bar}{numbers}{name}</g>')
        width += _BAR + _BAR_NUMBERS + _BAR_NAME
    return f'<g transform="translate({_LEFT:g} {_TOP:g})">{"".join(parts)}</g>', width, _TOP + high + _BOTTOM


def _thinned(summary: FieldSummary) -> list[str]:
    what = "cell" if summary.particles is None else "particle"
    return [f"one {what} of {summary.stride} drawn"] if summary.stride > 1 else []


def _line(summary: FieldSummary) -> Block:
    wide, across = _PICTURE_SIDE, summary.across
    low, high = _span([summary.low, summary.high])
    cells = summary.points.size
    x = (np.arange(cells) + 0.5) / cells * wide
    y = _heights(summary.points, low, high, _LINE_HEIGHT)
    parts = [_frame(wide, _LINE_HEIGHT), _polyline(x, y, CURVE_COLOURS[0], "")]
    parts += _across_numbers(across.first, across.last, wide, _LINE_HEIGHT, across.cells)
    parts += _up_numbers(low, high, _LINE_HEIGHT)
    names = _titled(across.name, across.unit), _titled(summary.name, summary.unit)
    parts.append(_names(*names, wide, _LINE_HEIGHT))
    text = f'<g transform="translate({_LEFT:g} {_TOP:g})">{"".join(parts)}</g>'
    return text, _LEFT + wide + _RIGHT, _TOP + _LINE_HEIGHT + _BOTTOM


def _heights(values: Numbers, low: float, high: float, height: float) -> Numbers:
    """Pixels from the top."""
    with np.errstate(invalid="ignore", over="ignore"):
        return (1 - shares(values, low, high)) * height


def _row(blocks: list[Block]) -> Block:
    """Blocks side by side."""
    parts, left = [], 0.0
    for text, width, _ in blocks:
        parts.append(f'<g transform="translate({left:g} 0)">{text}</g>')
        left += width
    return "".join(parts), left, max(height for _, _, height in blocks)


def _polyline(x: Numbers, y: Numbers, colour: str, dash: str) -> str:
    """Strokes between neighbours that are both finite; one value alone is a dot."""
    if x.size == 1 and math.isfinite(y[0]):
        return f'<circle cx="{x[0]:.1f}" cy="{y[0]:.1f}" r="3" fill="{colour}"/>'
    pieces, pen = [], False
    for px, py in zip(x.tolist(), y.tolist(), strict=True):
        if not (math.isfinite(px) and math.isfinite(py)):
            pen = False
            continue
        pieces.append(f"{'L' if pen else 'M'}{px:.1f} {py:.1f}" + ("" if pen else "h0"))
        pen = True
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="{"".join(pieces)}" fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round" '
        f'stroke-linecap="round"{dashes}/>'
    )


def _image(png: bytes, x: float, y: float, width: float, height: float) -> str:
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<image x="{x:g}" y="{y:g}" width="{width:.5g}" height="{height:.5g}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _frame(width: float, height: float) -> str:
    return f'<rect width="{width:.5g}" height="{height:.5g}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'


def _names(across: str, up: str, width: float, height: float) -> str:
    return (
        f'<text x="{width / 2:.5g}" y="{height + 34:.5g}" text-anchor="middle">{escape(across)}</text>'
        f'<text transform="translate(-50 {height / 2:.5g}) rotate(-90)" text-anchor="middle">{escape(up)}</text>'
    )


def _across_numbers(
    first: float, last: float, width: float, height: float, cells: int = 0, *, counted: bool = False
) -> list[str]:
    return [
        f'<text x="{share * width:.5g}" y="{height + 16:.5g}" text-anchor="middle">{text}</text>'
        for text, share in _marks(first, last, 6 if width > 280 else 4, cells, counted=counted)
    ]


def _up_numbers(first: float, last: float, height: float, cells: int = 0) -> list[str]:
    return [
        f'<text x="-6" y="{(1 - share) * height + 4:.5g}" text-anchor="end">{text}</text>'
        for text, share in _marks(first, last, 5, cells)
    ]


def _marks(first: float, last: float, most: int, cells: int = 0, *, counted: bool = False) -> list[tuple[str, float]]:
    """Round numbers between two ends and where they stand, 0 to 1; with cells, each at its cell's middle.

    What is counted, such as steps and cells without a width, has whole numbers.
    """
    values = ticks(first, last, most, 1.0 if counted or abs(last - first) == cells - 1 else 0.0)
    places = shares(np.array(values), min(first, last), max(first, last))
    places = places if last >= first else 1 - places
    return list(zip(beside(values), ((places * (cells - 1) + 0.5) / cells if cells else places).tolist(), strict=True))


def _span(values: list[float]) -> tuple[float, float]:
    """The least and the greatest, apart from each other."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if high > low:
        return low, high
    margin = 0.5 if abs(low) < 1e15 else abs(low) * 1e-3
    return low - margin, low + margin


def _titled(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
