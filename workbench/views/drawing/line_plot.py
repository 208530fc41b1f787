"""A small line plot as SVG text: axes with names, ticks at round numbers, a legend; needs no plotting library.

Both axes are linear or, for errors on growing grids, both logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 14, 14, 46
_COLOURS = ("#1a6fb5", "#d1661a", "#2e8b57", "#8d4bb0", "#6b6f76")  # told apart also by people who see fewer colours
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 2")


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to be joined; x and y are of the same length and finite."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


def line_plot(curves: Sequence[Curve], x_label: str, y_label: str, *, logarithmic: bool = False) -> str:
    """An <svg> element with all curves in one frame. Colours of frame and text follow the page's `currentColor`.

    logarithmic: both axes, for values above 0. Curves that lie on each other stay visible: earlier ones are wider.
    """
    scale: Callable[[float], float] = math.log10 if logarithmic else float
    x_low, x_high = _range([scale(x) for curve in curves for x in curve.x])
    y_low, y_high = _range([scale(y) for curve in curves for y in curve.y])
    x_ticks = _powers(x_low, x_high, 2) if logarithmic else _ticks(x_low, x_high)
    y_ticks = _powers(y_low, y_high, 10) if logarithmic else _ticks(y_low, y_high)

    def across(x: float) -> float:
        x = scale(x)
        return _LEFT + (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)

    def down(y: float) -> float:
        y = scale(y)
        return _HEIGHT - _BOTTOM - (y - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)

    label = escape(f"{y_label} over {x_label}", quote=True)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" '
        'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12" fill="currentColor">',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" height="{_HEIGHT - _TOP - _BOTTOM}" '
        'fill="none" stroke="currentColor" stroke-opacity="0.35"/>',
    ]
    bottom, across_width = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - _RIGHT
    for tick in x_ticks:
        parts.append(f'<path d="M{across(tick):.1f} {bottom}v4" stroke="currentColor"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{tick:.6g}</text>')
    for tick in y_ticks:
        parts.append(
            f'<path d="M{_LEFT} {down(tick):.1f}h{across_width}" stroke="currentColor" stroke-opacity="0.12"/>'
        )
        parts.append(f'<text x="{_LEFT - 7}" y="{down(tick) + 4:.1f}" text-anchor="end">{tick:.6g}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    )
    middle = (_TOP + bottom) / 2
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    for number, curve in enumerate(curves):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        points = " ".join(f"{across(float(x)):.1f},{down(float(y)):.1f}" for x, y in zip(curve.x, curve.y, strict=True))
        width = 2 + 3 * (len(curves) - 1 - number) if logarithmic else 2
        style = f'fill="none" stroke="{colour}" stroke-width="{width}"' + (
            f' stroke-dasharray="{dash}" stroke-dashoffset="{3 * number}"' if dash else ""
        )
        parts.append(f'<polyline points="{points}" {style}/>')
        if len(curves) > 1:
            y = _TOP + 18 + 17 * number
            parts.append(f'<path d="M{_WIDTH - 150} {y - 4}h26" {style}/>')
            parts.append(f'<text x="{_WIDTH - 118}" y="{y}">{escape(curve.label)}</text>')
    return "".join([*parts, "</svg>"])


def _range(values: list[float]) -> tuple[float, float]:
    """Lowest and highest value, widened when they are (almost) equal, so that a constant is drawn in the middle."""
    low, high = min(values), max(values)
    spread = high - low
    least = max(abs(low), abs(high), 1e-300) * 1e-6
    if spread < least:
        return low - least, high + least
    return low, high


def _powers(low: float, high: float, base: int) -> list[float]:
    """At most eight powers of a base between two logarithms to base 10; of 10 also 2 and 5 times where they are few."""
    unit = math.log10(base)
    first, last = math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9)
    numbers = range(first, last + 1)
    if base == 10 and len(numbers) < 3:
        found = [factor * 10.0**number for number in range(first - 1, last + 1) for factor in (1, 2, 5)]
        return [tick for tick in found if low - 1e-9 <= math.log10(tick) <= high + 1e-9]
    return [float(base) ** number for number in numbers[:: 1 + len(numbers) // 9]]


def _ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers between low and high."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if step > 1e-9 else i * step for i in range(first, last + 1)]
