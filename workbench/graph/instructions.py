"""Instructions: the closed union of what a node can do (Paraiso's nine, and Extend)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from workbench.graph.graph import Region
    from workbench.graph.spaces import Space


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant. `value` is a bool, int or float that the node's type represents exactly; Global or Local."""

    value: bool | int | float

    # 0.0 == -0.0 and NaN != NaN under Python equality, yet they are different or equal constants: compare the text.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imm) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Load:
    """The static `name` as it was when the kernel started; a Local one is defined on the domain only."""

    name: str


@dataclass(frozen=True, slots=True)
class Store:
    """The static `name` takes the operand's value when the kernel ends. Has no result."""

    name: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """All cells of the domain (ghost cells never) to one Global, in the canonical order of semantics §3."""

    operator: str | Region
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A Global, the same in every cell of `space`."""

    space: Space


@dataclass(frozen=True, slots=True)
class Shift:
    """Moves cells: result[i] = operand[i - offset]. The relative read u[+1] is Shift((-1,))."""

    offset: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoadIndex:
    """The cell's global index along `axis`, i64; simply continues outside the domain."""

    axis: int


@dataclass(frozen=True, slots=True)
class LoadSize:
    """The global extent along `axis`, an i64 Global."""

    axis: int


@dataclass(frozen=True, slots=True)
class Arith:
    """An element-wise operator by its name in the operator table; "cast" converts to the node's type."""

    operator: str


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
class Value:
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


SideRule = Undefined | Periodic | Outflow | Reflect | Mirror | Wall | Value | Fixed | Neumann
RULES: dict[str, Callable[..., SideRule]] = {rule.__name__.lower(): rule for rule in get_args(SideRule)}
"""Every rule by the name that the text form and the generated code know it by. A rule has at most one number."""
INDEX_MAPS = (Periodic, Outflow, Reflect, Mirror, Wall)
VALUE_RULES = (Value, Fixed, Neumann)


def rule_name(rule: SideRule) -> str:
    """Return the rule's name in RULES."""
    return type(rule).__name__.lower()


@dataclass(frozen=True, slots=True)
class Extend:
    """The operand inside the domain, its rules outside; the operand's own outside is never looked at.

    `sides[axis]` is (rule of the minus side, rule of the plus side). Operand 0 is the extended value; the operands
    that value rules name follow. Outside, with index i (semantics §4): if some axis lies outside at a side with a
    value rule, the lowest such axis decides (Value: its operand at i; Fixed and Neumann: by the value at i moved
    along this axis, found by the same procedure); else the lowest axis that lies outside is mapped one step and the
    procedure repeats. Total on Z^d for every extent >= 1.
    """

    sides: tuple[tuple[SideRule, SideRule], ...]


Instruction = Imm | Load | Store | Reduce | Broadcast | Shift | LoadIndex | LoadSize | Arith | Extend
