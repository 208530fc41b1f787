"""Launch pane: the launch view on a page, its controls and its figures; the only part of it that knows Bokeh."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.occupancy import DEVICES
from workbench.views.launch.drawing import draw_launch
from workbench.views.launch.figure import LaunchFigure
from workbench.views.launch.view import BACKENDS, LaunchView, number_options, thread_options
from workbench.views.page.bokeh_pane import BokehPane, Tool, ToolState
from workbench.views.page.canvas import Canvas

TOOLS = (
    Tool("backend", "for", "Whose launches are shown", "choice"),
    Tool("threads", "threads", "CPU threads", "choice"),
    Tool("tile", "rows a task", "Rows that one thread takes at once", "choice"),
    Tool("block", "threads a block", "Threads of a CUDA block", "choice"),
    Tool("grid", "blocks", "Blocks of a CUDA grid", "choice"),
    Tool("lanes", "side by side", "Results that a thread's vectors hold side by side in a fold", "choice"),
    Tool("targets", "results a thread", "Results of a fold that one thread of a device makes", "choice"),
    Tool("sources", "terms a turn", "Terms that a turn of the loop of a fold adds", "choice"),
    Tool("padding", "lines between rows", "Cache lines left free behind rows, behind planes, ...", "choice"),
    Tool("device", "device", "The device whose occupancy is shown", "choice"),
    Tool("launch", "curves of", "The launch that the curves are of", "choice"),
    Tool("undo", "Undo", "Undo the last change of the plan"),
    Tool("redo", "Redo", "Do it again"),
)
_AUTOMATIC = "automatic"


class LaunchPane:
    """Keeps a page up to date with a launch view."""

    def __init__(self, view: LaunchView) -> None:
        self._view = view
        self._figure = LaunchFigure(view.summary)
        self.pane = BokehPane(
            self._figure.root,
            label=f"launches of {view.inspection.name}",
            picture=lambda: draw_launch(view.summary),
            text=lambda: repr(view),
            tools=TOOLS,
        )
        self.pane.on_tool(self._use)
        self.refresh()

    @property
    def widget(self) -> Canvas:
        """The widget itself, for containers of ipywidgets."""
        return self.pane.widget

    def refresh(self) -> None:
        """Show the summary of now."""
        self.pane.patch(lambda: self._figure.show(self._view.summary))
        self.pane.show_tools(*self._states())
        self.tell()

    def tell(self) -> None:
        """Say what is going on."""
        self.pane.say(self._view.words())

    def close(self) -> None:
        """Off the page."""
        self.pane.close()

    def _use(self, name: str, value: str) -> None:
        view = self._view
        number = int(value) if value.isdigit() else 0
        actions: dict[str, Callable[[], object]] = {
            "backend": lambda: view.inspection.show_backend(value),
            "threads": lambda: view.choose(threads=number),
            "tile": lambda: view.choose(tile=number),
            "block": lambda: view.choose(block=number),
            "grid": lambda: view.choose(grid=number),
            "lanes": lambda: view.choose(lanes=number),
            "targets": lambda: view.choose(targets=number),
            "sources": lambda: view.choose(sources=number),
            "padding": lambda: view.choose(padding=_lines(value)),
            "device": lambda: view.look_at_device(value.split(" ")[0]),
            "launch": lambda: view.show(value),
            "undo": view.inspection.undo,
            "redo": view.inspection.redo,
        }
        if name in actions:
            view.attempt(actions[name])

    def _states(self) -> tuple[ToolState, ...]:
        view, choices, on_device = self._view, self._view.inspection.choices.plan, self._view.on_device
        summary = view.summary
        devices = tuple(f"{device.capability} ({device.example})" for device in DEVICES)
        device = next(text for text in devices if text.startswith(f"{view.capability} "))
        launches = tuple(dict.fromkeys(row.name for row in summary.rows))
        shown = summary.rows[summary.shown].name if summary.rows else ""
        return (
            ToolState("backend", value=view.backend, options=BACKENDS),
            _numbers("threads", choices.cpu.threads, thread_options(), hidden=on_device),
            _numbers("tile", choices.cpu.tile, number_options("tile"), hidden=on_device),
            _numbers("block", choices.device.block, number_options("block"), hidden=not on_device),
            _numbers("grid", choices.device.grid, number_options("grid"), hidden=not on_device),
            _numbers("lanes", choices.folds.lanes, number_options("lanes"), hidden=on_device or not view.folds),
            _numbers(
                "targets", choices.folds.targets, number_options("targets"), hidden=not (on_device and view.folds)
            ),
            _numbers("sources", choices.folds.sources, number_options("sources"), hidden=not view.folds),
            ToolState(
                "padding",
                hidden=len(view.paddings) < 2,
                value=_padding_text(choices.layout.padding),
                options=tuple(map(_padding_text, view.paddings)),
            ),
            ToolState("device", hidden=not on_device, value=device, options=devices),
            ToolState("launch", hidden=not on_device, value=shown, options=launches),
            ToolState("undo", disabled=not view.inspection.can_undo),
            ToolState("redo", disabled=not view.inspection.can_redo),
        )


def _padding_text(lines: tuple[int, ...]) -> str:
    return " ".join(map(str, lines)) or _AUTOMATIC


def _lines(text: str) -> tuple[int, ...]:
    return () if text == _AUTOMATIC else tuple(map(int, text.split()))


def _numbers(name: str, now: int, options: tuple[int, ...], *, hidden: bool) -> ToolState:
    """A choice of numbers, the present one among them; 0 reads "automatic"."""
    texts = tuple(str(n) if n else _AUTOMATIC for n in sorted({*options, now}))
    return ToolState(name, hidden=hidden, value=str(now) if now else _AUTOMATIC, options=texts)
