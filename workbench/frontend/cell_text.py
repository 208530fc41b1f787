"""The text of a cell: parsing, hooks for names and loops, and where in it something happens."""

from __future__ import annotations

import ast
import contextlib
import dis
import linecache
import sys
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from workbench.errors import StencilError, TraceError, is_machinery, shown_path
from workbench.graph import Span
from workbench.python_text import parse

NAME_HOOK, TICK_HOOK, ITERATION_HOOK = "__stencil_name__", "__stencil_tick__", "__stencil_iterate__"


@dataclass(frozen=True, slots=True)
class SourceRange:
    """A stretch of source as an instruction or a syntax node knows it: lines from 1, columns in UTF-8 bytes."""

    line: int
    end_line: int
    column: int
    end_column: int


@dataclass(slots=True)
class CellText:
    """The lines of a cell or function; `first_line` is the number of the first one as the user counts.

    `filename` marks the frames that belong to it. `lines` is empty for a function whose text cannot be found. `origin`
    is what messages call the text, where it is not the user's cell: that of a solver of the workbench by its file.
    """

    filename: str
    lines: tuple[str, ...]
    first_line: int = 1
    origin: str = ""
    _positions: dict[CodeType, list[tuple[int | None, int | None, int | None, int | None]]] = field(
        default_factory=dict
    )
    _spans: dict[int, tuple[CodeType, dict[int, Span]]] = field(default_factory=dict)

    def line(self, number: int) -> str:
        """The text of a line, empty if it is unknown."""
        index = number - self.first_line
        return self.lines[index] if 0 <= index < len(self.lines) else ""

    def frame(self) -> FrameType | None:
        """The innermost frame of the cell on the stack, or None."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        return frame

    def speaker(self) -> CellText:
        """The text that messages about what is being executed quote: this one, or a user's function; see `_guest`."""
        frame: FrameType | None = sys._getframe(1)
        codes: list[CodeType] = []
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        return self._guest(codes)

    def _guest(self, codes: Iterable[CodeType]) -> CellText:
        """The text of the innermost user's function that a solver of the workbench calls, this text if there is none.

        codes: what is being executed, innermost first. A user's own cell speaks for the functions that it calls.
        """
        inner: list[CodeType] = []
        for code in codes:
            if code.co_filename == self.filename:
                guest = next((c for c in inner if not is_machinery(c.co_filename)), None)
                return self if guest is None or not self.origin else _source_of(guest)
            inner.append(code)
        return self

    def place(self, code: CodeType, instruction: int, line: int) -> SourceRange:
        """Where the instruction at byte `instruction` of `code` was written; `line` if the code does not say more."""
        if code not in self._positions:
            self._positions[code] = list(code.co_positions())
        table = self._positions[code]
        start, end, column, end_column = table[instruction // 2] if 0 <= instruction // 2 < len(table) else (None,) * 4
        if start is None:
            return SourceRange(line, line, 0, 0)
        return SourceRange(start, end or start, column or 0, end_column or 0)

    def here(self) -> SourceRange | None:
        """The place that is being executed, or None outside the cell."""
        frame = self.frame()
        return None if frame is None else self.place(frame.f_code, frame.f_lasti, frame.f_lineno)

    def span_here(self) -> Span | None:
        """The same with columns in characters; known after it was asked for once, as a loop comes there again."""
        frame = self.frame()
        if frame is None:
            return None
        code = frame.f_code
        known = self._spans.setdefault(id(code), (code, {}))[1]  # by identity: to hash a code takes longer
        span = known.get(frame.f_lasti)
        if span is None:
            span = known[frame.f_lasti] = self.span(self.place(code, frame.f_lasti, frame.f_lineno))
        return span

    def is_calling(self) -> bool:
        """Whether the cell is inside a call, rather than at a jump on its result."""
        frame = self.frame()
        if frame is None:
            return False
        return "CALL" in dis.opname[frame.f_code.co_code[frame.f_lasti]]

    def span(self, place: SourceRange) -> Span:
        """The place with columns in characters; what spans several lines ends with its first."""
        text = self.line(place.line)
        if not text:
            return Span(place.line, place.column, place.end_column)
        end = len(text) if place.end_line > place.line else _characters(text, place.end_column)
        return Span(place.line, _characters(text, place.column), end)

    def segment(self, place: SourceRange | None) -> str:
        """The source text at a place in one line, shortened to what a message can bear; empty if unknown."""
        if place is None or not self.line(place.line):
            return ""
        if place.end_line == place.line:
            raw = self.line(place.line).encode()[place.column : place.end_column].decode(errors="replace")
        else:
            first = self.line(place.line).encode()[place.column :].decode(errors="replace")
            middle = [self.line(n) for n in range(place.line + 1, place.end_line)]
            last = self.line(place.end_line).encode()[: place.end_column].decode(errors="replace")
            raw = " ".join(part.strip() for part in (first, *middle, last))
        return raw if len(raw) <= 60 else raw[:57] + "..."

    def locate(self, error: StencilError, trace: TracebackType | None) -> StencilError:
        """Give the error the innermost line of the cell that its traceback passes, unless it has one."""
        guest, place = self._failing(trace)
        return error if place is None else guest.mark(error, guest.span(place))

    def failing_text(self, trace: TracebackType | None) -> str:
        """The source text at which an exception was raised; empty if that was not in the text itself."""
        guest, place = self._failing(trace)
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        inside = trace is not None and trace.tb_frame.f_code.co_filename == guest.filename
        return guest.segment(place) if inside else ""

    def failing_line(self, trace: TracebackType | None) -> str:
        """The line of the text at which an exception was raised, or of the function that it calls; empty if unknown."""
        guest, place = self._failing(trace)
        return "" if place is None else guest.line(place.line)

    def _failing(self, trace: TracebackType | None) -> tuple[CellText, SourceRange | None]:
        """The innermost place of the cell, or of a user's function, that a traceback passes."""
        passed: list[TracebackType] = []
        while trace is not None:
            passed.insert(0, trace)
            trace = trace.tb_next
        guest = self._guest([step.tb_frame.f_code for step in passed])
        found = next((step for step in passed if step.tb_frame.f_code.co_filename == guest.filename), None)
        return guest, found and guest.place(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)

    def mark(self, error: StencilError, span: Span) -> StencilError:
        """Give the error a place in this text, unless it has one."""
        text = self.line(span.line)
        return error.located(span.line, text, span.column if text else None, origin=self.origin)


def _source_of(code: CodeType) -> CellText:
    """The whole text of the file, or of the notebook's cell, that holds a function."""
    lines = tuple(line.rstrip("\n") for line in linecache.getlines(code.co_filename))
    known = Path(code.co_filename).is_file()  # a cell of a notebook is none
    return CellText(code.co_filename, lines, origin=shown_path(code.co_filename) if known else f"{code.co_name}()")


def _characters(text: str, column: int) -> int:
    """A column in UTF-8 bytes as a column in characters."""
    return len(text.encode()[:column].decode(errors="replace"))


def parse_source(source: CellText) -> ast.Module:
    """Parse the cell so that its nodes carry the user's line numbers. Raises TraceError with the line of the fault."""
    try:
        tree = parse("\n".join(source.lines) + "\n", source.filename)
    except SyntaxError as error:
        line = (error.lineno or 1) - 1 + source.first_line
        line = min(line, source.first_line + max(len(source.lines) - 1, 0))
        text = source.line(line)
        magic = text.lstrip().startswith(("%", "!", "?"))
        advice = (
            "Put magics and shell commands into a cell of their own." if magic else "Correct the Python of this line."
        )
        column = max((error.offset or 1) - 1, 0)
        raise TraceError(
            f"this is no valid Python: {error.msg}", advice=advice, line=line, source=text, column=column
        ) from None
    except ValueError as error:  # a NUL character
        raise TraceError(f"this is no valid Python: {error}", advice="Correct the text of the cell.") from None
    except (RecursionError, MemoryError):
        raise _too_deep(source) from None
    return ast.increment_lineno(tree, source.first_line - 1)


def parse_again(source: CellText) -> ast.Module | None:
    """The tree of a text that Python has read before; None if it was no Python, as cells with magics."""
    try:
        return parse("\n".join(source.lines), source.filename)
    except SyntaxError:
        return None


def compile_source(source: CellText, tree: ast.Module | None = None) -> CodeType:
    """Compile the cell, or the part of it given as a tree (which is changed), with its hooks put in."""
    module = tree or parse_source(source)
    try:
        _Hooks().visit(module)
        return compile(module, source.filename, "exec", dont_inherit=True)
    except (RecursionError, MemoryError):
        raise _too_deep(source) from None
    except SyntaxError as error:
        line = error.lineno or source.first_line
        raise TraceError(
            f"this is no valid Python: {error.msg}",
            advice="Correct the Python of this line.",
            line=line,
            source=source.line(line),
        ) from None


def _too_deep(source: CellText) -> TraceError:
    """The error for a formula that Python's parser or compiler cannot take in one piece: the one of most operators."""
    count, start, most, line = 0, 1, 0, 1
    text = iter([f"{line}\n" for line in source.lines])
    with contextlib.suppress(tokenize.TokenError, IndentationError):  # what was read until then is enough
        for token in tokenize.generate_tokens(lambda: next(text, "")):
            count += token.exact_type in _JOINING
            if token.type == tokenize.NEWLINE:
                most, line = max((most, line), (count, start), key=lambda found: found[0])
                count, start = 0, token.end[0] + 1
    number = line - 1 + source.first_line
    return TraceError(
        f"a formula of {most + 1:,} terms and factors is too long for Python",
        advice="Write it as a loop: total = 0, then for term in terms: total = total + term.",
        line=number,
        source=source.line(number)[:60],
    )


_JOINING = frozenset(tokenize.EXACT_TOKEN_TYPES[sign] for sign in ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^"))


class _Hooks(ast.NodeTransformer):
    """Names for assigned values, a tick per loop turn, and a counter around the iterables of comprehensions."""

    def visit(self, node: ast.AST) -> ast.AST:
        """The node with its hooks. A formula that takes none is left alone: a long one would exhaust Python's stack."""
        if isinstance(node, ast.expr) and not any(isinstance(n, _HOOKED) for n in ast.walk(node)):
            return node
        visited: ast.AST = super().visit(node)
        return visited

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:  # the name that ast looks for
        self.generic_visit(node)
        return [node, *_name_calls(node.targets, node)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *_name_calls([node.target], node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *(_name_calls([node.target], node) if node.value is not None else ())]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.NamedExpr:
        self.generic_visit(node)
        node.value = _call(NAME_HOOK, [ast.Constant(node.target.id), node.value], node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.body.insert(0, _statement(_call(TICK_HOOK, [], node.target), node.target))
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        node.body.insert(0, _statement(_call(TICK_HOOK, [], node.test), node.test))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _call(ITERATION_HOOK, [node.iter], node.iter)
        return node


_HOOKED = (ast.comprehension, ast.NamedExpr)


def _name_calls(targets: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [
        _statement(_call(NAME_HOOK, [ast.Constant(name), ast.Name(name, ast.Load())], at), at)
        for name in dict.fromkeys(names)
    ]


def _call(hook: str, arguments: list[ast.expr], at: ast.expr | ast.stmt) -> ast.Call:
    call = ast.Call(ast.Name(hook, ast.Load()), arguments, [])
    return _located(call, at)


def _statement(call: ast.Call, at: ast.expr | ast.stmt) -> ast.Expr:
    return ast.copy_location(ast.Expr(call), at)


def _located(call: ast.Call, at: ast.expr | ast.stmt) -> ast.Call:
    for node in ast.walk(call):
        if isinstance(node, ast.expr) and not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return call


def find_construct(tree: ast.Module, place: SourceRange) -> tuple[ast.expr | None, ast.AST | None]:
    """The expression written exactly at `place`, and the node around it; the innermost such pair.

    Where Python marks a jump with a whole statement or conditional expression, its test is meant.
    """
    inner: ast.expr | None = None
    outer: ast.AST | None = None
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if (
                not isinstance(child, ast.expr | ast.stmt)
                or (child.lineno, child.end_lineno) != (place.line, place.end_line)
                or (child.col_offset, child.end_col_offset) != (place.column, place.end_column)
            ):
                continue
            if isinstance(child, ast.If | ast.While | ast.Assert | ast.IfExp):
                inner, outer = child.test, child
            elif isinstance(child, ast.expr):
                inner, outer = child, parent
    return inner, outer
