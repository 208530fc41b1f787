"""Plans of programs with values of several spaces: each value has a loop and an array of its own axes."""

import random

import pytest

from tests.kit.spaced_programs import (
    spaced_programs,
)
from tests.kit.symbolic import run_symbolically
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.verify import find_faults

PROGRAMS = {graph.name: graph for graph in spaced_programs()}


def planned(graph, preset):
    return plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))


@pytest.mark.parametrize("graph", PROGRAMS.values(), ids=PROGRAMS)
def test_a_plan_obeyed_word_for_word_gives_what_the_graph_means(graph):
    rng = random.Random(graph.name)
    largest = {2: 4, 3: 3, 4: 2}[graph.dim]
    for preset in ("cost", "as_delayed", "as_manifest"):
        plan = planned(graph, preset)
        assert find_faults(plan) == ()
        run_symbolically(plan, tuple(rng.randint(1, largest) for _ in range(graph.dim)), seed=len(graph.name), steps=2)
