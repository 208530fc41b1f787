"""Instructions: the closed union of what a node can do (Paraiso's nine, and Extend), and nodes, which have one each.

One file, because the types are recursive: a Reduce may have a region, and a region has nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_args

from workbench.graph.marks import NO_HINT, Hint, Span
from workbench.graph.side_rules import SideRule
from workbench.graph.spaces import Space
from workbench.graph.traits import Traits
from workbench.graph.types import I64, StorageType

Constant = bool | int | float | tuple[Any, ...]
"""A number, or of a pair a tuple of two constants."""


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant. `value` is a bool, int or float that the node's type represents exactly; Global or Local."""

    value: bool | int | float

    # 0.0 == -0.0 and NaN != NaN under Python equality, yet they are different or equal constants: compare the text.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imm) and (self.value is other.value or repr(self.value) == repr(other.value))

    def __hash__(self) -> int:
        return hash(self.value) if self.value == self.value else 0  # NaN has a hash for each object


@dataclass(frozen=True, slots=True)
class Load:
    """The static `name` as it was when the kernel started; a Local one is defined on the domain only.

    along: the names of the axes along which it is seen, if not its own ones: as many, of the same extents. Particles
    are seen as targets along their own axis and as sources along another one.
    """

    name: str
    along: tuple[str, ...] = ()


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
class Fold:
    """All cells along some axes to one, for each cell along the others, in the canonical order of semantics §3.

    `axes` are numbers of the operand's axes, ascending, not all of them. Along them only the domain is looked at; along
    the axes that are kept the result is a function of every cell, as its operand is.
    """

    operator: str | Region
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """What is combined along one axis up to each cell, in the canonical order of semantics §3; on the domain only.

    reverse: from the last cell to the first. exclusive: without the cell itself; the first one is the identity.
    """

    operator: str | Region
    axis: int
    reverse: bool = False
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class SegmentedReduce:
    """For each segment of a line of cells its cells to one, in the canonical order of semantics §3; on the domain only.

    Operands: the cells, along one axis; for each segment where it begins and how many cells it has, i64 along another
    one. A segment that leaves the cells, or a last one that does not end with them, is an error of the run.

    Cells may have the axis of the segments before their own: each segment then has a line of cells for itself, of which
    it takes a part, anywhere inside.
    """

    operator: str | Region


@dataclass(frozen=True, slots=True)
class Scatter:
    """Cells sent to computed places: each begins with operand 0 and takes what is sent to it, in the order of senders.

    Operands: the defaults, whose axes the result has; what is sent; an i64 index for each of these axes; if `masked`,
    whether it is sent. All but the defaults have one space, whose cells are the senders, in C order. What comes is
    combined as operator(new, old), without identity. An index outside is an error of the run (semantics §2).
    """

    operator: str | Region
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """Arrays one after another along an axis: the cells of operand 0, then those of operand 1, and so on.

    Each operand has the other axes of the result; beside them it has an axis of its own, along which its cells come, or
    none: it is one cell then. Along `axis`, a number of the result's axes, the extent is the sum (semantics §2).
    """

    axis: int


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of each cell among all when they are sorted by the low `bits` bits of whole numbers, i64 from 0.

    Cells of equal bits keep their order: the sort is stable. Operand: integers with one axis, which the result has.
    """

    bits: int


@dataclass(frozen=True, slots=True)
class Loop:
    """One of the values that a loop ends with, in each cell for itself: number `result` of those it carries.

    Operands: the most turns, i64; what each value begins with; what the body reads besides, numbers of the cell and
    arrays. These but for the turns are the parameters of `body`; its results are whether there is another turn, and the
    values after it. Arrays are read by a Gather in the body, on their domain only, in the turns that are made.
    """

    body: Region
    result: int


@dataclass(frozen=True, slots=True)
class Replicate:
    """A Local in every cell of `space`, which has its axes, in their order, and further ones: the same along those."""

    space: Space


@dataclass(frozen=True, slots=True)
class Gather:
    """The cell of operand 0 that the other operands number, one i64 Local for each of its axes, all of one space.

    Only the domain of operand 0 is looked at. An index outside it is an error of the run (semantics §2). In the body of
    a Loop operand 0 is a parameter that is an array, and the others are Globals as all nodes there.
    """


@dataclass(frozen=True, slots=True)
class Shift:
    """Moves cells: result[i] = operand[i - offset]. The relative read u[+1] is Shift((-1,))."""

    offset: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoadIndex:
    """The cell's global index along `axis` of the value's own space, i64; simply continues outside the domain."""

    axis: int


@dataclass(frozen=True, slots=True)
class LoadSize:
    """The global extent along `axis` of the graph's space, an i64 Global."""

    axis: int


