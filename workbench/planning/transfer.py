"""Transfer: choices carried over to a related program by the names of its values: changed, retyped, of more axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.errors import PlanError
from workbench.graph import Graph
from workbench.planning.choices import BarrierChoices, Choices, LoopChoices, PlanChoices, TilingChoices, ValueChoices
from workbench.planning.genome import decided
from workbench.planning.loop_keys import loop_key
from workbench.planning.plan import Plan
from workbench.planning.relatives import labels_of, loops_of
from workbench.planning.sites import Site, barrier_sites, storage_sites

_LISTED = 8  # names in a sentence


@dataclass(frozen=True, slots=True)
class TransferReport:
    """The result of a transfer of choices, by the names of values.

    carried: values with the choice of the value of the same name. relatives: values with the choice of most values
    whose names differ in a number only, such as the other components. lost: choices without a value here. new: values
    left to preset and hints. left_out: sentences about choices that concern no single value.
    """

    carried: tuple[str, ...]
    lost: tuple[str, ...]
    new: tuple[str, ...]
    relatives: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line, with a few of the names."""
        parts = [f"{len(self.carried)} values carried over"]
        if self.relatives:
            parts.append(f"{len(self.relatives)} set as their relatives ({_listed(self.relatives)})")
        parts.append(f"{len(self.lost)} lost ({_listed(self.lost)})")
        parts.append(f"{len(self.new)} new, left to the preset ({_listed(self.new)})")
        return "; ".join([", ".join(parts), *self.left_out])


def carry(plan: PlanChoices, old: Graph, new: Graph) -> PlanChoices:
    """Choices of a plan for the same program in other types: values are found by what they are made of, not by key.

    Both graphs are simplified ones. Launch numbers of loops on a device stay those of all loops.
    """
    made, _ = _carried(plan, old, new)
    values = replace(made.values, preset=plan.values.preset, hints=plan.values.hints)
    return replace(made, values=values, loops=())


def transfer_plan(
    old: Plan, new: Graph, base: Choices, plan: Callable[[Choices], Plan]
) -> tuple[Choices, TransferReport]:
    """Carry all that a plan has decided over to another program, whose `base` choices say the rest.

    plan: makes the plan of choices for `new`. Loops keep their launch numbers where they make values of the same names,
    else those of relatives. Raises PlanError if the choices cannot be met for another reason than the schedule.
    """
    source = decided(old)
    made, report = _carried(source, old.graph, new)
    values = replace(made.values, preset=base.plan.values.preset, hints=base.plan.values.hints)
    choices = replace(base, plan=replace(made, values=values, loops=()))
    left_out = list(report.left_out)
    try:
        planned = plan(choices)
    except PlanError as error:
        if made.tiling == TilingChoices():
            raise
        left_out.append(f'schedule "{made.tiling.schedule}" left out: {error.what}')
        choices = replace(choices, plan=replace(choices.plan, tiling=TilingChoices()))
        planned = plan(choices)
    if source.loops:
        loops, missing = _loops(source, old, planned)
        choices = replace(choices, plan=replace(choices.plan, loops=loops))
        left_out += [f"launch numbers of {_listed(missing)} found no loop"] if missing else []
    return choices, replace(report, left_out=tuple(left_out))


Setting = str | bool


@dataclass(frozen=True, slots=True)
class _Source:
    """What was chosen of the sites of a program: by key and label, and all settings by exact and by loose label."""

    keys: Mapping[tuple[str, str, str], Setting]
    exact: Mapping[tuple[str, str], list[Setting]]
    loose: Mapping[tuple[str, str], list[Setting]]


