"""T1: the input format of the autotuning methodology: parameters, their values, and the conditions between them.

Values and conditions are Python expressions in text. They are read by a small interpreter of numbers, comparisons and
names; nothing else in a file can be run.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import TuningError
from workbench.python_text import parse
from workbench.tuning.formats import MeasurementTable, Value
from workbench.tuning.search_space import Point, SearchSpace, TuningParameter

_MOST_VALUES = 100_000  # of one parameter
_LONGEST = 10_000  # characters of an expression
_TYPES: Mapping[type, str] = {bool: "bool", int: "int", float: "float", str: "string"}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Not: operator.not_}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"list": list, "range": range, "min": min, "max": max, "abs": abs}


@dataclass(frozen=True, slots=True)
class T1Problem:
    """A problem as read: its name, and the values that stand for a space's texts, by parameter.

    conditions: the texts of those that legal points keep, each with the parameters that it names.
    """

    name: str
    space: SearchSpace
    values: Mapping[str, tuple[Value, ...]]
    conditions: Mapping[str, frozenset[str]]


def write_t1(table: MeasurementTable) -> str:
    """The problem of a table. The format knows no language of a CPU; "C" stands for programs on one."""
    parameters = [
        {
            "Name": name,
            "Type": _TYPES[type(values[0])] if len({type(value) for value in values}) == 1 else "string",
            "Values": repr(list(values)),
        }
        for name, values in table.parameters.items()
    ]
    language = "CUDA" if table.device.startswith("cuda") else "C"
    axes = dict(zip("XYZ", map(str, table.extents), strict=False)) or {"X": "1"}
    kernel = {"KernelName": table.name, "KernelFile": table.name, "GlobalSize": axes, "LocalSize": {"X": "1"}}
    problem = {
        "General": {"FormatVersion": 1, "TimeUnit": "Milliseconds", "OutputFormat": "JSON"},
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": []},
        "KernelSpecification": {"Language": language, **kernel},
    }
    return json.dumps(problem, indent=1) + "\n"


def read_t1(text: str) -> T1Problem:
    """The problem in a text; points that break a condition are not legal. TuningError says what is wrong."""
    try:
        problem = json.loads(text)
        space = problem["ConfigurationSpace"]
        rows = [(str(row["Name"]), str(row["Values"])) for row in space["TuningParameters"]]
        conditions = [str(row["Expression"]) for row in space.get("Conditions", [])]
        name = str(problem["KernelSpecification"]["KernelName"])
    except (ValueError, KeyError, TypeError) as error:
        raise _wrong(f"the file is no T1 problem: {error!r}", "Pass a file with ConfigurationSpace.") from None
    values = {name: _values(name, expression) for name, expression in rows}
    parsed = [(expression, _parsed(expression)) for expression in conditions]

    def legal(point: Point) -> bool:
        names = {name: values[name][at] for name, at in zip(values, point, strict=True)}
        return all(bool(_evaluated(tree, names, expression)) for expression, tree in parsed)

    ordered = {name: all(type(value) in (int, float) for value in given) for name, given in values.items()}
    parameters = tuple(TuningParameter(name, tuple(map(str, given)), ordered[name]) for name, given in values.items())
    found = SearchSpace(parameters, legal)
    legal((0,) * len(parameters))  # a name that is no parameter is refused now
    named = {text: frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)) for text, tree in parsed}
    return T1Problem(name, found, values, {text: names & values.keys() for text, names in named.items()})


def _values(name: str, expression: str) -> tuple[Value, ...]:
    given = _evaluated(_parsed(expression), {}, expression)
    values = tuple(given) if isinstance(given, list | tuple | range) and 0 < len(given) <= _MOST_VALUES else ()
    if not values or not all(isinstance(value, str | int | float | bool) for value in values):
        raise _wrong(f"values of {name} are no list of numbers or texts: {expression!r:.60}", "Write them as a list.")
    return values


def _parsed(expression: str) -> ast.expr:
    try:
        if len(expression) > _LONGEST:
            raise SyntaxError("it is too long")
        return parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _wrong(f"{expression!r:.60} is no expression: {error}", "Write it as Python would.") from None


def _evaluated(tree: ast.expr, names: Mapping[str, Value], expression: str) -> Any:  # noqa: ANN401  # as Python's
    """The value of an expression of numbers, texts, lists, comparisons and names."""
    try:
        return _computed(tree, names)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise _wrong(
            f"{expression!r:.60} cannot be read: {error}", "Use numbers, comparisons and parameters."
        ) from None


def _computed(node: ast.expr, names: Mapping[str, Value]) -> Any:  # noqa: ANN401  # as Python's
    def all_of(*parts: ast.expr) -> list[Any]:
        return [_computed(part, names) for part in parts]

    match node:
        case ast.Constant(value=int() | float() | str() as constant):
            return constant
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all_of(*parts)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return _UNARY[type(sign)](*all_of(operand))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            operands = all_of(left, right)
            if not all(isinstance(one, int | float) for one in operands):
                raise TypeError("it computes with something else than numbers")
            return _BINARY[type(sign)](*operands)
        case ast.BoolOp(op=sign, values=parts):
            return (all if isinstance(sign, ast.And) else any)(all_of(*parts))
        case ast.Compare(left=left, ops=signs, comparators=others) if all(type(sign) in _COMPARE for sign in signs):
            found = all_of(left, *others)
            return all(_COMPARE[type(sign)](a, b) for sign, a, b in zip(signs, found, found[1:], strict=False))
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            return _called(name, all_of(*parts))
    raise TypeError(f"it has {ast.unparse(node)!r:.40}")


def _called(name: str, arguments: list[Any]) -> Any:  # noqa: ANN401  # as Python's
    found = _FUNCTIONS[name](*arguments)
    if isinstance(found, range) and len(found) > _MOST_VALUES:
        raise ValueError(f"it has {len(found)} values")
    return found


def _wrong(what: str, advice: str) -> TuningError:
    return TuningError(what, advice=advice)
