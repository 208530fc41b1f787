"""Transfer: a genome carried over to a program that changed a little, by the names of its values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.graph import Graph
from workbench.planning.choices import BarrierChoices, Choices, ValueChoices
from workbench.planning.genome import choices_of
from workbench.planning.sites import Site, barrier_sites, storage_sites


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What a transfer could carry over: names of values set in the new program, and what found no place."""

    carried: tuple[str, ...]
    lost: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.carried)} values carried over, {len(self.lost)} lost ({', '.join(self.lost) or 'none'}), "
            f"{len(self.new)} new ones left to the preset ({', '.join(self.new) or 'none'})"
        )


def transfer(genome: str, old: Graph, new: Graph) -> tuple[Choices, TransferReport]:
    """Carry a genome of `old` over to another program as far as kernels and values have the same names.

    A guess by name, for a program that changed a little; both graphs are simplified ones. What concerns no single
    value is taken as it is.
    """
    source = choices_of(genome, old).plan
    values, barriers = source.values, source.barriers
    parts = {
        "manifest": values.manifest,
        "delayed": values.delayed,
        "before": barriers.before,
        "after": barriers.after,
    }
    there = {(site.part, site.called): site.key for site in _sites(new)}
    made: dict[str, set[str]] = {part: set() for part in parts}
    carried: dict[str, None] = {}
    lost: dict[str, None] = {}
    for site in _sites(old):
        part = "delayed" if site.part == "manifest" and site.key in values.delayed else site.part
        if site.key not in parts[part]:
            continue
        key = there.get((site.part, site.called))
        if key is None:
            lost[site.called] = None
        else:
            made[part].add(key)
            carried[site.called] = None
    fresh = tuple(site.called for site in storage_sites(new) if site.called not in carried)
    plan = replace(
        source,
        values=ValueChoices(manifest=frozenset(made["manifest"]), delayed=frozenset(made["delayed"])),
        barriers=BarrierChoices(frozenset(made["before"]), frozenset(made["after"])),
    )
    return Choices(plan=plan), TransferReport(tuple(carried), tuple(lost), fresh)


def _sites(graph: Graph) -> tuple[Site, ...]:
    return (*storage_sites(graph), *barrier_sites(graph))
