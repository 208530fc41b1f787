"""GraphView: the graph of a machine that one looks at, with its choices at hand; live where a page can draw it."""

from __future__ import annotations

import base64
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from workbench.errors import StencilError
from workbench.frontend.cell import Traced
from workbench.planning.plan import Plan
from workbench.run.hooks import asked_choices, is_closed
from workbench.views.drawing.shapes import to_png, to_svg
from workbench.views.graph.comparisons import COMPARISONS, compared
from workbench.views.graph.drawing import draw_graph
from workbench.views.graph.layout import GraphLayout, default_folds, lay_out_graph
from workbench.views.graph.summary import GraphSummary, describe_graph, plan_line, summarise_graph
from workbench.views.graph.words import details_text, storage_text
from workbench.views.inspection.hints import hint_text
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.outdating import noted
from workbench.views.inspection.retyping import choices_with_type
from workbench.views.inspection.selection import SubkernelRef, ValueRef, values_of
from workbench.views.inspection.waiting import LARGE, waiting_text
from workbench.views.page.live import still_entries
from workbench.views.plan.summary import spread_text


class GraphPage(Protocol):
    """What shows the view on a page: `workbench.views.graph.pane` with Bokeh."""

    @property
    def widget(self) -> Any:  # noqa: ANN401  # an ipywidget
        """For containers of ipywidgets."""

    @property
    def mime(self) -> dict[str, object]:
        """The entry of a mime bundle by which a notebook finds it."""

    def refresh(self) -> None:
        """The picture has changed."""

    def reselect(self) -> None:
        """The selection has changed."""

    def tell(self) -> None:
        """What is said about it has changed."""

    def wait(self, text: str) -> None:
        """Say `text` until the next `refresh` or `tell`."""

    def close(self) -> None:
        """Off the page."""


