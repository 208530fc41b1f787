"""A small line plot as SVG text: axes with names, ticks at round numbers, a legend; needs no plotting library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 14, 14, 46
_LEGEND, _SIGN = 172, 48  # to the right of the frame, where there are several curves; of it the lines and gaps
# Told apart also by people who see fewer colours: no two that share one share a dash.
_COLOURS = ("#1a6fb5", "#d1661a", "#2e8b57", "#8d4bb0", "#7d828a", "#c2386b", "#1296a6", "#8f7a1d")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 2", "12 4", "5 2 1 2", "3 6")


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to be joined; x and y are of the same length and finite. marks: discs at the points themselves."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    marks: bool = False


def line_plot(
    curves: Sequence[Curve],
    x_label: str,
    y_label: str,
    *,
    logarithmic: bool = False,
    doublings: bool = False,
    layered: bool = False,
) -> str:
    """An <svg> element with all curves in one frame. Colours of frame and text follow the page's `currentColor`.

    logarithmic: both axes; all values are positive. doublings: ticks of x at powers of two. layered: curves that lie on
    each other stay visible, because earlier ones are wider.
    """
    scale = _logarithmic_range if logarithmic else _range
    ticks = _decimal_ticks if logarithmic else _ticks
    x_low, x_high = scale([float(x) for curve in curves for x in curve.x])
    y_low, y_high = scale([float(y) for curve in curves for y in curve.y])
    legend = max(_LEGEND, _SIGN + max(letters_width(curve.label) for curve in curves))
    right = _WIDTH - (legend if len(curves) > 1 else _RIGHT)
    bent: Callable[[float], float] = math.log if logarithmic else float

    def across(x: float) -> float:
        return _LEFT + (bent(x) - bent(x_low)) / (bent(x_high) - bent(x_low)) * (right - _LEFT)

    def down(y: float) -> float:
        return _HEIGHT - _BOTTOM - (bent(y) - bent(y_low)) / (bent(y_high) - bent(y_low)) * (_HEIGHT - _TOP - _BOTTOM)

    label = escape(f"{y_label} over {x_label}", quote=True)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" '
        'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12" fill="currentColor">',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{right - _LEFT}" height="{_HEIGHT - _TOP - _BOTTOM}" '
        'fill="none" stroke="currentColor" stroke-opacity="0.35"/>',
    ]
    bottom, across_width = _HEIGHT - _BOTTOM, right - _LEFT
    for tick in (_powers_of_two if doublings else ticks)(x_low, x_high):
        parts.append(f'<path d="M{across(tick):.1f} {bottom}v4" stroke="currentColor"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{_short(tick)}</text>')
    for tick in ticks(y_low, y_high):
        parts.append(
            f'<path d="M{_LEFT} {down(tick):.1f}h{across_width}" stroke="currentColor" stroke-opacity="0.12"/>'
        )
        parts.append(f'<text x="{_LEFT - 7}" y="{down(tick) + 4:.1f}" text-anchor="end">{_short(tick)}</text>')
    parts.append(f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>')
    middle = (_TOP + bottom) / 2
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    for number, curve in enumerate(curves):
        colour, dash = colour_of(number), _DASHES[number % len(_DASHES)]
        points = " ".join(f"{across(float(x)):.1f},{down(float(y)):.1f}" for x, y in zip(curve.x, curve.y, strict=True))
        width = 2 + 3 * (len(curves) - 1 - number) if layered else 2
        style = f'fill="none" stroke="{colour}" stroke-width="{width}"' + (
            f' stroke-dasharray="{dash}"' if dash else ""
        )
        parts.append(f'<polyline points="{points}" {style}/>')
        if curve.marks:
            for x, y in zip(curve.x, curve.y, strict=True):
                parts.append(f'<circle cx="{across(float(x)):.1f}" cy="{down(float(y)):.1f}" r="4" fill="{colour}"/>')
        if len(curves) > 1:
            height = _TOP + 12 + 19 * number
            parts.append(f'<path d="M{right + 10} {height - 4}h22" {style}/>')
            if curve.marks:
                parts.append(f'<circle cx="{right + 21}" cy="{height - 4}" r="4" fill="{colour}"/>')
            parts.append(f'<text x="{right + 38}" y="{height}">{escape(curve.label)}</text>')
    return "".join([*parts, "</svg>"])


def letters_width(text: str, size: float = 12.0) -> float:
    """Pixels that a text takes in the letters of a reader's system; those of wide ones are 0.62 of their size."""
    return 0.62 * size * len(text)


def colour_of(number: int) -> str:
    """The colour of curve `number`, also for other figures of the same things."""
    return _COLOURS[number % len(_COLOURS)]


def _logarithmic_range(values: list[float]) -> tuple[float, float]:
    """A little beyond the lowest and the highest value."""
    low, high = min(values), max(values)
    return low / 1.25, high * 1.25


def _decimal_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between low and high, with 2 and 5 times them where they are few; else round numbers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits in ((1,), (1, 2, 5)):
        marks = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
        marks = [mark for mark in marks if low <= mark <= high]
        if len(marks) >= 3:
            return marks
    return _ticks(low, high)


def _powers_of_two(low: float, high: float) -> list[float]:
    """At most nine of them between low and high."""
    numbers = range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)
    return [2.0**number for number in numbers[:: 1 + len(numbers) // 9]]


def _short(tick: float) -> str:
    return f"{tick:.6g}" if abs(tick) < 1e5 else f"{tick:.6g}".replace("e+0", "e")


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
