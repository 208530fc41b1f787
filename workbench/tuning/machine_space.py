"""Machine space: the space of a program on a backend, from the table of tunables; points become choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from workbench.backends.registry import row_of
from workbench.errors import TuningError
from workbench.graph import Graph
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices
from workbench.planning.exchange import to_json
from workbench.planning.genome import decided
from workbench.planning.loop_keys import loop_key
from workbench.planning.plan import Plan
from workbench.planning.schedules.table import schedule_named
from workbench.planning.tunables import MOST, TUNABLES, Section, Setting, Tunable, tunables_of
from workbench.tuning.constraints import Refusal, accepted, refusals, settled
from workbench.tuning.launch_features import Rows, device_share, footprint
from workbench.tuning.loop_times import LoopTimes
from workbench.tuning.machine_trees import machine_tree
from workbench.tuning.outlook import machine_outlook
from workbench.tuning.precision_space import SECTION as PRECISION
from workbench.tuning.precision_space import Retyped, TypeRow, tie_of, type_rows
from workbench.tuning.search_space import Costs, Point, SearchSpace, TuningParameter
from workbench.tuning.ties import ties_of
from workbench.tuning.tile_space import scheduled_plan, stages_tunable, tile_tunables

SECTIONS: Mapping[str, Section] = {
    "cpu": "C",
    "device": "G",
    "storage": "M",
    "barriers": "S",
    "loops": "L",
    "tiling": "T",
    "folds": "F",
    "build": "B",
    "layout": "A",
}
"""Names of the genome's sections, for `only`."""

_LAUNCHING = ("L", "F", "B", "A")  # sections whose settings leave the loops of a plan as they are
_RANKS: Mapping[Section, int] = {"C": 0, "G": 0, "T": 0, "F": 1, "B": 1, "A": 1, "L": 1, "M": 2, "S": 3, "": 4}
_MOST_VALUES = 100  # of a choice, which its rank tells apart


@dataclass(frozen=True, slots=True)
class MachineSpace:
    """What is tuned of a program.

    `base` are the choices of the program's plan, each free value decided, which `start` stands for. `values[i]` are the
    settings of `tunables[i]`; after them in a point come the types of `precise`, if results may change. graph: what
    is given to those who measure. key: of the program as it begins, by which wisdom knows it. refusal: why a point is
    none to try, "" if it is one.
    """

    graph: Graph
    backend: str
    base: Choices
    tunables: tuple[Tunable, ...]
    values: tuple[tuple[Setting, ...], ...]
    space: SearchSpace
    start: Point
    key: str = ""
    precise: tuple[TypeRow, ...] = ()
    retyped: Retyped | None = None
    refusal: Refusal = field(default=accepted, compare=False)
    _loops: dict[Point, dict[str, str]] = field(default_factory=dict, compare=False)  # of plans, by what shapes them

    def choices(self, point: Point) -> Choices:
        """The choices of a point: the base with what differs from it."""
        plan, planned = self.base.plan, len(self.tunables)
        for tunable, values, at, first in zip(self.tunables, self.values, point, self.start, strict=False):
            if at != first:
                plan = tunable.write(plan, values[at])
        if self.retyped is None:
            return replace(self.base, plan=plan)
        types = {row.value: row.types[at] for row, at in zip(self.precise, point[planned:], strict=True)}
        changed = {row.value: types[row.value] for row in self.precise if types[row.value] != row.here}
        return self.retyped.choices(plan, changed)

    def text(self, point: Point) -> str:
        """The choices of a point as JSON."""
        return to_json(self.choices(point))

    def settled(self, point: Point) -> Point:
        """The point without sizes of tiles where there are none, and likewise: a candidate of the same program."""
        names = {row.name: values[at] for row, values, at in zip(self.tunables, self.values, point, strict=False)}
        schedule = names.get("schedule", self.base.plan.tiling.schedule)
        return settled(point, self.start, self.tunables, tiles=schedule_named(str(schedule)).is_blocked)

    def changes(self, point: Point) -> dict[str, str]:
        """What a point sets that the start does not, by name."""
        rows = zip(self.space.parameters, point, self.start, strict=True)
        return {parameter.name: parameter.values[at] for parameter, at, first in rows if at != first}

    def costs(self, point: Point, loops: LoopTimes) -> Costs:
        """Seconds of the loop that each part of the space is of; None where the point's plan has no such loop.

        loops: seconds of the point's loops by their names.
        """
        if not self.space.parts or not loops:
            return ()
        planned = len(self.tunables)
        shape = tuple(
            first if number < planned and self.tunables[number].section in _LAUNCHING else at
            for number, (at, first) in enumerate(zip(point, self.start, strict=True))
        )
        if shape not in self._loops:
            self._loops[shape] = own_loops(plan_for(self.graph, self.choices(shape), self.backend))
        names, seconds = self._loops[shape], dict(loops)
        keys = [self.tunables[part[0]].key for part in self.space.parts]
        return tuple(seconds.get(names[key]) if key in names else None for key in keys)


