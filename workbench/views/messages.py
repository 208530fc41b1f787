"""Messages: what a view sends to its page; the page's half is labextension/src/kernel/protocol.ts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.graph import Graph
from workbench.run.snapshots import Snapshot
from workbench.views.field import AxisLabel, FieldSummary
from workbench.views.palettes import PALETTES, colour_table


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON object (NaN and infinity are not JSON: None and text stand for them), and bytes beside it."""

    content: Mapping[str, object]
    buffers: tuple[bytes, ...] = ()


def opening_message(graph: Graph, snapshot: Snapshot, axes: tuple[AxisLabel, ...]) -> Message:
    """What does not change: names, axes, params with their types, colour tables as hexadecimal text."""
    params = [
        {
            "name": param.name,
            "unit": param.unit,
            "kind": "bool" if param.type.kind == "bool" else "float" if param.type.is_float else "int",
            "value": _json_number(snapshot.numbers[param.name]),
        }
        for param in graph.params
        if param.name in snapshot.numbers
    ]
    return Message(
        {
            "type": "opening",
            "machine": graph.name,
            "name": snapshot.name,
            "axes": [_axis(axis) for axis in axes],
            "params": params,
            "palettes": {name: colour_table(name).hex() for name in PALETTES},
        }
    )


def frame_message(number: int, summary: FieldSummary) -> Message:
    """One picture: codes (u8, rows from top) or the points of a line (f32, little endian)."""
    rows, columns = summary.codes.shape
    line = summary.kind == "line"
    content = {
        "type": "frame",
        "number": number,
        "kind": summary.kind,
        "rows": rows,
        "columns": columns,
        "name": summary.name,
        "unit": summary.unit,
        "step": summary.step,
        "time": None if summary.time is None else _json_number(summary.time),
        "low": _json_number(summary.low),
        "high": _json_number(summary.high),
        "minimum": summary.minimum,
        "maximum": summary.maximum,
        "notNumbers": summary.not_numbers,
        "infinite": summary.infinite,
        "palette": summary.palette,
        "stride": summary.stride,
        "across": _axis(summary.across),
        "up": None if summary.up is None else _axis(summary.up),
        "cuts": [{"axis": cut.axis, "index": cut.index, "label": _axis(cut.label)} for cut in summary.cuts],
    }
    with np.errstate(over="ignore"):
        body = summary.points.astype("<f4").tobytes() if line else summary.codes.tobytes()
    return Message(content, (body,))


def status_message(running: bool, paused: bool, params: Mapping[str, bool | int | float], held: bool) -> Message:
    """What the run does now, what the params are, and whether the limits are held."""
    values = {name: _json_number(value) for name, value in params.items()}
    return Message({"type": "status", "running": running and not paused, "held": held, "params": values})


def point_message(column: int, row: int, value: float | None) -> Message:
    """The exact value in one cell of the picture."""
    text = "" if value is None else repr(value)
    return Message({"type": "point", "column": column, "row": row, "text": text})


def _axis(axis: AxisLabel) -> dict[str, object]:
    return {"name": axis.name, "unit": axis.unit, "cells": axis.cells, "first": axis.first, "last": axis.last}


def _json_number(value: float) -> object:
    return value if np.isfinite(value) else None
