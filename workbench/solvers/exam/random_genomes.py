"""Random genomes: plans of one program that nobody would choose, all of which must give the same bits."""

from __future__ import annotations

import random

from workbench.machine import Machine
from workbench.planning.genome import LETTERS, genome_sites

_BARRIERS = 0.02  # part of the synchronisation bits that are set
_BLOCKS = (32, 64, 96, 256)


def random_genome(machine: Machine, seed: int) -> str:
    """A genome of the machine's program: a random part of the free values Manifest, a few barriers, some block size.

    The same for the same program and seed. Grids stay as large as the domain asks, so that any device runs them.
    """
    graph = machine.plan().graph
    generator = random.Random(f"genome {seed}")  # noqa: S311  # no secret
    manifest = generator.choice((0.15, 0.3, 0.5, 0.8))
    chance = {"manifest": manifest, "sync_before": _BARRIERS, "sync_after": _BARRIERS}
    block = f"{generator.choice(_BLOCKS):016b}"
    rest = (site.part for site in genome_sites(graph)[32:])
    bits = "0" * 16 + block + "".join("01"[generator.random() < chance[part]] for part in rest)
    bits = bits.zfill(len(bits) + len(bits) % 2)
    letters = "".join(LETTERS[int(bits[i : i + 2], 2)] for i in range(0, len(bits), 2))
    return f"{machine.genome.partition(':')[0]}:{letters}"
