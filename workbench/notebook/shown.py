"""What a cell shows: a card with its text and HTML forms, for whatever front end there is."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.notebook.card import CardSummary
from workbench.notebook.card_html import card_html
from workbench.notebook.card_text import card_text


class ShownCard:
    """A card as an object that front ends know how to show; both forms are static."""

    def __init__(self, summary: CardSummary) -> None:
        self.summary = summary

    def __repr__(self) -> str:
        return card_text(self.summary)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, str]:
        return {"text/plain": card_text(self.summary), "text/html": card_html(self.summary)}
