"""Source as static HTML: the same colours and differences for pages where nothing lives; no scripts, no outside files.

Colours are the notebook theme's where a page has one, else our own, which follow the reader's preference.
"""

from __future__ import annotations

from html import escape

from workbench.views.highlighting import Piece
from workbench.views.source import Function, SourceLine, SourceSummary, short_name

MOST_LINES = 400  # of a text; longer ones are cut, because notebooks keep them for ever

_STYLE = """<style>
.swb-static-source { --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --tint: #f0f2f5; --rule: #d0d7de;
  --keyword: #0550ae; --type: #0550ae; --function: #8250df; --number: #953800; --string: #116329; --comment: #59636e;
  --meta: #7a3e9d; font: 12px/1.45 var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", monospace);
  color: var(--jp-content-font-color1, var(--ink)); max-width: 100%; overflow-x: auto; }
@media (prefers-color-scheme: dark) { .swb-static-source { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117;
  --tint: #21262d; --rule: #3d444d; --keyword: #79c0ff; --type: #79c0ff; --function: #d2a8ff; --number: #ffa657;
  --string: #7ee787; --comment: #9198a1; --meta: #d2a8ff; } }
.swb-static-source table { border-collapse: collapse; table-layout: auto; margin: 0; font: inherit; width: 100%; }
.swb-static-source td, .swb-static-source th { border: 0; padding: 0 6px; text-align: left; vertical-align: top;
  white-space: pre-wrap; overflow-wrap: anywhere; background: none; color: inherit; font-weight: normal; }
.swb-static-source .n { color: var(--jp-content-font-color2, var(--soft)); text-align: right; width: 1%;
  white-space: nowrap; user-select: none; }
.swb-static-source caption, .swb-static-source .r { text-align: left; color: inherit; padding: 4px 6px; }
.swb-static-source .r { background: var(--jp-layout-color2, var(--tint)); }
.swb-static-source .gone { background: color-mix(in srgb, #d55e00 20%, transparent); }
.swb-static-source .new { background: color-mix(in srgb, #0072b2 22%, transparent); }
.swb-static-source .keyword, .swb-static-source .type { color: var(--jp-mirror-editor-keyword-color, var(--keyword)); }
.swb-static-source .function { color: var(--jp-mirror-editor-def-color, var(--function)); }
.swb-static-source .builtin { color: var(--jp-mirror-editor-builtin-color, var(--keyword)); }
.swb-static-source .number { color: var(--jp-mirror-editor-number-color, var(--number)); }
.swb-static-source .string { color: var(--jp-mirror-editor-string-color, var(--string)); }
.swb-static-source .comment { color: var(--jp-mirror-editor-comment-color, var(--comment)); font-style: italic; }
.swb-static-source .meta { color: var(--jp-mirror-editor-meta-color, var(--meta)); }
</style>"""


def source_html(summary: SourceSummary) -> str:
    """A table of numbered lines, or of two texts side by side with equal stretches left out."""
    text = summary.text
    rows = _alone(summary) if summary.before is None else _beside(summary)
    caption = f"{text.title}: {len(text.lines)} lines of {'CUDA' if text.language == 'cuda' else 'C++'}"
    return (
        f'{_STYLE}<div class="swb-static-source"><table aria-label="{escape(caption, quote=True)}">'
        f"<caption>{escape(caption)}</caption>{''.join(rows)}</table></div>"
    )


def _alone(summary: SourceSummary) -> list[str]:
    starts = {function.first: function for function in summary.text.functions}
    rows = []
    for line in summary.text.lines[:MOST_LINES]:
        rows += _report(starts.get(line.number), 2)
        title = f' title="{escape(line.label, quote=True)}"' if line.label else ""
        rows.append(f"<tr{title}>{_cells(line, '')}</tr>")
    left = len(summary.text.lines) - MOST_LINES
    if left > 0:
        rows.append(f'<tr><td class="n">…</td><td>{left} more lines</td></tr>')
    return rows


def _beside(summary: SourceSummary) -> list[str]:
    assert summary.before is not None
    starts = {function.first: function for function in summary.text.functions}
    hidden = {row for fold in summary.folds for row in range(fold.first, fold.last + 1)}
    first = {fold.first: fold for fold in summary.folds}
    rows = [f'<tr><th colspan="2">{escape(summary.before.title)}</th><th colspan="2">{escape(summary.text.title)}</th></tr>']
    for index, row in enumerate(summary.rows):
        if index in first:
            count = first[index].last - first[index].first + 1
            rows.append(f'<tr><td class="r" colspan="4">{count} equal lines</td></tr>')
        if index in hidden:
            continue
        rows += _report(starts.get(row.after), 4)
        old = summary.before.lines[row.before - 1] if row.before else None
        new = summary.text.lines[row.after - 1] if row.after else None
        same = row.kind == "same"
        rows.append(f"<tr>{_cells(old, '' if same else 'gone')}{_cells(new, '' if same else 'new')}</tr>")
    return rows


def _report(function: Function | None, columns: int) -> list[str]:
    if function is None or not function.report:
        return []
    said = escape(f"{short_name(function.name)}: {function.report}")
    return [f'<tr><td class="r" colspan="{columns}">{said}</td></tr>']


def _cells(line: SourceLine | None, change: str) -> str:
    if line is None:
        return "<td></td><td></td>"
    mark = {"": "", "gone": "− ", "new": "+ "}[change]
    body = "".join(_piece(piece) for piece in line.pieces)
    return f'<td class="n">{line.number}</td><td class="{change}">{mark}{body}</td>'


def _piece(piece: Piece) -> str:
    kind, text = piece
    return f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text)
