"""A small bar plot as SVG text: a bar a row, how far its value spreads, and a line for a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 30, 172, 118, 22, 8
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
    longest = max([bound, *(bar.high for bar in bars)]) or 1.0

    def across(value: float) -> float:
        return _LEFT + value / longest * (_WIDTH - _LEFT - _RIGHT)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" '
        'fill="currentColor">'
    ]
    for number, bar in enumerate(bars):
        top = _TOP + _ROW * number
        middle = top + _ROW / 2
        low, high = across(bar.low), across(bar.high)
        parts.append(f'<text x="{_LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(bar.label)}</text>')
        parts.append(
            f'<rect x="{_LEFT}" y="{top + 6}" width="{max(across(bar.value) - _LEFT, 1.5):.1f}" height="{_ROW - 12}" '
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