@dataclass(frozen=True, slots=True)
class Arith:
    """An element-wise operator by its name in the operator table; "cast" converts to the node's type."""

    operator: str


@dataclass(frozen=True, slots=True)
class Extend:
    """The operand inside the domain, its rules outside; the operand's own outside is never looked at.

    `sides[axis]` is (rule of the minus side, rule of the plus side). Operand 0 is the extended value; the operands
    that value rules name follow. Outside, with index i (semantics §4): if some axis lies outside at a side with a
    value rule, the lowest such axis decides (Prescribed: its operand at i; Fixed and Neumann: by the value at i moved
    along this axis, found by the same procedure); else the lowest axis that lies outside is mapped one step and the
    procedure repeats. Total on Z^d for every extent >= 1.
    """

    sides: tuple[tuple[SideRule, SideRule], ...]


Collective = Scan | SegmentedReduce | Scatter | Join | Rank
"""What is made of many cells by a loop of its own, and lies in an array that has a value on the domain only."""
COLLECTIVES: tuple[type[Collective], ...] = get_args(Collective)
Combining = Reduce | Fold | Scan | SegmentedReduce | Scatter
"""Instructions with an operator that combines two values."""
Leaf = Imm | Load | LoadIndex | LoadSize
"""Instructions without operands."""
Instruction = Leaf | Store | Combining | Join | Rank | Broadcast | Replicate | Gather | Shift | Arith | Loop | Extend


