"""Messages: what a view sends to its page; the page's half is labextension/src/kernel/protocol.ts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.graph import Graph
from workbench.graph.limits import Limits as Bounds
from workbench.run.labels import loads_of
from workbench.run.snapshots import Snapshot
from workbench.run.until import UNTIL
from workbench.views.drawing.numbers import shares
from workbench.views.field.curves import Chart
from workbench.views.field.figure import chart_svg, chart_words
from workbench.views.field.packing import pack
from workbench.views.field.palettes import PALETTES, colour_table
from workbench.views.field.particles import BACKGROUND, SIDE, Particles
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


def frame_message(number: int, summary: FieldSummary, probes: tuple[tuple[int, ...], ...] = ()) -> Message:
    """The pictures: codes (u8, rows from top; one body for each plane) or the points of a line (f32, little endian).

    Codes that shrink by it are packed, and their plane says so. The points of a line are told as shares of the limits,
    0 to 1, because f32 alone would lose small differences of large values. Particles are their places to the right,
    then those up (u16, little endian), then their levels (u8). Where those of `probes` are is told, too, because the
    others may go straight to the page's worker.
    """
    line = summary.kind == "line"
    small = [pack(plane.codes) if summary.kind == "plane" else None for plane in summary.planes]
    content = {
        "type": "frame",
        "number": number,
        "kind": summary.kind,
        "name": summary.name,
        "subject": summary.subject,
        "unit": summary.unit,
        "step": summary.step,
        "time": time_text(summary).removeprefix(", "),
        "low": _json_number(summary.low),
        "high": _json_number(summary.high),
        "palette": summary.palette,
        "wrong": None if summary.wrong is None else str(summary.wrong),
        "thinning": thinning_text(summary),
        "planes": [
            {**_plane(plane, probes), "packed": body is not None}
            for plane, body in zip(summary.planes, small, strict=True)
        ],
    }
    buffers = tuple(few or _body(plane) for few, plane in zip(small, summary.planes, strict=True))
    return Message(content, buffers, apart=not line)


def _body(summary: FieldSummary) -> bytes | memoryview:
    particles = summary.particles
    if particles is not None:
        return particles.places.astype("<u2").tobytes() + particles.levels.tobytes()
    if summary.kind == "plane":
        return summary.codes.data.cast("B")
    with np.errstate(over="ignore", invalid="ignore"):
        return shares(summary.points, summary.low, summary.high).astype("<f4").data.cast("B")


def _plane(summary: FieldSummary, probes: tuple[tuple[int, ...], ...]) -> dict[str, object]:
    rows, columns = summary.codes.shape if summary.particles is None else (SIDE, SIDE)
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
        "particles": None if summary.particles is None else _particles(summary, summary.particles, probes),
        "cuts": [{"axis": cut.axis, "index": cut.index, "label": _axis(cut.label)} for cut in summary.cuts],
    }


def _particles(summary: FieldSummary, particles: Particles, probes: tuple[tuple[int, ...], ...]) -> dict[str, object]:
    """How many and how large, and the columns and rows of those that are followed, None of one that is not seen."""
    columns, rows = particles.pixels()
    followed = [divmod(cell[0], summary.stride) for cell in probes]
    seen = [not rest and particles.levels[drawn] != BACKGROUND for drawn, rest in followed]
    places = [[int(columns[k]), int(rows[k])] if each else None for (k, _), each in zip(followed, seen, strict=True)]
    return {"count": particles.levels.size, "radius": particles.radius, "followed": places}


@dataclass(frozen=True, slots=True)
class RunStatus:
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


def status_message(status: RunStatus, params: Mapping[str, bool | int | float]) -> Message:
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


def point_message(cell: tuple[int, ...] | None, value: float | None) -> Message:
    """The exact value in one cell of the domain or of one particle; None: there is none."""
    return Message({"type": "point", "cell": list(cell or ()), "text": "" if value is None else repr(value)})


def _axis(axis: AxisLabel) -> dict[str, object]:
    return {"name": axis.name, "unit": axis.unit, "cells": axis.cells, "first": axis.first, "last": axis.last}


def _json_bound(bound: float | None) -> object:
    return None if bound is None else _json_number(bound)


def _json_number(value: float) -> object:
    return value if np.isfinite(value) else None
