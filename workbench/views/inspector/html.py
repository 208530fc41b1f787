"""Inspector as static HTML: every part in a fold of its own, for notebooks without a kernel process; no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from workbench.amounts import bytes_text
from workbench.views.field.figure import svg_of
from workbench.views.field.summary import thinner
from workbench.views.field.words import describe
from workbench.views.plan.html import plan_html
from workbench.views.source.html import source_html
from workbench.views.source.summary import describe_source, excerpt_of

MOST_CHARACTERS = 150_000  # of the page: what an author runs again and again must stay small in a repository
EXCERPT_LINES = 80  # of the generated text
FIELD_CELLS = 40_000  # of all planes of a field together
_OPEN = ("graph", "plan")

_STYLE = """<style>
.swb-static-parts details { margin: 0 0 6px; max-width: 100%; overflow-x: auto; }
.swb-static-parts summary { cursor: pointer; font-weight: 600; }
.swb-static-parts svg { display: block; max-width: 100%; height: auto; }
.swb-static-parts .words { white-space: pre-line; margin: 4px 0; }
</style>"""


@dataclass(frozen=True, slots=True)
class ViewSection:
    """One view: its name, its title, what it says, and its picture or table as HTML, "" for words alone."""

    name: str
    title: str
    words: str
    html: str = ""


def still_html(name: str, view: Any) -> str:  # noqa: ANN401  # a view of any kind
    """What a view looks like where nothing lives; "" for kinds that have words alone."""
    match name:
        case "graph" | "launch":
            return str(view.svg)
        case "plan":
            return plan_html(view.summary, view.drawing)
        case "source":
            return source_html(view.summary, excerpt_of(view.summary.text, EXCERPT_LINES))
        case "field":
            small = thinner(view.summary, FIELD_CELLS)
            return f'<p class="words">{escape(describe(small))}</p>{svg_of(small)}'
        case _:
            return ""


def still_words(name: str, view: Any) -> str:  # noqa: ANN401  # a view of any kind
    """What a view says, of the generated text the same lines as the page."""
    if name != "source":
        return repr(view)
    return describe_source(view.summary, excerpt_of(view.summary.text, EXCERPT_LINES))


def parts_html(machine: str, parts: Sequence[ViewSection]) -> str:
    """All parts below each other, the graph and the plan unfolded. What would be too much is said in words."""
    folds, left = [], MOST_CHARACTERS
    for part in parts:
        html = part.html
        if len(html) > left:
            html = f"<p>left out: {bytes_text(len(html))} are too much for a saved notebook</p>{_words(part)}"
        elif not html:
            html = _words(part)
        left -= len(html)
        unfolded = " open" if part.name in _OPEN else ""
        folds.append(f"<details{unfolded}><summary>{escape(part.title)} of {escape(machine)}</summary>{html}</details>")
    return f'{_STYLE}<div class="swb-static-parts">{"".join(folds)}</div>'


def _words(part: ViewSection) -> str:
    return f'<p class="words">{escape(part.words)}</p>'
