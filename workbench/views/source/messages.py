"""Source messages: a summary of the source view as what its page reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from workbench.views.page.listing_parts import Button, Choice, with_body
from workbench.views.page.message import Message
from workbench.views.source.summary import SourceLine, SourceSummary, SourceText, short_name


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
    return with_body("text", body)


def _side(text: SourceText) -> dict[str, object]:
    return {"title": text.title, "lines": [_line(line) for line in text.lines]}


def _line(line: SourceLine) -> tuple[object, ...]:
    pieces = [part for piece in line.pieces for part in piece]
    return line.number, pieces, line.cell_lines, line.label, line.makes is not None
