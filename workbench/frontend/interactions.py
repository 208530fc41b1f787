"""Interactions: the slides' text as a machine, the same graph as that of a cell that says the same.

LMEM is targets, BMEM sources, RMEM totals, CONST a param that is always given. A text with FLUX is a function of the
quantities around a face, `flux(rho, v, p, axis=0)`, which a cell of a grid calls: it completes the fluxes to a step.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from workbench.errors import TraceError
from workbench.frontend.cell import Traced, trace_cell, trace_tree
from workbench.frontend.cell_text import CellText
from workbench.frontend.declarations import check_name
from workbench.frontend.interaction_text import FACES, PRECISIONS, Assigned, Declared, InteractionText, read_interaction
from workbench.frontend.language import __all__ as words
from workbench.frontend.language import vocabulary
from workbench.frontend.operations import parse_type
from workbench.frontend.pairs import sources, targets, totals
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, term_of
from workbench.graph import GLOBAL, OPERATORS, Span, Static

FUNCTIONS = frozenset(name for name in words if name in OPERATORS) | {"where", "abs"}
_OFFSETS = {"GM2": -2, "GM1": -1, "GP1": 0, "GP2": +1}
"""Of the cells around a face, from the cell on its plus side: the face is the lower one of that cell."""
_DECLARE, _AS = "__interaction_declare__", "__interaction_as__"


def trace_interaction(
    text: str, *, name: str, precision: object = None, update: str | None = None, boundary: object = None
) -> Traced:
    """The graph of a text; see `workbench.machine.interaction`. Raises TraceError with the text's line."""
    if not isinstance(text, str):
        raise TraceError(f"the text is {type(text).__name__}", advice='Write wb.interaction("LMEM xi; ...").')
    found = read_interaction(CellText(f"<interaction {name}>", tuple(text.splitlines())), FUNCTIONS)
    _let_live(found, precision)
    if found.is_flux:
        namespace = {"flux": flux_of(found), "const": lambda each: _const(each, found.type_of(each))}
        return trace_cell(
            _storing(found) if update is None else update,
            name=name,
            namespace=namespace,
            dtype=found.implicit or "f64",
            boundary=boundary,
        )
    if update is not None:
        raise TraceError("update= completes fluxes, but the text has no FLUX", advice="Leave update out.")
    body = {_DECLARE: _declare, _AS: _as}
    return trace_tree(found.source, _module(found), body, name=name, dtype=found.implicit or "f64")


def flux_of(found: InteractionText) -> Callable[..., tuple[object, ...]]:
    """The text's formula as a function of the quantities, which returns one value for each FLUX, at the lower face."""
    lists = {word: names for word in _OFFSETS if (names := found.names(word))}
    _check_flux(found, lists)
    count = len(next(iter(lists.values())))
    tree = ast.fix_missing_locations(ast.Module([_assignment(found, each) for each in found.assigned], []))
    code = compile(tree, found.source.filename, "exec", dont_inherit=True)

    def flux(*quantities: object, axis: int = 0, **constants: object) -> tuple[object, ...]:
        """One value for each FLUX of the text, at the lower face of each cell along `axis`."""
        current_trace("flux")
        if len(quantities) != count or set(constants) != set(found.names("CONST")):
            needed = ", ".join([f"{count} quantities", *(f"{each}=" for each in found.names("CONST"))])
            given = ", ".join([f"{len(quantities)} quantities", *(f"{each}=" for each in constants)])
            raise TraceError(f"flux takes {needed}, not {given}", advice="Give them in the order of the text's lists.")
        scope: dict[str, object] = {**vocabulary(1), _AS: _as, **constants}
        for word, names in lists.items():
            scope |= {n: _around(q, _OFFSETS[word], axis) for n, q in zip(names, quantities, strict=True)}
        exec(code, scope)  # noqa: S102  # formulas of names, numbers and known functions, as read_interaction checked
        return tuple(scope[each] for each in found.names("FLUX"))

    return flux


def _let_live(found: InteractionText, precision: object) -> None:
    """Give names without a precision of their own the one asked for: one for all of them, or one by name."""
    if precision is None:
        return
    if isinstance(precision, Mapping):
        _let_live_by_name(found, precision)
        return
    if found.implicit:
        raise TraceError(
            f"precision={precision!r} is asked for, but the text says IMPLICIT", advice="Leave one of them out."
        )
    found.implicit = _type_in(precision)


def _let_live_by_name(found: InteractionText, precision: Mapping[str, object]) -> None:
    """As REAL4, REAL8 and REAL16 do in a text."""
    known = dict.fromkeys((*found.declared, *(each.name for each in found.assigned)))
    for name, asked in precision.items():
        if name not in known:
            raise TraceError(f"precision= has {name!r}, which the text has not", advice=f"Use {', '.join(known)}.")
        if name in found.types:
            raise TraceError(
                f"precision= has {name!r}, but the text gives it a precision", advice="Leave one of them out."
            )
        found.types[name] = _type_in(asked)


