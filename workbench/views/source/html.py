"""Source as static HTML: the same colours and differences for pages where nothing lives; no scripts, no outside files.

Colours are the notebook theme's where a page has one, else our own, which follow the reader's preference.
"""

from __future__ import annotations

from html import escape

from workbench.views.source.highlighting import Piece
from workbench.views.source.summary import ListedFunction, SourceLine, SourceSummary, caption_of, short_name

MOST_LINES = 400  # of a text; longer ones are cut, because notebooks keep them for ever

_STYLE = """<style>
.swb-static-source { --ink: #1f2328; --soft: #59636e; --tint: #f0f2f5; --keyword: #0550ae; --function: #8250df;
  --number: #953800; --string: #116329; --comment: #59636e; --meta: #7a3e9d; max-width: 100%; overflow-x: auto;
  color: var(--jp-content-font-color1, var(--ink)); font-size: 12px; line-height: 1.45; }
@media (prefers-color-scheme: dark) { .swb-static-source { --ink: #e6edf3; --soft: #9198a1; --tint: #21262d;
  --keyword: #79c0ff; --function: #d2a8ff; --number: #ffa657; --string: #7ee787; --comment: #9198a1;
  --meta: #d2a8ff; } }
.swb-static-source pre { font: inherit; font-family: var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono",
  monospace); margin: 0; white-space: pre; background: none; color: inherit; }
.swb-static-source .n { color: var(--jp-content-font-color2, var(--soft)); user-select: none; }
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


def source_html(summary: SourceSummary, excerpt: range | None = None) -> str:
    """Numbered lines, or the lines that another text has (with −) and has not (with +); equal stretches left out.

    excerpt: the numbers of the lines to show, of the text alone.

    Made of `pre` and `span` alone: a page that does not trust the notebook takes the colours away, not the lines.
    """
    text = summary.text
    alone = excerpt is not None or summary.before is None
    rows = _alone(summary, excerpt or range(1, len(text.lines) + 1)) if alone else _compared(summary)
    if len(rows) > MOST_LINES:
        rows = [*rows[:MOST_LINES], f"… {len(rows) - MOST_LINES} more lines"]
    caption = caption_of(text, excerpt)
    body = "\n".join(rows)
    return f'{_STYLE}<div class="swb-static-source"><p>{escape(caption)}</p><pre>{body}</pre></div>'


def _alone(summary: SourceSummary, shown: range) -> list[str]:
    starts = {function.first: function for function in summary.text.functions}
    rows = []
    for line in summary.text.lines[shown.start - 1 : shown.stop - 1]:
        rows += _report(starts.get(line.number))
        rows.append(_line(line, " ", ""))
    return rows


def _compared(summary: SourceSummary) -> list[str]:
    assert summary.before is not None
    starts = {function.first: function for function in summary.text.functions}
    hidden = {row for fold in summary.folds for row in range(fold.first, fold.last + 1)}
    first = {fold.first: fold for fold in summary.folds}
    rows = [f"− {escape(summary.before.title)}, + {escape(summary.text.title)}"]
    gone: list[str] = []
    new: list[str] = []
    for index, row in enumerate(summary.rows):
        if row.kind == "same":
            rows += [*gone, *new]
            gone, new = [], []
        if index in first:
            rows.append(f'<span class="r">      {first[index].last - first[index].first + 1} equal lines</span>')
        if index in hidden:
            continue
        if row.kind == "same":
            rows += _report(starts.get(row.after))
            rows.append(_line(summary.text.lines[row.after - 1], " ", ""))
            continue
        if row.before:
            gone.append(_line(summary.before.lines[row.before - 1], "−", "gone"))
        if row.after:
            new += _report(starts.get(row.after))
            new.append(_line(summary.text.lines[row.after - 1], "+", "new"))
    return [*rows, *gone, *new]


def _report(function: ListedFunction | None) -> list[str]:
    if function is None or not function.report:
        return []
    return [f'<span class="r">      {escape(f"{short_name(function.name)}: {function.report}")}</span>']


def _line(line: SourceLine, mark: str, change: str) -> str:
    body = "".join(_piece(piece) for piece in line.pieces)
    title = f' title="{escape(line.label, quote=True)}"' if line.label else ""
    return f'<span class="{change}"{title}><span class="n">{line.number:5d}</span> {mark} {body}</span>'


def _piece(piece: Piece) -> str:
    kind, text = piece
    return f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text)
