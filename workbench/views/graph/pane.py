"""Graph pane: a graph view on a page; taps, keys and tools become what the view may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.views.graph.comparisons import COMPARISONS
from workbench.views.graph.drawing import draw_graph
from workbench.views.graph.figure import GraphFigure
from workbench.views.graph.marks import key, storage_label
from workbench.views.graph.summary import describe_graph
from workbench.views.graph.view import GraphView
from workbench.views.graph.walk import Direction, hull_at, neighbour, node_at, search
from workbench.views.inspection.retyping import AS_DECLARED, FLOATS, asked_type, type_refusal
from workbench.views.page.bokeh_pane import BokehPane, Tool, ToolState

_ARROWS: dict[str, Direction] = {
    "ArrowLeft": "left",
    "ArrowRight": "right",
    "ArrowUp": "up",
    "ArrowDown": "down",
}
_MOVES = {
    "Shift+ArrowLeft": (-0.2, 0.0),
    "Shift+ArrowRight": (0.2, 0.0),
    "Shift+ArrowUp": (0.0, -0.2),
    "Shift+ArrowDown": (0.0, 0.2),
}
_KEYS = (
    "Enter", "f", "s", "c", "n", "+", "=", "-", "0", "Escape", "Control+z", "Control+Shift+z", "Control+y",
    *_ARROWS, *_MOVES,
)  # fmt: skip
_TOOLS = (
    Tool("flip", "Flip", "Make the selected value Manifest or Delayed (f, Enter or double click)"),
    Tool("sync", "Sync", "A barrier after the selected value's sub-kernel, or none (s)"),
    Tool("undo", "Undo", "Back to the plan before (Control+z)"),
    Tool("redo", "Redo", "Forward again (Control+Shift+z)"),
    Tool("fold", "Fold", "Draw sub-kernels as boxes, or their values (c)"),
    Tool("numbers", "Numbers", "Draw constants, params and sizes too (n)"),
    Tool("closer", "Zoom in", "Closer (+)"),
    Tool("farther", "Zoom out", "Farther (-)"),
    Tool("fit", "Fit", "All of it (0)"),
    Tool("hints", "Copy hints", "Copy these choices as hints, lines to paste into the cell", seldom=True),
    Tool("find", "Find ", "A name, a part of a formula, or a line of the cell; Enter goes on", "search"),
    Tool("compare", "Compare ", "Ring what another plan stores otherwise", "choice"),
    Tool("type", "Type ", "The float type of the selected value; results change", "choice", seldom=True),
)
_KERNEL = Tool("kernel", "Kernel ", "Which kernel of the machine", "choice")


class GraphPane:
    """The pane of one graph view."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._figure = GraphFigure(view.layout)
        self._kernels = view.summary.kernels
        tools = (*_TOOLS, _KERNEL) if len(self._kernels) > 1 else _TOOLS
        summary = view.summary
        self._pane = BokehPane(
            self._figure.plot,
            label=f"Graph of {summary.machine}",
            picture=lambda: draw_graph(*view.drawn),
            text=lambda: describe_graph(view.summary),
            keys=_KEYS,
            tools=tools,
            legend=key(
                tuple({node.instruction for node in summary.nodes}),
                tuple(dict.fromkeys(("Manifest", *(storage_label(n.storage, n.forced) for n in summary.nodes)))),
            ),
        )
        self._pane.on_event(self._figure.plot, "tap", self._tap)
        self._pane.on_event(self._figure.plot, "doubletap", self._double_tap)
        self._pane.on_key(self._press)
        self._pane.on_tool(self._use)
        self._pane.on_theme(self._figure.ink)
        try:
            self.refresh()
        except BaseException:  # it was stopped
            self._pane.close()
            raise

    @property
    def widget(self) -> Any:  # noqa: ANN401  # an ipywidget
        """For containers of ipywidgets."""
        return self._pane.widget

    @property
    def mime(self) -> dict[str, object]:
        """How a notebook finds it."""
        return self._pane.mime

    def refresh(self) -> None:
        """Draw the view as it is now."""
        view = self._view
        (summary, layout), selected = view.drawn, view.selected
        self._pane.patch(lambda: self._figure.show(summary, layout, selected))
        self._pane.patch(self.tell)  # what was said meanwhile stands until it is drawn

    def wait(self, text: str) -> None:
        """Say it until the next `refresh` or `tell`."""
        self._pane.say(text)

    def reselect(self) -> None:
        """Draw what is selected, and make sure that it can be seen."""
        view = self._view
        node = view.current
        if node is not None and view.layout.node_place(node) is None:
            view.reveal(node)
        (summary, layout), selected = view.drawn, view.selected
        place = None if node is None else layout.node_place(node)

        def change() -> None:
            self._figure.select(summary, layout, selected)
            if place is not None:
                self._figure.reveal(*place)

        self._pane.patch(change)
        self.tell()

    def tell(self) -> None:
        """Words, and which tools there are something to do for."""
        view = self._view
        inspection = view.inspection
        node = view.current
        free = node is not None and view.summary.nodes[node].can_flip
        chosen = None if node is None else view.summary.nodes[node].ref
        typed = chosen is not None and not type_refusal(inspection.plan, chosen)
        asked = asked_type(inspection.plan, chosen) if chosen is not None and typed else AS_DECLARED
        self._pane.say(view.words())
        self._pane.show_tools(
            ToolState("flip", disabled=not free),
            ToolState("sync", disabled=not free),
            ToolState("undo", disabled=not inspection.can_undo),
            ToolState("redo", disabled=not inspection.can_redo),
            ToolState("numbers", pressed=view.with_numbers),
            ToolState("compare", value=view.comparison, options=COMPARISONS),
            ToolState("type", disabled=not typed, value=asked, options=FLOATS),
            ToolState("kernel", value=view.kernel, options=self._kernels),
        )

    def close(self) -> None:
        """Off the page, all freed."""
        self._pane.close()

    # --- what a reader does; in the pane's thread ---------------------------------------------------------------------

    def _tap(self, event: Any) -> None:  # noqa: ANN401  # Bokeh's
        view = self._view
        node = node_at(view.layout, event.x, event.y, self._reach())
        hull = hull_at(view.layout, event.x, event.y)
        if node is None and hull is not None:
            view.select_group(hull.group)
        else:
            view.select(node)

    def _double_tap(self, event: Any) -> None:  # noqa: ANN401  # Bokeh's
        view = self._view
        node = node_at(view.layout, event.x, event.y, self._reach())
        hull = hull_at(view.layout, event.x, event.y)
        if node is not None:
            view.flip(node)
        elif hull is not None:
            view.fold(hull.group)

    def _reach(self) -> float:
        """How near a pointer must come: the size of a node, or more where nodes are drawn small."""
        across = self._figure.plot.x_range
        return max(23.0, 12.0 * abs(float(across.end) - float(across.start)) / 900)

    def _press(self, pressed: str) -> None:
        view = self._view
        if pressed in _ARROWS:
            view.select(neighbour(view.summary, view.layout, view.current, _ARROWS[pressed]))
        elif pressed in _MOVES:
            self._pane.patch(lambda: self._figure.move(*_MOVES[pressed]))
        elif pressed == "Escape":
            view.select(None)
        else:
            tools = {
                "Enter": "flip", "f": "flip", "s": "sync", "c": "fold", "n": "numbers", "+": "closer", "=": "closer",
                "-": "farther", "0": "fit", "Control+z": "undo", "Control+Shift+z": "redo", "Control+y": "redo",
            }  # fmt: skip
            self._use(tools[pressed], "")

    def _use(self, tool: str, value: str) -> None:
        view = self._view
        pane, figure = self._pane, self._figure
        acts: dict[str, Callable[[], None]] = {
            "flip": view.flip,
            "sync": view.mark_sync,
            "undo": view.undo,
            "redo": view.redo,
            "fold": view.fold_all,
            "numbers": view.show_numbers,
            "closer": lambda: pane.patch(lambda: figure.zoom(0.7)),
            "farther": lambda: pane.patch(lambda: figure.zoom(1 / 0.7)),
            "fit": lambda: pane.patch(lambda: figure.fit(view.layout)),
            "find": lambda: self._find(value),
            "hints": lambda: pane.hand_text(view.hints()),
            "compare": lambda: view.compare(value),
            "kernel": lambda: view.show_kernel(value),
            "type": lambda: view.set_type(value),
        }
        if tool in acts:
            acts[tool]()

    def _find(self, wanted: str) -> None:
        found = search(self._view.summary, wanted, self._view.current)
        if found is None:
            self._view.trouble = f"nothing is called {wanted!r}"
            self.tell()
        else:
            self._view.select(found)
