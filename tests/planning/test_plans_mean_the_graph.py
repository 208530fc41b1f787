"""Random programs under random choices: a plan obeyed word for word gives what the graph means."""

import random

import pytest

from tests.planning.random_graphs import random_choices, random_graph
from tests.planning.symbolic import run_symbolically
from workbench.planning import plan_graph

BATCH = 25


@pytest.mark.parametrize("batch", range(12))
def test_every_read_of_a_random_plan_sees_the_right_value(batch):
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        graph = random_graph(seed)
        choices = random_choices(graph, seed)
        rng = random.Random(seed)
        extents = tuple(rng.randint(1, 4) for _ in range(graph.dim))
        run_symbolically(plan_graph(graph, choices), extents, seed)
