"""Choices: everything a person or the tuner may set; meaning (changes results) apart from plan (never does).

    Choices ── meaning
            └─ plan ── values    which values are stored
                    ├─ barriers  where launches must not overlap
                    ├─ cpu       how loops are spread over CPU threads
                    ├─ device    how loops are spread over the blocks of a GPU
                    ├─ build     compiler and flags
                    ├─ tiling    how steps follow each other
                    ├─ folds     how sums over axes and over pairs are unrolled
                    ├─ layout    how far apart rows and planes of arrays lie
                    └─ loops     launch numbers of single loops

`workbench.planning.tunables` lists what each of them may be.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from workbench.errors import PlanError

Preset = Literal["cost", "as_delayed", "as_manifest"]
Loops = Literal["together", "apart"]
ScheduleName = Literal["auto", "stepwise", "diamond", "diamondtorre"]
CompilerKind = Literal["", "gcc", "clang"]
EVERY = "*"
"""The name that stands for every float value that is not named itself, in `Meaning.precision`."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What may change results: applied first, graph to graph, and shown on the card.

    precision: (name of a value, storage type name) pairs; the name EVERY stands for all that have none here.
    """

    arithmetic: Literal["ieee"] = "ieee"
    precision: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ValueChoices:
    """Which values are stored.

    preset: for the values that nobody names. manifest and delayed: structural keys of nodes set by hand, either `key`
    (wherever a kernel has such a node) or `kernel/key`. hints: whether what the cell asks for counts, storage and
    barriers; a genome says everything itself, so choices made from one set it to False.
    """

    preset: Preset = "cost"
    manifest: frozenset[str] = frozenset()
    delayed: frozenset[str] = frozenset()
    hints: bool = True


@dataclass(frozen=True, slots=True)
class BarrierChoices:
    """Keys of nodes with a barrier before, or after, the sub-kernels that evaluate them; spelt as in ValueChoices."""

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CpuChoices:
    """threads: 0 for all available. tile: rows a task, 0 for automatic. loops: whether sub-kernels may run together.

    stages: whether they may also where values between them have ghost cells by rules, as those of a step do that apply
    their rules in each stage.
    """

    threads: int = 0
    tile: int = 0
    loops: Loops = "together"
    stages: bool = False


@dataclass(frozen=True, slots=True)
class DeviceChoices:
    """How loops run on a device.

    grid: CUDA blocks of a launch at most, 0 for as many as keep a device busy. block: threads a block. streams: how
    many launches of a step may run at the same time, where none needs what another one leaves.
    """

    grid: int = 0
    block: int = 256
    streams: int = 1


@dataclass(frozen=True, slots=True)
class BuildChoices:
    """The C++ compiler and its flags; none of them changes a bit of any result.

    flags: of those that `workbench.planning.tunables` lists; they follow the workbench's own. compiler: "" for the
    first that works. vector_width: bits of the vectors that the compiler makes on x86; 0 for the widest, and for
    neighbours that are shifted in registers where that is faster.
    """

    flags: tuple[str, ...] = ()
    compiler: CompilerKind = ""
    vector_width: int = 0


@dataclass(frozen=True, slots=True)
class TilingChoices:
    """How steps follow each other; what is 0 or missing is chosen from extents and caches.

    schedule: "auto" is decided when a simulation is made (`workbench.run.schedules`), and stepwise without extents.
    depth: steps that run together at most. widths: cells of a tile along each axis; tile_count: diamonds side by side,
    which may be fewer than there is room for. Of "diamondtorre" diamond_size is how many times a diamond is larger than
    its smallest (DTS), column_threads a tower's threads along the last axis.
    """

    schedule: ScheduleName = "auto"
    depth: int = 0
    widths: tuple[int, ...] = ()
    tile_count: int = 0
    diamond_size: int = 0
    column_threads: int = 0


@dataclass(frozen=True, slots=True)
class FoldChoices:
    """How loops that fold along axes are unrolled; the order in which anything is added stays.

    Kept cells, of pairs the targets, are those that results have; folded ones, of pairs the sources, follow each other.
    lanes: kept cells side by side in a CPU's vectors, 0 for automatic. targets: kept cells a thread of a device.
    sources: folded cells a turn of the loop over them.
    """

    lanes: int = 0
    targets: int = 1
    sources: int = 1


@dataclass(frozen=True, slots=True)
class LayoutChoices:
    """Where the cells of arrays lie in memory.

    padding: cache lines left free behind each row, behind each plane of rows, and so on; missing ones are 0, and rows
    begin on cache lines. () for automatic, by extents and caches. A line is 64 bytes of the narrowest values that are
    stored; arrays of wider ones leave as many elements free. Arrays that a call is given lie as NumPy's do.
    """

    padding: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopChoices:
    """Launch numbers of one loop: grid and block as in DeviceChoices, tile as in CpuChoices; None: those of all loops.

    Loops that run together, plane by plane, have the tile of all.
    """

    grid: int | None = None
    block: int | None = None
    tile: int | None = None


@dataclass(frozen=True, slots=True)
class PlanChoices:
    """What never changes results.

    loops: (key of a loop, its launch numbers), as `workbench.planning.loop_keys` names loops; sorted, without those
    that set nothing, so that equal choices are equal records.
    """

    values: ValueChoices = ValueChoices()
    barriers: BarrierChoices = BarrierChoices()
    cpu: CpuChoices = CpuChoices()
    device: DeviceChoices = DeviceChoices()
    build: BuildChoices = BuildChoices()
    tiling: TilingChoices = TilingChoices()
    folds: FoldChoices = FoldChoices()
    layout: LayoutChoices = LayoutChoices()
    loops: tuple[tuple[str, LoopChoices], ...] = ()

    def __post_init__(self) -> None:
        chosen = {key: numbers for key, numbers in self.loops if numbers != LoopChoices()}
        object.__setattr__(self, "loops", tuple(sorted(chosen.items(), key=lambda pair: pair[0])))

    def changed(self, **named: Any) -> PlanChoices:  # noqa: ANN401  # each member has its own type
        """A copy with members of the sections set by their own names: `changed(preset="cost", block=128)`.

        Nothing is checked here. TypeError for a name that no section has; "loops" is the one of `cpu`.
        """
        plan = self
        for section in _SECTIONS:
            record = getattr(plan, section)
            mine = {f.name: named.pop(f.name) for f in fields(record) if f.name in named}
            plan = replace(plan, **{section: replace(record, **mine)})
        if named:
            raise TypeError(f"no choice of a plan is called {next(iter(named))!r}")
        return plan

    def loop(self, key: str) -> LoopChoices:
        """What is set for one loop."""
        return next((numbers for known, numbers in self.loops if known == key), LoopChoices())

    def with_loop(self, key: str, numbers: LoopChoices) -> PlanChoices:
        """A copy with other numbers for one loop; LoopChoices() takes away what was set."""
        return replace(self, loops=(*(pair for pair in self.loops if pair[0] != key), (key, numbers)))

    def device_of(self, loop: str) -> DeviceChoices:
        """Grid and block of the loop with this key; "" for launches that are no loop over cells."""
        own, general = self.loop(loop), self.device
        return DeviceChoices(
            general.grid if own.grid is None else own.grid,
            general.block if own.block is None else own.block,
            general.streams,
        )

    def tile_of(self, loop: str) -> int:
        """Rows a task of the loop with this key, on CPU threads; 0 for automatic."""
        own = self.loop(loop).tile
        return self.cpu.tile if own is None else own

    @property
    def largest_block(self) -> int:
        """Threads of the largest block that any launch may have."""
        return max([self.device.block, *(numbers.block or 0 for _, numbers in self.loops)])


_SECTIONS = ("values", "barriers", "cpu", "device", "build", "tiling", "folds", "layout")


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices for one program."""

    meaning: Meaning = field(default_factory=Meaning)
    plan: PlanChoices = field(default_factory=PlanChoices)


def given_choices(own: Choices, given: object) -> Choices:
    """The choices that a call was given, those of the machine itself if None. PlanError for anything else."""
    if given is None:
        return own
    if isinstance(given, Choices):
        return given
    raise PlanError(
        f"choices={given!r} is no record of choices",
        advice="Pass the choices of a machine: machine.choices, machine.with_choices(...).choices.",
    )


def names_node(keys: frozenset[str], kernel: str, key: str) -> bool:
    """Whether a set of keys names the node with structural key `key` of the kernel called `kernel`."""
    return key in keys or f"{kernel}/{key}" in keys
