"""Device: what the CUDA template writes for a kernel's plan, and the launches that make up a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from workbench.codegen.folding import Folding
from workbench.codegen.loops import Combine, Partial, Ranking, Rules, Scanning, Segmenting
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.statement import Statement
from workbench.codegen.uniforms import Uniforms, UniformWord
from workbench.graph import StorageType
from workbench.planning.kernel_plan import Axes, Margins
from workbench.planning.towered import Towers


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """An array parameter: its name and cell type ("const double")."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SendersTable:
    """What senders of a block combine in its shared memory, where the destinations are few.

    type: of their values. combine: the atomic operation; neutral: what it begins with. array: the destinations', of
    this shape.
    """

    type: str
    combine: str
    neutral: str
    array: str
    shape: str


@dataclass(frozen=True, slots=True)
class DeviceSweep:
    """The kernel of one sub-kernel; with partials, 16 threads do a chunk of a row, else one thread does a cell.

    grown: by how much the domain is grown, None where each launch says that. `moves` are the linear indices of rows
    away from the cell's; `ahead` asks for what the next plane reads. rank: number of the loop's axes. shapes: further
    parameters, of arrays with other axes. folding: of a loop that folds, where one thread does its targets, cells that
    are kept, and `cell` is the text of one folded cell. outside: as in Sweep. scatters: as one kernel of a Scatter.
    prepares: a scan or a rank leaves in `scratch` what its parts combine to, or count, and stores no results.
    """

    name: str = field(compare=False)
    label: str = field(compare=False)
    grown: Margins | None
    parameters: tuple[KernelParameter, ...]
    partials: tuple[Partial, ...]
    uniform: tuple[Statement, ...]
    moves: tuple[str, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    sync_before: bool
    sync_after: bool
    rank: int = 0
    shapes: tuple[ArrayShape, ...] = ()
    folding: Folding | None = None
    outside: int = -1
    scanning: Scanning | None = None
    segmenting: Segmenting | None = None
    ranking: Ranking | None = None
    scatters: bool = False
    table: SendersTable | None = None
    ahead: tuple[str, ...] = ()
    prepares: bool = False

    @property
    def largest_block(self) -> str:
        """The most threads that a block may have, as the text calls it."""
        return "PART_BLOCK" if self.scanning or self.ranking else "STENCIL_BLOCK"

    @property
    def synchronises(self) -> bool:
        """Whether its threads wait for each other: at barriers or in warp functions."""
        streams = self.segmenting is not None and self.segmenting.streams
        shared = self.partials or self.scanning or self.ranking or self.table
        return bool(shared or streams) or self.sync_before or self.sync_after


@dataclass(frozen=True, slots=True)
class DeviceFill:
    """The kernel that writes ghost cells, and the domain as well if `whole`."""

    name: str = field(compare=False)
    rules: Rules
    parameters: tuple[KernelParameter, ...]
    whole: bool
    read: Statement
    write: Statement


@dataclass(frozen=True, slots=True)
class Tree:
    """The kernel that combines partial results of one type by one operator, then calls `uniforms`, if not ""."""

    name: str = field(compare=False)
    type: str
    combine: str
    uniforms: str


@dataclass(frozen=True, slots=True)
class Subtrees:
    """The kernel that combines what the parts of a scan or a rank have to complete subtrees, in place."""

    name: str = field(compare=False)
    type: str
    combine: str


@dataclass(frozen=True, slots=True)
class Scalars:
    """A kernel of one thread: it computes all new scalars, then writes them, then what is the same in all cells."""

    name: str = field(compare=False)
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class TorreCode:
    """The kernel of a stage of towers.

    even, odd: the two arrays. near and older: functions that read registers and shared memory, older "" if no step
    reads what the last one left. cell: the text of one cell; value: what it gives. ahead: the kernel that computes the
    Globals of all levels by `scalars`, "" if steps change none.
    """

    name: str = field(compare=False)
    label: str = field(compare=False)
    towers: Towers
    type: str
    parameters: tuple[KernelParameter, ...]
    even: str
    odd: str
    near: str
    older: str
    uniform: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    value: str
    ahead: str = field(default="", compare=False)
    scalars: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """All text of one kernel of the program."""

    name: str
    combines: tuple[Combine, ...]
    fills: tuple[DeviceFill, ...]
    sweeps: tuple[DeviceSweep, ...]
    trees: tuple[Tree, ...]
    scalars: tuple[Scalars, ...]
    uniforms: tuple[Uniforms, ...] = ()
    subtrees: tuple[Subtrees, ...] = ()
    torres: tuple[TorreCode, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayOperand:
    """What an array parameter gets; `type` is of its cells.

    It is the array in a slot, a buffer of partial results, one of the lists of a Scatter, the scratch of scans and
    ranks, or the Globals of all levels of a move. Lists: number 0 has one cell for each destination, number 1 one for
    each sender. written: whether the kernel may write it.
    """

    parameter: str
    kind: Literal["slot", "partials", "lists", "scratch", "ahead"]
    index: int
    type: StorageType
    written: bool = True


@dataclass(frozen=True, slots=True)
class LaunchCode:
    """One launch of a step; after the arrays come the Globals block and the shape.

    kind: "sweep" over the cells of the domain grown by `grown`, plane by plane; "cells" one thread a cell of it;
    "chunks" 16 threads a chunk of 1024 cells; "segments" a block some segments one after another; "ghosts" one thread a
    ghost cell, and one a cell of the domain as well if `whole`; "tree" combines the partial results in its only array
    into Globals slot `slot`, in several launches;
    "scalars" one thread; "stage" a block a tower; "scan" a thread a run of 32 cells along `scanned`, one of the loop's
    axes; "rank" a warp a part of the cells, for so many `digits`; "subtrees" combines what either left in its only
    array, in several launches. Of the launches of a scan those that only serve `several` chunks of a line are left out
    where lines have one. continues: whether the launch before is of the same loop.
    `fresh` are the arrays, by number, that are written and not read: what else they held before is of no use.
    `loop` is the key of a loop over cells, by which choices may give it a grid and a block of its own. axes: of the
    cells that threads share out; shapes: those whose shapes the kernel gets, in order. targets: cells that a thread
    of kind "cells" does side by side. says_grown: whether the kernel takes `grown` as an argument. tabled: whether each
    block of a sweep has a table, so that there are no more blocks than work side by side. renews: whether a "tree" also
    computes what is the same in all cells.
    """

    kernel: str
    kind: Literal[
        "sweep", "cells", "chunks", "segments", "ghosts", "tree", "scalars", "stage", "scan", "rank", "subtrees"
    ]
    arrays: tuple[ArrayOperand, ...] = ()
    grown: Margins = ()
    whole: bool = False
    slot: int = -1
    fresh: tuple[int, ...] = ()
    loop: str = ""
    axes: Axes = ()
    shapes: tuple[Axes, ...] = ((),)
    targets: int = 1
    says_grown: bool = False
    scanned: int = -1
    digits: int = 0
    several: bool = False
    continues: bool = False
    tabled: bool = False
    renews: bool = False


@dataclass(frozen=True, slots=True)
class StepLaunches:
    """The launches of one step in order, the type of each buffer of partial results, and the rotation after it."""

    launches: tuple[LaunchCode, ...]
    buffers: tuple[StorageType, ...]
    rotation: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TowerLaunches:
    """A move of several steps: fills of both arrays, the Globals of its levels if steps change them, stages."""

    towers: Towers
    before: tuple[LaunchCode, ...]
    ahead: LaunchCode | None
    stage: LaunchCode


@dataclass(frozen=True, slots=True)
class KernelLaunches:
    """The two variants of a step of one kernel; `observed` is `plain` itself where the plan has one for both.

    begin: launches before the first step of a march. words: what it keeps behind the slots of the Globals block.
    towers: how several plain steps run together.
    """

    name: str
    plain: StepLaunches
    observed: StepLaunches
    begin: tuple[LaunchCode, ...] = ()
    words: tuple[UniformWord, ...] = ()
    towers: TowerLaunches | None = None
