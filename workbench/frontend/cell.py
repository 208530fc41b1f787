"""Cell: the text of a cell, or a function, to a graph."""

from __future__ import annotations

import ast
import inspect
import io
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from linecache import getlines
from types import FrameType, FunctionType
from typing import Any

from workbench.errors import StencilError, TraceError, is_machinery, shown_path
from workbench.frontend.attempts import DimensionFoundError, TraceAgainError
from workbench.frontend.cell_text import (
    ITERATION_HOOK,
    NAME_HOOK,
    TICK_HOOK,
    CellText,
    compile_source,
    parse_again,
    parse_source,
)
from workbench.frontend.componentwise import component_name
from workbench.frontend.language import vocabulary
from workbench.frontend.lowering import make_graph
from workbench.frontend.machine_name import check_machine_name
from workbench.frontend.operations import parse_type
from workbench.frontend.precision import precisions
from workbench.frontend.python_errors import explain_error
from workbench.frontend.scope import Captured, Home, NotebookScope, capture_reads, explain_name, hidden_names
from workbench.frontend.tensors import Tensor
from workbench.frontend.total import finish_totals, name_total
from workbench.frontend.trace import Trace, enter_trace
from workbench.frontend.value import Value, term_of
from workbench.graph import Graph, StorageType

_Run = Callable[[Trace, dict[str, Captured]], None]


@dataclass(frozen=True, slots=True)
class Traced:
    """What a cell means, and what a card says about how it was read.

    captured: names taken from the notebook, frozen. promotions: where a width changed. warnings: what is legal but
    suspicious. All texts begin with "line N: ". lines: the body as it was written, of which the first one is number
    `first_line` for the reader; empty if it is not known. precision: (name, type) pairs that the cell asks for.
    """

    graph: Graph
    captured: tuple[Captured, ...]
    promotions: tuple[str, ...]
    warnings: tuple[str, ...]
    lines: tuple[str, ...] = ()
    first_line: int = 1
    precision: tuple[tuple[str, str], ...] = ()


def trace_cell(
    text: str,
    *,
    name: str = "machine",
    dim: int | None = None,
    first_line: int = 1,
    namespace: Mapping[str, object] | None = None,
    dtype: object = "f64",
    boundary: object = None,
) -> Traced:
    """Run a cell's body once on traced values and return what it means.

    name: the machine's name. dim: number of axes; None takes it from the first relative read, else 1 (the body is then
    run again if the guess was wrong). first_line: what the user sees as the number of the body's first line.
    namespace: the notebook's names, read only. dtype: the machine's float type. boundary: the default rule of fields.
    Raises TraceError whose line is the user's.
    """
    check_machine_name(name)
    source = CellText(f"<stencil {name}>", tuple(text.splitlines()), first_line)
    tree = parse_source(source)
    code = compile_source(source)

    def run(trace: Trace, captured: dict[str, Captured]) -> None:
        trace.tree = tree
        for word, line in hidden_names(tree, namespace or {}):
            trace.note_warning(f"line {line}: {word} is the word of cells; the notebook's {word} is not seen")
        scope = NotebookScope(namespace or {}, captured)
        body = {**vocabulary(trace.dim), **_hooks(trace), "__builtins__": scope, "__name__": name}
        home: Home = "text" if namespace is None else "notebook"
        _guard(trace, lambda: exec(code, body), body, home)  # noqa: S102  # running the user's cell is what this is for

    return _trace(run, source, name, dim, dtype, boundary)


def trace_tree(source: CellText, tree: ast.Module, given: Mapping[str, object], *, name: str, dtype: object) -> Traced:
    """The same of a text in another language, given as a tree of Python; `given` are further names of its body."""
    check_machine_name(name)
    code = compile_source(source, tree)

    def run(trace: Trace, captured: dict[str, Captured]) -> None:
        scope = NotebookScope({}, captured)
        body = {**vocabulary(trace.dim), **_hooks(trace), **given, "__builtins__": scope, "__name__": name}
        _guard(trace, lambda: exec(code, body), body)  # noqa: S102  # the text's own formulas

    return _trace(run, source, name, None, dtype, None)


