"""The card as plain text: what a terminal, a text-only reader and a stripped notebook show."""

from __future__ import annotations

import textwrap

from workbench.amounts import bytes_text, counted, in_digits, scaled, share_text
from workbench.notebook.card import (
    NO_FIGURES,
    VISITED,
    CardSummary,
    KernelRow,
    StaticRow,
    bound_kind,
    bound_scope,
    counted_text,
    filled_text,
    kernel_terms,
    listed,
    loops_text,
    no_bound,
)
from workbench.planning.text import SEARCH_ENDED

_WIDTH = 100
_LABEL = 13


def card_text(card: CardSummary) -> str:
    """The whole card, at most 100 columns wide; the last lines are the next cell to copy."""
    lines = [f"{card.name}: {card.kind}, runs on {card.backend} ({card.backend_reason})"]
    for label, rows in ((card.fields_title, card.fields), ("scalars", card.scalars), ("params", card.params)):
        lines += [_line(label if i == 0 else "", _static(row)) for i, row in enumerate(rows)]
    if card.captured:
        lines.append(_line("notebook", f"taken from the notebook: {card.captured_text}"))
    for kernel in card.kernels:
        lines += [_line(kernel.title if i == 0 else "", text) for i, text in enumerate(kernel_texts(card, kernel))]
    lines.append(_line("memory", memory_line(card)))
    lines.append(_line("bound", bound_text(card)))
    lines.append(_line("build", card.build))
    if card.arithmetic != "ieee":
        lines.append(_line("arithmetic", card.arithmetic))
    if card.promotions:
        lines.append(_line("types", card.promotions_text))
    lines += [_line("precision" if i == 0 else "", text) for i, text in enumerate(card.precision)]
    lines += [_line("warning", warning) for warning in card.warnings]
    lines += [_line("changed" if i == 0 else "", change) for i, change in enumerate(card.changed)]
    if card.found_before:
        lines.append(_line("best", f'{card.found_before}; simulate(choices="best") takes it'))
    lines.append(_line("next cell", card.next_cell.splitlines()[0]))
    lines += [" " * (_LABEL + 2) + line for line in card.next_cell.splitlines()[1:]]
    return "\n".join(lines)


def kernel_texts(card: CardSummary, kernel: KernelRow) -> tuple[str, ...]:
    """What the card says about one kernel: three lines, one a size of rolling buffers, one if its search was ended."""
    stored = f" ({listed(kernel.manifest)})" if kernel.manifest else ""
    outside = f"; ghost cells recomputed: {share_text(kernel.recomputed)}, filled: {filled_text(kernel)}"
    terms = kernel_terms(card, kernel)
    loops = f"{loops_text(kernel)}: {listed(kernel.subkernels)}" if kernel.subkernels else "none"
    launches = f"launches {terms.one_march}: {kernel.launches}"
    cost = _cost(kernel.bytes_moved, kernel.flops, terms.each)
    near = "" if kernel.near is None else f"{_cost(*kernel.near, VISITED)}: of its own cell and of those beside it"
    if kernel.is_partial:
        cost = f"no cost {terms.each}: {NO_FIGURES}"
    elif kernel.is_near:
        cost = near
    elif near:
        cost += f"; within the cutoff {near}"
    return (
        f"{counted(kernel.nodes, 'node')}: {len(kernel.manifest)} Manifest{stored}, {kernel.delayed} Delayed",
        *kernel.rolling,
        f"sub-kernels: {loops}; {launches}",
        cost if card.called else cost + outside,
        *([SEARCH_ENDED] if kernel.search_ended else ()),
    )


def _cost(moved: float, flops: float, each: str) -> str:
    return f"{in_digits(moved, 3)} bytes and {in_digits(flops, 3)} flops {each}"


def memory_line(card: CardSummary) -> str:
    """Extents, halo, memory and the arrays beyond the fields, or beyond what is given and returned."""
    beyond = "what is given and returned" if card.called else f"the fields; halo {card.halo}"
    memory = f"{counted_text(card)}: {bytes_text(card.memory_bytes)}"
    return f"{memory}, {counted(card.extra_arrays, 'array')} beyond {beyond}"


def bound_text(card: CardSummary) -> str:
    """The predicted speed of the main kernel, and what it rests on."""
    kernel = card.main_kernel
    if not kernel.bound:
        return f"none: {no_bound(kernel)}"
    return f"{bound_kind(card)} {scaled(kernel.bound, f'{card.terms.rate}/s')} {bound_scope(card)}; {card.bound_source}"


def _static(row: StaticRow) -> str:
    return f"{row.name}  {row.type}" + (f"  {row.note}" if row.note else "")


def _line(label: str, text: str) -> str:
    """One labelled line, wrapped and indented below its label."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=f"  {label:<{_LABEL - 1}} " if len(label) < _LABEL else f"  {label} ",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
