"""Messages: what a view sends to its page; the page's half is labextension/src/kernel/protocol.ts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.graph import Graph
from workbench.graph.limits import Limits as Bounds
from workbench.run.end_time import UNTIL
from workbench.run.labels import loads_of
from workbench.run.snapshots import Snapshot
from workbench.views.drawing.numbers import shares
from workbench.views.field.curves import Chart
from workbench.views.field.figure import chart_svg, chart_words
from workbench.views.field.packing import pack
from workbench.views.field.palettes import PALETTES, colour_table
from workbench.views.field.summary import AxisLabel, FieldSummary, Limits
from workbench.views.field.words import thinning_text, time_text
from workbench.views.page.message import Message


def opening_message(graph: Graph, snapshot: Snapshot, axes: tuple[AxisLabel, ...], names: tuple[str, ...]) -> Message:
    """What does not change: names that have pictures, axes, params with their types, colour tables as hexadecimal.

    No param that a run sets itself, and none that measures the axes, because those would not be drawn anew.
    """
    hidden = {UNTIL}.union(*(loads_of(coordinate) for coordinate in graph.coordinates))
    params = [
        {
            "name": param.name,
            "unit": param.unit,
            "kind": "bool" if param.type.kind == "bool" else "float" if param.type.is_float else "int",
            "value": _json_number(snapshot.numbers[param.name]),
            "limits": {
                "least": _json_bound(param.limits.at_least),
                "above": _json_bound(param.limits.above),
                "most": _json_bound(_slider_end(param.limits)),
            },
        }
        for param in graph.params
        if param.name in snapshot.numbers and param.name not in hidden
    ]
    return Message(
        {
            "type": "opening",
            "machine": graph.name,
            "names": list(names),
            "scalars": len(graph.scalars) > 0,
            "axes": [_axis(axis) for axis in axes],
            "params": params,
            "palettes": {name: colour_table(name).hex() for name in PALETTES},
        }
    )


def _slider_end(limits: Bounds) -> float | None:
    """Up to where a slider goes: what is beyond `warn_above` can be typed."""
    return min((end for end in (limits.at_most, limits.warn_above) if end is not None), default=None)


def frame_message(number: int, summary: FieldSummary) -> Message:
    """The pictures: codes (u8, rows from top; one body for each plane) or the points of a line (f32, little endian).

    Codes that shrink by it are packed, and their plane says so.
    Points are told as shares of the limits, 0 to 1, because f32 alone would lose small differences of large values.
    """
    line = summary.kind == "line"
    small = [None if line else pack(plane.codes) for plane in summary.planes]
    content = {
        "type": "frame",
        "number": number,
        "kind": summary.kind,
        "name": summary.name,
        "unit": summary.unit,
        "step": summary.step,
        "time": time_text(summary).removeprefix(", "),
        "low": _json_number(summary.low),
        "high": _json_number(summary.high),
        "palette": summary.palette,
        "wrong": None if summary.wrong is None else str(summary.wrong),
        "thinning": thinning_text(summary),
        "planes": [
            {**_plane(plane), "packed": body is not None} for plane, body in zip(summary.planes, small, strict=True)
        ],
    }
    with np.errstate(over="ignore", invalid="ignore"):
        bodies = [
            shares(plane.points, plane.low, plane.high).astype("<f4") if line else plane.codes
            for plane in summary.planes
        ]
    buffers = tuple(few or body.data.cast("B") for few, body in zip(small, bodies, strict=True))
    return Message(content, buffers, apart=not line)


def _plane(summary: FieldSummary) -> dict[str, object]:
    rows, columns = summary.codes.shape
    return {
        "rows": rows,
        "columns": columns,
        "minimum": summary.minimum,
        "maximum": summary.maximum,
        "notNumbers": summary.not_numbers,
        "infinite": summary.infinite,
        "stride": summary.stride,
        "shown": list(summary.shown),
        "across": _axis(summary.across),
        "up": None if summary.up is None else _axis(summary.up),
        "cuts": [{"axis": cut.axis, "index": cut.index, "label": _axis(cut.label)} for cut in summary.cuts],
    }


@dataclass(frozen=True, slots=True)
class Status:
    """What the run does, how limits follow, how many frames are recorded (None: no recording), probed cells.

    pace: steps per second that the run, or else the next one of Play, may do; None: as many as it can.
    waits_for: a value that will be shown as soon as it is compiled, "" for none. note: what else one should know.
    """

    running: bool
    pace: float | None
    limits: Limits
    recorded: int | None
    probes: tuple[tuple[int, ...], ...]
    waits_for: str = ""
    note: str = ""


def status_message(status: Status, params: Mapping[str, bool | int | float]) -> Message:
    """What the run does now, and what the params are."""
    values = {name: _json_number(value) for name, value in params.items()}
    return Message(
        {
            "type": "status",
            "running": status.running,
            "pace": status.pace,
            "limits": status.limits,
            "recorded": status.recorded,
            "probes": [list(cell) for cell in status.probes],
            "waitsFor": status.waits_for,
            "note": status.note,
            "params": values,
        }
    )


def charts_message(charts: tuple[Chart, ...], width: float) -> Message:
    """Charts as SVG text in the colour of the text around them, each with words that say the same."""
    drawn = [{"svg": chart_svg(chart, width), "words": chart_words(chart)} for chart in charts]
    return Message({"type": "charts", "charts": drawn})


def file_message(name: str, kind: str, data: bytes) -> Message:
    """A file for the user's disk; `kind` is its media type."""
    return Message({"type": "file", "name": name, "kind": kind}, (data,))


def point_message(cell: tuple[int, ...], value: float | None) -> Message:
    """The exact value in one cell of the domain."""
    return Message({"type": "point", "cell": list(cell), "text": "" if value is None else repr(value)})


def _axis(axis: AxisLabel) -> dict[str, object]:
    return {"name": axis.name, "unit": axis.unit, "cells": axis.cells, "first": axis.first, "last": axis.last}


def _json_bound(bound: float | None) -> object:
    return None if bound is None else _json_number(bound)


def _json_number(value: float) -> object:
    return value if np.isfinite(value) else None
