"""Listing messages: summaries of the source and the plan view as what their page reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.amounts import bytes_text, counted, seconds_text
from workbench.views.field.messages import Message
from workbench.views.plan.summary import PlanSummary, SubkernelRow, ceilings_text, measured_text
from workbench.views.source.summary import SourceLine, SourceSummary, SourceText, short_name


@dataclass(frozen=True, slots=True)
class Option:
    """One of several things to choose: what is sent back, and what is read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A list to choose from, with its present value."""

    name: str
    label: str
    value: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press; `title` explains it, or why it cannot be pressed."""

    name: str
    label: str
    title: str
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head, what that means, and whether it holds numbers."""

    label: str
    title: str
    numeric: bool = True


COLUMNS: tuple[Column, ...] = (
    Column("sub-kernel", "its name in the source", False),
    Column("makes", "values that it stores or sums", False),
    Column("read (bytes a cell)", "bytes that it reads, for one cell"),
    Column("written (bytes a cell)", "bytes that it writes, for one cell"),
    Column("flops a cell", "operations for one cell, weighted as the cost model does"),
    Column("halo (cells)", "cells beyond the domain that it computes too, below+above on each axis"),
    Column("arrays", "arrays that it reads and writes, by number and by what they hold", False),
    Column("predicted (a step)", "least time of a step, by the host's ceilings, and the ceiling that binds"),
    Column("measured (a step)", "time of a step, by the clock"),
)


def text_message(summary: SourceSummary, choices: Sequence[Choice], buttons: Sequence[Button]) -> Message:
    """A text, beside another one if the summary compares."""
    parts = [
        {"name": f.name, "title": short_name(f.name), "first": f.first, "last": f.last, "report": f.report}
        for f in summary.text.functions
    ]
    body = {
        "title": f"Source of {summary.machine}",
        "choices": [asdict(choice) for choice in choices],
        "buttons": [asdict(button) for button in buttons],
        "cell": [_line(line) for line in summary.cell],
        "before": None if summary.before is None else _side(summary.before),
        "after": _side(summary.text),
        "parts": parts,
        "rows": [(row.kind, row.before, row.after) for row in summary.rows],
        "folds": [(fold.first, fold.last) for fold in summary.folds],
    }
    return _with_body("text", body)


def table_message(
    summary: PlanSummary, choices: Sequence[Choice], buttons: Sequence[Button], values: Sequence[Option]
) -> Message:
    """The table of sub-kernels; `values` are those of which one may ask why they are together or apart."""
    body = {
        "title": f"Plan of {summary.machine}",
        "caption": caption_of(summary),
        "choices": [asdict(choice) for choice in choices],
        "buttons": [asdict(button) for button in buttons],
        "columns": [asdict(column) for column in COLUMNS],
        "rows": [{"name": row.ref.name, "cells": cells_of(row)} for row in summary.rows],
        "notes": list(notes_of(summary)),
        "values": [asdict(value) for value in values],
    }
    return _with_body("table", body)


def caption_of(summary: PlanSummary) -> str:
    """What the table holds for."""
    cells = " × ".join(map(str, summary.extents))
    return (
        f"kernel {summary.variant}, {cells} cells, {summary.backend}: "
        f"{counted(len(summary.rows), 'sub-kernel')}, predicted "
        f"{seconds_text(summary.predicted)} a step, {measured_text(summary.step_measured, summary.step_spread)}"
    )


def cells_of(row: SubkernelRow) -> list[str]:
    """One row of the table, in the order of COLUMNS."""
    arrays = f"{', '.join(row.reads) or 'none'} → {', '.join(row.writes) or 'none'}"
    return [
        row.ref.name,
        ", ".join(row.names),
        f"{row.bytes_read:g}",
        f"{row.bytes_written:g}",
        f"{row.flops:g}",
        row.halo,
        arrays,
        f"{seconds_text(row.predicted)}, {row.limit}",
        "not measured" if row.measured is None else seconds_text(row.measured),
    ]


NARROW = (
    "The arithmetic ceiling is that of f64; an operation on four bytes counts as half of one, on one byte as an eighth."
)


def notes_of(summary: PlanSummary) -> tuple[str, ...]:
    """Sentences below the table."""
    most = max(summary.live, default=0)
    lived = {life.array for life in summary.lives}
    idle = [text for number, text in enumerate(summary.arrays) if number not in lived]
    narrow = any(row.doubles != row.flops for row in summary.rows)
    return (
        f"Launches, with a barrier after each: {'; '.join(summary.launches) or 'none'}.",
        f"Arrays: {len(summary.arrays)}, {bytes_text(summary.allocated)} together; "
        f"at most {bytes_text(most)} are in use at once.",
        *([f"Not used in this step: {', '.join(idle)}."] if idle else ()),
        *(f"{text}." for row in summary.rows for text in row.rolling),
        f"Ceilings of this host: {ceilings_text(summary.figures)}.",
        "In the chart of the memory, what is a field at the end of the step is blue; orange is what is free again.",
        "In the roofline, hollow marks are predicted and full ones measured.",
        *([NARROW] if narrow else ()),
    )


def _side(text: SourceText) -> dict[str, object]:
    return {"title": text.title, "lines": [_line(line) for line in text.lines]}


def _line(line: SourceLine) -> tuple[object, ...]:
    pieces = [part for piece in line.pieces for part in piece]
    return line.number, pieces, line.cell_lines, line.label, line.makes is not None


def _with_body(kind: str, body: Mapping[str, object]) -> Message:
    """Large ones travel as bytes, which nothing on the way parses."""
    return Message({"type": kind}, (json.dumps(body, separators=(",", ":")).encode(),))
