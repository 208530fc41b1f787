"""The style sheet of the HTML card: light and dark, narrow and wide, without scripts or outside files.

Colours are JupyterLab's variables where a page has them, then VS Code's, then our own, which follow the reader's
preference for a dark page; so a card looks right in a notebook, in an exported page and on a site that knows none.
"""

_COLOURS = """
.swb-card {
  --swb-ink: var(--jp-content-font-color1, var(--vscode-editor-foreground, #1c2430));
  --swb-soft: var(--jp-content-font-color2, var(--vscode-descriptionForeground, #5b6675));
  --swb-paper: var(--jp-layout-color1, var(--vscode-editor-background, #ffffff));
  --swb-tint: var(--jp-layout-color2, var(--vscode-textCodeBlock-background, #f3f5f8));
  --swb-line: var(--jp-border-color2, var(--vscode-panel-border, #d9dfe7));
  --swb-mark: var(--jp-brand-color1, var(--vscode-textLink-foreground, #1a6fb5));
  --swb-warn: var(--jp-warn-color0, #a85408);
  --swb-mono: var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace);
}
@media (prefers-color-scheme: dark) {
  .swb-card {
    --swb-ink: var(--jp-content-font-color1, var(--vscode-editor-foreground, #e3e8ee));
    --swb-soft: var(--jp-content-font-color2, var(--vscode-descriptionForeground, #9aa7b6));
    --swb-paper: var(--jp-layout-color1, var(--vscode-editor-background, #14191f));
    --swb-tint: var(--jp-layout-color2, var(--vscode-textCodeBlock-background, #1e252d));
    --swb-line: var(--jp-border-color2, var(--vscode-panel-border, #333d49));
    --swb-mark: var(--jp-brand-color1, var(--vscode-textLink-foreground, #62b0ee));
    --swb-warn: var(--jp-warn-color0, #f0a35e);
  }
}
"""

# Here & stands for the card's class, twice, which outweighs what notebooks say about tables and code in general.
_RULES = """
& { box-sizing: border-box; max-width: 58rem; margin: 0.3em 0 0.5em; overflow: hidden;
  color: var(--swb-ink); background: var(--swb-paper);
  border: 1px solid var(--swb-line); border-left: 3px solid var(--swb-mark); border-radius: 4px;
  font: 13px/1.5 var(--jp-ui-font-family, system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif);
  font-variant-numeric: tabular-nums; }
& * { box-sizing: border-box; }
& .swb-soft { color: var(--swb-soft); }
& .swb-label { color: var(--swb-soft); font-size: 0.85em; }
& .swb-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.1em 0.7em; padding: 0.55em 0.9em 0.5em; }
& .swb-name { font: 600 1.2em/1.4 var(--swb-mono); }
& .swb-badge { margin-left: auto; padding: 0 0.65em; border: 1px solid var(--swb-mark); border-radius: 1em;
  color: var(--swb-mark); font-weight: 600; white-space: nowrap; }
& .swb-tiles { display: flex; flex-wrap: wrap; gap: 1px;
  border-top: 1px solid var(--swb-line); border-bottom: 1px solid var(--swb-line); background: var(--swb-line); }
& .swb-tile { flex: 1 1 6.4rem; padding: 0.4em 0.6em 0.45em 0.9em; background: var(--swb-tint); }
& .swb-value { font-size: 1.05em; font-weight: 600; overflow-wrap: break-word; }
& .swb-columns { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.6em 2.2em; padding: 0.6em 0.9em; }
& .swb-columns > * { flex: 1 1 17rem; min-width: 0; }
& table { width: 100%; margin: 0; border: 0; border-collapse: collapse; font-size: 1em; table-layout: auto; }
& tr, & tbody tr:nth-child(odd), & tbody tr:nth-child(even), & tbody tr:hover { background: none; }
& caption { caption-side: top; padding: 0 0 0.15em; color: var(--swb-soft); font-size: 0.85em; text-align: left; }
& th, & td { max-width: none; padding: 0.14em 0.9em 0.14em 0; border: 0; color: inherit; font-weight: 400;
  text-align: left; vertical-align: baseline; white-space: normal; overflow-wrap: anywhere; }
& tbody tr + tr > * { border-top: 1px solid var(--swb-line); }
& th { width: 1%; font-family: var(--swb-mono); font-size: 0.95em; white-space: nowrap; }
& .swb-statics td:nth-child(2) { width: 1%; white-space: nowrap; }
& td:last-child { padding-right: 0; }
& .swb-notes { padding: 0.1em 0.9em 0.6em; }
& .swb-notes > div { display: flex; flex-wrap: wrap; gap: 0 0.9em; align-items: baseline; padding-top: 0.2em; }
& .swb-notes .swb-label { flex: 0 0 5.2rem; }
& .swb-text { flex: 1 1 15rem; min-width: 0; overflow-wrap: anywhere; }
& .swb-warning .swb-label, & .swb-warning .swb-text { color: var(--swb-warn); font-weight: 600; }
& .swb-next { padding: 0.5em 0.9em 0.6em; border-top: 1px solid var(--swb-line); background: var(--swb-tint); }
& pre { margin: 0.1em 0 0; padding: 0; border: 0; background: none; color: var(--swb-ink);
  font: 0.95em/1.5 var(--swb-mono); white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }
"""

CARD_STYLE = _COLOURS + _RULES.replace("&", ".swb-card.swb-card")
