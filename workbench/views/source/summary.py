"""Source: generated text in which every line knows its values and cell lines; records in, a frozen summary out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.codegen.functions import functions_in
from workbench.codegen.source import LineOrigin, Source
from workbench.graph import Broadcast, Extend, Shift, Store, value_name
from workbench.planning.plan import Plan
from workbench.views.inspection.selection import CellLine, Selection, SubkernelRef, ValueRef
from workbench.views.source.difference import FoldedLines, LinePair, compare_lines, count_changes, folds_of
from workbench.views.source.highlighting import Language, Piece, highlight

# A definition begins at the left edge of the generated text and ends with a brace there.
_PREFIX = re.compile(r"^(?:sweep|fill|outside|run)_")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line. `values` are ascending; `makes` is the one that the line is there for, if it computes any."""

    number: int
    pieces: tuple[Piece, ...]
    values: tuple[ValueRef, ...] = ()
    makes: ValueRef | None = None
    cell_lines: tuple[int, ...] = ()
    label: str = ""  # names of the values, for people

    @property
    def text(self) -> str:
        """Without colours."""
        return "".join(text for _, text in self.pieces)


@dataclass(frozen=True, slots=True)
class ListedFunction:
    """A function of the text from line `first` to `last`; `subkernels` are those whose loops it holds.

    `report`: what the compiler says about it, "" if it was not asked.
    """

    name: str
    first: int
    last: int
    subkernels: tuple[SubkernelRef, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class SourceText:
    """One text with its functions in order."""

    title: str
    language: Language
    lines: tuple[SourceLine, ...]
    functions: tuple[ListedFunction, ...]

    @property
    def plain(self) -> str:
        """What is copied."""
        return "\n".join(line.text for line in self.lines)

    def function_at(self, line: int) -> ListedFunction | None:
        """The function that a line belongs to."""
        return next((f for f in self.functions if f.first <= line <= f.last), None)


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """What a source view shows.

    cell: the lines of the cell, numbered as the reader sees them. before, rows and folds: the text of another plan,
    side by side with this one; None and empty if nothing is compared.
    """

    machine: str
    backend: str
    text: SourceText
    cell: tuple[SourceLine, ...] = ()
    before: SourceText | None = None
    rows: tuple[LinePair, ...] = ()
    folds: tuple[FoldedLines, ...] = ()

    def lines_of(self, selection: Selection | None) -> tuple[int, ...]:
        """Lines of the text that belong to what is selected, ascending."""
        match selection:
            case None:
                return ()
            case ValueRef():
                made = tuple(line.number for line in self.text.lines if line.makes == selection)
                return made or tuple(line.number for line in self.text.lines if selection in line.values)
            case CellLine(wanted):
                return tuple(line.number for line in self.text.lines if wanted in line.cell_lines)
            case SubkernelRef():
                found = (f for f in self.text.functions if selection in f.subkernels)
                return tuple(number for f in found for number in range(f.first, f.last + 1))


def summarise_source(
    plan: Plan,
    source: Source,
    *,
    backend: str,
    cell: tuple[tuple[int, str], ...] = (),
    before: Source | None = None,
    reports: Mapping[str, str] | None = None,
) -> SourceSummary:
    """The summary of a plan's text. `before` is the text of another plan of the same graph, for the same language.

    cell: (number, text) of the cell's lines. reports: name of a function -> what the compiler says about it.
    """
    text = _text_of(plan, source, f"{plan.graph.name}, {backend}", reports or {})
    lines = _cell_lines(plan, cell)
    if before is None:
        return SourceSummary(plan.graph.name, backend, text, lines)
    old = _text_of(plan, before, "before", {})
    rows = compare_lines([line.text for line in old.lines], [line.text for line in text.lines])
    return SourceSummary(plan.graph.name, backend, text, lines, old, rows, folds_of(rows))


def summarise_text(source: Source, title: str) -> SourceSummary:
    """The summary of a text without its plan: colours and functions, no names of values."""
    coloured = highlight(source.text.rstrip("\n"), source.language)
    lines = tuple(SourceLine(number, pieces) for number, pieces in enumerate(coloured, start=1))
    text = SourceText(title, source.language, lines, functions_of(source))
    return SourceSummary(title, source.language, text)


def excerpt_of(text: SourceText, most: int) -> range:
    """The numbers of at most so many lines, from the first function that computes something on."""
    count = len(text.lines)
    if count <= most:
        return range(1, count + 1)
    first = next((function.first for function in text.functions if function.subkernels), 1)
    return range(first, min(first + most, count + 1))


def caption_of(text: SourceText, excerpt: range | None = None) -> str:
    """What text it is and how much of it is there."""
    lines = f"{len(text.lines)} lines of {'CUDA' if text.language == 'cuda' else 'C++'}"
    if excerpt is None or len(excerpt) == len(text.lines):
        return f"{text.title}: {lines}"
    return f"{text.title}: lines {excerpt.start} to {excerpt.stop - 1} of {lines}"


def describe_source(summary: SourceSummary, excerpt: range | None = None) -> str:
    """In words: what text it is, its functions with what the compiler says, and the text itself, or these lines."""
    text = summary.text
    lines = [caption_of(text, excerpt)]
    for function in text.functions:
        if function.subkernels:
            told = f": {function.report}" if function.report else ""
            lines.append(f"  lines {function.first} to {function.last}: {short_name(function.name)}{told}")
    if summary.before is not None:
        gone, new = count_changes(summary.rows)
        lines.append(f"  compared with before: {gone} lines gone, {new} lines new")
    shown = excerpt or range(1, len(text.lines) + 1)
    return "\n".join([*lines, "", *(line.text for line in text.lines[shown.start - 1 : shown.stop - 1])])


def short_name(function: str) -> str:
    """The name of a function without what all of its kind begin with."""
    return _PREFIX.sub("", function)


def _text_of(plan: Plan, source: Source, title: str, reports: Mapping[str, str]) -> SourceText:
    coloured = highlight(source.text.rstrip("\n"), source.language)
    origins: dict[int, list[LineOrigin]] = {}
    for origin in source.lines:
        origins.setdefault(origin.line, []).append(origin)
    lines = []
    for number, pieces in enumerate(coloured, start=1):
        found = origins.get(number, ())
        values = tuple(sorted({ValueRef(o.kernel, node) for o in found for node in o.nodes}))
        cell_lines = tuple(sorted({line for o in found for line in o.cell_lines}))
        lines.append(SourceLine(number, pieces, values, _made_by(plan, values), cell_lines, _label(plan, values)))
    return SourceText(title, source.language, tuple(lines), functions_of(source, reports))


def _made_by(plan: Plan, values: tuple[ValueRef, ...]) -> ValueRef | None:
    """The value that a line is there for: the last one in the order of computation.

    One that only moves or repeats another value counts where there is nothing else.
    """
    moving = (Shift, Extend, Broadcast)
    nodes = ((value, plan.kernel(value.kernel).kernel.nodes[value.node]) for value in values)
    computed = [value for value, node in nodes if not isinstance(node.instruction, moving)]
    found = computed or list(values)
    return found[-1] if found else None


def _label(plan: Plan, values: tuple[ValueRef, ...]) -> str:
    """The values' own names, or what the last one is."""
    named = [plan.kernel(v.kernel).kernel.nodes[v.node].names for v in values]
    names = dict.fromkeys(names[0] for names in named if names)
    if names:
        return ", ".join(names)
    return value_name(plan.kernel(values[-1].kernel).kernel, values[-1].node) if values else ""


def functions_of(source: Source, reports: Mapping[str, str] | None = None) -> tuple[ListedFunction, ...]:
    """The definitions of a generated text in order, with what a compiler says about each."""
    told = reports or {}
    return tuple(
        ListedFunction(
            f.name, f.first, f.last, tuple(SubkernelRef(*each) for each in f.subkernels), told.get(f.name, "")
        )
        for f in functions_in(source)
    )


def _cell_lines(plan: Plan, cell: tuple[tuple[int, str], ...]) -> tuple[SourceLine, ...]:
    """The cell's lines with the values that were written in them; the last one is what the line makes."""
    if not cell:
        return ()
    coloured = highlight("\n".join(text for _, text in cell), "python")
    written: dict[int, list[ValueRef]] = {}
    for kernel in plan.kernels:
        for index, node in enumerate(kernel.kernel.nodes):
            lines_of_node = set() if isinstance(node.instruction, Store) else {span.line for span in node.spans}
            for line in lines_of_node:
                written.setdefault(line, []).append(ValueRef(kernel.kernel.name, index))
    lines = []
    for (number, _), pieces in zip(cell, coloured, strict=True):
        values = tuple(written.get(number, ()))
        lines.append(SourceLine(number, pieces, values, _made_by(plan, values), (number,), _label(plan, values)))
    return tuple(lines)
