"""Tunables: one table of what may be chosen in a plan: how to read and write it, what is legal, what is worth trying.

    for tunable in tunables_of(plan, "threads"):
        choices = tunable.write(choices, tunable.random(generator))

Genome, JSON, the check of choices, the launch view and random genomes read this table, so a new choice is one member of
a record of `workbench.planning.choices` and one row here.
"""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, get_args

from workbench.errors import PlanError
from workbench.graph import Graph, value_names
from workbench.planning.choices import Choices, CompilerKind, LoopChoices, Loops, PlanChoices, Preset, ScheduleName
from workbench.planning.loop_keys import loop_names, shared_out
from workbench.planning.plan import Plan
from workbench.planning.schedules.schedule import SpreadOver
from workbench.planning.sites import barrier_sites, storage_sites

Setting = bool | int | str | tuple[str, ...] | tuple[int, ...] | None
Section = Literal["C", "G", "M", "S", "L", "T", "F", "B", "A", ""]
"""Of the genome: CPU, grid, Manifest, synchronisation, loops, tiling, folds, build, arrays; "" for the rest.

C and G are numbers of fixed places: another row there would make every genome that is stored unreadable. A new choice
stands in T, F, B or A, which name what they set, or in a new section that does.
"""

MOST = 65535
MOST_CELLS = 999_999_999  # nine digits, as a genome has them
MOST_THREADS = 1024  # in a block
MOST_SIZE = 8  # of a tower's diamond
MOST_STREAMS = 16
MOST_LANES = 256
MOST_UNROLLED = 8
MOST_PADDING = 64  # lines: a page, after which the sets of a first cache repeat
_BARRIERS = 0.02  # of random values have one on each side
_LOOPS = 0.2  # of random loops have numbers of their own
_FLAGS = (("-O2", "-O3"), ("-funroll-loops", "-fno-unroll-loops"), ("-fprefetch-loop-arrays",))


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers from `least` to `most`; None as well if `absent`."""

    least: int
    most: int
    absent: bool = False

    def holds(self, value: object) -> bool:
        """Whether a value is legal."""
        return (value is None and self.absent) or (type(value) is int and self.least <= value <= self.most)

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Use a number from {self.least} to {self.most}."


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values."""

    options: tuple[Setting, ...]

    def holds(self, value: object) -> bool:
        """Whether a value is legal."""
        return any(type(value) is type(option) and value == option for option in self.options)

    @property
    def advice(self) -> str:
        """What to give instead."""
        if self.options == (False, True):
            return "Give true or false."
        return f"Use one of {', '.join(repr(option) if option == '' else str(option) for option in self.options)}."


@dataclass(frozen=True, slots=True)
class Flags:
    """At most one text of each group, in the order of the groups."""

    groups: tuple[tuple[str, ...], ...]

    def holds(self, value: object) -> bool:
        """Whether a value is legal."""
        return isinstance(value, tuple) and value in self.combinations()

    def combinations(self) -> tuple[tuple[str, ...], ...]:
        """All that is legal."""
        picks = itertools.product(*(("", *group) for group in self.groups))
        return tuple(tuple(text for text in pick if text) for pick in picks)

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give, in this order, at most one of each of: {'; '.join(', '.join(group) for group in self.groups)}."


@dataclass(frozen=True, slots=True)
class Tuples:
    """Any number of whole numbers from `least` to `most`."""

    least: int
    most: int

    def holds(self, value: object) -> bool:
        """Whether a value is legal."""
        return isinstance(value, tuple) and all(Numbers(self.least, self.most).holds(number) for number in value)

    @property
    def advice(self) -> str:
        """What to give instead."""
        return f"Give a list of numbers from {self.least} to {self.most}."


Legal = Numbers | OneOf | Flags | Tuples


