"""Boundaries: the rules a user writes, and the Extend node that they become.

A rule of numbers may be made outside a cell too, for `field(boundary=...)` there or for a solver: fixed(1.0).
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.operations import need_distance
from workbench.frontend.promotion import convert
from workbench.frontend.trace import Operand, Term, Trace, text_here
from workbench.frontend.value import Value, binary, operand, wrap
from workbench.graph import (
    Fixed,
    KernelBuilder,
    Load,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    SideRule,
    StorageType,
    Undefined,
    Wall,
)
from workbench.graph.instructions import traits_of
from workbench.graph.spaces import axis_name

Named = Literal["periodic", "outflow", "reflect", "mirror"]
Kind = Literal["undefined", Named, "constant", "analytic", "fixed", "neumann"]
NAMED: tuple[Named, ...] = get_args(Named)
_ELSEWHERE = {
    **dict.fromkeys(("wrap", "circular", "cyclic"), '"periodic"'),
    **dict.fromkeys(("edge", "nearest", "replicate"), '"outflow"'),
    "symmetric": '"reflect"',
    **dict.fromkeys(("zero", "zeros"), "constant(0)"),
    "dirichlet": "fixed(v) where the face holds the value, constant(v) where the cells outside do",
    "neumann": 'neumann(slope, dx), or "outflow" where the slope is 0',
}
"""The words of other libraries, and what they are here."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule as the user wrote it: its kind, the sign of a reflection, the value or function of a value rule."""

    kind: Kind
    sign: int = 1
    value: object = None
    text: str = ""

    def __str__(self) -> str:
        return self.text or self.kind


NO_RULE = Rule("undefined")
Sides = tuple[tuple[Rule, Rule], ...]


def periodic(sign: int = 1) -> Rule:
    """The domain repeats (-1 takes cell n-1, n takes cell 0); with sign=-1 each repetition has the opposite sign.

    periodic(sign=-1) is antiperiodic: the domain is half a period.
    """
    return Rule("periodic") if _sign(sign, "periodic") == 1 else Rule("periodic", -1, text="periodic(sign=-1)")


def reflect(sign: int | None = None) -> Rule:
    """Mirror about the face of the domain (-1 takes cell 0, n takes n-1), multiplied by `sign`, +1 or -1.

    Without a sign a field keeps its sign and a tensor is reflected: an index along the normal changes its sign.
    """
    return Rule("reflect") if sign is None else Rule("reflect", _sign(sign, "reflect"), text=f"reflect(sign={sign})")


def mirror(sign: int | None = None) -> Rule:
    """Mirror about the first and last cell (-1 takes cell 1, n takes n-2), multiplied by `sign`, +1 or -1.

    Without a sign a field keeps its sign and a tensor is reflected: an index along the normal changes its sign.
    """
    return Rule("mirror") if sign is None else Rule("mirror", _sign(sign, "mirror"), text=f"mirror(sign={sign})")


def constant(value: object) -> Rule:
    """Ghost cells hold `value`: a number, param or scalar."""
    return _value_rule("constant", value, value)


def fixed(value: object) -> Rule:
    """The face of the domain holds `value`: ghost = 2 * value - the cell at the reflected index."""
    return _value_rule("fixed", value, value)


def neumann(slope: object, dx: object) -> Rule:
    """Extrapolate from the last cell with the slope du/dx, along the positive axis on both sides; dx: cell width."""
    need_distance(operand(dx), "neumann")
    return _value_rule("neumann", binary("multiply", slope, dx), slope, dx)


def analytic(function: Callable[..., object]) -> Rule:
    """Ghost cells hold function(i, j, ...), called once with one integer index value per axis.

    It may use numbers, params, scalars and sizes, with their values at the start of the kernel, but no field. The
    indices are those of the ghost cell, -1 for the first one before the domain; its centre lies at (i + 0.5) * dx.
    """
    if not callable(function):
        raise TraceError(
            f"analytic needs a function of the indices, not {function!r}", advice="Write analytic(lambda i: ...)."
        )
    return Rule("analytic", value=function, text=f"analytic({getattr(function, '__name__', 'function')})")


