"""The HTML report of a command: one page, own style, pictures inside, no script and nothing from outside."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from workbench.errors import RunError

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #ffffff; --line: #d9dfe7;
  --mark: #1a6fb5; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --soft: #9aa7b6; --paper: #14191f; --line: #333d49; --mark: #62b0ee; }
}
body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1.2rem; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin-bottom: 0.2em; font-size: 1.7rem; }
h2 { margin: 2.2em 0 0.5em; font-size: 1.15rem; }
p { margin: 0.5em 0; }
.soft { color: var(--soft); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3em 1em 0.3em 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: 400; }
thead th { border: 0; color: var(--soft); font-size: 0.9em; }
pre { padding: 0.8em 1em; overflow-x: auto; border: 1px solid var(--line); border-left: 3px solid var(--mark);
  border-radius: 4px;
  font: 0.85rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
.table, figure { overflow-x: auto; }
figure { margin: 1em 0; }
figcaption { color: var(--soft); font-size: 0.9em; }
svg { width: 100%; min-width: 32rem; height: auto; }
@media (max-width: 36rem) {
  body { padding: 0 0.7rem; font-size: 14px; }
  th, td { padding-right: 0.5em; font-size: 0.88em; line-height: 1.4; }
  svg { min-width: 28rem; }
}
"""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of texts below a head, all of the same length."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """An <svg> element and what it shows."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, paragraphs of plain text, then code, tables and figures, in this order."""

    title: str
    paragraphs: tuple[str, ...] = ()
    code: str = ""
    tables: tuple[ReportTable, ...] = ()
    figures: tuple[Figure, ...] = ()


def check_writable(path: Path) -> None:
    """RunError, before hours of work, if a file cannot be written after them."""
    path = path.expanduser().absolute()
    folder = path.parent
    if not folder.is_dir():
        raise RunError(f"there is no folder {folder} for {path.name}", advice="Make it, or name another place.")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        cause = "it is a folder" if path.is_dir() else "permission denied"
        raise RunError(f"{path} cannot be written: {cause}", advice="Name another file.")


def report_page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The whole page; every text is escaped, figures are taken as they are."""
    body = "".join(_section(section) for section in sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f'<body><h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p>{body}</body></html>\n'
    )


def report_path(given: Path | None, name: str) -> Path:
    """The path asked for, else one called `name` in the system's temporary folder that no other user owns."""
    if given is not None:
        return given.expanduser().absolute()
    return Path(tempfile.mkdtemp(prefix="stencil-workbench-")) / name


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", *(f"<p>{escape(text)}</p>" for text in section.paragraphs)]
    if section.code:
        parts.append(f"<pre>{escape(section.code)}</pre>")
    for table in section.tables:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.head)
        rows = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
        parts.append(f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>')
    for figure in section.figures:
        parts.append(f"<figure>{figure.svg}<figcaption>{escape(figure.caption)}</figcaption></figure>")
    return "".join(parts)
