"""PlanView: what a plan moves, computes and keeps; asks why two values are apart; follows the inspection."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.backends.host import host_figures, measure_host
from workbench.errors import PlanError, RunError
from workbench.graph import Extend, Reduce, Store, value_name
from workbench.planning.explain import explain_nodes, membership_of
from workbench.planning.kernel_plan import KernelPlan, Step, Storage
from workbench.run import alive
from workbench.run.simulation import Simulation
from workbench.views.drawing.shapes import Drawing, to_png, to_svg
from workbench.views.inspection.following import inspect_machine
from workbench.views.inspection.inspection import Inspected, Inspection
from workbench.views.inspection.outdating import noted
from workbench.views.inspection.selection import SubkernelRef, ValueRef, node_of, values_of
from workbench.views.inspection.telling import describe_selection
from workbench.views.inspection.waiting import large_plan_text
from workbench.views.page.listing import Listing, ListingPage, listing_page
from workbench.views.page.listing_parts import Button, Choice, ListingOption
from workbench.views.page.live import live_entries, still_entries
from workbench.views.page.message import Message
from workbench.views.plan.drawing import draw_plan
from workbench.views.plan.html import plan_html
from workbench.views.plan.messages import table_message
from workbench.views.plan.summary import PlanSummary, Variant, describe_plan, summarise_plan, variants_of

if TYPE_CHECKING:
    from workbench.views.plan.figure import PlanCharts

MOST_VALUES = 400  # that one may ask about from a list; any others by selecting them


class PlanView:
    """Table, notes, questions and charts of one step of an inspection's plan.

    Live on pages with the extension, HTML with pictures elsewhere, and words. `close()` frees all that it holds.
    """

    def __init__(self, inspection: Inspection, page: ListingPage | None = None) -> None:
        """Without a page it is static; the charts live where Bokeh is installed."""
        self.inspection = inspection
        self._variant: Variant | None = None
        self._page = page
        self._closed = False
        self._box: Any = None
        self._figures = host_figures()
        self._listing = Listing(
            page,
            opened=self._everything,
            working=lambda: large_plan_text("making the table", inspection.plan),
            obey=self._obey,
            name="plan view",
        )
        self._charts = self._make_charts() if page is not None and find_spec("bokeh") is not None else None
        topics = ("source", "measured", "simulation")  # another plan is another source as well
        self._leave: tuple[Callable[[], None], ...] = (
            *(inspection.on(topic, lambda _: self._changed()) for topic in topics),  # type: ignore[arg-type]
            inspection.on("selection", lambda _: self._select()),
            inspection.on("outdated", lambda _: self._listing.send(self._said)),
        )

    # --- for people ---------------------------------------------------------------------------------------------------

    @property
    def summary(self) -> PlanSummary:
        """What is shown now."""
        plan, backend = self.inspection.plan, self.inspection.backend
        measured = self.inspection.measured(plan, "" if backend == "auto" else backend)
        known = variants_of(plan)
        variant = self._variant if self._variant in known else known[0]
        whole = measured.seconds if measured is not None and variant == known[0] else None  # of the usual step
        return summarise_plan(
            plan,
            extents=self.inspection.extents if measured is None else measured.extents,
            figures=self._figures,
            backend=backend if measured is None else measured.backend,
            variant=variant,
            measured={} if measured is None else dict(measured.subkernels),
            step_measured=whole,
            step_spread=0.0 if measured is None else measured.spread,
        )

    def show(self, variant: str) -> None:
        """Show another step: "step", "step, observed", ... as `summary.variants` print. PlanError for no such step."""
        known = {str(each): each for each in variants_of(self.inspection.plan)}
        if variant not in known:
            name = self.inspection.name
            raise PlanError(f"{name} has no step {variant}", advice=f"Use one of {', '.join(known)}.")
        self._variant = known[variant]
        self._changed()

    def explain(self, first: str, second: str) -> str:
        """Why two named values are, or are not, in one sub-kernel."""
        return self.inspection.plan.explain(first, second)

    @property
    def drawing(self) -> Drawing:
        """Both charts."""
        return draw_plan(self.summary)

    @property
    def svg(self) -> str:
        """Both charts as an SVG file's text."""
        return to_svg(self.drawing)

    @property
    def png(self) -> bytes:
        """Both charts as a PNG file."""
        return to_png(self.drawing)

    @property
    def widget(self) -> Any:  # noqa: ANN401  # an ipywidgets.VBox
        """Table and charts in one box, for containers of ipywidgets."""
        assert self._page is not None, "the view has no page"
        if self._box is None:
            from ipywidgets import VBox

            parts = [self._page] if self._charts is None else [self._page, self._charts.pane.widget]
            self._box = VBox(parts)
        return self._box

    def close(self) -> None:
        """Off the page; the inspection goes on. Closing twice does nothing."""
        self._closed = True
        for leave in self._leave:
            leave()
        self._leave = ()
        self._listing.close()
        self._page = None
        if self._charts is not None:
            self._charts.close()
            self._charts = None
        if self._box is not None:
            from workbench.views.page.canvas import close_widget

            close_widget(self._box)
            self._box = None

    # --- what pages are told ------------------------------------------------------------------------------------------

    def _make_charts(self) -> PlanCharts:
        from workbench.views.plan.figure import PlanCharts

        return PlanCharts(
            self.summary, picture=lambda: self.drawing, text=lambda: describe_plan(self.summary), chosen=self._choose
        )

    def _changed(self) -> None:
        self._listing.update()
        self._update_charts()

    def _select(self) -> None:
        self._listing.send(self._selected)
        self._update_charts()

    def _update_charts(self) -> None:
        if self._charts is not None:
            self._charts.update(self.summary, self._selected_rows())

    def _everything(self) -> tuple[Message, ...]:
        summary = self.summary
        steps = Choice(
            "step", "step", str(summary.variant), tuple(ListingOption(str(v), str(v)) for v in summary.variants)
        )
        measure = Button("measure", "Measure host", "Measure this host's memory and arithmetic: about two seconds")
        return (table_message(summary, (steps,), (measure,), self._values()), *self._selected(), *self._said())

    def _said(self, text: str = "") -> tuple[Message, ...]:
        return (Message({"type": "status", "text": noted(self.inspection, text)}),)

    def _kernel(self) -> tuple[KernelPlan, Step]:
        variant = self.summary.variant
        kernel = self.inspection.plan.kernel(variant.kernel)
        return kernel, kernel.observed if variant.observed else kernel.plain

    def _values(self) -> tuple[ListingOption, ...]:
        """Stored values and sums first, then those with names."""
        kernel, _ = self._kernel()
        nodes = kernel.kernel.nodes
        stored = [
            i for i, s in enumerate(kernel.storage) if s is Storage.MANIFEST or isinstance(nodes[i].instruction, Reduce)
        ]
        named = [i for i, node in enumerate(nodes) if node.names and not isinstance(node.instruction, Store)]
        chosen = [
            v.node for v in values_of(self.inspection.plan, self.inspection.selection) if v.kernel == kernel.kernel.name
        ]
        found = list(dict.fromkeys((*chosen[:8], *stored, *named)))[:MOST_VALUES]
        return tuple(
            ListingOption(_key(ValueRef(kernel.kernel.name, n)), self._title(kernel, n)) for n in sorted(found)
        )

    def _title(self, kernel: KernelPlan, node: int) -> str:
        """The name and how it is stored; ghost cells, which have the name of their value, say their number."""
        name, storage = value_name(kernel.kernel, node), kernel.storage[node].value
        if isinstance(kernel.kernel.nodes[node].instruction, Extend):
            return f"ghost cells of {name} ({storage}, value {node})"
        return f"{name} ({storage})"

    def _selected_rows(self) -> tuple[str, ...]:
        """Sub-kernels of the step shown that make, recompute or read what is selected."""
        selection = self.inspection.selection
        kernel, step = self._kernel()
        if isinstance(selection, SubkernelRef):
            return (selection.name,)
        values = [v for v in values_of(self.inspection.plan, selection) if v.kernel == kernel.kernel.name]
        places = {s for value in values for s in membership_of(kernel, step, value.node).subkernels}
        return tuple(step.subkernels[s].name for s in sorted(places))

    def _selected(self) -> tuple[Message, ...]:
        selection = self.inspection.selection
        known = {option.value for option in self._values()}
        value = _key(selection) if isinstance(selection, ValueRef) else ""
        content = {
            "type": "selected",
            "text": describe_selection(self.inspection.plan, selection),
            "lines": [],
            "cell": [],
            "rows": self._selected_rows(),
            "value": value if value in known else "",
        }
        return (Message(content),)

    # --- what pages ask -----------------------------------------------------------------------------------------------

    def _obey(self, message: Mapping[str, object]) -> None:
        match message:
            case {"type": "row", "name": str(name)}:
                self._choose(name)
            case {"type": "choice", "name": "step", "value": str(variant)}:
                self.show(variant)
            case {"type": "button", "name": "measure"}:
                self._measure()
            case {"type": "ask", "first": str(first), "second": str(second)}:
                self._answer(first, second)
            case _:
                pass

    def _choose(self, name: str) -> None:
        self.inspection.select(SubkernelRef(self.summary.variant.kernel, name))

    def _measure(self) -> None:
        if any(isinstance(each, Simulation) and each.running and not each.paused for each in alive.simulations()):
            raise RunError(
                "this host cannot be measured while a simulation runs",
                advice="Call pause() or stop(), then press again.",
            )
        self._listing.send(lambda: self._said("measuring this host"))
        self._figures = measure_host()
        self._changed()
        self._listing.send(lambda: self._said("This host is measured."))

    def _answer(self, first: str, second: str) -> None:
        plan, one, two = self.inspection.plan, _read_key(first), _read_key(second)
        for value in (one, two):
            node_of(plan, value)
        text = explain_nodes((plan.kernel(one.kernel), one.node), (plan.kernel(two.kernel), two.node)).text
        self._listing.send(lambda: (Message({"type": "answer", "text": text}),))

    # --- without a page -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return noted(self.inspection, describe_plan(self.summary))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """Live where the page has the extension, a table with pictures elsewhere, and words."""
        summary, drawing = self.summary, self.drawing
        bundle: dict[str, object] = {
            "text/plain": describe_plan(summary),
            "text/html": plan_html(summary, drawing),
            "image/png": base64.b64encode(to_png(drawing)).decode("ascii"),
        }
        if self._page is None:
            bundle |= still_entries(describe_plan(summary), closed=self._closed)
        else:
            bundle |= live_entries(self.widget.model_id)
        return bundle


def open_plan_view(looked_at: Inspected | Inspection, *, simulation: Simulation | None = None) -> PlanView:
    """A view of a machine's plan, or one more view of an inspection; live where a page can draw it.

    simulation: of this machine; what it measures is shown.
    """
    return PlanView(inspect_machine(looked_at, simulation), listing_page())


def _key(value: ValueRef) -> str:
    return f"{value.node}@{value.kernel}"


def _read_key(text: str) -> ValueRef:
    """Of what is no key a reference that no plan has."""
    node, _, kernel = text.partition("@")
    return ValueRef(kernel, int(node) if node.isdecimal() else -1)
