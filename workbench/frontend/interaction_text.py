"""The text of the interaction compiler's slides: declarations and assignments with a semicolon between them.

    LMEM xi, e2;  BMEM xj, mj;  RMEM ax;        what i has, what j has, results summed over j
    dx = xj - xi;  ax += mj * rsqrt(dx**2 + e2)**3 * dx;

CONST names inputs that are one number. IMPLICIT REAL8; REAL16 xi, xj, ax; say in which precision names live. FLUX names
what is computed at a cell face, GM1, GM2, GP1, GP2 quantities one and two cells to its minus and plus side. This module
reads the text and says what is wrong with it by itself; `interactions` gives it its meaning. The last semicolon may be
left out: nothing else could be meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.errors import StencilError, TraceError
from workbench.frontend.cell_text import CellText
from workbench.graph import Span
from workbench.python_text import parse

PAIRS, FACES = ("LMEM", "BMEM", "RMEM"), ("FLUX", "GM1", "GM2", "GP1", "GP2")
REALS = {"REAL4": "f32", "REAL8": "f64", "REAL16": "dd"}
PRECISIONS = {"single": "f32", "double": "f64", "quadruple": "dd"}
_DECLARING = (*PAIRS, "CONST", *FACES)
_HEAD = re.compile(r"\s*([A-Z][A-Z0-9]*)\s+([^=]*)\Z")
_ASSIGNING = re.compile(r"\s*([A-Za-z]\w*)\s*(\+?=)(?!=)")
_NAME = re.compile(r"[A-Za-z]\w*")
_SIGNS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd),
    *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
)
_NO_FORMULA = "this is no formula of the text", "Write names, numbers, + - * / ** and functions."


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared name, by which word, and where."""

    name: str
    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class Assigned:
    """name = value, or name += value; the value as Python's syntax tree, with places of the text."""

    name: str
    adds: bool
    value: ast.expr
    span: Span


@dataclass(slots=True)
class InteractionText:
    """A text as it was read: names in order, the type of each that has its own, and the type of all others."""

    source: CellText
    declared: dict[str, Declared] = field(default_factory=dict)
    assigned: list[Assigned] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    implicit: str = ""

    def names(self, word: str) -> list[str]:
        """The names that this word declares."""
        return [d.name for d in self.declared.values() if d.word == word]

    @property
    def is_flux(self) -> bool:
        """Whether it computes at faces of cells, not of pairs."""
        return any(d.word in FACES for d in self.declared.values())

    def type_of(self, name: str) -> str:
        """The storage type in which a name lives."""
        return self.types.get(name, self.implicit or "f64")


def read_interaction(source: CellText, functions: frozenset[str]) -> InteractionText:
    """Read a text. `functions` may be called in it. Raises TraceError with the text's line."""
    text = InteractionText(source)
    for start, statement in _statements(source):
        head, assigning = _HEAD.match(statement), _ASSIGNING.match(statement)
        if assigning is not None:
            _assign(text, statement, start, assigning)
        elif head is not None:
            _declare(text, head, start, statement)
        else:
            raise _fault(source, start, statement, f"{statement.strip()!r} is neither a declaration nor an assignment",
                         "Write LMEM x; or name = value; with a semicolon after each.")  # fmt: skip
    _check_names(text, functions)
    return text


def _statements(source: CellText) -> Iterator[tuple[int, str]]:
    """Each statement with the place of its first character in the whole text; # begins a comment."""
    whole = re.sub(r"#[^\n]*", lambda found: " " * len(found.group()), "\n".join(source.lines))
    start = 0
    for piece in whole.split(";"):
        if piece.strip():
            yield start, piece
        start += len(piece) + 1


def _place(source: CellText, offset: int) -> tuple[int, int]:
    """Line (from 1) and column of a place in the whole text."""
    before = "\n".join(source.lines)[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1)


def _span(source: CellText, start: int, statement: str) -> Span:
    """Of a statement, what stands in its first line."""
    blank = len(statement) - len(statement.lstrip())
    line, column = _place(source, start + blank)
    return Span(line, column, column + len(statement.strip().split("\n")[0]))


def _fault(source: CellText, start: int, statement: str, what: str, advice: str) -> StencilError:
    return source.mark(TraceError(what, advice=advice), _span(source, start, statement))


