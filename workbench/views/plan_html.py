"""Plan as static HTML: the table, the notes and both charts, for pages where nothing lives; no scripts."""

from __future__ import annotations

from html import escape

from workbench.views.drawing import Drawing, to_svg
from workbench.views.listing_messages import COLUMNS, caption_of, cells_of, notes_of
from workbench.views.plan import PlanSummary

# The class twice outweighs what notebooks say about tables in general.
_STYLE = """<style>
.swb-static-plan { max-width: 100%; overflow-x: auto; font-variant-numeric: tabular-nums; }
.swb-static-plan table { border-collapse: collapse; margin: 0 0 6px; }
.swb-static-plan caption { caption-side: top; text-align: left; color: inherit; }
.swb-static-plan.swb-static-plan th, .swb-static-plan.swb-static-plan td { text-align: left; padding: 2px 8px;
  vertical-align: top; }
.swb-static-plan.swb-static-plan .right { text-align: right; white-space: nowrap; }
.swb-static-plan svg { display: block; max-width: 100%; height: auto; margin-top: 6px; }
</style>"""


def plan_html(summary: PlanSummary, drawing: Drawing) -> str:
    """A table with heads, sentences, and the drawing as SVG."""
    heads = "".join(
        f'<th scope="col" class="{_class(c.numeric)}" title="{escape(c.title, quote=True)}">{escape(c.label)}</th>'
        for c in COLUMNS
    )
    rows = []
    for row in summary.rows:
        first, *others = cells_of(row)
        cells = "".join(
            f'<td class="{_class(column.numeric)}">{escape(text)}</td>'
            for column, text in zip(COLUMNS[1:], others, strict=True)
        )
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    notes = "".join(f"<p>{escape(note)}</p>" for note in notes_of(summary))
    return (
        f'{_STYLE}<div class="swb-static-plan"><table><caption>{escape(caption_of(summary))}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>{notes}{to_svg(drawing)}</div>"
    )


def _class(numeric: bool) -> str:
    return "right" if numeric else ""
