"""Plan drawing: memory over a step and the roofline, as shapes of one picture; where the marks are is tested."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.amounts import bytes_text, seconds_text
from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Shape, rectangle, text_width
from workbench.views.plan.summary import Life, PlanSummary, ceilings_text

FIELD_COLOUR = "#56b4e9"
OTHER_COLOUR = "#e69f00"
PREDICTED_COLOUR = "#0072b2"
MEASURED_COLOUR = "#d55e00"
_INK, _FAINT = "#212121", "#d0d0d0"
_LEFT, _RIGHT, _TOP, _BOTTOM = 190, 20, 44, 54
_LANE = 26
_ROOF_HEIGHT = 300


@dataclass(frozen=True, slots=True)
class LifetimeBar:
    """A value in the lane of its array, in units of launches from the step's begin: 0 to the number of launches.

    A launch k takes from k to k + 1, and what it writes is there from its middle on.
    """

    array: int
    left: float
    right: float
    name: str
    size: int
    lasting: bool


@dataclass(frozen=True, slots=True)
class RooflineMark:
    """A sub-kernel in the roofline: flops a byte, and flops a second. `kind` says how the speed is known."""

    name: str
    intensity: float
    speed: float
    kind: str
    words: str


Roof = tuple[tuple[float, float], ...]
"""Corners: flops a byte, and flops a second."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """Marks under a roof. low and high: limits of both axes, whole powers of ten; `idle` does no arithmetic.

    cache_roofs: those of small arrays, which caches move faster than memory, if sub-kernels are predicted by them.
    """

    marks: tuple[RooflineMark, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    roof: Roof
    idle: tuple[str, ...]
    cache_roofs: tuple[Roof, ...] = ()


def bars_of(summary: PlanSummary) -> tuple[LifetimeBar, ...]:
    """A bar for every life; those that last until the next step are the fields'."""
    end = len(summary.launches)

    def bar(life: Life) -> LifetimeBar:
        left = 0.0 if life.first < 0 else life.first + 0.5
        right = float(end) if life.last >= end else life.last + 0.5
        return LifetimeBar(life.array, left, right, life.name, life.size, life.last >= end)

    return tuple(bar(life) for life in summary.lives)


def roofline_of(summary: PlanSummary) -> Roofline:
    """The roofs of the host, and each sub-kernel under one: as predicted, and as measured if it was."""
    bandwidth, peak = summary.figures.bandwidth, summary.figures.flops
    marks = []
    for row in summary.rows:
        if row.flops > 0 and row.intensity > 0:
            times = [("predicted", row.predicted)]
            times += [] if row.measured is None else [("measured", row.measured)]
            marks += [
                RooflineMark(row.ref.name, row.intensity, row.rate(s), kind, seconds_text(s)) for kind, s in times
            ]
    ridge = peak / bandwidth
    across = [ridge, *(mark.intensity for mark in marks)]
    up = [peak, *(mark.speed for mark in marks)]
    x_range = _decades(min(across) / 2, max(across) * 2)
    y_range = _decades(min(*up, bandwidth * x_range[0]), max(up) * 1.5)

    def roof(rate: float) -> Roof:
        return ((x_range[0], rate * x_range[0]), (peak / rate, peak), (x_range[1], peak))

    idle = tuple(row.ref.name for row in summary.rows if not row.flops)
    caches = tuple(roof(level.bandwidth) for level in summary.cache_ceilings)
    return Roofline(tuple(marks), x_range, y_range, roof(bandwidth), idle, caches)


def _decades(low: float, high: float) -> tuple[float, float]:
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))


def draw_plan(summary: PlanSummary) -> Drawing:
    """Both charts, one below the other."""
    widest = max((text_width(text) for text in summary.launches), default=0.0)
    width = min(1600, max(760, int(_LEFT + _RIGHT + (widest + 16) * max(1, len(summary.launches)))))
    memory, height = _memory(summary, width)
    roof = _roof(summary, width, height + 20)
    total = height + 20 + _TOP + _ROOF_HEIGHT + _BOTTOM
    title = f"plan of {summary.machine}, step {summary.variant}: memory over the step, and roofline"
    return Drawing(width, total, (*memory, *roof), title)