def _declare(text: InteractionText, head: re.Match[str], start: int, statement: str) -> None:
    word, source = head[1], text.source
    found = list(_NAME.finditer(statement, head.start(2)))
    names = [each.group() for each in found]
    if ", ".join(names) != re.sub(r"\s*,\s*", ", ", head[2].strip()):
        raise _fault(source, start, statement, f"{word} is followed by {head[2].strip()!r}",
                     f"Write {word} x, y, z; with names and commas.")  # fmt: skip
    if word == "IMPLICIT":
        if len(names) != 1 or names[0] not in REALS or text.implicit:
            again = " a second time" if text.implicit else ""
            raise _fault(source, start, statement, f"IMPLICIT {head[2].strip()}{again}",
                         f"Write it once, as IMPLICIT and one of {', '.join(REALS)}.")  # fmt: skip
        text.implicit = REALS[names[0]]
        return
    if word not in _DECLARING and word not in REALS:
        raise _fault(source, start, statement, f"{word} declares nothing",
                     f"Use one of {', '.join((*_DECLARING, 'IMPLICIT', *REALS))}.")  # fmt: skip
    for each in found:
        name = each.group()
        line, column = _place(source, start + each.start())
        span = Span(line, column, column + len(name))
        if word in REALS:
            other = text.types.setdefault(name, REALS[word])
            if other != REALS[word]:
                raise source.mark(
                    TraceError(f"{name} is {word} here and {other} above", advice="Keep one of them."), span
                )
            continue
        if name in text.declared:
            one = text.declared[name]
            raise source.mark(
                TraceError(
                    f"{name} is declared twice: as {one.word} in line {one.span.line}, now as {word}",
                    advice="Give it another name.",
                ),
                span,
            )
        text.declared[name] = Declared(name, word, span)


def _assign(text: InteractionText, statement: str, start: int, found: re.Match[str]) -> None:
    source, name = text.source, found[1]
    line, column = _place(source, start + found.end())
    try:
        value = parse(f"({statement[found.end() :]}\n)", mode="eval").body
    except SyntaxError as error:
        raise _fault(source, start, statement, f"the value of {name} is no formula: {error.msg}",
                     "Write a formula, and a semicolon at the end.") from None  # fmt: skip
    for node in ast.walk(value):
        if isinstance(node, ast.expr):
            _move(node, line, column - 1)
    text.assigned.append(Assigned(name, found[2] == "+=", value, _span(source, start, statement)))


def _move(node: ast.expr, line: int, column: int) -> None:
    """From the places in the formula alone to those in the text."""
    node.col_offset += column if node.lineno == 1 else 0
    if node.end_lineno is not None and node.end_col_offset is not None:
        node.end_col_offset += column if node.end_lineno == 1 else 0
        node.end_lineno += line - 1
    node.lineno += line - 1


def _check_names(text: InteractionText, functions: frozenset[str]) -> None:
    results = {d.name for d in text.declared.values() if d.word in ("RMEM", "FLUX")}
    known = set(text.declared) - results
    for each in text.assigned:
        _check_formula(text, each.value, known, functions)
        trouble = _trouble_of(text, each, known)
        if trouble is not None:
            raise text.source.mark(TraceError(trouble[0], advice=trouble[1]), each.span)
        if each.name not in text.names("RMEM"):
            known.add(each.name)
    for name in text.types:
        if name not in text.declared and name not in known:
            error = TraceError(f"{name} has a precision, but no declaration and no value", advice="Remove the name.")
            raise text.source.mark(error, Span(1))


def _trouble_of(text: InteractionText, each: Assigned, known: set[str]) -> tuple[str, str] | None:
    """What is wrong with an assignment to this name, and the advice."""
    word = text.declared[each.name].word if each.name in text.declared else ""
    if word == "RMEM":
        return None if each.adds else (f"{each.name} is RMEM, a sum over all j", f"Write {each.name} += value;")
    if word not in ("", "FLUX"):
        return f"{each.name} is {word}, an input, and is assigned", "Assign to another name."
    if each.adds and each.name not in known:
        return f"{each.name} += adds to what has no value yet", f"Write {each.name} = value; first."
    return None


def _check_formula(text: InteractionText, value: ast.expr, known: set[str], functions: frozenset[str]) -> None:
    called = {id(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
    for node in ast.walk(value):
        if isinstance(node, ast.operator | ast.unaryop | ast.cmpop) and not isinstance(node, _SIGNS):
            raise _at(text, value, *_NO_FORMULA)
        if isinstance(node, ast.expr):
            trouble = _trouble_in(text, node, id(node) in called, known, functions)
            if trouble is not None:
                raise _at(text, node, *trouble)


def _trouble_in(
    text: InteractionText, node: ast.expr, is_called: bool, known: set[str], functions: frozenset[str]
) -> tuple[str, str] | None:
    """What is wrong with a part of a formula, and the advice."""
    match node:
        case ast.Name(name) if is_called:
            known_functions = ", ".join(sorted(functions))
            return None if name in functions else (f"there is no function {name}", f"Use one of {known_functions}.")
        case ast.Name(name) if name not in known:
            if name in text.declared:
                return f"{name} is a result and is read", "Compute with it where the results are."
            return f"{name} has no value here", "Declare it, or assign it above."
        case ast.Constant(number) if isinstance(number, bool) or not isinstance(number, int | float):
            return f"{number!r} is no number", "Write a number."
        case ast.Name() | ast.Constant() | ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return None
        case ast.Call(_, _, []):
            return None
        case _:
            return _NO_FORMULA


def _at(text: InteractionText, node: ast.expr, what: str, advice: str) -> StencilError:
    span = Span(node.lineno, node.col_offset, node.end_col_offset or node.col_offset)
    return text.source.mark(TraceError(what, advice=advice), span)