RULES = (periodic, reflect, mirror, constant, fixed, neumann, analytic)  # the functions that make a rule


def _sign(sign: object, rule: str) -> int:
    if isinstance(sign, bool) or not isinstance(sign, int) or sign not in (1, -1):
        raise TraceError(f"the sign of {rule} is +1 or -1, not {sign!r}", advice=f"Write {rule}(sign=-1).")
    return sign


def _value_rule(kind: Kind, value: object, *arguments: object) -> Rule:
    given = operand(value)
    if isinstance(given, Term) and given.is_local:
        raise TraceError(
            f"{kind} needs one number for the whole side, but got a value per cell",
            advice="Write analytic(lambda i: ...) for values that vary along the side.",
        )
    return Rule(kind, value=given, text=text_here(f"{kind}({', '.join(map(repr, arguments))})"))


def parse_sides(trace: Trace, boundary: object, what: str, component: tuple[int, ...] = ()) -> Sides:
    """The rule of each side; a side without one takes the cell's default, or none. Raises TraceError.

    component: the indices of a tensor's component, for which a reflection without a sign has one along its normal.
    """
    sides = _parse_sides(trace, boundary, what)
    return tuple(
        (_reflected(low, component.count(axis)), _reflected(high, component.count(axis)))
        for axis, (low, high) in enumerate(sides)
    )


def _reflected(rule: Rule, normals: int) -> Rule:
    """The rule of a component with `normals` indices along the normal of the side."""
    if rule.kind not in ("reflect", "mirror") or rule.text or normals % 2 == 0:
        return rule
    return Rule(rule.kind, -1, text=f"{rule.kind}(sign=-1)")


def _parse_sides(trace: Trace, boundary: object, what: str) -> Sides:
    default = NO_RULE
    if boundary is None:
        boundary, default = trace.default_boundary, NO_RULE
    elif isinstance(trace.default_boundary, str | Rule):
        default = one_rule(trace.default_boundary, "the cell's boundary")
    if boundary is None:
        return ((NO_RULE, NO_RULE),) * trace.dim
    if not isinstance(boundary, Mapping):
        rule = one_rule(boundary, what)
        return ((rule, rule),) * trace.dim
    sides: list[list[Rule | None]] = [[None, None] for _ in range(trace.dim)]
    for key, given in boundary.items():
        axis, places = _parse_side(trace, key, what)
        for place in places:
            if sides[axis][place] is not None:
                raise TraceError(f"{what}: side {key!r} has two rules", advice="Keep one of them.")
            sides[axis][place] = one_rule(given, what)
    filled = [(low or default, high or default) for low, high in sides]
    for axis, pair in enumerate(filled):
        kinds = {r.kind for r in pair}
        if kinds == {"periodic"} and pair[0].sign != pair[1].sign:
            raise TraceError(
                f"{what}: axis {axis_name(axis)} is periodic with two signs",
                advice=f'Write {{"{axis_name(axis)}": periodic(sign=-1)}} for both sides.',
            )
        if "periodic" in kinds and len(kinds) > 1:
            raise TraceError(
                f"{what}: axis {axis_name(axis)} is periodic on one side only",
                advice=f'Write {{"{axis_name(axis)}": "periodic"}} for both sides.',
            )
    return tuple(filled)


def _parse_side(trace: Trace, key: object, what: str) -> tuple[int, tuple[int, ...]]:
    letter = key[:-1] if isinstance(key, str) and key.endswith(("+", "-")) else key
    axis = {"x": 0, "y": 1, "z": 2}.get(str(letter), -1)
    if isinstance(letter, str) and letter.isdecimal() and 3 <= int(letter) < 16:
        axis = int(letter)
    if axis < 0:
        raise TraceError(
            f"{what}: {key!r} names no side", advice='Use "x-", "x+", "y-", ... or "x" for both sides of an axis.'
        )
    trace.need_axis(axis, what)
    assert isinstance(key, str)
    return axis, (0, 1) if letter == key else ((0,) if key.endswith("-") else (1,))


