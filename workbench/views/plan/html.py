"""Plan as static HTML: the table, the notes and both charts, for pages where nothing lives; no scripts."""

from __future__ import annotations

from html import escape

from workbench.views.drawing.shapes import Drawing, to_svg
from workbench.views.plan.messages import caption_of, cells_of, columns_of, notes_of
from workbench.views.plan.summary import PlanSummary

# The class twice outweighs what notebooks say about tables in general. On narrow pages a sub-kernel is a block of
# its own, as in the live view, and its cells say their heads themselves.
_STYLE = """<style>
.swb-static-plan { container-type: inline-size; max-width: 100%; overflow-x: auto; font-variant-numeric: tabular-nums; }
.swb-static-plan table { border-collapse: collapse; margin: 0 0 6px; }
.swb-static-plan caption { caption-side: top; text-align: left; color: inherit; }
.swb-static-plan.swb-static-plan th, .swb-static-plan.swb-static-plan td { text-align: left; padding: 2px 8px;
  vertical-align: top; }
.swb-static-plan.swb-static-plan .right { text-align: right; }
.swb-static-plan.swb-static-plan td.right { white-space: nowrap; }
.swb-static-plan.swb-static-plan tbody th { min-width: 9em; }
.swb-static-plan svg { display: block; max-width: 100%; height: auto; margin-top: 6px; }
@container (max-width: 760px) {
.swb-static-plan.swb-static-plan :is(table, caption, tbody, tbody th, td) { display: block; }
.swb-static-plan.swb-static-plan thead { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute;
  width: 1px; }
.swb-static-plan.swb-static-plan tbody tr { border-bottom: 1px solid rgb(128 128 128 / 40%); column-gap: 12px;
  display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5em, 1fr)); padding: 4px; }
.swb-static-plan.swb-static-plan tbody :is(th, td) { grid-column: 1 / -1; max-width: none; order: 3;
  overflow-wrap: anywhere; padding: 1px 0; white-space: normal; }
.swb-static-plan.swb-static-plan tbody td.right { grid-column: auto; order: 2; text-align: left; white-space: normal; }
.swb-static-plan.swb-static-plan tbody :is(th, th + td) { order: 1; }
.swb-static-plan td::before { content: attr(data-head); display: block; font-size: 0.85em; opacity: 0.75; }
}
</style>"""


def plan_html(summary: PlanSummary, drawing: Drawing) -> str:
    """A table with heads, sentences, and the drawing as SVG."""
    columns = columns_of(summary)
    heads = "".join(
        f'<th scope="col" role="columnheader" class="{_class(c.numeric)}" title="{escape(c.title, quote=True)}">'
        f"{escape(c.label)}</th>"
        for c in columns
    )
    rows = []
    for row in summary.rows:
        first, *others = cells_of(row)
        cells = "".join(
            f'<td role="cell" class="{_class(column.numeric)}" data-head="{escape(column.label, quote=True)}">'
            f"{escape(text)}</td>"
            for column, text in zip(columns[1:], others, strict=True)
        )
        name = escape(first).replace("_", "_<wbr>")  # long names break between their words
        rows.append(f'<tr role="row"><th scope="row" role="rowheader">{name}</th>{cells}</tr>')
    notes = "".join(f"<p>{escape(note)}</p>" for note in notes_of(summary))
    # The roles stay where the style makes blocks of a table.
    return (
        f'{_STYLE}<div class="swb-static-plan"><table role="table"><caption>{escape(caption_of(summary))}</caption>'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows)}</tbody></table>{notes}{to_svg(drawing)}</div>'
    )


def _class(numeric: bool) -> str:
    return "right" if numeric else ""
