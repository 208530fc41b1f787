"""Registry: the kinds of views there are; a new one is a file and a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from workbench.views.field.open import open_field_view
from workbench.views.field.summary import summarise
from workbench.views.graph.summary import summarise_graph
from workbench.views.graph.view import open_graph_view
from workbench.views.launch.summary import summarise_launch
from workbench.views.launch.view import open_launch_view
from workbench.views.plan.summary import summarise_plan
from workbench.views.plan.view import open_plan_view
from workbench.views.source.summary import summarise_source
from workbench.views.source.view import open_source_view


@dataclass(frozen=True, slots=True)
class ViewKind:
    """`of`: what is looked at; `summary`: records -> frozen record, tested; `open`: what users hold."""

    name: str
    of: Literal["simulation", "machine"]
    what: str
    summary: Callable[..., object]
    open: Callable[..., Any]


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