def trace_function(
    function: Callable[[], object],
    dim: int | None = 1,
    *,
    name: str | None = None,
    dtype: object = "f64",
    boundary: object = None,
) -> Traced:
    """Trace a function of no arguments whose body is that of a cell; see `trace_cell`.

    Lines count in the function's file. Names come from its source; if that cannot be found, from its frame when it
    returns. Its closure and globals stand for the notebook.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(function, FunctionType) or code is None or code.co_argcount or code.co_kwonlyargcount:
        raise TraceError(
            f"stencil needs a function without arguments, not {function!r}",
            advice="Declare inputs in the body with field, scalar and param.",
        )
    name = name or function.__name__
    return _trace(*_runner(function, name, lambda trace, defined: defined()), name, dim, dtype, boundary)


def trace_called(
    function: FunctionType, call: Callable[[Trace, Callable[..., object]], object], *, name: str, dtype: object = "f64"
) -> Traced:
    """Trace a function of arrays: `call` gets the trace and the function, calls it, and stores what it returns.

    The function runs again as long as `call` raises TraceAgainError.
    """
    return _trace(*_runner(function, name, call, own_names=True), name, None, dtype, None)


def _runner(
    function: FunctionType,
    name: str,
    call: Callable[[Trace, Callable[..., object]], object],
    own_names: bool = False,
) -> tuple[_Run, CellText]:
    """What runs a function on traced values, called by `call`, and its text. own_names: they hide those of a cell."""
    check_machine_name(name)
    code = function.__code__
    namespace = {**function.__globals__, **closure_of(function)}
    added: dict[str, object] = {"len": _length} if own_names and "len" not in namespace else {}
    found = with_length(function) if own_names else function
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return _runner_without_source(found, call)
    if code.co_filename == "<string>" and not any(f"def {function.__name__}" in line for line in lines):
        return _runner_without_source(found, call)  # since Python 3.13 these are lines of `python -c`
    if function.__name__ == "<lambda>":  # its text is part of a line
        return _runner_without_source(found, call, tuple(line.rstrip("\n") for line in getlines(code.co_filename)))
    origin = shown_path(code.co_filename) if is_machinery(code.co_filename) else ""  # else it stands for a cell
    source = CellText(f"<stencil {name}>", tuple(line.rstrip("\n") for line in lines), first, origin)
    tree = _parse_function(source, function.__name__)
    hooked = compile_source(source, _parse_function(source, function.__name__))

    def run(trace: Trace, captured: dict[str, Captured]) -> None:
        trace.tree = tree
        scope = NotebookScope(namespace, captured, of_arrays=own_names)
        words = vocabulary(trace.dim)
        body: dict[str, object] = {
            **{word: meant for word, meant in words.items() if not (own_names and word in namespace)},
            **_hooks(trace),
            **added,
            "__builtins__": scope,
            "__name__": name,
        }

        def define_and_call() -> None:
            exec(hooked, body)  # noqa: S102  # defines the function, its decorators removed
            defined = body[function.__name__]
            assert callable(defined)
            call(trace, defined)

        _guard(trace, define_and_call, body, "function")

    return run, source


def closure_of(function: FunctionType) -> dict[str, object]:
    """The variables of the functions around this one that it reads, with their present values."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if _full(cell)}


def _full(cell: object) -> bool:
    try:
        cell.cell_contents  # type: ignore[attr-defined]  # noqa: B018  # raises if the variable has no value yet
    except ValueError:
        return False
    return True


def _length(value: object) -> object:
    """`len` in a function of arrays: of a traced array the number of the program that it is, of all else Python's."""
    return value.shape[0] if isinstance(value, Value) and value.shape else len(value)  # type: ignore[arg-type]  # Python's error


