"""Inspector: every view of a machine in one widget, sharing one selection, one plan and one running simulation."""

from __future__ import annotations

import base64
from html import escape
from importlib.util import find_spec
from typing import Any

from workbench.errors import RunError, StencilError
from workbench.run.simulation import Simulation
from workbench.views.inspection.following import follow, inspect_machine
from workbench.views.inspection.inspection import Inspected, Inspection
from workbench.views.inspection.waiting import large_plan_text
from workbench.views.inspector.html import ViewSection, parts_html, still_html, still_words
from workbench.views.kinds import VIEWS, ViewKind
from workbench.views.page.live import LIVE_ADVICE, live_entries, still_entries

SIDES: tuple[tuple[str, ...], ...] = (("graph", "plan", "launch"), ("source", "field"))
"""The names of the views, in tabs; the two sides stand beside each other where there is room, else one below the other.
A registered view that is not named here comes last on the first side."""

_TITLES = {"graph": "Graph", "plan": "Plan", "launch": "Launch", "source": "Code", "field": "Field"}


class Inspector:
    """All registered views of one machine. `views` has them by name; `problems` says why one is missing.

    A choice that is changed in a view runs in the simulation, if there is one. `close()` closes the views; the
    simulation goes on.
    """

    def __init__(self, inspection: Inspection, field: str = "") -> None:
        """field: the value that the field view shows first; default the first field."""
        self.inspection = inspection
        self.views: dict[str, Any] = {}
        self.problems: dict[str, str] = {}
        self._following = follow(inspection) if inspection.simulation is not None else None
        names = [name for side in SIDES for name in side if name in VIEWS]
        names += [name for name in VIEWS if name not in names]
        for name in names:
            self._open(VIEWS[name], field)
        self._closed = False
        self._container: Any = None
        if find_spec("ipywidgets") is not None:
            self._container = _contain(self._tabs())

    def _open(self, kind: ViewKind, field: str) -> None:
        """One view; a refusal or a library that is not installed costs this view only."""
        try:
            if kind.of == "machine":
                self.views[kind.name] = kind.open(self.inspection)
            else:
                simulation, name = self._shown_field(field)
                self.views[kind.name] = kind.open(simulation, name)
        except StencilError as error:
            self.problems[kind.name] = str(error)
        except ModuleNotFoundError as error:
            self.problems[kind.name] = f"{error.name} is not installed\n{LIVE_ADVICE}"

    def _shown_field(self, field: str) -> tuple[Simulation, str]:
        simulation = self.inspection.simulation
        if simulation is None:
            raise RunError(
                "no simulation runs this machine, so there is no field to see and nothing to measure",
                advice="Pass one: sim = machine.simulate(...), then machine.inspect(sim).",
            )
        return simulation, field or simulation.graph.fields[0].name

    def _tabs(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """(title, widget or words) for both sides."""
        known = {name for side in SIDES for name in side}
        others = tuple(name for name in VIEWS if name not in known)
        sides = (SIDES[0] + others, *SIDES[1:])
        return tuple(tuple((_title(name), self._shown(name)) for name in side if name in VIEWS) for side in sides)

    def _shown(self, name: str) -> Any:  # noqa: ANN401  # a widget, or words where there is none
        view = self.views.get(name)
        if view is None:
            return self.problems[name]
        for holder in (view, getattr(view, "page", None)):
            widget = getattr(holder, "widget", None)
            if widget is not None:
                return widget
        return repr(view)

    def close(self) -> None:
        """Close all views and the widget. Closing twice does nothing."""
        self._closed = True
        for view in self.views.values():
            view.close()
        if self._following is not None:
            self._following.close()
        container, self._container = self._container, None
        if container is not None:
            container.close_all()

    def __repr__(self) -> str:
        texts = [f"{_title(name)}:\n{still_words(name, view)}" for name, view in self.views.items()]
        texts += [f"{_title(name)}: {problem}" for name, problem in self.problems.items()]
        return "\n\n".join(texts)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """Live where the page has the extension; elsewhere every view in a fold, the graph's picture, and words."""
        text = large_plan_text("drawing the pictures", self.inspection.plan)
        if not text or find_spec("IPython") is None:
            return self._bundle()
        from workbench.views.page.slow_notice import SlowNotice, in_kernel

        if not in_kernel():
            return self._bundle()
        with SlowNotice(f"{text}\nTo stop: the ■ button, or Esc I I.") as notice:
            bundle = self._bundle()
            notice.leave("")
        return bundle

    def _bundle(self) -> dict[str, object]:
        parts = [
            ViewSection(name, _title(name), repr(view), still_html(name, view)) for name, view in self.views.items()
        ]
        parts += [ViewSection(name, _title(name), problem) for name, problem in self.problems.items()]
        bundle: dict[str, object] = {
            "text/plain": repr(self),
            "text/html": parts_html(self.inspection.plan.graph.name, parts),
        }
        graph = self.views.get("graph")
        if graph is not None:
            bundle["image/png"] = base64.b64encode(graph.png).decode("ascii")
        if self._container is None:
            bundle |= still_entries(repr(self), closed=self._closed)
        else:
            bundle |= live_entries(self._container.model_id)
        return bundle


def open_inspector(
    looked_at: Inspected | Inspection, simulation: Simulation | None = None, *, field: str = ""
) -> Inspector:
    """All views of a machine, and of a simulation of it. Raises RunError for a simulation of another program."""
    return Inspector(inspect_machine(looked_at, simulation), field)


def _title(name: str) -> str:
    return _TITLES.get(name, name.capitalize())


def _contain(sides: tuple[tuple[tuple[str, Any], ...], ...]) -> Any:  # noqa: ANN401  # an ipywidget
    from ipywidgets import HTML, Box, Layout, Tab, Widget

    def shown(content: object) -> Widget:
        if isinstance(content, Widget):
            return content
        return HTML(f'<div style="white-space: pre-line; line-height: 1.4">{escape(str(content))}</div>')

    panels = []
    for side in sides:
        if side:
            tab = Tab(children=[shown(content) for _, content in side], layout=Layout(flex="1 1 560px", min_width="0"))
            for number, (title, _) in enumerate(side):
                tab.set_title(number, title)
            panels.append(tab)
    return _Container(Box(panels, layout=Layout(flex_flow="row wrap", width="100%")), panels)


class _Container:
    """The box, and all in it that belongs to no view."""

    def __init__(self, box: Any, panels: list[Any]) -> None:  # noqa: ANN401  # ipywidgets
        self._box, self._panels = box, panels

    @property
    def model_id(self) -> str:
        """By which a notebook finds it."""
        return str(self._box.model_id)

    def close_all(self) -> None:
        """Off the page."""
        from workbench.views.page.canvas import close_widget

        for panel in self._panels:
            for shown in panel.children:
                close_widget(shown)
            close_widget(panel)
        close_widget(self._box)
