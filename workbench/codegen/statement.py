"""Statement: one line of generated text that knows where it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StatementOrigin:
    """The nodes that a line computes, ascending, in one place of the plan: a sub-kernel, rules, or "" for neither."""

    place: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of text and the nodes that it computes, ascending; `others`: where it stands for an equal one.

    along: the program's axes along which cells may have other values of it; known while a loop is written.
    """

    text: str
    nodes: tuple[int, ...] = field(compare=False)
    others: tuple[StatementOrigin, ...] = field(default=(), compare=False)
    along: frozenset[int] = field(default=frozenset(), compare=False)


_DECLARED = re.compile(r"(?:const )?([\w:]+(?:<[\w:<>, ]+>)?) (\w+) = ")
_WORD = re.compile(r"[A-Za-z_]\w*")


def declared_in(statements: Iterable[Statement]) -> dict[str, str]:
    """The variables that lines declare, each with its type."""
    return {m[2]: m[1] for s in statements if (m := _DECLARED.match(s.text))}


def words_in(texts: Iterable[str]) -> frozenset[str]:
    """All names in lines of text."""
    return frozenset(word for text in texts for word in _WORD.findall(text))