def with_length(function: FunctionType) -> FunctionType:
    """The same function, for which `len` of a traced array is a number of the program, unless it has its own `len`."""
    if "len" in function.__globals__:
        return function
    names = {**function.__globals__, "len": _length}
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _parse_function(source: CellText, name: str) -> ast.Module:
    """The function's definition without decorators, alone in a module; an indented one keeps its columns."""
    first = source.lines[0] if source.lines else ""
    if first[:1].isspace():
        wrapped = CellText(source.filename, ("if True:", *source.lines), source.first_line - 1)
        tree = parse_source(wrapped)
    else:
        tree = parse_source(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.decorator_list = []
            return ast.Module([node], [])
    raise TraceError(f"{name} is no plain function", advice=f"Write def {name}(): with the body of a cell.")


def _runner_without_source(
    function: FunctionType, call: Callable[[Trace, Callable[..., object]], object], lines: tuple[str, ...] = ()
) -> tuple[_Run, CellText]:
    """The same for a function whose text is unknown, or whose place in the `lines` of its file is."""
    code = function.__code__
    source = CellText(code.co_filename, lines, 1 if lines else code.co_firstlineno)
    tree = parse_again(source) if lines else None

    def run(trace: Trace, captured: dict[str, Captured]) -> None:
        trace.tree = tree
        seen = ChainMap(closure_of(function), function.__globals__)
        capture_reads(function, seen, captured, code.co_firstlineno, code.co_freevars)

        def watch(frame: FrameType, event: str, argument: object) -> None:
            if event == "return" and frame.f_code is code:
                for variable, value in frame.f_locals.items():
                    _name_value(trace, variable, value)

        def watched() -> None:
            before: Any = sys.getprofile()
            sys.setprofile(watch)
            try:
                call(trace, function)
            finally:
                sys.setprofile(before if callable(before) else None)
                if before is not None and not callable(before):  # a profiler of Python's own, which is no function
                    before.enable()

        _guard(trace, watched, function.__globals__, "function")

    return run, source


def _trace(
    run: _Run,
    source: CellText,
    name: str,
    dim: int | None,
    dtype: object,
    boundary: object,
) -> Traced:
    """Trace until the dimension is certain, then make the graph."""
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= 16):
        raise TraceError(f"a machine cannot have {dim!r} dimensions", advice="Give dim as 1, 2, 3, ...")
    float_type = _float_type(dtype)
    attempt, fixed = dim or 1, dim is not None
    while True:
        trace = Trace(name, attempt, fixed, float_type, source)
        trace.default_boundary = boundary
        captured: dict[str, Captured] = {}
        try:
            graph = _attempt(trace, lambda: run(trace, captured))  # noqa: B023  # called in this turn of the loop
        except DimensionFoundError as found:
            attempt, fixed = found.dim, found.fixed
        except TraceAgainError:
            continue
        else:
            said = tuple(trace.promotions), tuple(trace.warnings)
            names = tuple(name.after() for name in captured.values())
            return Traced(graph, names, *said, source.lines, source.first_line, precisions(trace))


def _attempt(trace: Trace, run: Callable[[], None]) -> Graph:
    """One pass. While the dimension is a guess, what the cell prints waits until the guess has proved right."""
    printed = io.StringIO()
    leave = enter_trace(trace)
    try:
        with nullcontext() if trace.fixed else redirect_stdout(printed):
            run()
            finish_totals(trace)
            return make_graph(trace)
    except TraceAgainError:
        printed = io.StringIO()
        raise
    finally:
        leave()
        sys.stdout.write(printed.getvalue())


def _float_type(dtype: object) -> StorageType:
    type_ = parse_type(dtype)
    if not type_.is_float:
        raise TraceError(f"the machine's type {type_} is no float type", advice='Use dtype "f64" or "f32".')
    return type_


def _hooks(trace: Trace) -> dict[str, object]:
    def name_value(name: str, value: object) -> object:
        _name_value(trace, name, value)
        return value

    return {NAME_HOOK: name_value, TICK_HOOK: trace.tick, ITERATION_HOOK: trace.iterate}


def _name_value(trace: Trace, name: str, value: object) -> None:
    """Give the assigned value its variable's name; a static under its own name has it already."""
    name_total(trace, name, value)
    if isinstance(value, Tensor) and value.name != name:
        for index, part in value.stored.items():
            _name_value(trace, component_name(name, index), part)
    if isinstance(value, Value) and name != "_" and value._static != name:
        term = term_of(value)
        term.trace.pool.annotate(term.index, name=name)  # in the function of a fold that is a trace of its own


def _guard(trace: Trace, body: Callable[[], None], names: Mapping[str, object], home: Home = "notebook") -> None:
    """Run the user's code; every exception leaves as a StencilError with the line of the cell."""
    source = trace.source
    try:
        body()
    except StencilError as error:
        raise source.locate(error, error.__traceback__) from None
    except NameError as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        foreign = frame is not None and frame.tb_frame.f_code.co_filename != source.filename
        known = [n for n in names if not n.startswith("__")]
        explained = explain_name(error.name or str(error), known, foreign, home, of_arrays=trace.positions is not None)
        raise source.locate(explained, error.__traceback__).with_traceback(error.__traceback__) from error
    except RecursionError as error:
        explained = TraceError(
            "a function of the cell calls itself without end", advice="Give the recursion an end that is reached."
        )
        raise source.locate(explained, error.__traceback__) from None
    except Exception as error:  # whatever the user's code raises is reported at its line in the cell
        text, line = source.failing_text(error.__traceback__), source.failing_line(error.__traceback__)
        explained = explain_error(error, text, line)
        raise source.locate(explained, error.__traceback__).with_traceback(error.__traceback__) from error
