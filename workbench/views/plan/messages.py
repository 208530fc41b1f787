"""Plan messages: a summary of the plan view as the table that its page reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from workbench.amounts import bytes_text, counted, seconds_text
from workbench.views.page.listing_parts import Button, Choice, ListingOption, with_body
from workbench.views.page.message import Message
from workbench.views.plan.summary import PlanSummary, SubkernelRow, ceilings_text, measured_text


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


def table_message(
    summary: PlanSummary, choices: Sequence[Choice], buttons: Sequence[Button], values: Sequence[ListingOption]
) -> Message:
    """The table of sub-kernels; `values` are those of which one may ask why they are together or apart."""
    body = {
        "title": f"Plan of {summary.machine}",
        "caption": caption_of(summary),
        "choices": [asdict(choice) for choice in choices],
        "buttons": [asdict(button) for button in buttons],
        "columns": [asdict(column) for column in columns_of(summary)],
        "rows": [{"name": row.ref.name, "cells": cells_of(row)} for row in summary.rows],
        "notes": list(notes_of(summary)),
        "values": [asdict(value) for value in values],
    }
    return with_body("table", body)


def columns_of(summary: PlanSummary) -> tuple[Column, ...]:
    """COLUMNS in the words of the machine."""

    def told(text: str) -> str:
        return text.replace("a cell", summary.terms.cell).replace("a step", f"a {summary.terms.march}")

    return tuple(replace(column, label=told(column.label)) for column in COLUMNS)


def caption_of(summary: PlanSummary) -> str:
    """What the table holds for."""
    cells = f"{' × '.join(map(str, summary.extents))} {summary.terms.cells}"
    return (
        f"kernel {summary.variant}, {cells}, {summary.backend}: "
        f"{counted(len(summary.rows), 'sub-kernel')}, predicted {seconds_text(summary.predicted)} "
        f"a {summary.terms.march}, {measured_text(summary.step_measured, summary.step_spread)}"
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
    unmoved = [row for row in summary.rows if row.flops and not row.intensity]
    narrow = any(row.doubles != row.flops for row in summary.rows)
    return (
        *([f"It is {summary.part}."] if summary.part else ()),
        f"Launches, with a barrier after each: {'; '.join(summary.launches) or 'none'}.",
        f"Arrays: {len(summary.arrays)}, {bytes_text(summary.allocated)} together; "
        f"at most {bytes_text(most)} are in use at once.",
        *([f"Not used in this step: {', '.join(idle)}."] if idle else ()),
        *(f"{text}." for row in summary.rows for text in row.rolling),
        f"Ceilings of this host: {ceilings_text(summary)}.",
        "In the chart of the memory, what is a field at the end of the step is blue; orange is what is free again.",
        "In the roofline, hollow marks are predicted and full ones measured.",
        *(["The thin roof is that of arrays which fit into the caches."] if summary.cache_ceilings else ()),
        *(f"{row.ref.name} moves next to nothing for {summary.terms.cell} and has no mark there." for row in unmoved),
        *([NARROW] if narrow else ()),
    )