@dataclass(frozen=True, slots=True)
class Tunable:
    """One choice of a plan: its legal and sensible values, and where it is kept.

    name: unique among those of a plan. sensible: what a search tries, in order of size where there is one; the default
    is among them, but for storage, whose default is that preset and hints decide. needs: what the backend must run on
    for the choice to count. record and member: where PlanChoices keeps it; no record for what concerns one value or
    loop, whose `key` then says which. weights: of the sensible values in random choices, empty for equal ones. label:
    what views call it if that is more than the name: "storage of 2 * u (line 3)".
    """

    name: str
    section: Section
    needs: SpreadOver
    default: Setting
    sensible: tuple[Setting, ...]
    legal: Legal
    read: Callable[[PlanChoices], Setting]
    _write: Callable[[PlanChoices, Any], PlanChoices]
    record: str = ""
    member: str = ""
    key: str = ""
    weights: tuple[float, ...] = ()
    label: str = ""

    def write(self, plan: PlanChoices, value: Setting) -> PlanChoices:
        """A copy of the choices with this one set. PlanError if the value is not legal."""
        return self._write(plan, self.check(value))

    def check(self, value: Setting) -> Setting:
        """The value, if it is legal; PlanError says what is."""
        if not self.legal.holds(value):
            raise PlanError(f"{self.name} is {value!r}", advice=self.legal.advice)
        return value

    def random(self, generator: Random) -> Setting:
        """One of the sensible values."""
        found: Setting = generator.choices(self.sensible, self.weights or None)[0]
        return found


def _row(
    section: Section, needs: SpreadOver, place: str, default: Setting, legal: Legal, sensible: Iterable[Setting] = ()
) -> Tunable:
    """The tunable of a member of a record; `place` is "record.member"."""
    record, _, member = place.partition(".")

    def read(plan: PlanChoices) -> Setting:
        found: Setting = getattr(getattr(plan, record), member)
        return found

    def write(plan: PlanChoices, value: Setting) -> PlanChoices:
        made: PlanChoices = replace(plan, **{record: replace(getattr(plan, record), **{member: value})})
        return made

    return Tunable(member, section, needs, default, tuple(sensible) or (default,), legal, read, write, record, member)


_D = PlanChoices()
_POWERS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
_BLOCKS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_GRIDS = (0, 1, 16, 66, 132, 264, 528, 1056)
_FLAG_RULE = Flags(_FLAGS)
# -O3 is what the workbench asks for anyway.
_TRIED_FLAGS = tuple(flags for flags in _FLAG_RULE.combinations() if "-O3" not in flags)

TUNABLES: tuple[Tunable, ...] = (
    _row("", "any", "values.preset", _D.values.preset, OneOf(get_args(Preset)), get_args(Preset)),
    _row("", "any", "values.hints", _D.values.hints, OneOf((False, True)), (False, True)),
    _row("C", "threads", "cpu.stages", _D.cpu.stages, OneOf((False, True))),
    _row("C", "threads", "cpu.threads", _D.cpu.threads, Numbers(0, MOST), _POWERS),
    _row("C", "threads", "cpu.tile", _D.cpu.tile, Numbers(0, MOST), (*_POWERS, 256)),
    _row("C", "threads", "cpu.loops", _D.cpu.loops, OneOf(get_args(Loops)), get_args(Loops)),
    _row("G", "blocks", "device.grid", _D.device.grid, Numbers(0, MOST), _GRIDS),
    _row("G", "blocks", "device.block", _D.device.block, Numbers(1, MOST_THREADS), _BLOCKS),
    _row("T", "any", "tiling.schedule", _D.tiling.schedule, OneOf(get_args(ScheduleName))),
    _row("T", "any", "tiling.depth", _D.tiling.depth, Numbers(0, MOST)),
    _row("T", "any", "tiling.widths", _D.tiling.widths, Tuples(0, MOST_CELLS)),
    _row("T", "any", "tiling.tile_count", _D.tiling.tile_count, Numbers(0, MOST_CELLS)),
    _row("T", "blocks", "tiling.diamond_size", _D.tiling.diamond_size, Numbers(0, MOST_SIZE)),
    _row("T", "blocks", "tiling.column_threads", _D.tiling.column_threads, Numbers(0, MOST_THREADS)),
    _row("T", "blocks", "device.streams", _D.device.streams, Numbers(1, MOST_STREAMS)),
    _row("F", "threads", "folds.lanes", _D.folds.lanes, Numbers(0, MOST_LANES)),
    _row("F", "blocks", "folds.targets", _D.folds.targets, Numbers(1, MOST_UNROLLED)),
    _row("F", "any", "folds.sources", _D.folds.sources, Numbers(1, MOST_UNROLLED)),
    _row("B", "threads", "build.flags", _D.build.flags, _FLAG_RULE, _TRIED_FLAGS),
    _row("B", "threads", "build.compiler", _D.build.compiler, OneOf(get_args(CompilerKind)), ("",)),
    _row("B", "threads", "build.vector_width", _D.build.vector_width, OneOf((0, 128, 256, 512)), (0, 128, 256, 512)),
    _row("A", "any", "layout.padding", _D.layout.padding, Tuples(0, MOST_PADDING)),
)
"""What every program has; `tunables_of` adds those of a plan's values and loops."""

