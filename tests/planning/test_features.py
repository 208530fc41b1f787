"""Features: they are those of the plan with the same values stored, whichever these are."""

import random
from dataclasses import replace

import pytest

from workbench.planning import plan_graph
from workbench.planning.choices import Choices
from workbench.planning.cost import step_cost
from workbench.planning.features import StorageFeatures
from workbench.solvers import gray_scott, maxwell, shallow_water

APART = Choices().plan.changed(loops="apart")


def planned(graph, features, stored):
    """The plan with exactly these values stored."""
    keys, name = features.kernel.keys(), features.kernel.name
    sides = {True: set(), False: set()}
    for node in range(len(keys)):
        if features.free >> node & 1:
            sides[bool(stored >> node & 1)].add(f"{name}/{keys[node]}")
    values = replace(APART.values, manifest=frozenset(sides[True]), delayed=frozenset(sides[False]), hints=False)
    return plan_graph(graph, Choices(plan=replace(APART, values=values)))


@pytest.mark.parametrize(
    "solver", [gray_scott.machine(), maxwell.machine(), shallow_water.machine(dim=1)], ids=lambda one: one.graph.name
)
def test_features_are_those_of_the_plan(solver):
    graph = plan_graph(solver.graph).graph
    features = StorageFeatures(plan_graph(graph, Choices(plan=APART)))
    free = [node for node in range(len(features.kernel.nodes)) if features.free >> node & 1]
    draw = random.Random(7)
    assert len(free) > 20
    for share in (0.0, 0.1, 0.5, 0.5, 1.0):
        stored = sum(1 << node for node in free if draw.random() < share)
        found, plan = features.of(stored), planned(graph, features, stored)
        step = plan.main.plain
        assert found.bytes_moved == step_cost(step).bytes_moved
        assert found.loops == len(step.subkernels)
        assert found.operations == sum(each.emitted for each in step.subkernels)
        assert found.arrays == sum(len(each.outputs) for each in step.subkernels)


def test_what_is_stored_is_computed_once():
    features = StorageFeatures(plan_graph(shallow_water.machine(dim=1).graph, Choices(plan=APART)))
    assert features.of(0).redundant > 100
    assert features.of(features.free).redundant == 0


def test_a_barrier_counts_where_a_loop_needs_the_value():
    features = StorageFeatures(plan_graph(gray_scott.machine().graph, Choices(plan=APART)))
    graph = features.kernel
    unused = next(i for i, node in enumerate(graph.nodes) if not any(i in other.operands for other in graph.nodes))
    field = next(i for i, node in enumerate(graph.nodes) if type(node.instruction).__name__ == "Load")
    assert features.of(0, before=1 << unused).barriers == 0
    found = features.of(0, before=1 << field, after=1 << field)
    assert found.before == found.after > 0
    assert features.of(0) == replace(found, before=0, after=0)
