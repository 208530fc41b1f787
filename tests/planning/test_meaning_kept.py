"""Simplification and retyping keep every bit: the planned graph against the graph as it was written."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.random_programs import initial_state, random_program
from workbench.backends.interpreter import interpret
from workbench.frontend.cell import trace_cell
from workbench.graph.verify import verify
from workbench.planning.passes import plan_graph


def check(seeds):
    nodes = [0, 0]
    for seed in seeds:
        graph, extents, arrays, params = random_program(seed, cells=60)
        planned = plan_graph(graph).graph
        verify(planned)
        state = initial_state(graph, extents, arrays, params)
        for before, after in zip(graph.kernels, planned.kernels, strict=True):
            nodes = [nodes[0] + len(before.nodes), nodes[1] + len(after.nodes)]
            expected = interpret(graph, before.name, extents, state, 2)
            found = interpret(planned, before.name, extents, state, 2)
            for name in state:
                assert_same_bits(found[name], expected[name], f"seed {seed}, kernel {before.name}, {name}")
    print(f"{nodes[0]} nodes written, {nodes[1]} after simplification")
    return nodes


def test_a_product_with_zero_keeps_signs_and_bad_values():
    graph = trace_cell('u = field("u")\nu.next = u * 0.0', dim=1, name="zero").graph
    state = {"u": np.array([-1.0, 2.0, np.inf, np.nan])}
    with np.errstate(invalid="ignore"):
        expected = state["u"] * 0.0
    assert_same_bits(interpret(plan_graph(graph).graph, "step", (4,), state, 1)["u"], expected)


def test_random_programs():
    written, left = check(range(200))
    assert left < written


@pytest.mark.proof(seeds=range(200, 5000), batch=400, sample=200)
def test_many_random_programs(proof_seeds):
    check(proof_seeds)
