"""Random programs under random choices: a plan obeyed word for word gives what the graph means."""

import random

import pytest

from tests.kit.random_programs import random_program
from tests.kit.symbolic import run_symbolically
from tests.planning.random_graphs import random_choices, random_graph
from workbench.planning import plan_graph
from workbench.planning.verify import find_faults

BATCH = 25


@pytest.mark.parametrize(
    "batch", [*range(5), *(pytest.param(b, marks=pytest.mark.proof(sample=3)) for b in range(5, 12))]
)
def test_every_read_of_a_random_plan_sees_the_right_value(batch):
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        graph = random_graph(seed)
        choices = random_choices(graph, seed)
        rng = random.Random(seed)
        extents = tuple(rng.randint(1, 4) for _ in range(graph.dim))
        run_symbolically(plan_graph(graph, choices), extents, seed)


@pytest.mark.parametrize("batch", range(8))
def test_programs_with_every_instruction_and_rule(batch):
    for seed in range(batch * 10, (batch + 1) * 10):
        graph, *_ = random_program(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        assert find_faults(plan) == ()
        rng = random.Random(seed)
        largest = 4 if graph.dim == 1 else 2
        run_symbolically(plan, tuple(rng.randint(1, largest) for _ in range(graph.dim)), seed, steps=2)
