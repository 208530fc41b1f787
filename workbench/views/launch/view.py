"""LaunchView: how a plan is spread over threads, with the choices at hand; what is chosen runs where one looks."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from workbench.backends.occupancy import DEVICES, device_limits
from workbench.backends.processor import available_threads
from workbench.backends.registry import SHOWN, names_with_text, row_of
from workbench.errors import RunError, StencilError
from workbench.planning.plan import Plan
from workbench.planning.tunables import TUNABLES, UNROLLED, folds_along_axes, paddings, set_by_name, tunable
from workbench.views.drawing.shapes import to_png, to_svg
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.outdating import noted
from workbench.views.inspection.selection import SubkernelRef
from workbench.views.launch.drawing import draw_launch
from workbench.views.launch.facts import FactSearch, known_facts
from workbench.views.launch.summary import (
    CAPABILITY,
    Findings,
    LaunchSummary,
    advice_text,
    describe_launch,
    summarise_launch,
)
from workbench.views.page.live import still_entries
from workbench.views.plan.summary import measured_text

BACKENDS = names_with_text()
PATIENCE_SECONDS = 10.0  # that a still picture waits for what the simulator records


class LaunchPage(Protocol):
    """What shows the view on a page."""

    def refresh(self) -> None:
        """The summary has changed."""

    def tell(self) -> None:
        """What is said about it has changed."""

    def close(self) -> None:
        """Off the page."""


class LaunchView:
    """Threads, tiles, blocks, occupancy, and which thread accesses which cell, for an inspection's plan.

    `choose` changes what the simulation of the inspection runs, without a change of results. Registers and recorded
    cells are found in the background. `close()` frees page, threads and listeners; the inspection goes on.
    """

    def __init__(self, inspection: Inspection) -> None:
        """Looks at the backend that the inspection looks at; those without a text show CPU threads."""
        self.inspection = inspection
        self.capability = CAPABILITY
        self.shown = ""
        self.trouble = ""
        self.page: LaunchPage | None = None
        self._search: FactSearch | None = None
        self._closed = False
        self._leave: tuple[Callable[[], None], ...] = (
            inspection.on("source", lambda _: self._changed()),
            inspection.on("simulation", lambda _: self._changed()),
            inspection.on("selection", lambda _: self._select()),
            inspection.on("status", lambda _: self._tell()),
            inspection.on("outdated", lambda _: self._tell()),
            inspection.on("measured", lambda _: self._tell()),
        )
        self._look_for_facts()

    # --- what is to be seen -------------------------------------------------------------------------------------------

    @property
    def backend(self) -> str:
        """Whose launches are shown."""
        return self.inspection.backend if self.inspection.backend in BACKENDS else SHOWN

    @property
    def summary(self) -> LaunchSummary:
        """What is shown now."""
        plan = self.inspection.plan
        return summarise_launch(
            plan,
            extents=self.inspection.extents,
            backend=self.backend,
            capability=self.capability,
            shown=self.shown,
            findings=self._facts(plan),
        )

    def words(self) -> str:
        """The text below the figures: errors, work in progress, and measured values."""
        measured, status = self.inspection.measured(self.inspection.plan), self.inspection.status.text
        facts = self._facts(self.inspection.plan)
        searching = "the compiler and the simulator are at work" if facts is None else facts.problem
        found = (
            ""
            if measured is None
            else f"{measured_text(measured.seconds, measured.spread)} a step on {measured.backend}"
        )
        searched = searching if self.on_device else ""
        told = (self.trouble, status, found, advice_text(self.summary), searched, self.inspection.outdated)
        return "\n".join(text for text in told if text)

    @property
    def folds(self) -> bool:
        """Whether some loop folds along axes, so that lanes, targets and sources count."""
        return folds_along_axes(self.inspection.plan)

    @property
    def paddings(self) -> tuple[tuple[int, ...], ...]:
        """What padding to choose from, the present one among it; () is automatic."""
        now = self.inspection.choices.plan.layout.padding
        return tuple(sorted({*paddings(self.inspection.plan.graph.dim), now}))

    @property
    def on_device(self) -> bool:
        """Whether blocks are shown, and not CPU threads."""
        return row_of(self.backend).runs_on == "blocks"

    def wait(self, timeout: float | None = None) -> LaunchView:
        """Until registers and recorded cells are known, at most so many seconds."""
        if self._search is not None:
            self._search.wait(timeout)
        return self

    # --- what a reader may do -----------------------------------------------------------------------------------------

    def choose(
        self,
        *,
        threads: int | None = None,
        tile: int | None = None,
        block: int | None = None,
        grid: int | None = None,
        lanes: int | None = None,
        targets: int | None = None,
        sources: int | None = None,
        padding: tuple[int, ...] | None = None,
    ) -> None:
        """Change how the work is distributed; 0 is automatic. Raises PlanError for what cannot be launched.

        lanes, targets and sources unroll loops that fold along axes, as sums over pairs. padding: cache lines left free
        behind rows, planes and so on, () for automatic.
        """
        choices = self.inspection.choices
        asked: dict[str, object] = {"threads": threads, "tile": tile, "block": block, "grid": grid}
        asked |= {"lanes": lanes, "targets": targets, "sources": sources, "padding": padding}
        wanted = {name: value for name, value in asked.items() if value is not None}
        plan = set_by_name(choices.plan, TUNABLES, wanted)
        self.inspection.choose(replace(choices, plan=plan))

    def show(self, launch: str) -> None:
        """Let the curves be those of this launch."""
        self.shown = launch
        self._refresh()

    def look_at_device(self, capability: str) -> None:
        """Another device. Raises RunError for one that is not known."""
        try:
            device_limits(capability)
        except KeyError:
            known = ", ".join(device.capability for device in DEVICES)
            raise RunError(f"capability {capability!r} is not known here", advice=f"Use one of {known}.") from None
        self.capability = capability
        self._refresh()

    def close(self) -> None:
        """Free page, listeners and what still searches. Closing twice does nothing."""
        self._closed = True
        for leave in self._leave:
            leave()
        self._leave = ()
        if self._search is not None:
            self._search.end()
        page, self.page = self.page, None
        if page is not None:
            page.close()

    def attempt(self, action: Callable[[], object]) -> None:
        """Do what a control asks for; a refusal becomes words."""
        self.trouble = ""
        try:
            action()
        except StencilError as error:
            self.trouble = str(error)
        self._tell()

    # --- pictures and words -------------------------------------------------------------------------------------------

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text."""
        return to_svg(draw_launch(self.summary))

    @property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return to_png(draw_launch(self.summary))

    def __repr__(self) -> str:
        return noted(self.inspection, describe_launch(self.summary))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """A live view where the page has the extension, a picture elsewhere, and words."""
        self.wait(PATIENCE_SECONDS)
        bundle: dict[str, object] = {
            "text/plain": repr(self),
            "image/png": base64.b64encode(self.png).decode("ascii"),
        }
        page = getattr(self.page, "pane", None)
        bundle |= still_entries(repr(self), closed=self._closed) if page is None else page.mime
        return bundle

    # --- inside -------------------------------------------------------------------------------------------------------

    def _facts(self, plan: Plan) -> Findings | None:
        return known_facts(plan) if self.on_device else None

    def _look_for_facts(self) -> None:
        plan = self.inspection.plan
        if self._closed or not self.on_device or known_facts(plan) is not None:
            return
        if self._search is not None:
            self._search.end(0.0)
        self._search = FactSearch(plan, self._refresh)

    def _changed(self) -> None:
        self._look_for_facts()
        self._refresh()

    def _select(self) -> None:
        selection = self.inspection.selection
        if isinstance(selection, SubkernelRef):
            self.show(selection.name)

    def _refresh(self) -> None:
        if self.page is not None:
            self.page.refresh()

    def _tell(self) -> None:
        if self.page is not None:
            self.page.tell()


def thread_options() -> tuple[int, ...]:
    """Numbers of CPU threads to choose from; 0 is automatic."""
    most = available_threads()
    return (0, *(n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n < most), most)


def number_options(name: str) -> tuple[int, ...]:
    """Blocks of a grid, threads a block, rows a task or how folds are unrolled; 0 is automatic."""
    return UNROLLED.get(name) or tuple(number for number in tunable(name).sensible if isinstance(number, int))