def _type_in(precision: object) -> str:
    """The storage type that a word for a precision, or its own name, says."""
    if isinstance(precision, str) and precision in (*PRECISIONS, *PRECISIONS.values()):
        return PRECISIONS.get(precision, precision)
    known = ", ".join(f"{word} ({type_})" for word, type_ in PRECISIONS.items())
    raise TraceError(f"precision={precision!r} is unknown", advice=f"Use one of {known}.")


def _module(found: InteractionText) -> ast.Module:
    """The text as Python, each statement at its place: declarations first, wherever they stand."""
    statements: list[ast.stmt] = []
    for each in found.declared.values():
        arguments = [ast.Constant(value) for value in (each.name, each.word, found.type_of(each.name))]
        call = ast.Call(ast.Name(_DECLARE, ast.Load()), list[ast.expr](arguments), [])
        statements.append(_at(ast.Assign([ast.Name(each.name, ast.Store())], call), each.span))
    statements += [_assignment(found, each) for each in found.assigned]
    return ast.Module(statements, [])


def _assignment(found: InteractionText, each: Assigned) -> ast.stmt:
    """name = value in the precision in which the name lives; a total takes the value and rounds it itself."""
    target = ast.Name(each.name, ast.Store())
    if each.name in found.names("RMEM"):
        return _at(ast.AugAssign(target, ast.Add(), each.value), each.span)
    value = ast.BinOp(ast.Name(each.name, ast.Load()), ast.Add(), each.value) if each.adds else each.value
    rounded = ast.Call(ast.Name(_AS, ast.Load()), [value, ast.Constant(found.type_of(each.name))], [])
    return _at(ast.Assign([target], rounded), each.span)


def _at(statement: ast.stmt, span: Span) -> ast.stmt:
    """With its place, and that of all that has none: formulas have those of the text."""
    for node in ast.walk(statement):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            node.lineno, node.end_lineno = span.line, span.line
            node.col_offset, node.end_col_offset = span.column, span.end_column
    return statement


def _declare(name: str, word: str, type_: str) -> object:
    match word:
        case "LMEM":
            return targets(name, dtype=type_)[0]
        case "BMEM":
            return sources(name, dtype=type_)[0]
        case "RMEM":
            return totals(name, dtype=type_)[0]
        case _:
            return _const(name, type_)


def _const(name: str, type_: str) -> Value:
    """A param without a default: the text gives none."""
    trace = current_trace("CONST")
    check_name(name, "param")
    trace.declare(Static(name, "param", parse_type(type_), GLOBAL, span=trace.here()))
    return Value(trace.emit(lambda pool: pool.load(name)), name)


def _as(value: object, type_: str) -> object:
    """The value in the precision of its name; a number takes that of what it meets, a condition stays one."""
    return value.astype(type_) if isinstance(value, Value) and term_of(value).type.is_float else value


def _around(quantity: object, offset: int, axis: int) -> object:
    return quantity.at(offset, axis) if offset and isinstance(quantity, Value) else quantity


def _check_flux(found: InteractionText, lists: dict[str, list[str]]) -> None:
    assigned = {each.name for each in found.assigned}

    def fault(declared: Declared, what: str, advice: str) -> Exception:
        return found.source.mark(TraceError(what, advice=advice), declared.span)

    for each in found.declared.values():
        if each.word not in (*FACES, "CONST"):
            raise fault(each, f"{each.name} is {each.word} in a text with FLUX", "Write two texts.")
        if each.word == "FLUX" and each.name not in assigned:
            raise fault(each, f"the flux {each.name} is never assigned", f"Write {each.name} = value;")
        first = next(iter(lists.values()), [])
        if each.word in lists and len(lists[each.word]) != len(first):
            raise fault(each, f"{each.word} has {len(lists[each.word])} names, another list has {len(first)}",
                        "Name the same quantities in each list, in one order.")  # fmt: skip
    if not lists or not found.names("FLUX"):
        declared = next(iter(found.declared.values()))
        raise fault(declared, "fluxes need FLUX and one of GM1, GM2, GP1, GP2", "Declare both.")


def _storing(found: InteractionText) -> str:
    """A cell that stores the fluxes of fields, whose names are those of the first list without their side."""
    first = next(names for word in _OFFSETS if (names := found.names(word)))
    names = [name[:-3] if name[-3:] in ("_m1", "_m2", "_p1", "_p2") else name for name in first]
    fluxes = found.names("FLUX")
    constants = found.names("CONST")
    lines = [f"{', '.join(each)}, = fields({' '.join(each)!r})" for each in (names, fluxes)]
    lines += [f"{each} = const({each!r})" for each in constants]
    given = ", ".join([*names, *(f"{each}={each}" for each in constants)])
    return "\n".join([*lines, f"{', '.join(f'{each}.next' for each in fluxes)}, = flux({given})"])
