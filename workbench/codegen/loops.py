"""Loops: what a loop computes, as frozen records with finished text and no graph, for the templates."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.codegen.cell_code import Pointer
from workbench.codegen.folding import Folding
from workbench.codegen.joining import Joining
from workbench.codegen.scattering import Scattering
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.statement import Statement
from workbench.codegen.turns import LoopStage, lane_count
from workbench.planning.kernel_plan import Margins

_SHORT = 8
"""Statements of a cell, at most, for which what 16 cells compute stays in registers."""


@dataclass(frozen=True, slots=True)
class Array:
    """A pointer argument: its name, C++ type and the slot that it gets at the call."""

    name: str
    type: str
    slot: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Partial:
    """A reduction inside a sweep: the row buffer of its operand and how two values combine.

    seeking: of a first extreme, how its elements combine; then `found` is the last line of a function `cells` of a cell
    that gives its element, and `best` has what was found so far. taken: the type of the operand, of what has the same
    bits in any order.
    """

    name: str
    cells: str
    type: str
    combine: str
    identity: str
    seeking: str = ""
    best: str = ""
    found: Statement | None = None
    taken: str = ""


@dataclass(frozen=True, slots=True)
class Scanning:
    """A Scan: along which of the loop's axes, how two values combine, what is combined, and where results go.

    lanes: lines side by side. free: whether the operator gives the same bits in any order, as those of integers do.
    """

    axis: int
    reverse: bool
    exclusive: bool
    type: str
    combine: str
    identity: str
    value: str
    array: str
    lanes: int
    free: bool

    @property
    def freely(self) -> bool:
        """Whether a line is scanned without runs and trees, which change no bit."""
        return self.free and self.lanes == 1

    @property
    def in_parts(self) -> bool:
        """Whether a line may be scanned in parts, after a pass for what their chunks combine to."""
        return self.lanes == 1 and not self.exclusive


@dataclass(frozen=True, slots=True)
class Ranking:
    """A Rank: of which whole numbers, by how many values of their low bits, and where the places go."""

    value: str
    digits: int
    array: str


@dataclass(frozen=True, slots=True)
class Segmenting:
    """A fold of segments: their cells, which lie in the shape `cells`, and where each begins and how many it has.

    rank: axes of the cells; 2 where each segment has a line of its own. bit: which notes that segments do not fit.
    stopping: `cell` once more, which ends the loop where something outside would be read; () where nothing is.
    streams: whether segments lie one after another in one line, and their cells read arrays.
    """

    cells: str
    rank: int
    start: str
    length: str
    bit: int
    type: str
    combine: str
    identity: str
    value: str
    array: str
    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    stopping: tuple[Statement, ...]
    streams: bool


@dataclass(frozen=True, slots=True)
class Stretches:
    """Of a loop whose rows go in stretches: of so many cells at each end of a row each is one, and the interior.

    variables: types and names of what is known in a stretch; at_first: the lines that find it at its first cell; lines:
    what follows from it. notes: whether a cell notes what it reads outside.
    """

    below: int
    above: int
    variables: tuple[tuple[str, str], ...]
    at_first: tuple[Statement, ...]
    lines: tuple[Statement, ...] = ()
    notes: bool = False


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Of a loop that may compute cells in vectors: the type of all its numbers, rows whose neighbours it reads.

    ahead: rows whose lines are prefetched.
    """

    type: str
    rows: tuple[str, ...]
    ahead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sweep:
    """The loop nest of sub-kernels over a box of cells; `rolls`: as a member of a chain, which says where tiles are.

    `label` is the first one's name. Equal sweeps have equal text. rank: number of the loop's axes. shapes: of arrays
    with other axes. folding: only of a loop that folds, whose box is of the cells that are kept. outside: the slot that
    notes indices outside; -1 where nothing is read at computed places. extended: whether a cell's values are structs,
    of type dd. stages: `cell`, cut at loops that cells make or at a fold's roots, or made quickly where that is of dd.
    stretches: of a loop whose cells read neighbours at indices that are cut at the ends of a row. vectors: of one whose
    cells may be computed in vectors that hold neighbours along a row (codegen/vectors).
    """

    name: str = field(compare=False)
    label: str = field(compare=False)
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]
    partials: tuple[Partial, ...]
    uniform: tuple[Statement, ...]
    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    rolls: bool = False
    rank: int = 0
    shapes: tuple[ArrayShape, ...] = ()
    folding: Folding | None = None
    outside: int = -1
    scanning: Scanning | None = None
    segmenting: Segmenting | None = None
    scattering: Scattering | None = None
    ranking: Ranking | None = None
    joining: Joining | None = None
    extended: bool = False
    stages: tuple[LoopStage, ...] = ()
    stretches: Stretches | None = None
    vectors: VectorRows | None = None

    @property
    def kind(self) -> str:
        """What its name says that it makes."""
        made = {
            "fold": self.folding,
            "scan": self.scanning,
            "segments": self.segmenting,
            "rank": self.ranking,
            "join": self.joining,
            "scatter": self.scattering,
        }
        return next((word for word, how in made.items() if how is not None), "sweep")

    @property
    def lanes(self) -> int:
        """Cells side by side in loops that cells make for themselves."""
        return lane_count(self.stages)

    @property
    def seeks(self) -> bool:
        """Whether first extremes are sought."""
        values = () if self.folding is None else self.folding.values
        return any(each.seeking for each in self.partials) or any(each.seeking for each in values)

    @property
    def packs(self) -> bool:
        """Whether rows that are taken together have a copy of what they read together."""
        return self.folding is not None and self.folding.rows is not None and bool(self.folding.rows.packed)

    @property
    def by_lanes(self) -> bool:
        """Whether what is reduced goes to its lanes 16 cells at a time, in registers.

        So it is where cells are short formulas that store and check nothing.
        """
        is_plain = not (self.stages or self.extended or self.writes) and self.outside < 0
        return bool(self.partials) and is_plain and len(self.cell) <= _SHORT

    @property
    def in_any_order(self) -> bool:
        """Whether such a loop may take more cells at a time, in lanes of which none is that of a cell."""
        return self.by_lanes and all(each.taken for each in self.partials)

    @property
    def ends_early(self) -> bool:
        """Whether such a loop knows its results as soon as it has met a cell that decides them."""
        combines = {each.combine for each in self.partials}
        return self.in_any_order and combines <= {"combine_logical_or", "combine_logical_and"}


@dataclass(frozen=True, slots=True)
class RuleOperand:
    """The value of a boundary rule at a ghost cell."""

    number: int
    type: str
    uniform: tuple[Statement, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The outside of Extend nodes; `label` is for people: what the first of them extends."""

    name: str = field(compare=False)
    label: str = field(compare=False)
    type: str
    table: tuple[tuple[tuple[str, int, int], tuple[str, int, int]], ...]
    grown: Margins
    most_steps: int
    operands: tuple[RuleOperand, ...]

    @property
    def rank(self) -> int:
        """Number of axes of what is extended."""
        return len(self.table)


@dataclass(frozen=True, slots=True)
class Combine:
    """A reduction's operator given as a region."""

    name: str
    type: str
    left: str
    right: str
    body: tuple[Statement, ...]
