"""Running order: how a kernel runs its loops in steps, phases, chains and tiles, as records for templates."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.codegen.loops import Combine, Rules, Sweep
from workbench.codegen.rules import RollingFill
from workbench.codegen.shapes import ArrayShape
from workbench.codegen.statement import Statement
from workbench.codegen.uniforms import Uniforms, UniformWord
from workbench.planning.kernel_plan import Margins


@dataclass(frozen=True, slots=True)
class FillCall:
    """Rules applied to arrays of a shape. `tag` other than 0: an array with this tag has these ghost cells already."""

    rules: str
    type: str
    source: int
    target: int
    tag: int = 0
    shape: str = "shape"
    rank: int = 0


@dataclass(frozen=True, slots=True)
class SweepCall:
    """A sweep applied to arrays over the domain grown by `grown`: the arguments behind globals and box.

    shapes: its arguments before globals, the loop's own first. over: the shape of the cells that tasks share out, with
    `rank` axes; lanes: as in Folding, 0 where nothing is folded; together: rows at a time. scans: the axis of `over`
    that is scanned, or -1; type of what is scanned; totals: the buffer for what chunks combine to or senders have sent,
    -1 for none. senders: the shape of those that send to the cells of a Scatter, "" in other loops. digits: values that
    a Rank counts, or 0. loop: its number among those of the plan (`loop_keys.loop_names`), by which it finds how many
    rows a task has. around: bytes that it touches for each cell of a plane, in all planes around, or 0 where it reads
    only one plane.
    """

    sweep: str
    arguments: tuple[str, ...]
    grown: Margins
    shapes: tuple[str, ...] = ("shape",)
    over: str = "shape"
    rank: int = 0
    lanes: int | str = 0
    together: int = 1
    scans: int = -1
    type: str = ""
    totals: int = -1
    senders: str = ""
    digits: int = 0
    loop: int = 0
    around: int = 0

    @property
    def may_leave(self) -> bool:
        """Whether it has tasks that nothing else in its phase waits for; the others go through cells more than once."""
        return self.scans < 0 and not self.digits and not self.senders


@dataclass(frozen=True, slots=True)
class Buffer:
    """A value that rolls: `before` is where its buffer begins, in bytes for each cell of a plane."""

    name: str
    type: str
    before: int


@dataclass(frozen=True, slots=True)
class MemberCall:
    """A sweep as a member of a chain, grown beyond a tile and `ahead` planes before it; its numbers when timed.

    `lap`: as one of several members of its launch, else -1. `launch_lap`: the launch's own. fills: after the sweep.
    """

    sweep: str
    arguments: tuple[str, ...]
    grown: Margins
    ahead: int
    lap: int
    launch_lap: int
    shapes: tuple[str, ...] = ("shape",)
    fills: tuple[RollingFill, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainCode:
    """Sweeps that run together over tiles of the domain grown by `grown`; they grow beyond a tile by `spread` at most.

    A tile's planes run from `first` before it to `last` behind it; buffers take `cell_bytes` for each cell of a plane.
    rings: for each axis whether the values that are filled are periodic along it; () if none are filled. may_leave: as
    in Phase.
    """

    name: str = field(compare=False)
    grown: Margins
    spread: Margins
    cell_bytes: int
    first: int
    last: int
    buffers: tuple[Buffer, ...]
    members: tuple[MemberCall, ...]
    shapes: tuple[ArrayShape, ...] = ()
    rings: tuple[bool, ...] = ()
    may_leave: bool = False


@dataclass(frozen=True, slots=True)
class FinisherCall:
    """Partial results to a Global slot."""

    buffer: int
    type: str
    combine: str
    slot: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Phase:
    """What the team of threads runs between two barriers, and what one thread does at the second of them.

    `tags`: (slot, tag) for each array whose ghost cells the phase wrote; 0 where they are no lasting ones. `lap` and
    `finish_lap` are the numbers under which the phase and its finishers are timed (-1: not at all), `member_laps`
    those of its fills or sweeps, where it has several. `uniforms`: functions that are called after the finishers.
    `may_leave`: threads may leave it, and the step, where the march is to stop at once.
    """

    fills: tuple[FillCall, ...]
    sweeps: tuple[SweepCall, ...]
    finishers: tuple[FinisherCall, ...]
    tags: tuple[tuple[int, int], ...] = ()
    lap: int = -1
    finish_lap: int = -1
    member_laps: tuple[int, ...] = ()
    chains: tuple[str, ...] = ()
    uniforms: tuple[str, ...] = ()
    may_leave: bool = False


@dataclass(frozen=True, slots=True)
class StepCode:
    """One step of one kernel. `scalars` computes all new scalars, then writes them.

    `renews`: the function that computes anew what is the same in all cells and changes with scalars, "" for none.
    shapes: those of arrays with some axes only.
    """

    name: str
    phases: tuple[Phase, ...]
    scalars: tuple[Statement, ...]
    rotation: tuple[int, ...]
    renews: str = ""
    shapes: tuple[ArrayShape, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageCall:
    """Rules for the ghost cells of an array of `level` that come from a box, with the Globals of a step `ahead`."""

    rules: str
    type: str
    slot: int
    ahead: int


@dataclass(frozen=True, slots=True)
class StageCode:
    """One level of a step in tiles: sweeps whose arguments name `level`, then ghost cells. Laps as in Phase."""

    sweeps: tuple[SweepCall, ...]
    updates: tuple[ImageCall, ...]
    lap: int
    member_laps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TileCode:
    """Several steps in tiles: fills before them, then the stages of each step.

    lost: slots whose arrays lose the ghost cells that their tags tell of. turns: for each step until the arrays are
    back in their slots, which slot each slot's array was in before the first. diamond and wave: axes, -1 for no wave;
    tiles lean by `slope` and `skew` cells a level along them. ring, cut: whether the diamond and wave axes are rings.
    rotation: the name of the step's. scalars and renews as in StepCode. fill_lap: as lap in Phase.
    arrays: slot and bytes of an element of each array that a step uses.
    """

    name: str
    fills: tuple[FillCall, ...]
    lost: tuple[int, ...]
    stages: tuple[StageCode, ...]
    turns: tuple[tuple[int, ...], ...]
    diamond: int
    wave: int
    slope: int
    skew: int
    ring: bool
    cut: bool
    rotation: str
    scalars: tuple[Statement, ...]
    renews: str
    fill_lap: int
    arrays: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class KernelCode:
    """All text of one kernel; `observed` is the name of the plain step when the two are one.

    words: what the kernel keeps behind the slots of the Globals block; `begin` is the function that computes those that
    no step changes, "" if there are none. tiles: how several plain steps run together, one or none.
    """

    name: str
    combines: tuple[Combine, ...]
    rules: tuple[Rules, ...]
    sweeps: tuple[Sweep, ...]
    chains: tuple[ChainCode, ...]
    steps: tuple[StepCode, ...]
    plain: str
    observed: str
    members: int
    uniforms: tuple[Uniforms, ...] = ()
    words: tuple[UniformWord, ...] = ()
    begin: str = ""
    tiles: tuple[TileCode, ...] = ()