UNROLLED: Mapping[str, tuple[int, ...]] = {
    "lanes": (0, 4, 8, 16, 32, 64, 128),
    "targets": (1, 2, 4, 8),
    "sources": (1, 2, 4, 8),
}
"""What is worth trying in plans that fold along axes; in others these numbers change nothing."""

_PADDINGS = ((), (0,), (1,), (0, 1), (1, 1))

_LOOP_NUMBERS = {
    "grid": Numbers(0, MOST, absent=True),
    "block": Numbers(1, MOST_THREADS, absent=True),
    "tile": Numbers(0, MOST, absent=True),
}
_LOOP_SENSIBLE = {"grid": (None, *_GRIDS), "block": (None, *_BLOCKS), "tile": (None, *_POWERS, 256)}


def tunable(name: str) -> Tunable:
    """The row of TUNABLES with this name. PlanError lists the names."""
    for row in TUNABLES:
        if row.name == name:
            return row
    raise _unknown(name, [row.name for row in TUNABLES])


def tunables_of(plan: Plan, runs_on: Literal["threads", "blocks", "nothing", ""] = "") -> tuple[Tunable, ...]:
    """All that may be chosen for a program: numbers first, then values in genome order, then loops of this plan.

    runs_on: what counts on backends that run on this only (`backends.registry.BackendRow`); "" for everything.
    """
    tried: dict[str, tuple[Setting, ...]] = {"padding": paddings(plan.graph.dim)}
    tried |= UNROLLED if folds_along_axes(plan) else {}
    general = (replace(row, sensible=tried.get(row.name, row.sensible)) for row in TUNABLES)
    shared = shared_out(plan)
    own = [row for row in loop_tunables(loop_names(plan)) if row.needs == "blocks" or row.key in shared]
    found = (*general, *value_tunables(plan.graph), *own)
    return tuple(each for each in found if each.needs == "any" or not runs_on or each.needs == runs_on)


def folds_along_axes(plan: Plan) -> bool:
    """Whether some loop folds along axes, as sums over pairs do."""
    return any(subkernel.reduced for kernel in plan.kernels for subkernel in kernel.observed.subkernels)


def paddings(dim: int) -> tuple[tuple[int, ...], ...]:
    """What is worth trying of `padding` in a program of so many axes."""
    return tuple(lines for lines in _PADDINGS if len(lines) < dim)


def value_tunables(graph: Graph) -> tuple[Tunable, ...]:
    """Storage of each free value ("" as preset and hints say), then the barriers of each value."""
    sites = (*storage_sites(graph), *barrier_sites(graph))
    words = {"manifest": "storage of", "before": "barrier before", "after": "barrier after"}
    names = _unique([f"{words[site.part]} {site.called}" for site in sites], [f"value {site.node}" for site in sites])
    namesakes: dict[str, set[str]] = {}
    for site in sites:
        namesakes.setdefault(_bare(site.key), set()).add(site.key)
    called = {kernel.name: value_names(kernel) for kernel in graph.kernels}
    made = []
    for name, site in zip(names, sites, strict=True):
        others = frozenset(namesakes[_bare(site.key)] - {site.key})
        if site.part == "manifest":
            row = _storage_row(name, site.key, others)
        else:
            row = _barrier_row(name, site.key, others, site.part)
        kernel = site.key.partition("/")[0]
        where = f" in {kernel}" if len(called) > 1 else ""
        made.append(replace(row, label=f"{words[site.part]} {called[kernel][site.node]}{where}"))
    return tuple(made)


def loop_tunables(loops: Mapping[str, str]) -> tuple[Tunable, ...]:
    """Grid, block and tile of single loops, given as key -> name; None as for all of them."""
    names = _unique(list(loops.values()), [f"loop {number}" for number in range(len(loops))])
    rows = [(key, name, member) for key, name in zip(loops, names, strict=True) for member in _LOOP_NUMBERS]
    return tuple(_loop_row(f"{member} of {name}", key, member) for key, name, member in rows)


def set_by_name(plan: PlanChoices, known: Iterable[Tunable], named: Mapping[str, Any]) -> PlanChoices:
    """A copy with the settings of tunables given by their names. PlanError for an unknown name or an illegal value."""
    rows = {each.name: each for each in known}
    for name, value in named.items():
        if name not in rows:
            raise _unknown(name, rows)
        plan = rows[name].write(plan, value)
    return plan


