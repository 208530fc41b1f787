"""A small line plot as SVG text: axes with names, ticks at round numbers, a legend; needs no plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def line_plot(curves: Sequence[Curve], x_label: str, y_label: str) -> str:
    """An <svg> element with all curves in one frame. Colours of frame and text follow the page's `currentColor`."""
    x_low, x_high = _range([float(x) for curve in curves for x in curve.x])
    y_low, y_high = _range([float(y) for curve in curves for y in curve.y])

    def across(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)

    def down(y: float) -> float:
        return _HEIGHT - _BOTTOM - (y - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)

    label = escape(f"{y_label} over {x_label}", quote=True)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" '
        'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12" fill="currentColor">',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" height="{_HEIGHT - _TOP - _BOTTOM}" '
        'fill="none" stroke="currentColor" stroke-opacity="0.35"/>',
    ]
    bottom, across_width = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - _RIGHT
    for tick in _ticks(x_low, x_high):
        parts.append(f'<path d="M{across(tick):.1f} {bottom}v4" stroke="currentColor"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{tick:.6g}</text>')
    for tick in _ticks(y_low, y_high):
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
        style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
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


def _ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers between low and high."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if step > 1e-9 else i * step for i in range(first, last + 1)]
