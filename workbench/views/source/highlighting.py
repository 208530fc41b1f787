"""Highlighting: text to coloured pieces, line by line; which colour a piece gets is the page's business."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal

from pygments.lexer import Lexer, inherit
from pygments.lexers import CppLexer, CudaLexer, PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Token, _TokenType
from pygments.token import Literal as Text

Language = Literal["c++", "cuda", "python"]
Piece = tuple[str, str]
"""(kind, text); kind is one of KINDS."""

KINDS: tuple[str, ...] = ("", "keyword", "type", "function", "builtin", "number", "string", "comment", "meta")
"""What pieces may be: plain text, and what pages have colours for."""


class _GeneratedLexer(CppLexer):  # type: ignore[misc]  # pygments carries no annotations
    """C++ with the words that the workbench's headers define before a function; else its name is not seen."""

    tokens = {"keywords": [(r"STENCIL_(?:FUNCTION|PROCEDURE)\b", Keyword.Reserved), inherit]}  # noqa: RUF012  # as pygments asks


_LEXERS: dict[Language, type[Lexer]] = {"c++": _GeneratedLexer, "cuda": CudaLexer, "python": PythonLexer}
# From the special to the general: the first that holds decides.
_ROWS: tuple[tuple[_TokenType, str], ...] = (
    (Comment.Preproc, "meta"),
    (Comment.PreprocFile, "string"),
    (Comment, "comment"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Name.Function, "function"),
    (Name.Builtin, "builtin"),
    (Name.Decorator, "meta"),
    (Number, "number"),
    (Text.String, "string"),
    (Token, ""),
)


@lru_cache(maxsize=8)  # the text before a flip was coloured when it was that of now
def highlight(text: str, language: Language) -> tuple[tuple[Piece, ...], ...]:
    """The lines of a text in coloured pieces; joined without the colours they are the text again."""
    lines: list[list[Piece]] = [[]]
    for token, value in _LEXERS[language](stripnl=False, ensurenl=False).get_tokens(text):
        kind = _kind_of(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                _append(lines[-1], (kind, part))
    return tuple(map(tuple, lines))


@cache
def _kind_of(token: _TokenType) -> str:
    return next(name for known, name in _ROWS if token in known)


def _append(line: list[Piece], piece: Piece) -> None:
    """Neighbours of one kind become one piece."""
    if line and line[-1][0] == piece[0]:
        line[-1] = (piece[0], line[-1][1] + piece[1])
    else:
        line.append(piece)
