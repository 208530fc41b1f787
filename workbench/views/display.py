"""Display: machines, graphs and plans at the end of a cell become live views, texts are coloured; with their text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from workbench.backends.registry import names_with_text
from workbench.codegen.source import Source
from workbench.graph import Graph
from workbench.graph.display_hook import Bundle
from workbench.pipeline import plan_again
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.tuning.general_study import GeneralStudy
from workbench.tuning.history import History
from workbench.tuning.study import Study
from workbench.views.graph.open import open_graph_view
from workbench.views.inspection.inspection import Inspected
from workbench.views.page.live import in_terminal
from workbench.views.plan.view import open_plan_view
from workbench.views.source.html import source_html
from workbench.views.source.summary import summarise_text
from workbench.views.study.history_drawing import draw_history
from workbench.views.study.view import open_general_view, open_study_view


@dataclass(frozen=True, slots=True)
class _Planned:
    """A graph and how to plan it, as far as views need a machine."""

    graph: Graph
    choices: Choices
    backend: str = "auto"

    def with_choices(self, choices: Choices) -> Self:
        return replace(self, choices=choices)


def draw(value: Inspected | Graph | Plan | Source | Study | GeneralStudy | History) -> Bundle:
    """Every form of a value; in a terminal, which shows words alone, no view is opened for it."""
    words: Bundle = {"text/plain": str(value)}
    if in_terminal():
        return words
    match value:
        case Graph():
            return open_graph_view(_Planned(value, Choices()))._repr_mimebundle_() | words
        case Plan():
            return _draw_plan(value) | words
        case Source():
            return {"text/html": source_html(summarise_text(value, "generated text"))} | words
        case Study():
            return open_study_view(value)._repr_mimebundle_()
        case GeneralStudy():
            return open_general_view(value)._repr_mimebundle_()
        case History():
            return draw_history(value)._repr_mimebundle_() | words
        case _:
            return open_graph_view(value)._repr_mimebundle_() | words


def _draw_plan(plan: Plan) -> Bundle:
    """The plan view of the backend that it was made for."""
    backend = next((b for b in names_with_text() if plan_again(plan, plan.choices, b) == plan), "auto")
    return open_plan_view(_Planned(plan.graph, plan.choices, backend))._repr_mimebundle_()
