"""Random genomes: arbitrary plans of one program, all of which must give the same bits."""

from __future__ import annotations

import random

from workbench.machine import Machine
from workbench.planning.choices import PlanChoices
from workbench.planning.genome import write_genome
from workbench.planning.tunables import tunable, value_tunables


def random_genome(machine: Machine, seed: int) -> str:
    """A genome of the machine's program: a random part of the free values Manifest, a few barriers, some block size.

    The same for the same program and seed. Grids stay as large as the domain asks, so that any device runs them.
    """
    graph = machine.plan().graph
    generator = random.Random(f"genome {seed}")  # noqa: S311  # no secret
    manifest = generator.choice((0.15, 0.3, 0.5, 0.8))
    choices = PlanChoices()
    for row in map(tunable, ("tile", "loops", "block")):
        choices = row.write(choices, row.random(generator))
    for row in value_tunables(graph):
        stored = "manifest" if generator.random() < manifest else "delayed"
        value = stored if row.section == "M" else row.random(generator)
        if value != row.default:
            choices = row.write(choices, value)
    return write_genome(graph, choices)
