"""The plan of one kernel: where its values are stored, and its steps as launches of fills, loops and finishers.

Slots are numbers of arrays; `workbench.planning.plan` has the records of them, and the plan of all kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Literal

from workbench.graph import Kernel
from workbench.planning.tiled import Tiling
from workbench.planning.towered import Towers

Margins = tuple[tuple[int, int], ...]
"""Cells beyond the domain, a pair (below, above) for each axis."""

Axes = tuple[int, ...]
"""Which of the graph's axes an array or a loop has, ascending; () stands for all of them."""

Box = tuple[tuple[int, int], ...]
"""Offsets from a cell, a pair (least, largest) for each axis; reading at offset +1 reads the next cell."""


Blocking = Tiling | Towers
"""How plain steps of a kernel run together: a record of each schedule of several steps, which says its name."""


class Storage(Enum):
    """Where a value lives (terms as in Paraiso and REPA)."""

    GLOBAL = "Global"  # one number: a slot of the Globals block, or computed once a phase into a word behind them
    EXISTING = "Existing"  # a Load or an Extend: no sub-kernel computes it, its array is there or is filled
    MANIFEST = "Manifest"  # stored in an array
    DELAYED = "Delayed"  # recomputed wherever it is needed
    ROLLING = "Rolling"  # stored for a few rows only; refused until a schedule supports it


@dataclass(frozen=True, slots=True)
class StridedField:
    """An array of the caller that loops read where it lies, by strides of its own, and not from a dense copy.

    step: elements from a cell to its neighbour along the last axis, where texts know it; 0 where only a call tells.
    """

    name: str
    step: int


@dataclass(frozen=True, slots=True)
class Home:
    """The slot that a stored node (Load, Manifest value or Extend) occupies in a step, as numbered at its start."""

    node: int
    slot: int


@dataclass(frozen=True, slots=True)
class Read:
    """A stored node that a loop reads, the slot where it lies, and the smallest box that holds all offsets read at.

    The offsets count the node's own axes, which are some or all of the loop's. anywhere: it is read at computed places
    too, and these may lie in all of its domain.

    Which offsets within the box `workbench.planning.reads.emission_in` says.
    """

    node: int
    slot: int
    box: Box
    anywhere: bool = False

    @property
    def is_at_cell(self) -> bool:
        """Whether each cell reads its own cell only."""
        return not self.anywhere and not any(offset for pair in self.box for offset in pair)

    @property
    def planes(self) -> int:
        """How many planes, those of the last two axes, a cell reads at."""
        return prod(high - low + 1 for low, high in self.box[:-2])


@dataclass(frozen=True, slots=True)
class Cost:
    """Per cell of the domain: bytes moved to and from memory, weighted operations, array reads; per step.

    `doubles` are the same operations in units of those on f64: of narrower numbers a vector register holds more.
    """

    bytes_moved: float
    flops: float
    loads: float
    doubles: float


@dataclass(frozen=True, slots=True)
class Fill:
    """Ghost cells of an Extend node: within `margins` beyond the domain of `target`; `source` holds the operand.

    If source and target are the same slot only ghost cells are written, else the domain is copied as well. Operands of
    value rules are evaluated here by their formulas, even where one of them happens to be Manifest.
    """

    node: int
    source: int
    target: int
    margins: Margins


@dataclass(frozen=True, slots=True)
class Subkernel:
    """One loop nest over the domain grown by `margins`: a write group (semantics §3).

    axes: those of the graph's axes that the loop runs over. reduced: those of them that it folds, () in other loops.
    A loop that folds has Fold nodes as outputs, in arrays over the axes that it keeps, and nothing else; `margins` are
    of these, and along the reduced axes it looks at the domain only. In other loops `margins` are of all its axes.
    alone: a Scan, SegmentedReduce, Scatter, Join or Rank that the loop makes and nothing else; -1 in other loops.

    outputs: nodes it stores and where. A Manifest node is computed by its formula; it is listed once more for each
    further field that takes its value. A Load is listed if a field takes another one's value that must be copied: it
    is read where `reads` says. reductions: Reduce nodes whose operand it accumulates (domain only, so margins are
    zero). reads: the stored nodes that it reads, ascending. `emitted` predicts the operations in its text. Everything
    Delayed that these need is recomputed inside. Global arithmetic is computed once a phase (codegen/uniforms.py).

    An output may share its slot with a node that is read at the same cell only: in each cell all reads come before
    the first write, and pointers to one slot must not be declared free of aliases.
    """

    index: int
    name: str
    margins: Margins
    outputs: tuple[Home, ...]
    reductions: tuple[int, ...]
    reads: tuple[Read, ...]
    emitted: int
    cost: Cost
    sync_before: bool = False
    sync_after: bool = False
    axes: Axes = ()
    reduced: Axes = ()
    alone: int = -1

    @property
    def takes(self) -> bool:
        """Whether it computes the operands of what it stores, and not that itself."""
        return bool(self.reduced) or self.alone >= 0