def one_rule(given: object, what: str) -> Rule:
    """The rule that a word or a rule is. Raises TraceError for anything else."""
    if isinstance(given, Rule):
        return given
    without_brackets = next((f.__name__ for f in (periodic, reflect, mirror) if f is given), "")
    word = given if isinstance(given, str) else without_brackets
    for name in NAMED:
        if word == name:
            return Rule(name)
    raise TraceError(f"{what}: {getattr(given, '__name__', given)!r} is no boundary rule", advice=_instead_of(given))


def _instead_of(given: object) -> str:
    """The rule that was probably meant, by the words of other libraries; else all of them."""
    meant = _ELSEWHERE.get(given.lower(), "") if isinstance(given, str) else ""
    if isinstance(given, int | float) and not isinstance(given, bool):
        meant = f"constant({given}) where the cells outside hold it, fixed({given}) where the face does"
    if isinstance(given, tuple | list) and 0 < len(given) <= len("xyz") and all(each in NAMED for each in given):
        rules = (f'"{axis}": "{rule}"' for axis, rule in zip("xyz", given, strict=False))
        meant = f"{{{', '.join(rules)}}} for a rule along each axis"
    close = difflib.get_close_matches(given, NAMED, n=1) if isinstance(given, str) else ()
    return f"Use {meant or (_quoted(close[0]) if close else _every_rule())}."


def _every_rule() -> str:
    words = [_quoted(word) for word in NAMED] + [f"{rule.__name__}()" for rule in RULES if rule.__name__ not in NAMED]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _quoted(word: str) -> str:
    return f'"{word}"'


def describe(sides: Sides) -> str:
    """The rules in the card's words: "periodic", or "x-: fixed(0), x+: outflow"; empty if there is none."""
    texts = [str(r) for pair in sides for r in pair]
    if len(set(texts)) == 1:
        return "" if sides[0][0].kind == "undefined" else texts[0]
    named = []
    for axis, (low, high) in enumerate(sides):
        name = axis_name(axis)
        if str(low) == str(high):
            named.append(f"{name}: {low}")
        else:
            named += [f"{name}-: {low}", f"{name}+: {high}"]
    return ", ".join(part for part in named if not part.endswith(": undefined"))


def extend_term(trace: Trace, term: Term, sides: Sides, face_axes: tuple[int, ...] = ()) -> Term:
    """The term with its outside: one Extend node, or the term itself if no side has a rule."""
    if all(r.kind == "undefined" for pair in sides for r in pair):
        return term
    values: dict[int, int] = {}  # pool index of a boundary value -> its operand number in the Extend

    def number(rule: Rule) -> int:
        return values.setdefault(_boundary_value(trace, rule, term).index, len(values) + 1)

    def side(rule: Rule, axis: int) -> SideRule:
        _check_type(rule, term.type)
        return _side_rule(rule, number, on_faces=axis in face_axes)

    rules = tuple((side(low, axis), side(high, axis)) for axis, (low, high) in enumerate(sides))
    return trace.emit(lambda pool: pool.extend(term.index, rules, tuple(values)))


def _side_rule(rule: Rule, number: Callable[[Rule], int], on_faces: bool) -> SideRule:
    """The graph's rule. number: of the operand that has a rule's value. on_faces: whether values lie on the walls."""
    match rule.kind:
        case "undefined":
            return Undefined()
        case "periodic":
            return Periodic(rule.sign)
        case "outflow":
            return Outflow()
        case "reflect":
            return Wall(rule.sign) if on_faces else Reflect(rule.sign)
        case "mirror":
            return Wall(rule.sign) if on_faces else Mirror(rule.sign)
        case "constant" | "analytic":
            return Prescribed(number(rule))
        case "fixed":
            return Fixed(number(rule))
        case "neumann":
            return Neumann(number(rule))


