"""Boundary rules: what a value is beyond one side of one axis; an Extend has one for each side (semantics §4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args


@dataclass(frozen=True, slots=True)
class Undefined:
    """No rule at this side: reading outside is an error that names field, side and line."""


@dataclass(frozen=True, slots=True)
class Periodic:
    """Index map i -> i mod n; each extent n crossed multiplies by `sign`. Needs both sides, with one sign."""

    sign: int = 1


@dataclass(frozen=True, slots=True)
class Outflow:
    """Index map to the nearest cell of the domain."""


@dataclass(frozen=True, slots=True)
class Reflect:
    """Index map about the face (-1 -> 0, n -> n-1; period 2n); each reflection multiplies by `sign`."""

    sign: int = 1


@dataclass(frozen=True, slots=True)
class Mirror:
    """Index map about the first or last cell (-1 -> 1, n -> n-2; period 2n-2); each multiplies by `sign`.

    With one cell there is no other to map to: everything outside maps to cell 0 and is multiplied by `sign` once.
    """

    sign: int = 1


@dataclass(frozen=True, slots=True)
class Wall:
    """Reflection of a face-located field about the wall: -m -> m, n+m -> n-m, each multiplied by `sign`.

    Face n lies on the wall and has no partner: it is 0 for sign -1 and takes face n-1 for sign +1.
    """

    sign: int = 1


@dataclass(frozen=True, slots=True)
class Prescribed:
    """Ghost cells hold operand number `operand` of the Extend, at the ghost's own (unmapped along axis) index.

    `constant(v)` and `analytic(f)` both become this: the operand is a Local that depends on indices and Globals only.
    """

    operand: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """The face holds operand number `operand`: ghost = 2 v - (value at the reflected index)."""

    operand: int


@dataclass(frozen=True, slots=True)
class Neumann:
    """Extrapolates from the last cell: value(last) + m * operand, m = signed distance (ghost index - last index).

    The operand is slope * dx with slope = du/dx_axis along +axis on both sides.
    """

    operand: int


IndexMap = Periodic | Outflow | Reflect | Mirror | Wall
ValueRule = Prescribed | Fixed | Neumann
"""Rules that name an operand of the Extend, their field `operand`."""
SideRule = Undefined | IndexMap | ValueRule


def _rule_word(kind: type[SideRule]) -> str:
    return "value" if kind is Prescribed else kind.__name__.lower()


RULES: dict[str, Callable[..., SideRule]] = {_rule_word(rule): rule for rule in get_args(SideRule)}
"""Every rule by the name that the text form and the generated code know it by. A rule has at most one number."""
INDEX_MAPS: tuple[type[IndexMap], ...] = get_args(IndexMap)
VALUE_RULES: tuple[type[ValueRule], ...] = get_args(ValueRule)


def rule_name(rule: SideRule) -> str:
    """Return the rule's name in RULES."""
    return _rule_word(type(rule))


def maps_nearby(rule: SideRule) -> bool:
    """Return whether a ghost cell needs no cell farther from its side than it lies outside, but for one.

    Tiles of several steps and loops that run together have those cells; from the other side they take Periodic only.
    """
    match rule:
        case Undefined() | Outflow() | Reflect() | Mirror() | Wall() | Prescribed() | Fixed() | Neumann():
            return True
        case Periodic():
            return False