@dataclass(frozen=True, slots=True)
class Finisher:
    """Turns the partial results of a Reduce node into its Global slot."""

    node: int
    slot: int


@dataclass(frozen=True, slots=True)
class Launch:
    """What runs together between two barriers: `members` index the step's fills, subkernels or finishers."""

    kind: Literal["fill", "subkernel", "finisher"]
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RollingValue:
    """A value of a chain that is kept for `planes` planes along axis 0, a power of two, and never in its slot."""

    node: int
    planes: int


@dataclass(frozen=True, slots=True)
class ChainMember:
    """A sub-kernel of a chain: how far beyond a block it computes, and how many planes ahead of the block's own."""

    subkernel: int
    grown: Margins
    ahead: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Sub-kernels that may run together, block by block of the domain grown by `margins` (workbench.planning.rolling).

    launches: the first of the step's launches and the one after the last. members: in the order in which they run in
    each turn; those that write arrays grow by nothing and have just these margins. rolling: made and read inside only.
    moved: members that stand in earlier launches, where they need not run then. fills: those of the step whose ghost
    cells are written into buffers, right after the cells that they come from; along rings whose planes are elsewhere
    they are computed again. Members of such a chain compute nothing outside the domain.
    No member writes an array, rolling values apart, that another one uses or that it reads itself at another cell.
    Slots of rolling values are there for backends that run the launches one by one.
    """

    launches: tuple[int, int]
    margins: Margins
    members: tuple[ChainMember, ...]
    rolling: tuple[RollingValue, ...]
    moved: tuple[int, ...] = ()
    fills: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScalarStore:
    """At the end of the step the Global slot takes the node's value; all are computed before any is written."""

    slot: int
    node: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one kernel as a sequence of launches; `chains` are launches that a backend may run together."""

    homes: tuple[Home, ...]
    fills: tuple[Fill, ...]
    subkernels: tuple[Subkernel, ...]
    finishers: tuple[Finisher, ...]
    launches: tuple[Launch, ...]
    scalar_stores: tuple[ScalarStore, ...]
    rotation: tuple[int, ...]
    chains: tuple[Chain, ...] = ()

    def home(self, node: int) -> int:
        """The slot of a stored node; KeyError if the node is not stored."""
        for home in self.homes:
            if home.node == node:
                return home.slot
        raise KeyError(node)


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """One kernel: per node its storage, why that is forced ("" if it is free), and how far outside it is needed.

    `margins[node]` is how many cells beyond the domain some reader needs the node; for a Load the ghost width is on
    its Extend. `observed` is `plain` itself when the kernel has no diagnostic scalars. search_ended: the budget ended
    the search for the storage, so that a better one may not have been tried. blocking: how plain steps run together
    (temporal blocking), None for one after the other.
    """

    kernel: Kernel
    storage: tuple[Storage, ...]
    forced: tuple[str, ...]
    margins: tuple[Margins, ...]
    plain: Step
    observed: Step
    search_ended: bool = field(default=False, compare=False)  # how it was found; a genome gives the same plan
    blocking: Blocking | None = None

    @property
    def tiling(self) -> Tiling | None:
        """That of tiles; None for other plans."""
        return self.blocking if isinstance(self.blocking, Tiling) else None

    @property
    def towers(self) -> Towers | None:
        """That of towers; None for other plans."""
        return self.blocking if isinstance(self.blocking, Towers) else None

    @property
    def has_diagnostics(self) -> bool:
        """Whether some scalar is evaluated on observed steps only."""
        return self.observed is not self.plain

    @property
    def manifest(self) -> tuple[int, ...]:
        """The Manifest nodes: the arrays beyond the fields that Paraiso's Table 3 counts."""
        return tuple(i for i, s in enumerate(self.storage) if s is Storage.MANIFEST)