def _check_type(rule: Rule, type_: StorageType) -> None:
    """Refuse a rule that needs arithmetic which the type does not have."""
    if rule.sign < 0 and type_.kind in ("uint", "bool"):
        raise TraceError(f"{rule} changes the sign, but {type_} has none", advice="Use sign=1 or a signed type.")
    if rule.kind in ("fixed", "neumann") and type_.kind == "bool":
        raise TraceError(f"{rule} computes with the cells, which are bool", advice="Use constant(v) or an index map.")


def _boundary_value(trace: Trace, rule: Rule, extended: Term) -> Term:
    value, type_, space = rule.value, extended.type, extended.space
    if rule.kind == "analytic":
        assert callable(value)
        _check_arity(trace, value, str(rule), space.rank)
        indices = [Value(trace.emit(partial(KernelBuilder.index, axis=k, space=space))) for k in range(space.rank)]
        given = operand(value(*indices))
        _check_analytic(given, str(rule))
    else:
        assert isinstance(value, Term | bool | int | float)
        given = value
        _check_analytic(given, str(rule))
    if isinstance(given, Term) and given.type.is_float and not type_.is_float:
        raise TraceError(
            f"{rule} gives {given.type}, but the field is {type_}", advice=f'Cast it: astype(value, "{type_}").'
        )
    return convert(trace, given, type_, space)


def _check_arity(trace: Trace, function: Callable[..., object], text: str, rank: int) -> None:
    """The function must take `rank` indices; while the dimension is a guess, its arguments may correct it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return

    def takes(count: int) -> bool:
        try:
            signature.bind(*range(count))
        except TypeError:
            return False
        return True

    if takes(rank):
        return
    larger = next((k for k in (2, 3) if k > trace.dim and takes(k)), None)
    if larger is not None and not trace.fixed:
        raise DimensionFoundError(larger, fixed=False)
    indices = ", ".join("ijk"[:rank]) if rank <= 3 else "*indices"
    raise TraceError(
        f"the function of {text} does not take one index for each of the {rank} axes",
        advice=f"Write analytic(lambda {indices}: ...).",
    )


def _check_analytic(given: Operand, text: str) -> None:
    """Refuse a boundary value that depends on a field: it must be known before the field is."""
    if not isinstance(given, Term):
        return
    pool, waiting, seen = given.trace.pool, [given.index], set()
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        node = pool.node(index)
        found = {"all": "a reduction over cells", "neighbour": "a relative read"}.get(traits_of(node.instruction).reads)
        if isinstance(node.instruction, Load) and node.is_local:
            found = f"field {node.instruction.name}"
        if found:
            raise TraceError(
                f"{text} uses {found}, but a boundary value may depend on indices, sizes, params and scalars only",
                advice="Store what it needs in a scalar, and use the scalar here.",
            )
        waiting += node.operands


def _sides_of(trace: Trace, value: Term, sides: Sides) -> Sides:
    """The sides of the axes that the value has."""
    if any(axis.kind != "grid" for axis in value.space.axes):
        raise TraceError(
            f"extend of a value along {value.space.axis_names}: only a grid has an outside",
            advice="Extend what has one value per cell.",
        )
    positions = value.space.positions_in(trace.space)
    assert positions is not None, f"a value along {value.space.axis_names}"
    return tuple(sides[position] for position in positions)


def extend_value(
    trace: Trace, value: object, rule: object, component: tuple[int, ...] = (), face_axes: tuple[int, ...] = ()
) -> Value:
    """The value continued outside the domain by `rule`; `component` as in `parse_sides`."""
    given = operand(value)
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError("extend needs a value per cell; one number is the same everywhere", advice="Leave it out.")
    sides = _sides_of(trace, given, parse_sides(trace, rule, "extend", component))
    extended: Value = wrap(extend_term(trace, given, sides, face_axes))
    return extended
