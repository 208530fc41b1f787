"""Genomes of version 1, which are read and no longer written: grid, block, Manifest and barrier bits in one text."""

from __future__ import annotations

from workbench.errors import GenomeError
from workbench.graph import Graph
from workbench.graph.keys_1 import NotInVersion1Error, program_key_1
from workbench.planning.choices import PlanChoices
from workbench.planning.letters import bits_of
from workbench.planning.sites import barrier_sites, storage_sites
from workbench.planning.tunables import tunable

_NUMBER_BITS = 16


def version_1_key(graph: Graph) -> str:
    """The hash by which version 1 knew a program. GenomeError for a program that it could not express."""
    try:
        return program_key_1(graph)
    except NotInVersion1Error as error:
        raise GenomeError(
            f"no genome of version 1 is one of this program, which has {error}", advice="Tune again."
        ) from None


def from_version_1(letters: str, graph: Graph, base: PlanChoices) -> PlanChoices:
    """The choices of a genome of version 1: `base` with grid, block, storage and barriers as the letters say.

    16 bits of grid size and 16 of block size, most significant first; then for each kernel one bit for each free value
    (1 = Manifest), then for each kernel two bits for each value (synchronise before, after). Raises GenomeError for
    damaged letters, PlanError for a block that no device has.
    """
    free, values = storage_sites(graph), barrier_sites(graph)
    bits = bits_of(letters, 2 * _NUMBER_BITS + len(free) + len(values))
    plan = tunable("grid").write(base, int(bits[:_NUMBER_BITS], 2))
    plan = tunable("block").write(plan, int(bits[_NUMBER_BITS : 2 * _NUMBER_BITS], 2))
    sites = zip((*free, *values), bits[2 * _NUMBER_BITS :], strict=True)
    chosen = {(site.part, site.key) for site, bit in sites if bit == "1"}
    return plan.changed(
        manifest=frozenset(site.key for site in free if ("manifest", site.key) in chosen),
        delayed=frozenset(site.key for site in free if ("manifest", site.key) not in chosen),
        before=frozenset(key for part, key in chosen if part == "before"),
        after=frozenset(key for part, key in chosen if part == "after"),
        hints=False,
    )