@dataclass(frozen=True, slots=True)
class Node:
    """One instruction and the value that it produces (Store produces none: type and space are None).

    `operands` are indices of earlier nodes of the same kernel. Names and spans take no part in equality of meaning
    (see `Kernel.keys`) but do in `==`.
    """

    instruction: Instruction
    operands: tuple[int, ...]
    type: StorageType | None
    space: Space | None
    names: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    hint: Hint = NO_HINT

    @property
    def is_global(self) -> bool:
        """Whether the node produces a Global."""
        return self.space is not None and not self.space.axes

    @property
    def is_local(self) -> bool:
        """Whether the node produces a Local."""
        return self.space is not None and bool(self.space.axes)

    @property
    def value_type(self) -> StorageType:
        """The type of the value; only Store has none."""
        assert self.type is not None
        return self.type


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a region, read inside by Load(name).

    axes: of an array whose elements the body of a Loop reads at computed places, how many it has; 0 for a number.
    """

    name: str
    type: StorageType
    axes: int = 0


@dataclass(frozen=True, slots=True)
class Region:
    """A closed scalar graph used as an operator; all nodes are Globals, the last node is the result.

    For what combines: two parameters (accumulator, cell; new, old) and `identity`, which leaves the other unchanged.
    For a Loop `results` numbers the nodes of its several results instead.
    """

    parameters: tuple[Parameter, ...]
    nodes: tuple[Node, ...]
    identity: Constant | None = None
    results: tuple[int, ...] = ()


TRAITS: dict[type, Traits] = {
    Imm: Traits("imm", 0, "none", "either", "cells", uniform=True),
    Load: Traits("load", 0, "none", "either", "launch", domain_only=True),
    Store: Traits("store", 1, "cell", "none", "launch", on_domain=True),
    Reduce: Traits("reduce", 1, "all", "global", "launch", on_domain=True),
    Broadcast: Traits("broadcast", 1, "none", "local", "cells", moves=True, uniform=True),
    Fold: Traits("fold", 1, "all", "local", "launch"),
    Scan: Traits("scan", 1, "all", "local", "launch", on_domain=True, domain_only=True),
    SegmentedReduce: Traits(
        "segments", 3, "all", "local", "launch", on_domain=True, domain_only=True, notes_outside=True
    ),
    Scatter: Traits("scatter", None, "all", "local", "launch", on_domain=True, domain_only=True, notes_outside=True),
    Join: Traits("join", None, "all", "local", "launch", on_domain=True, domain_only=True),
    Rank: Traits("rank", 1, "all", "local", "launch", on_domain=True, domain_only=True, type=I64),
    Replicate: Traits("replicate", 1, "projection", "local", "cells", moves=True),
    Gather: Traits("gather", None, "anywhere", "local", "cells", on_domain=True, notes_outside=True),
    Shift: Traits("shift", 1, "neighbour", "local", "cells", moves=True),
    LoadIndex: Traits("index", 0, "none", "local", "cells", type=I64),
    LoadSize: Traits("size", 0, "none", "global", "launch", type=I64),
    Arith: Traits("", None, "cell", "either", "cells"),
    Loop: Traits("loop", None, "cell", "either", "cells"),
    Extend: Traits("extend", None, "neighbour", "local", "fill", on_domain=True),
}
"""One row for each member of `Instruction`."""
PLAIN: dict[str, type[Any]] = {
    row.word: kind
    for kind, row in TRAITS.items()
    if kind is not Imm and all(field.type in ("int", "tuple[int, ...]") for field in fields(kind))
}
"""Instructions that the text form writes as their word and their numbers, by this word."""


def array_places(instruction: Instruction) -> tuple[int, ...]:
    """Return which operands, by number, are arrays that are read at computed places."""
    if isinstance(instruction, Loop):
        return tuple(k for k, parameter in enumerate(instruction.body.parameters, start=1) if parameter.axes)
    return (0,) if isinstance(instruction, Gather) else ()


def arrays_read(node: Node) -> tuple[int, ...]:
    """Return the operands that are arrays which the node reads at computed places."""
    return tuple(node.operands[number] for number in array_places(node.instruction))


def operands_in_cell(node: Node) -> tuple[int, ...]:
    """Return the other operands: those that are read as the instruction's traits say."""
    arrays = array_places(node.instruction)
    return tuple(o for number, o in enumerate(node.operands) if number not in arrays) if arrays else node.operands


def with_operands(node: Node, made: Callable[[int], int]) -> tuple[int, ...]:
    """Return the operands, arrays that are read at computed places as they are and `made(operand)` for others."""
    arrays = array_places(node.instruction)
    return tuple(o if number in arrays else made(o) for number, o in enumerate(node.operands))


def places_on_domain(instruction: Instruction) -> tuple[int, ...]:
    """Return which operands, by number, are looked at on the domain only, never outside."""
    return (0,) if traits_of(instruction).on_domain else array_places(instruction)


def places_of_arrays(instruction: Instruction) -> tuple[int, ...]:
    """Return which operands, by number, must lie in arrays if they are Local; a Reduce takes its as it is computed."""
    return () if traits_of(instruction).reads == "all" else places_on_domain(instruction)


def notes_outside(instruction: Instruction) -> bool:
    """Whether an index that lies outside of what it numbers is noted, an error of the run (semantics §2)."""
    return traits_of(instruction).notes_outside or bool(array_places(instruction))


def collective_of(node: Node) -> Collective:
    """Return the instruction of a node that a loop makes alone."""
    assert isinstance(node.instruction, Collective)
    return node.instruction


def static_of(instruction: Instruction) -> str:
    """Return the name of the static that it reads or writes, "" if it does neither."""
    return instruction.name if isinstance(instruction, Load | Store) else ""


def traits_of(instruction: Instruction) -> Traits:
    """Return the row of TRAITS for the instruction's kind."""
    return TRAITS[type(instruction)]