def machine_space(  # noqa: PLR0913  # keywords only; each has a default
    graph: Graph,
    choices: Choices,
    backend: str,
    *,
    only: Collection[str] | None = None,
    fixed: Collection[str] = (),
    most_threads: int = 0,
    tree: str | None = None,
    longest: int = 0,
    compilers: Collection[str] = (),
    bound: float = 0.0,
    widest: int = 512,
    extents: tuple[int, ...] = (),
    threads: int = 0,
) -> MachineSpace:
    """All tunables that count on a backend and have more than one sensible value.

    A schedule of several steps with the sizes of its tiles is among them where the program can be planned by one, and
    whether stages run together where they can; in tiles they are left as they are.

    only: names of tunables, or of sections ("cpu", "device", "storage", "barriers", "loops", "tiling", "folds",
    "build", "layout", "precision"); fixed: the same, left as they are. most_threads: values of `threads` above it are
    not tried (0: all). tree: what depends on what, as `machine_tree` reads it. longest: as in `tile_tunables`.
    compilers: kinds that work here beside the first that does. bound: for the error of results; above 0 the types of
    named values are in the space too. widest: bits of vectors above which no width is tried. extents, threads: of the
    timed run, as `footprint` takes them. Raises TuningError for a name that means nothing, PlanError if the choices
    cannot be met.
    """
    plan = plan_for(graph, choices, backend)
    base = replace(choices, plan=replace(decided(plan), values=replace(decided(plan).values, hints=False)))
    base = replace(base, plan=base.plan.changed(schedule=plan.schedule))
    general = [row for row in tunables_of(plan, row_of(backend).runs_on) if row.section not in ("", "T")]
    tiles = tile_tunables(plan.graph, base, backend, longest)
    for row in tiles:
        if longest and row.name == "column_threads":  # a tower of fewer threads than the first has no place for it
            base = replace(base, plan=row.write(base.plan, row.sensible[0]))
    others = [replace(r, sensible=(*r.sensible, *compilers)) if r.name == "compiler" else r for r in general]
    stages = stages_tunable(plan.graph, base, backend)
    rows = [*tiles, *(stages if stages is not None and row.name == stages.name else row for row in others)]
    types = type_rows(graph, choices, bound) if bound else ()
    every = [*(row.name for row in rows), *(row.name for row in types)]
    wanted = _named(rows, types, only if only is not None else every) - _named(rows, types, fixed)
    tunables: list[Tunable] = []
    values: list[tuple[Setting, ...]] = []
    for row in rows:
        here = row.read(base.plan)
        tried = tuple(value for value in row.sensible if not _excess(row, value, most_threads, widest))
        settings = tried if here in tried else (here, *tried)
        if row.name in wanted and len(settings) > 1:
            tunables.append(row)
            values.append(settings)
    precise = tuple(row for row in types if row.name in wanted)
    if not tunables and not precise:
        raise TuningError("nothing is left to tune", advice="Name fewer choices as fixed, or more in only=.")
    parameters = tuple(
        TuningParameter(row.name, tuple(map(_text, settings)), _is_ordered(settings), _rank(row, settings), row.label)
        for row, settings in zip(tunables, values, strict=True)
    )
    start = tuple(settings.index(row.read(base.plan)) for row, settings in zip(tunables, values, strict=True))
    believed = None if tree is None else machine_tree(tree, (*tunables, *precise), {**SECTIONS, PRECISION: "P"})
    ties = (*tie_of(len(tunables), precise), *ties_of(plan.graph, tunables))
    parts = _parts(tunables, own_loops(plan))
    outlook = machine_outlook(plan, tunables, values)
    known = Rows(plan, tuple(tunables), tuple(values))
    schedule = next((one for one in row_of(backend).schedules if any(row.section == "T" for row in tunables)), None)
    tiled = None if schedule is None else scheduled_plan(plan.graph, base, backend, schedule)
    if row_of(backend).runs_on == "blocks":
        launches = device_share(known, tiled, outlook)
    else:
        launches = footprint(known, tiled, outlook, extents, threads)
    found = MachineSpace(
        graph if bound else plan.graph,
        backend,
        base,
        tuple(tunables),
        tuple(values),
        SearchSpace(
            (*parameters, *(TuningParameter(row.name, row.types) for row in precise)),
            tree=believed,
            ties=ties,
            parts=parts,
            outlook=outlook,
            launches=launches,
        ),
        (*start, *(row.types.index(row.here) for row in precise)),
        plan.graph.fingerprint(),
        precise,
        Retyped(graph, base) if bound else None,
    )
    refusal = refusals(
        tunables,
        values,
        found.start,
        not schedule_named(base.plan.tiling.schedule).is_blocked,
        outlook,
        lambda point: plan_for(found.graph, found.choices(point), backend),
    )
    if refusal is None:
        return found
    return replace(found, refusal=refusal, space=replace(found.space, legal=lambda point: not refusal(point)))


