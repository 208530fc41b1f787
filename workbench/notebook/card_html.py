"""The card as static HTML: no script, own style, everything escaped; readable even where styles are stripped."""

from __future__ import annotations

from html import escape

from workbench.amounts import bytes_text, in_digits, scaled
from workbench.notebook.card import (
    VISITED,
    CardSummary,
    KernelRow,
    StaticRow,
    bound_kind,
    bound_scope,
    counted_text,
    filled_text,
    halo_line,
    kernel_terms,
    listed,
    loops_text,
    no_bound,
)
from workbench.notebook.card_style import CARD_STYLE
from workbench.planning.text import SEARCH_ENDED


def card_html(card: CardSummary) -> str:
    """The whole card as one element that brings its own style sheet."""
    parts = (
        f"<style>{CARD_STYLE}</style>",
        _head(card),
        _tiles(card),
        f'<div class="swb-columns">{_statics(card)}{_kernels(card)}</div>',
        _notes(card),
        f'<div class="swb-next"><span class="swb-soft">next cell</span><pre>{escape(card.next_cell)}</pre></div>',
    )
    label = escape(f"machine {card.name}", quote=True)
    return f'<div class="swb-card" role="group" aria-label="{label}">{"".join(parts)}</div>'


def _head(card: CardSummary) -> str:
    return (
        f'<div class="swb-head"><span class="swb-name">{escape(card.name)}</span>'
        f'<span class="swb-soft">{escape(card.kind)} · {escape(card.build)}</span>'
        f'<span class="swb-badge" title="{escape(card.backend_reason, quote=True)}">{escape(card.backend)}</span></div>'
    )


def _tiles(card: CardSummary) -> str:
    kernel, kind = card.main_kernel, bound_kind(card)
    terms = kernel_terms(card, kernel)
    rate, each, moved, flops = f"{card.terms.rate}/s", terms.each, kernel.bytes_moved, kernel.flops
    if kernel.near is not None and kernel.is_near:
        each, (moved, flops) = VISITED, kernel.near
    tiles = (
        (kind, scaled(kernel.bound, rate), "bandwidth measured here" if card.measured else "not measured here")
        if kernel.bound
        else (kind, "none", no_bound(kernel)),
        ("memory traffic", f"{in_digits(moved, 3)} bytes", each),
        ("arithmetic", f"{in_digits(flops, 3)} flops", each),
        ("sub-kernels", str(kernel.usual), f"launches {terms.one_march}: {kernel.launches}"),
        ("memory", bytes_text(card.memory_bytes), f"for {counted_text(card)}"),
        *((("halo", filled_text(kernel), halo_line(card, kernel)),) if not card.called else ()),
    )
    return f'<div class="swb-tiles">{"".join(_tile(*tile) for tile in tiles)}</div>'


def _tile(what: str, value: str, note: str) -> str:
    value = value.replace(" ", "\N{NO-BREAK SPACE}", 1)  # a number and its unit stay in one line
    for apart in ("< ", " %", ": "):  # and so do a number and its sign in the note
        note = note.replace(apart, apart.replace(" ", "\N{NO-BREAK SPACE}"))
    return (
        f'<div class="swb-tile"><div class="swb-label">{escape(what)}</div>'
        f'<div class="swb-value">{escape(value)}</div><div class="swb-label">{escape(note)}</div></div>'
    )


def _statics(card: CardSummary) -> str:
    tables = ((card.fields_title, card.fields), ("scalars", card.scalars), ("params", card.params))
    return "".join(_static_table(caption, rows) for caption, rows in tables if rows)


def _static_table(caption: str, rows: tuple[StaticRow, ...]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{escape(row.type)}</td><td>{escape(row.note)}</td></tr>'
        for row in rows
    )
    return f'<table class="swb-statics"><caption>{caption}</caption><tbody>{cells}</tbody></table>'


def _kernels(card: CardSummary) -> str:
    return "".join(_kernel_table(kernel, card) for kernel in card.kernels)


def _kernel_table(kernel: KernelRow, card: CardSummary) -> str:
    stored = f": {listed(kernel.manifest)}" if kernel.manifest else ""
    rows = [
        ("number of nodes", str(kernel.nodes)),
        ("Manifest", f"{len(kernel.manifest)}{stored}"),
        *(("rolling", text) for text in kernel.rolling),
        ("Delayed", str(kernel.delayed)),
        ("sub-kernels", f"{loops_text(kernel)}: {listed(kernel.subkernels)}" if kernel.subkernels else "none"),
    ]
    if kernel.name == "step":
        rows.append(("arrays beside fields", str(card.extra_arrays)))
    cells = "".join(f'<tr><th scope="row">{escape(what)}</th><td>{escape(text)}</td></tr>' for what, text in rows)
    return f"<table><caption>{escape(kernel.title)}</caption><tbody>{cells}</tbody></table>"


def _notes(card: CardSummary) -> str:
    """Warnings first, then what changed, then where things came from."""
    notes = [("warning", warning) for warning in card.warnings]
    notes += [(f"kernel {kernel.name}", SEARCH_ENDED) for kernel in card.kernels if kernel.search_ended]
    notes += [("changed", change) for change in card.changed]
    if card.captured:
        notes.append(("notebook", f"taken from the notebook: {card.captured_text}"))
    if card.promotions:
        notes.append(("types", card.promotions_text))
    notes += [("precision", text) for text in card.precision]
    if card.found_before:
        notes.append(("best", f'{card.found_before}; simulate(choices="best") takes it'))
    notes += [
        ("backend", f"{card.backend}: {card.backend_reason}"),
        ("bound", f"{bound_scope(card)}; {card.bound_source}"),
    ]
    if card.arithmetic != "ieee":
        notes.append(("arithmetic", card.arithmetic))
    return '<div class="swb-notes">' + "".join(_note(label, text) for label, text in notes) + "</div>"


def _note(label: str, text: str) -> str:
    kind = ' class="swb-warning"' if label == "warning" else ""
    return f'<div{kind}><span class="swb-label">{label} </span><span class="swb-text">{escape(text)}</span></div>'
