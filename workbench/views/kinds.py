"""Kinds: the kinds of views there are; a new one is a room and a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from workbench.errors import RunError
from workbench.views.field.open import open_field_view
from workbench.views.field.summary import summarise
from workbench.views.graph.open import open_graph_view
from workbench.views.graph.summary import summarise_graph
from workbench.views.launch.open import open_launch_view
from workbench.views.launch.summary import summarise_launch
from workbench.views.plan.summary import summarise_plan
from workbench.views.plan.view import open_plan_view
from workbench.views.source.summary import summarise_source
from workbench.views.source.view import open_source_view


class View(Protocol):
    """What users hold of every kind; its repr is what it says without a page."""

    def close(self) -> None:
        """Off the page; closing twice does nothing."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class ViewKind:
    """`of`: what is looked at; `summary`: records -> frozen record, tested."""

    name: str
    of: Literal["simulation", "machine"]
    what: str
    summary: Callable[..., object]
    open: Callable[..., View]


VIEWS: dict[str, ViewKind] = {
    row.name: row
    for row in (
        ViewKind("field", "simulation", "a value, live: line, picture or slice", summarise, open_field_view),
        ViewKind("graph", "machine", "values, sub-kernels and their choices", summarise_graph, open_graph_view),
        ViewKind("plan", "machine", "sub-kernels, memory, roofline", summarise_plan, open_plan_view),
        ViewKind("launch", "machine", "threads, blocks, occupancy, touched cells", summarise_launch, open_launch_view),
        ViewKind("source", "machine", "generated text, linked both ways", summarise_source, open_source_view),
    )
}


def open_machine_view(machine: object, kind: str, options: Mapping[str, Any]) -> Any:  # noqa: ANN401  # each has its own
    """Open a view that looks at a machine. RunError for an unknown kind, or one that looks at simulations."""
    known = [name for name, row in VIEWS.items() if row.of == "machine"]
    if kind not in known:
        raise RunError(f"a machine has no view {kind!r}", advice=f"Use one of {', '.join(known)}.")
    return VIEWS[kind].open(machine, **options)