def own_loops(plan: Plan) -> dict[str, str]:
    """Key -> name of the loops of a plain step whose name no other one has: their seconds are told apart by it."""
    subkernels = plan.main.plain.subkernels
    count = Counter(subkernel.name for subkernel in subkernels)
    keys = plan.main.kernel.keys()
    return {loop_key(plan.main, one, keys): one.name for one in subkernels if count[one.name] == 1}


def _parts(tunables: Sequence[Tunable], loops: Mapping[str, str]) -> tuple[tuple[int, ...], ...]:
    """Numbers of the tunables of each loop: they matter to its own launches alone, and these are timed."""
    found: dict[str, list[int]] = {}
    for number, row in enumerate(tunables):
        if row.section == "L" and row.key in loops:
            found.setdefault(row.key, []).append(number)
    return tuple(map(tuple, found.values()))


def _named(rows: list[Tunable], types: Sequence[TypeRow], names: Collection[str]) -> set[str]:
    """Names of tunables and of types, sections written out."""
    known = {row.name for row in rows} | {row.name for row in types}
    found: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        if name in SECTIONS:
            found |= {row.name for row in rows if row.section == SECTIONS[name]}
        elif name == PRECISION and types:
            found |= {row.name for row in types}
        elif name in known:
            found.add(name)
        elif name in {row.name for row in TUNABLES if row.section == "T"}:
            found |= {row.name for row in rows if row.member == name}
        else:
            close = get_close_matches(str(name), [*SECTIONS, *known], n=1, cutoff=0.7)
            guess = f"; did you mean {close[0]!r}?" if close else ""
            raise TuningError(
                f"there is nothing to tune that is called {name!r}{guess}",
                advice=f"Use a section ({', '.join(SECTIONS)}) or a name that machine.tunables() lists.",
            )
    return found


def _excess(row: Tunable, value: Setting, most_threads: int, widest: int) -> bool:
    """Whether a number is of more than the machine has."""
    most = {"threads": most_threads or MOST, "vector_width": widest}.get(row.name)
    return most is not None and isinstance(value, int) and value > most


def _rank(row: Tunable, settings: tuple[Setting, ...]) -> int:
    """By section; in a section a choice of few values comes first, as it takes few evaluations to know it."""
    return _RANKS[row.section] * _MOST_VALUES + min(len(settings), _MOST_VALUES - 1)


def _is_ordered(settings: tuple[Setting, ...]) -> bool:
    return all(type(setting) is int for setting in settings)


def _text(setting: Setting) -> str:
    return " ".join(map(str, setting)) or "none" if isinstance(setting, tuple) else str(setting)