class GraphView:
    """The graph of one kernel of a machine. Whatever changes the plan goes through the shared inspection.

    `summary`, `png`, `svg` and the text are there without a page, and without bokeh and ipywidgets. `close()` frees
    the page and leaves the inspection as it is.
    """

    def __init__(self, inspection: Inspection, kernel: str = "") -> None:
        """kernel: the one to draw, "" for the main one."""
        self.inspection = inspection
        self.kernel = kernel or inspection.plan.main.kernel.name
        self.with_numbers = False
        self.comparison = COMPARISONS[0]
        self.trouble = ""
        self.page: GraphPage | None = None
        self._opened = inspection.choices
        self._lock = threading.RLock()
        summary = self._summarise()
        self._folded = default_folds(summary)
        self._opened_by_hand = False
        self._closed = False
        self._drawn = (summary, lay_out_graph(summary, self._folded))
        self._leave: tuple[Callable[[], None], ...] = (
            inspection.on("plan", lambda _: self._replan()),
            inspection.on("comparison", lambda _: self._replan()),
            inspection.on("simulation", lambda _: self._replan()),
            inspection.on("selection", lambda _: self._reselect()),
            inspection.on("measured", lambda _: self._tell()),
            inspection.on("status", lambda _: self._tell()),
            inspection.on("outdated", lambda _: self._tell()),
        )

    # --- what is to be seen -------------------------------------------------------------------------------------------

    @property
    def drawn(self) -> tuple[GraphSummary, GraphLayout]:
        """What is drawn and where, of one and the same plan."""
        return self._drawn

    @property
    def summary(self) -> GraphSummary:
        """What is drawn."""
        return self._drawn[0]

    @property
    def layout(self) -> GraphLayout:
        """Where it is drawn."""
        return self._drawn[1]

    @property
    def selected(self) -> frozenset[int]:
        """Numbers of the drawn kernel's nodes that the selection stands for."""
        values = values_of(self.inspection.plan, self.inspection.selection)
        return frozenset(value.node for value in values if value.kernel == self.kernel)

    @property
    def current(self) -> int | None:
        """The one selected value, None unless exactly one is."""
        selection = self.inspection.selection
        if isinstance(selection, ValueRef) and selection.kernel == self.kernel:
            return selection.node
        return None

    def words(self) -> str:
        """The text below the drawing: figures of the plan, work in progress, and the selected value."""
        lines = [self._figures()]
        status = self.inspection.status
        if status.text:
            lines.append(status.text)
        if self.trouble:
            lines.append(self.trouble)
        else:
            lines.append(self._selected_words())
        return noted(self.inspection, "\n".join(lines))

    # --- what a reader may do; refusals become words ------------------------------------------------------------------

    def select(self, node: int | None) -> None:
        """Select a value of the drawn kernel, in every view."""
        self.trouble = ""
        self._attempt(lambda: self.inspection.select(None if node is None else ValueRef(self.kernel, node)))
        self._tell()

    def select_group(self, group: int) -> None:
        """Select a sub-kernel."""
        self.trouble = ""
        self._attempt(lambda: self.inspection.select(self.summary.groups[group].ref))
        self._tell()

    def flip(self, node: int | None = None) -> None:
        """Make a value Manifest or Delayed; None for the selected one."""
        self._at_value(node, self.inspection.flip)

    def mark_sync(self, node: int | None = None) -> None:
        """Ask for a barrier after the sub-kernel of a value, or drop it."""
        self._at_value(node, self.inspection.mark_sync)

    def set_type(self, type_: str, node: int | None = None) -> None:
        """Compute a value in another float type, one of FLOATS; None for the selected one. Results change."""
        inspection = self.inspection
        graph = inspection.machine.graph
        self._at_value(
            node,
            lambda value: inspection.choose(choices_with_type(graph, inspection.plan, value, type_, inspection.target)),
        )

    def undo(self) -> None:
        """Back to the plan before the last change."""
        self.trouble = ""
        if not self.inspection.undo():
            self._say("there is nothing to undo")

    def redo(self) -> None:
        """Forward again."""
        self.trouble = ""
        if not self.inspection.redo():
            self._say("there is nothing to redo")

    def fold(self, group: int) -> None:
        """Draw a sub-kernel as one box, or its values again."""
        name = self.summary.groups[group].ref.name
        self._set_folds(self._folded ^ {name})

    def fold_all(self) -> None:
        """Draw every sub-kernel as one box, or, if all are, all of their values."""
        names = frozenset(group.ref.name for group in self.summary.groups)
        self._set_folds(frozenset() if self._folded >= names else names)

    def reveal(self, node: int) -> None:
        """Open the sub-kernel that a value is hidden in, and show numbers if it is one."""
        if self.summary.nodes[node].is_number and not self.with_numbers:
            self.with_numbers = True
            self._set_folds(self._folded)
        if all(number != node for number, _, _ in self.layout.places):
            self._set_folds(self._folded - set(self.summary.nodes[node].subkernels))
        if all(number != node for number, _, _ in self.layout.places):
            self._set_folds(frozenset())

    def show_numbers(self) -> None:
        """Draw what is known before the step, or leave it out again."""
        self.with_numbers = not self.with_numbers
        self._set_folds(self._folded)

    def show_kernel(self, kernel: str) -> None:
        """Draw another kernel."""
        self.kernel = self.inspection.plan.kernel(kernel).kernel.name
        self._opened_by_hand = False
        self._replan()

    def compare(self, comparison: str) -> None:
        """Compare with one of COMPARISONS."""
        self.trouble = ""
        self.comparison = comparison
        self._attempt(lambda: self.inspection.compare(compared(comparison, self.inspection, self._opened)))

    def hints(self) -> str:
        """The choices of now as lines to paste at the end of the cell."""
        inspection = self.inspection
        traced = getattr(inspection.machine, "traced", None)
        return hint_text(inspection.plan, traced.lines if isinstance(traced, Traced) else (), inspection.target)

    def close(self) -> None:
        """Close the view and remove it from the page."""
        self._closed = True
        for leave in self._leave:
            leave()
        page, self.page = self.page, None
        if page is not None:
            page.close()

    # --- inside -------------------------------------------------------------------------------------------------------

    def _at_value(self, node: int | None, act: Callable[[ValueRef], object]) -> None:
        self.trouble = ""
        chosen = self.current if node is None else node
        if chosen is None:
            self._say("select a value first")
            return
        self._attempt(lambda: act(ValueRef(self.kernel, chosen)))

    def _attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except StencilError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.trouble = text
        self._tell()

    def _summarise(self) -> GraphSummary:
        inspection = self.inspection
        return summarise_graph(
            inspection.plan, inspection.extents, self.kernel, inspection.compared, backend=inspection.backend
        )

    def _replan(self) -> None:
        with self._lock, self._laying_out():
            summary = self._summarise()
            names = frozenset(group.ref.name for group in summary.groups)
            self._folded = self._folded & names if self._opened_by_hand else default_folds(summary)
            self._draw(summary)

    def _set_folds(self, folded: frozenset[str]) -> None:
        with self._lock:
            self._opened_by_hand = True
            self._folded = folded
            with self._laying_out():
                self._draw(self.summary)

    @contextlib.contextmanager
    def _laying_out(self) -> Iterator[None]:
        """A page says so meanwhile if it takes long."""
        values = len(self.summary.nodes)
        if self.page is not None and values > LARGE:
            self.page.wait(laying_out_text(self.inspection.name, values))
        try:
            yield
        except Exception:
            self._tell()
            raise

    def _draw(self, summary: GraphSummary) -> None:
        self._drawn = (summary, lay_out_graph(summary, self._folded, self.with_numbers))
        if self.page is not None:
            self.page.refresh()

    def _reselect(self) -> None:
        if self.page is not None:
            self.page.reselect()

    def _tell(self) -> None:
        if self.page is not None:
            self.page.tell()

    def _figures(self) -> str:
        """The plan of now, beside the compared one or the one before the last change."""
        now = self._figures_of(self.inspection.plan)
        other = self.inspection.compared
        title = self.comparison if other is not None else "before"
        if other is None:
            other = self.inspection.previous
        if other is None or other.choices == self.inspection.plan.choices:
            return now
        return f"{title}: {self._figures_of(other)}\nnow: {now}"

    def _figures_of(self, plan: Plan) -> str:
        """A plan in one line, with what was measured."""
        measured = self.inspection.measured(plan)
        line = plan_line(plan, self.kernel)
        if measured is not None:
            where = measured.where or measured.backend
            return f"{line}; measured {spread_text(measured.seconds, measured.spread)} a step on {where}"
        simulation = self.inspection.simulation
        if simulation is None or is_closed(simulation) or not simulation.running:
            return line
        return f"{line}; measuring ..." if asked_choices(simulation) == plan.choices else line

    def _selected_words(self) -> str:
        selection = self.inspection.selection
        if isinstance(selection, SubkernelRef):
            group = next((g for g in self.summary.groups if g.ref == selection), None)
            if group is not None:
                cost = f"{group.bytes_moved:g} bytes, {group.flops:g} flops, {group.loads:g} loads {self.summary.cell}"
                return f"sub-kernel {group.ref.name} makes {group.label}: {cost}"
        node = self.current
        if node is None:
            return "Click selects a value, a double click makes it Manifest or Delayed; Control and the wheel zoom."
        value = self.summary.nodes[node]
        return f"{value.label} = {value.formula}: {storage_text(value)}; {details_text(value, self.summary.cell)}"

    # --- without a page -----------------------------------------------------------------------------------------------

    @property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return to_png(draw_graph(*self._drawn))

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text."""
        return to_svg(draw_graph(*self._drawn))

    def __repr__(self) -> str:
        return noted(self.inspection, describe_graph(self.summary))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """Live where the page has the extension, a picture elsewhere, and words."""
        bundle: dict[str, object] = {
            "text/plain": describe_graph(self.summary),
            "image/png": base64.b64encode(self.png).decode("ascii"),
        }
        if self.page is None:
            bundle |= still_entries(describe_graph(self.summary), closed=self._closed)
            return bundle
        return bundle | self.page.mime


def laying_out_text(name: str, values: int) -> str:
    """What is said while that takes long."""
    return waiting_text("laying out the graph", name, values)
