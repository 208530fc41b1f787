"""A small bar plot as SVG text: a bar a row, how far its value spreads, and a line for a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from workbench.views.drawing.line_plot import letters_width

_WIDTH, _ROW, _RIGHT, _TOP, _BOTTOM = 640, 30, 118, 22, 8
_SIZE, _GAP = 13, 10  # of letters, and between a label and its bar
_OURS, _OTHERS, _BOUND = "#1a6fb5", "#8d949d", "#d1661a"


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with the range in which it lay, and the words behind its bar; `ours` are drawn in the report's colour."""

    label: str
    value: float
    low: float
    high: float
    words: str
    ours: bool = False


def bar_plot(bars: Sequence[Bar], title: str, *, bound: float = 0.0, bound_label: str = "") -> str:
    """An <svg> element with the bars from above down; values are at least 0. bound: a dashed line there, 0 for none."""
    height = _TOP + _ROW * len(bars) + _BOTTOM
    left = max(172, _GAP + max(letters_width(bar.label, _SIZE) for bar in bars))
    longest = max([bound, *(bar.high for bar in bars)]) or 1.0

    def across(value: float) -> float:
        return left + value / longest * (_WIDTH - left - _RIGHT)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, DejaVu Sans, sans-serif" '
        f'font-size="{_SIZE}" '
        'fill="currentColor">'
    ]
    for number, bar in enumerate(bars):
        top = _TOP + _ROW * number
        middle = top + _ROW / 2
        low, high = across(bar.low), across(bar.high)
        parts.append(f'<text x="{left - _GAP:g}" y="{middle + 4:.1f}" text-anchor="end">{escape(bar.label)}</text>')
        parts.append(
            f'<rect x="{left:g}" y="{top + 6}" width="{max(across(bar.value) - left, 1.5):.1f}" height="{_ROW - 12}" '
            f'rx="2" fill="{_OURS if bar.ours else _OTHERS}"/>'
        )
        parts.append(
            f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8" '
            'stroke="currentColor" fill="none" stroke-opacity="0.75"/>'
        )
        parts.append(
            f'<text x="{max(high, across(bar.value)) + 8:.1f}" y="{middle + 4:.1f}">{escape(bar.words)}</text>'
        )
    if bound:
        x = across(bound)
        parts.append(
            f'<path d="M{x:.1f} {_TOP - 4}V{height - _BOTTOM}" stroke="{_BOUND}" stroke-width="2" '
            'stroke-dasharray="5 3" fill="none"/>'
        )
        parts.append(
            f'<text x="{x:.1f}" y="{_TOP - 8}" text-anchor="middle" font-size="12">{escape(bound_label)}</text>'
        )
    return "".join([*parts, "</svg>"])
