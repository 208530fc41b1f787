"""SourceView: generated text with what it came from and what became of it; follows the inspection that it looks at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Literal

from workbench.backends.base import CompilerReport
from workbench.backends.registry import names_with_text
from workbench.errors import PlanError, RunError
from workbench.frontend.cell import Traced
from workbench.planning.plan import Plan
from workbench.views.faults import fault_text
from workbench.views.inspection.inspection import Inspected, Inspection
from workbench.views.inspection.outdating import noted
from workbench.views.inspection.selection import CellLine, Selection, ValueRef, cell_lines_of
from workbench.views.inspection.telling import describe_selection, name_of
from workbench.views.inspection.waiting import large_plan_text
from workbench.views.page.listing import Listing, ListingPage, listing_page
from workbench.views.page.listing_parts import Button, Choice, ListingOption
from workbench.views.page.live import live_entries, still_entries
from workbench.views.page.message import Message
from workbench.views.source.compiler_report import known_report, report_of
from workbench.views.source.html import source_html
from workbench.views.source.messages import text_message
from workbench.views.source.summary import SourceSummary, describe_source, summarise_source

Beside = Literal["change", "compared", "nothing"]
BACKENDS = names_with_text()
LONG = 400_000  # characters; compilers need minutes for such a text, so they are asked only on request

_BESIDE: dict[Beside, str] = {
    "change": "the text before the last change",
    "compared": "the text of the compared plan",
    "nothing": "nothing",
}


class SourceView:
    """The text of an inspection's plan: coloured, linked, beside the text before a flip.

    Live on pages with the extension, static HTML and words elsewhere. `close()` frees page, thread and listeners.
    """

    def __init__(self, inspection: Inspection, page: ListingPage | None = None) -> None:
        """Without a page it is static."""
        self.inspection = inspection
        self._beside: Beside = "change"
        self._made: tuple[object, SourceSummary] | None = None  # the last summary, because colouring takes a while
        self._page = page
        self._closed = False
        self._asking = threading.Lock()
        self._listing = Listing(
            page,
            opened=self._everything,
            working=lambda: large_plan_text("writing the source", inspection.plan),
            obey=self._obey,
            name="source view",
        )
        self._leave: tuple[Callable[[], None], ...] = (
            inspection.on("source", lambda _: self._listing.update()),
            inspection.on("comparison", lambda _: self._listing.update()),
            inspection.on("selection", lambda _: self._listing.send(self._selected)),
            inspection.on("outdated", lambda _: self._listing.send(self._said)),
        )

    # --- for people ---------------------------------------------------------------------------------------------------

    @property
    def summary(self) -> SourceSummary:
        """What is shown now."""
        plan = self.inspection.plan
        source = self.inspection.source_of(plan)
        old = self._other_plan()
        before = None if old is None else self.inspection.source_of(old)
        if before is not None and before.text == source.text:
            before = None
        found = known_report(plan, source)
        language = self.inspection.language
        key = (language, source, before, found)
        known = self._made
        if known is None or known[0] != key:
            reports = None if found is None else found.functions
            made = summarise_source(plan, source, backend=language, cell=self._cell(), before=before, reports=reports)
            known = self._made = (key, made)
        return known[1]

    def report(self) -> CompilerReport:
        """What the compiler says; compiles this text at the first call, which may take long."""
        return report_of(self.inspection.plan, self.inspection.source, self.inspection.language)

    def beside(self, what: Beside) -> None:
        """Show beside the text: that before the last "change", that of the "compared" plan, or "nothing"."""
        if what not in _BESIDE:
            raise PlanError(f"beside={what!r} is unknown", advice=f"Use one of {', '.join(_BESIDE)}.")
        self._beside = what
        self._listing.update()

    @property
    def widget(self) -> ListingPage:
        """The widget itself, for containers of ipywidgets."""
        assert self._page is not None, "the view has no page"
        return self._page

    def close(self) -> None:
        """Off the page; the inspection goes on. Closing twice does nothing."""
        self._closed = True
        for leave in self._leave:
            leave()
        self._leave = ()
        self._listing.close()
        self._page = None

    # --- what pages are told ------------------------------------------------------------------------------------------

    def _other_plan(self) -> Plan | None:
        match self._beside:
            case "change":
                return self.inspection.previous
            case "compared":
                return self.inspection.compared
            case "nothing":
                return None

    def _cell(self) -> tuple[tuple[int, str], ...]:
        traced = getattr(self.inspection.machine, "traced", None)
        return tuple(enumerate(traced.lines, start=traced.first_line)) if isinstance(traced, Traced) else ()

    def _everything(self) -> tuple[Message, ...]:
        source = self.inspection.source
        if known_report(self.inspection.plan, source) is None and len(source.text) <= LONG:
            self._ask_compiler()
        # Whatever was said belonged to another text.
        return (text_message(self.summary, self._choices(), self._buttons()), *self._selected(), *self._said())

    def _said(self) -> tuple[Message, ...]:
        source = self.inspection.source
        known = known_report(self.inspection.plan, source)
        working = "The compiler is at work." if len(source.text) <= LONG else ""
        said = f"Reports by {known.title}." if known else working
        return (Message({"type": "status", "text": noted(self.inspection, said)}),)

    def _choices(self) -> tuple[Choice, ...]:
        return (
            Choice(
                "backend", "backend", self.inspection.language, tuple(ListingOption(name, name) for name in BACKENDS)
            ),
            Choice("beside", "beside", self._beside, tuple(ListingOption(key, text) for key, text in _BESIDE.items())),
        )

    def _buttons(self) -> tuple[Button, ...]:
        selection = self.inspection.selection
        why = "Select a value first: click its line."
        label = "Flip"
        if isinstance(selection, ValueRef):
            why = self.inspection.refusal(selection)
            label = f"Flip {name_of(self.inspection.plan, selection)}"
        known = known_report(self.inspection.plan, self.inspection.source) is not None
        return (
            Button("flip", label, why or "Store what is recomputed, or recompute what is stored", bool(why)),
            Button("undo", "Undo", "Undo the last change of the plan", not self.inspection.can_undo),
            Button("redo", "Redo", "Do it again", not self.inspection.can_redo),
            Button("compiler", "Compiler", "Ask the compiler for its report", known),
        )

    def _selected(self) -> tuple[Message, ...]:
        selection = self.inspection.selection
        summary = self.summary
        content = {
            "type": "selected",
            "text": describe_selection(self.inspection.plan, selection),
            "lines": summary.lines_of(selection),
            "cell": cell_lines_of(self.inspection.plan, selection),
            "rows": [],
            "value": "",
        }
        buttons = {"type": "buttons", "buttons": [_fields(button) for button in self._buttons()]}
        return Message(content), Message(buttons)

    def _ask_compiler(self) -> None:
        """In a thread of its own, one at a time: what came in the meantime is asked for afterwards."""

        def work() -> None:
            with self._asking:
                while self._page is not None and known_report(self.inspection.plan, self.inspection.source) is None:
                    source = self.inspection.source
                    try:
                        report = report_of(self.inspection.plan, source, self.inspection.language)
                    except Exception as error:  # no caller waits for this thread, so the page is told
                        problem = fault_text(error, "the text is as it was")
                        self._listing.send(lambda: (Message({"type": "status", "text": problem}),))  # noqa: B023
                        return
                    if report.problem:
                        problem = report.problem
                        self._listing.send(lambda: (Message({"type": "status", "text": problem}),))  # noqa: B023
                        return
                    if source is self.inspection.source:
                        self._listing.update()

        if not self._asking.locked():
            threading.Thread(target=work, name="compiler report", daemon=True).start()

    # --- what pages ask -----------------------------------------------------------------------------------------------

    def _obey(self, message: Mapping[str, object]) -> None:
        number, name, value = message.get("number"), message.get("name"), message.get("value")
        match message.get("type"), number, name:
            case "line", int(line), _:
                self.inspection.select(self._selection_at(line))
            case "cell", int(line), _:
                self.inspection.select(CellLine(line))
            case "part", _, str(function):
                found = next((f for f in self.summary.text.functions if f.name == function), None)
                if found is not None and found.subkernels:
                    self.inspection.select(found.subkernels[0])
            case "choice", _, "backend":
                self.inspection.show_backend(str(value))
            case "choice", _, "beside" if value in _BESIDE:
                self.beside(value)
            case "button", _, str(pressed):
                self._press(pressed)
            case _:
                pass

    def _press(self, name: str) -> None:
        selection = self.inspection.selection
        match name:
            case "flip":
                if isinstance(selection, ValueRef):
                    self.inspection.flip(selection)
            case "undo":
                self.inspection.undo()
            case "redo":
                self.inspection.redo()
            case "compiler":
                self._ask_compiler()
            case _:
                pass

    def _selection_at(self, line: int) -> Selection | None:
        """The value that the line makes, else the sub-kernel that it belongs to."""
        text = self.summary.text
        if not 1 <= line <= len(text.lines):
            return None
        function = text.function_at(line)
        inside = function.subkernels[0] if function is not None and function.subkernels else None
        return text.lines[line - 1].makes or inside

    # --- without a page -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return noted(self.inspection, describe_source(self.summary))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """Live where the page has the extension, static HTML elsewhere, and words."""
        summary = self.summary
        bundle: dict[str, object] = {"text/plain": describe_source(summary), "text/html": source_html(summary)}
        if self._page is None:
            bundle |= still_entries(describe_source(summary), closed=self._closed)
        else:
            bundle |= live_entries(self._page.model_id)
        return bundle


def open_source_view(looked_at: Inspected | Inspection, *, backend: str = "") -> SourceView:
    """A view of a machine's generated text, or one more view of an inspection; live where a page can draw it.

    backend: one that has a text; default what the inspection looks at. Raises RunError for another one.
    """
    if backend and backend not in BACKENDS:
        raise RunError(f"no source is generated for backend {backend!r}", advice=f"Use one of {', '.join(BACKENDS)}.")
    inspection = looked_at if isinstance(looked_at, Inspection) else Inspection(looked_at)
    if backend:
        inspection.show_backend(backend)
    return SourceView(inspection, listing_page())


def _fields(button: Button) -> dict[str, object]:
    return {"name": button.name, "label": button.label, "title": button.title, "disabled": button.disabled}