def _memory(summary: PlanSummary, width: int) -> tuple[list[Shape], int]:
    shapes: list[Shape] = [Label((12, 18), "Memory over the step: which array holds what, launch by launch", _INK, 14)]
    count = max(1, len(summary.launches))
    each = (width - _LEFT - _RIGHT) / count
    bottom = _TOP + _LANE * len(summary.arrays)
    for number in range(count + 1):
        x = _LEFT + number * each
        shapes.append(Line(((x, _TOP), (x, bottom + 4)), _FAINT))
    for number, text in enumerate(summary.arrays):
        middle = _TOP + _LANE * (number + 0.5)
        shapes.append(Label((_LEFT - 8, middle), _short(text, _LEFT - 16), _INK, 12, "right"))
        shapes.append(Line(((_LEFT, middle + _LANE / 2), (width - _RIGHT, middle + _LANE / 2)), _FAINT))
    for bar in bars_of(summary):
        left, right = _LEFT + bar.left * each, _LEFT + bar.right * each
        top = _TOP + _LANE * bar.array + 3
        colour = FIELD_COLOUR if bar.lasting else OTHER_COLOUR
        shapes.append(rectangle(left, top, right - left, _LANE - 6, colour, _INK))
        shapes.append(Label((left + 4, top + _LANE / 2 - 3), _short(bar.name, right - left - 8), "#000000", 12))
    for number, text in enumerate(summary.launches):
        middle = _LEFT + (number + 0.5) * each
        shapes.append(Label((middle, bottom + 14), _short(text, each - 4), _INK, 12, "centre"))
        used = bytes_text(summary.live[number])
        shapes.append(Label((middle, bottom + 30), _short(f"{used} in use", each - 4), _INK, 12, "centre"))
    axis = "launches, with a barrier after each; blue: a field at the end of the step, orange: free again"
    shapes.append(Label((12, bottom + 48), axis, _INK, 12))
    return shapes, bottom + 58


def _roof(summary: PlanSummary, width: int, top: int) -> list[Shape]:
    found = roofline_of(summary)
    upper, lower = top + _TOP, top + _TOP + _ROOF_HEIGHT
    left, right = 90, width - _RIGHT
    x_low, x_high = map(math.log10, found.x_range)
    y_low, y_high = map(math.log10, found.y_range)

    def place(intensity: float, speed: float) -> tuple[float, float]:
        x = left + (math.log10(intensity) - x_low) / (x_high - x_low) * (right - left)
        return x, lower - (math.log10(speed) - y_low) / (y_high - y_low) * (lower - upper)

    shapes: list[Shape] = [
        Label((12, top + 14), "Roofline of this host", _INK, 14),
        Label((12, top + 32), ceilings_text(summary), _INK, 12),
        rectangle(left, upper, right - left, lower - upper, "", _FAINT),
    ]
    for power in range(round(x_low), round(x_high) + 1):
        x, _ = place(10.0**power, found.y_range[0])
        shapes += [
            Line(((x, upper), (x, lower)), _FAINT),
            Label((x, lower + 12), f"{10.0**power:g}", _INK, 12, "centre"),
        ]
    for power in range(round(y_low), round(y_high) + 1):
        _, y = place(found.x_range[0], 10.0**power)
        shapes += [
            Line(((left, y), (right, y)), _FAINT),
            Label((left - 6, y), f"{10.0**power / 1e9:g}", _INK, 12, "right"),
        ]
    shapes += [Line(tuple(place(x, y) for x, y in cache), _INK) for cache in found.cache_roofs]
    shapes.append(Line(tuple(place(x, y) for x, y in found.roof), _INK, 2.0))
    taken: list[tuple[float, float]] = []
    for mark in found.marks:
        x, y = place(mark.intensity, mark.speed)
        colour = PREDICTED_COLOUR if mark.kind == "predicted" else MEASURED_COLOUR
        words = f"{mark.name} {mark.kind} {mark.words}"
        words = words if x + 10 + text_width(words) < right else ""
        at = _free_place(taken, x + 10, y + 10)
        shapes.append(Disc((x, y), 5, "#ffffff" if mark.kind == "predicted" else colour, colour, 2))
        shapes.append(Label(at, words, _INK, 12) if words else Label((x - 10, at[1]), mark.name, _INK, 12, "right"))
    axis = "intensity (flops a byte); hollow: predicted, full: measured"
    shapes.append(Label(((left + right) / 2, lower + 32), axis, _INK, 12, "centre"))
    shapes.append(Label((16, (upper + lower) / 2), "speed (Gflop/s)", _INK, 12, "centre", upwards=True))
    if found.idle:
        idle = f"without arithmetic, so not shown: {', '.join(found.idle)}"
        shapes.append(Label((left, lower + 48), idle, _INK, 12))
    return shapes


def _free_place(taken: list[tuple[float, float]], x: float, y: float) -> tuple[float, float]:
    """Below words that are there already."""
    while any(abs(x - a) < 200 and abs(y - b) < 14 for a, b in taken):
        y += 14
    taken.append((x, y))
    return x, y


def _short(text: str, width: float) -> str:
    """As much of a text as fits."""
    most = int(width / text_width("x"))
    return text if len(text) <= most else f"{text[: max(0, most - 1)]}…" if most > 1 else ""
