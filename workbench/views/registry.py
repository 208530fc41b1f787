"""Registry: the kinds of views there are; a new one is a file and a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.views.field import summarise
from workbench.views.opening import open_field_view
from workbench.views.source import summarise_source
from workbench.views.source_view import open_source_view


@dataclass(frozen=True, slots=True)
class ViewKind:
    """`summary`: records -> frozen record, tested; `open`: what users hold."""

    name: str
    what: str
    summary: Callable[..., object]
    open: Callable[..., Any]


VIEWS: dict[str, ViewKind] = {
    "field": ViewKind("field", "a value of a simulation, live: line, picture or slice", summarise, open_field_view),
    "source": ViewKind("source", "generated text, linked with values and cell", summarise_source, open_source_view),
}