def scheduled(choices: Choices, schedule: str) -> Choices:
    """A copy with a schedule. PlanError if the choices name another one, or if there is none of this name."""
    known = choices.plan.tiling.schedule
    if known not in (_D.tiling.schedule, schedule):
        raise PlanError(f"schedule={schedule!r} is given, and the choices say {known!r}", advice="Give one of the two.")
    return replace(choices, plan=tunable("schedule").write(choices.plan, schedule))


def _unknown(name: str, known: Iterable[str]) -> PlanError:
    close = difflib.get_close_matches(name, known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    names = ", ".join(row.name for row in TUNABLES)
    return PlanError(
        f"there is no choice called {name!r}{guess}",
        advice=f"Use one of {names}, or a name that machine.tunables() lists.",
    )


def check_choices(plan: PlanChoices) -> PlanChoices:
    """Return the choices if they do not contradict themselves and each is legal; PlanError otherwise."""
    both = sorted(plan.values.manifest & plan.values.delayed)
    if both:
        raise PlanError(f"{both[0]} is chosen both Manifest and Delayed", advice="Keep it in one of the two.")
    for row in (*TUNABLES, *loop_tunables({key: f"loop {key}" for key, _ in plan.loops})):
        row.check(row.read(plan))
    return plan


def _storage_row(name: str, key: str, others: frozenset[str]) -> Tunable:
    def read(plan: PlanChoices) -> Setting:
        values = plan.values
        return "manifest" if _names(values.manifest, key) else "delayed" if _names(values.delayed, key) else ""

    def write(plan: PlanChoices, value: Setting) -> PlanChoices:
        manifest, delayed = (without_key(keys, key, others) for keys in (plan.values.manifest, plan.values.delayed))
        chosen = {"manifest": manifest, "delayed": delayed}
        if value:
            chosen[str(value)] |= {key}
        return plan.changed(**chosen)

    legal = OneOf(("", "delayed", "manifest"))
    return Tunable(name, "M", "any", "", ("delayed", "manifest"), legal, read, write, key=key)


def _barrier_row(name: str, key: str, others: frozenset[str], side: Literal["before", "after"]) -> Tunable:
    def read(plan: PlanChoices) -> Setting:
        return _names(getattr(plan.barriers, side), key)

    def write(plan: PlanChoices, value: Setting) -> PlanChoices:
        chosen = without_key(getattr(plan.barriers, side), key, others)
        return plan.changed(**{side: chosen | {key} if value else chosen})

    legal, weights = OneOf((False, True)), (1 - _BARRIERS, _BARRIERS)
    return Tunable(name, "S", "any", False, (False, True), legal, read, write, member=side, key=key, weights=weights)


def without_key(keys: frozenset[str], key: str, others: Iterable[str]) -> frozenset[str]:
    """Keys that say nothing of the value `key` ("kernel/key"), and of all others what they said.

    others: "kernel/key" of the values of other kernels with the same structural key, for which the bare key speaks too.
    """
    bare = _bare(key)
    kept = keys - {key, bare}
    return kept.union(others) if bare in keys else kept


def _names(keys: frozenset[str], key: str) -> bool:
    return key in keys or _bare(key) in keys


def _bare(key: str) -> str:
    return key.partition("/")[2]


def _loop_row(name: str, key: str, member: str) -> Tunable:
    def read(plan: PlanChoices) -> Setting:
        found: Setting = getattr(plan.loop(key), member)
        return found

    def write(plan: PlanChoices, value: Any) -> PlanChoices:  # noqa: ANN401  # it was checked
        numbers: LoopChoices = replace(plan.loop(key), **{member: value})
        return plan.with_loop(key, numbers)

    legal, sensible = _LOOP_NUMBERS[member], _LOOP_SENSIBLE[member]
    weights = (1 - _LOOPS, *[_LOOPS / (len(sensible) - 1)] * (len(sensible) - 1))
    needs: SpreadOver = "threads" if member == "tile" else "blocks"
    return Tunable(name, "L", needs, None, sensible, legal, read, write, member=member, key=key, weights=weights)


def _unique(names: list[str], places: list[str]) -> list[str]:
    """The names; those that occur more than once with their places, "u (value 3)", as the plan numbers them."""
    count = Counter(names)
    return [f"{name} ({place})" if count[name] > 1 else name for name, place in zip(names, places, strict=True)]