def _carried(source: PlanChoices, old: Graph, new: Graph) -> tuple[PlanChoices, TransferReport]:
    settings = _source(source, old)
    made: dict[str, set[str]] = {part: set() for part in ("manifest", "delayed", "before", "after")}
    carried, relatives, fresh = dict[str, None](), dict[str, None](), dict[str, None]()
    taken = set[tuple[str, str]]()
    for site, exact, loose in _labelled(new):
        votes = settings.exact.get((site.part, exact), [])
        own = settings.keys.get((site.part, site.key, exact))
        setting = own if own is not None else _majority(votes)
        names = carried
        if setting is None:
            setting, names = _majority(settings.loose.get((site.part, loose), [])), relatives
            taken.add((site.part, loose))
        taken.add((site.part, exact))
        if setting is None:
            if site.part == "manifest":
                fresh[site.called] = None
        elif setting:
            made[str(setting) if site.part == "manifest" else site.part].add(site.key)
            names[site.called] = None
        elif site.part == "manifest":
            fresh[site.called] = None
    lost = {
        site.called: None
        for site, exact, loose in _labelled(old)
        if settings.keys[site.part, site.key, exact] and not {(site.part, exact), (site.part, loose)} & taken
    }
    tiling = source.tiling if old.dim == new.dim else replace(source.tiling, widths=(), tile_count=0)
    padding = source.layout.padding if old.dim == new.dim else ()
    left_out = [f"widths of tiles left out: they are of {old.dim} axes"] if tiling != source.tiling else []
    left_out += [f"padding left out: it is of {old.dim} axes"] if padding != source.layout.padding else []
    plan = replace(
        source,
        values=ValueChoices(manifest=frozenset(made["manifest"]), delayed=frozenset(made["delayed"])),
        barriers=BarrierChoices(frozenset(made["before"]), frozenset(made["after"])),
        tiling=tiling,
        layout=replace(source.layout, padding=padding),
    )
    relatives = {name: None for name in relatives if name not in carried}
    fresh = {name: None for name in fresh if name not in carried and name not in relatives}
    return plan, TransferReport(tuple(carried), tuple(lost), tuple(fresh), tuple(relatives), tuple(left_out))


def _source(source: PlanChoices, graph: Graph) -> _Source:
    keys: dict[tuple[str, str, str], Setting] = {}
    exact_votes: dict[tuple[str, str], list[Setting]] = {}
    loose_votes: dict[tuple[str, str], list[Setting]] = {}
    barriers = {"before": source.barriers.before, "after": source.barriers.after}
    for site, exact, loose in _labelled(graph):
        if site.part == "manifest":
            stored, not_stored = site.key in source.values.manifest, site.key in source.values.delayed
            setting: Setting = "manifest" if stored else "delayed" if not_stored else ""
        else:
            setting = site.key in barriers[site.part]
        keys[site.part, site.key, exact] = setting
        exact_votes.setdefault((site.part, exact), []).append(setting)
        loose_votes.setdefault((site.part, loose), []).append(setting)
    return _Source(keys, exact_votes, loose_votes)


def _labelled(graph: Graph) -> list[tuple[Site, str, str]]:
    """All sites with the labels of their values, kernel by kernel."""
    labels: dict[str, tuple[str, str]] = {}
    for kernel in graph.kernels:
        found = labels_of(kernel)
        for key, exact, loose in zip(kernel.keys(), found.exact, found.loose, strict=True):
            labels.setdefault(f"{kernel.name}/{key}", (f"{kernel.name}/{exact}", f"{kernel.name}/{loose}"))
    return [(site, *labels[site.key]) for site in (*storage_sites(graph), *barrier_sites(graph))]


def _majority(votes: Sequence[Setting]) -> Setting | None:
    """What more than half of the votes say."""
    if not votes:
        return None
    setting, count = Counter(votes).most_common(1)[0]
    return setting if 2 * count > len(votes) else None


def _loops(source: PlanChoices, old: Plan, new: Plan) -> tuple[tuple[tuple[str, LoopChoices], ...], list[str]]:
    """Launch numbers by the keys of the new plan's loops, and the names of loops for which there is none."""
    made: dict[str, LoopChoices] = {}
    used = set[str]()
    for loose in (False, True):
        there = loops_of(new, loose=loose)
        for label, loops in loops_of(old, loose=loose).items():
            told = [(key, source.loop(key)) for key in (loop_key(kernel, loop) for kernel, loop in loops)]
            numbers = next((each for _, each in told if each != LoopChoices()), LoopChoices())
            if numbers != LoopChoices() and label in there:
                used |= {key for key, _ in told}
                made |= {loop_key(*each): numbers for each in there[label] if loop_key(*each) not in made}
    names = {loop_key(*each): each[1].name for loops in loops_of(old).values() for each in loops}
    missing = [names.get(key, key) for key, _ in source.loops if key not in used]
    return tuple(made.items()), missing


def _listed(names: Sequence[str]) -> str:
    names = sorted(names, key=lambda name: " (value " in name)  # those that people gave first
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(names[:_LISTED]) or "none") + more
