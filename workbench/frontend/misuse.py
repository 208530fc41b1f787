"""Misuse: what to write instead where Python asks a traced value for one number or one truth."""

from __future__ import annotations

import ast
import builtins
import math
import sys
from pathlib import Path
from types import FrameType

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.array_misuse import OTHERWISE, RANGE, instead_of
from workbench.frontend.cell_text import find_construct, parse_again
from workbench.frontend.trace import Term, Trace, text_here
from workbench.graph import OPERATORS
from workbench.graph.spaces import NamedExtent
from workbench.python_text import parse

_PACKAGE = str(Path(__file__).resolve().parent)
_INSTEAD_OF_BUILTIN = {"max": "maximum(a, b)", "min": "minimum(a, b)", "any": "reduce_any(u)", "all": "reduce_all(u)"}
INSTEAD_OF_MATH = {"fabs": "absolute", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
_STATEMENTS: dict[type[ast.AST], str] = {ast.If: "if", ast.IfExp: "if", ast.While: "while", ast.Assert: "assert"}


def _nature(term: Term) -> str:
    if term.is_local:
        return f"has one value per {_place(term)}"
    return "is known only at the call" if term.trace.is_called else "is known only when the simulation runs"


def _place(term: Term) -> str:
    """What there is one value of: a cell, of pairs one of them or one of their sides, else an element."""
    axes = term.space.axes
    sides = [axis.extent.name for axis in axes if isinstance(axis.extent, NamedExtent)]
    if term.order is None and sides in (["targets"], ["sources"], ["targets", "sources"]):
        return "pair" if len(sides) > 1 else sides[0][:-1]
    return "cell" if term.order is None and any(axis.kind == "grid" for axis in axes) else "element"


def _python_function() -> str:
    """The file of the innermost function on the stack that is not the package's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


def _construct(term: Term) -> tuple[ast.AST | None, ast.AST | None, str]:
    """The expression being executed, what surrounds it, and its text."""
    trace = term.trace
    speaker = trace.source.speaker()
    place = speaker.here()
    tree = trace.tree if speaker is trace.source else parse_again(speaker)
    if place is None or tree is None:
        return None, None, "the value"
    inner, outer = find_construct(tree, place)
    if inner is not None and isinstance(outer, ast.If | ast.While | ast.Assert | ast.IfExp):
        return inner, outer, ast.unparse(inner)
    return inner, outer, trace.text_here("the value")


def no_neighbours(term: Term) -> TraceError:
    """An offset on a number."""
    return TraceError(
        f"{term.trace.text_here()}: the value is one number for the whole grid and has no neighbours",
        advice="Leave the offset out.",
    )


def not_of(trace: Trace) -> TraceError:
    """The error for a value that belongs to no part of what is traced."""
    if trace.operator_of:
        return TraceError(
            f"the function of {trace.operator_of} reads a value from outside: it knows two elements and numbers",
            advice="Compute with it before or after, or make it a part of each element: f(a, b) of (x, y).",
        )
    return TraceError("a value of another cell is used here", advice="Declare in this cell every field that it uses.")


def no_truth(term: Term) -> TraceError:
    """The error for a value used as one true or false."""
    inner, outer, text = _construct(term)
    nature = _nature(term)
    asking = _python_function()
    speaker = term.trace.source.speaker()
    if asking and asking != speaker.filename:
        return TraceError(
            f"{text} asks for one true or false inside the function, but the value {nature}",
            advice=_instead_of_call(inner, term) or "Use where(condition, a, b) in that function.",
        )
    if isinstance(inner, ast.Call) and speaker.is_calling():
        return _call_needs_one(inner, term, text)
    if isinstance(inner, ast.Compare) and any(isinstance(o, ast.In | ast.NotIn) for o in inner.ops):
        return no_membership(term)
    chain = next((n for n in (inner, outer) if isinstance(n, ast.Compare) and len(n.ops) > 1), None)
    if chain is not None:
        return TraceError(
            f"'{ast.unparse(chain)}' compares in a chain, which needs one true or false, but each part {nature}",
            advice="Write (a < b) & (b < c).",
        )
    for node in (inner, outer):
        if isinstance(node, ast.BoolOp):
            word, symbol = ("and", "&") if isinstance(node.op, ast.And) else ("or", "|")
            return TraceError(
                f"'{word}' needs one true or false, but {_operand_text(node, text)} {nature}",
                advice=f"Write (a > 0) {symbol} (b > 0), with the parentheses.",
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            operand = ast.unparse(node.operand)
            return TraceError(f"'not' needs one true or false, but {operand} {nature}", advice=f"Write ~({operand}).")
    word = next((w for kind, w in _STATEMENTS.items() if isinstance(outer, kind)), "")
    if word == "assert":
        advice = "Remove the assert, or store reduce_all(...) in a scalar and look at it after the run."
    elif word == "while" and term.is_local:
        advice = (
            "Write iterate(body, while_=condition, start=u, at_most=n), each cell for itself, or while_loop for all."
        )
    elif word == "while":
        advice = "Write while_loop(condition, body, start, at_most=n), whose condition and body are functions."
    elif term.trace.positions is not None and not term.is_local:
        chosen = text if word else "condition"
        advice = f"Write np.where({chosen}, a, b), which computes both, or branch({chosen}, then, otherwise, start)."
    else:
        advice = f"Use where({text if word else 'condition'}, a, b)."
    subject = f"'{word}' needs one true or false" if word else "Python asks for one true or false"
    return TraceError(f"{subject}, but {text} {nature}.", advice=advice)


def _instead_of_call(inner: ast.AST | None, term: Term) -> str:
    """The advice for a call of NumPy's in a function of arrays; "" if there is none."""
    root, _, name = ast.unparse(inner.func).partition(".") if isinstance(inner, ast.Call) else ("", "", "")
    if not isinstance(inner, ast.Call) or term.trace.positions is None or root not in ("np", "numpy"):
        return ""
    return instead_of(name, inner)


def _operand_text(node: ast.BoolOp, text: str) -> str:
    return text if any(ast.unparse(v) == text for v in node.values) else ast.unparse(node.values[0])


def no_membership(term: Term, of_all: bool = False) -> TraceError:
    """The error for `in`. of_all: the value is what is looked through, as in `1 in u`."""
    found = "reduce_any(u == a)" if term.trace.positions is None else "np.any(x == a)"
    return TraceError(
        f"'in' needs one true or false, but {_construct(term)[2]} {_nature(term)}",
        advice=f"Write {found if of_all else '(u == a) | (u == b)'}.",
    )


def no_number(term: Term, what: str) -> TraceError:
    """The error for a value that Python wants as one int or float; `what` is the conversion."""
    inner, _, text = _construct(term)
    if isinstance(inner, ast.Call):
        return _call_needs_one(inner, term, text)
    return TraceError(
        f"{what} needs one number, but {text} {_nature(term)}", advice="Use the value as it is in the formula."
    )


_NO_LOOP = (
    "Write one formula for all cells; loops over cells are implied.",
    "Write a formula of whole arrays; fold, scan and while_loop go from element to element, x[0] and x[1] are two.",
)
"""Instead of a loop over a value: in a cell, in a function of arrays."""


def no_iteration(term: Term) -> TraceError:
    """The error for a loop over the cells of a value."""
    inner, _, text = _construct(term)
    if isinstance(inner, ast.Call):
        name = ast.unparse(inner.func)
        if name in ("sum", "max", "min", "any", "all"):
            whole = f"reduce_{name}(u) for all cells" if term.trace.positions is None else f"np.{name}(x)"
            return TraceError(
                f"{text}: builtin {name} runs over items, but this value {_nature(term)}",
                advice=f"Use {whole}" + (f", or {name}imum(a, b) of two values." if name in ("max", "min") else "."),
            )
    subject, otherwise = "this value" if inner is None else text, _NO_LOOP[term.trace.positions is not None]
    return TraceError(
        f"{subject} cannot be looped over or unpacked: it {_nature(term)}",
        advice=_instead_of_call(inner, term) or otherwise,
    )


def no_array(term: Term) -> TraceError:
    """The error for a traced value of which NumPy makes an array."""
    inner, _, text = _construct(term)
    if term.trace.positions is None:
        return TraceError(
            "a traced value is no array: it stands for whatever the field holds at each step",
            advice="Use the value as it is in formulas; np.sqrt(u), np.where and np.sum work on it.",
        )
    call = inner if isinstance(inner, ast.Call) else None
    name = ast.unparse(call.func).rpartition(".")[2] if call is not None else ""
    if isinstance(inner, ast.Subscript):
        return TraceError(
            f"{text}: an array of NumPy is read at an index that is known only at the call",
            advice="Give the array to the function as an argument, t[k], or write the formula of its elements: "
            "k[:, None] == generate(n, lambda i: i)[None, :] for np.eye(n)[k].",
        )
    return TraceError(
        f"{text}: NumPy asks for the elements of an array, but they are known only at the call",
        advice=instead_of(name, call)
        or "Use the value as it is in formulas; np.sqrt(x), np.where and np.sum work on it.",
    )


def no_digits(term: Term) -> TraceError:
    """The error for a format of a number, as in f"{u:.3f}"."""
    return TraceError(
        f"{_construct(term)[2]}: a format needs one number, but the value {_nature(term)}",
        advice="Print the name alone, or look at the value after the run.",
    )


def no_length(term: Term) -> TraceError:
    """The error for len()."""
    return TraceError(
        f"{_construct(term)[2]} has no length while the cell is traced", advice="Use size(axis), a Global."
    )


def no_offset(value: object, what: str) -> TraceError:
    """The error for a distance of a read that is no whole number while the cell is traced; `what` names it."""
    term = getattr(value, "_term", None)
    if not isinstance(term, Term) and not getattr(value, "_static", ""):  # no traced value at all
        return TraceError(
            f"{what} must be a whole number known when the cell is traced, not {value!r}",
            advice="Write a constant such as u[+1].",
        )
    name = getattr(value, "_static", "") or next(iter(term.node.names) if isinstance(term, Term) else iter(()), "it")
    if isinstance(term, Term) and not term.is_local:
        return TraceError(
            f"{what} must be a whole number known when the cell is traced, but {name} {_nature(term)}",
            advice="Write the number, as in u[+1], or choose among reads: where(k == 1, u[+1], u[+2]).",
        )
    if isinstance(term, Term) and term.trace.is_called:
        return TraceError(
            f"{what} must be a whole number known when the cell is traced, but {name} {_nature(term)}",
            advice="Leave elements out by where(condition, value, 0).",
        )
    return TraceError(
        f"{what} must be a whole number known when the cell is traced, but {name} has one value per cell",
        advice="Write a constant such as u[+1]; a distance that varies from cell to cell is no stencil.",
    )


def no_matrix(term: Term) -> TraceError:
    """The error for u @ v of values of a cell."""
    text = term.trace.text_here()
    if term.trace.names_axes:
        advice = "Write the product and its sum: reduce_sum(a * b, over=...) of particles, t += a * b of pairs."
        return TraceError(f"{text}: @ has no meaning for values of particles and pairs", advice=advice)
    return TraceError(
        f"{text}: a value per cell is no matrix",
        advice="Write u * v for the product in each cell, reduce_sum(u * v) for its sum.",
    )


def no_power(types: str) -> TraceError:
    """The error for ^ on numbers that have no bits of their own; `types` are what it was given."""
    text = text_here("this formula")
    return TraceError(
        f"{text}: ^ is the exclusive or of conditions or of whole numbers, not of {types}",
        advice=f"Write {_as_power(text)} for the power, or (a > 0) ^ (b > 0) to join conditions.",
    )


def note_power(trace: Trace) -> None:
    """Warn of u^2 on whole numbers: legal, and rarely what is meant."""
    text = trace.text_here("this formula")
    trace.note_warning(f"line {trace.here().line}: {text} is the exclusive or; write {_as_power(text)} for the power")


def _as_power(text: str) -> str:
    """A formula with the sign that Python has for powers; an example if the text is unknown or was shortened."""
    return text.replace("^", "**") if "^" in text and not text.endswith("...") else "u**2"


def refuse_distance(text: str, kind: str, rank: int) -> None:
    """Raise TraceError for v[+1], which reads like the neighbour of a vector and would be its component 1.

    text: what is being executed.
    """
    found = signed_subscript(text)
    if found is not None:
        name, index = ast.unparse(found.value), ", ".join("0" * rank)
        raise TraceError(
            f"{text}: brackets select a component of {kind}, and this number looks like an offset",
            advice=f"Write {name}.at(+1, axis) for the neighbour of the whole, {name}[{index}] for a component, "
            f"{name}[{index}][+1, ...] for its neighbour.",
        )


def signed_subscript(text: str) -> ast.Subscript | None:
    """The formula if it is a subscript with a plus sign written in it, such as v[+1]; v[a] with a = 1 is none."""
    if "+" not in text:
        return None
    try:
        found = parse(text.strip(), mode="eval").body
    except SyntaxError:  # shortened
        return None
    if not isinstance(found, ast.Subscript):
        return None
    parts = found.slice.elts if isinstance(found.slice, ast.Tuple) else [found.slice]
    signed = any(isinstance(p, ast.UnaryOp) and isinstance(p.op, ast.UAdd) for p in parts)
    return found if signed else None


def _call_needs_one(call: ast.Call, term: Term, text: str) -> TraceError:
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    if name == "range":
        return TraceError(
            f"{text}: range needs a number known when the cell is traced, but the value {_nature(term)}",
            advice=RANGE
            if term.trace.positions is not None
            else "Write one formula for all pairs of a target and a source: loops over both are implied."
            if term.trace.is_called
            else "Write one formula for all cells (loops over cells are implied), or use index(axis).",
        )
    if last in _INSTEAD_OF_BUILTIN and name == last:
        return TraceError(
            f"{text}: builtin {name} needs one true or false, but the value {_nature(term)}",
            advice=f"Use {_INSTEAD_OF_BUILTIN[name]}.",
        )
    if name in ("float", "int", "bool", "complex"):
        type_ = "i64" if name == "int" else "f32"
        advice = (
            f'Use the value as it is, or astype(u, "{type_}").' if name != "bool" else "Use where(condition, a, b)."
        )
        return TraceError(f"{text}: {name} needs one number, but the value {_nature(term)}", advice=advice)
    if name.startswith("math.") or not hasattr(builtins, last):
        of_arrays = term.trace.positions is not None
        advice = (instead_of(last, call) if of_arrays else "") or _instead_of_numbers(last, of_arrays)
        return TraceError(f"{text}: {name} takes one number, but the value {_nature(term)}", advice=advice)
    return TraceError(
        f"{text}: {name} needs one number, but the value {_nature(term)}", advice="Use the value as it is."
    )


def _instead_of_numbers(name: str, of_arrays: bool) -> str:
    """The advice for a function of one number by its last name, which is that of `math` or of another module."""
    known = INSTEAD_OF_MATH.get(name, name)
    row = OPERATORS.get(known)
    if name == "pow":
        return "Use base**exponent of the cell's vocabulary."
    if row is not None and row.rule in ("same", "bool") and not row.symbol:  # such rows are words, as tests see to
        operands = ("x" if of_arrays else "u") if row.arity == 1 else "a, b, c"[: 3 * row.arity - 2]
        if of_arrays and hasattr(np, known):
            return f"Write np.{known}({operands})."
        return f"Use {known}({operands}) of the cell's vocabulary."
    if hasattr(math, name):
        return f"No word of a cell computes {name}: write it as a formula of exp, sqrt and others."
    return f"Write {OTHERWISE}." if of_arrays else f"Write what {name} computes as a formula of the value."
