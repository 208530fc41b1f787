"""Lives of arrays against the order of launches, followed once more by hand."""

import itertools

from tests.kit.paper_graphs import hello, named_wave
from tests.planning.random_graphs import random_choices, random_graph
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.lifetimes import lifetimes_of, live_bytes


def test_lives_of_table_3():
    plan = plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))
    lives = lifetimes_of(plan, plan.main, plan.main.plain)
    assert [(life.slot, life.name, life.first, life.last) for life in lives] == [
        (0, "density", -1, 0),
        (0, "y", 0, 1),
        (0, "density.next", 1, 2),
    ]
    assert [live_bytes({s.index: s.itemsize for s in plan.slots}, lives, launch) for launch in (0, 1)] == [8, 8]


def test_a_diagnostic_step_keeps_more_alive():
    plan = plan_graph(named_wave())
    plain, observed = (lifetimes_of(plan, plan.main, step) for step in (plan.main.plain, plan.main.observed))
    assert len(observed) > len(plain) or max(life.slot for life in observed) > max(life.slot for life in plain)


def test_loops_that_run_together_need_their_arrays_together():
    text = 'u = field("u", boundary="periodic")\ny = manifest(exp(u))\nu.next = y[-1, 0] + y[+1, 0]\n'
    plan = plan_graph(trace_cell(text, name="cell", dim=2).graph)
    step = plan.main.plain
    (chain,) = step.chains
    assert chain.launches == (1, 3)
    lives = {life.name: (life.first, life.last) for life in lifetimes_of(plan, plan.main, step)}
    assert lives == {"u": (-1, 2), "y": (1, 2), "u.next": (1, 3)}


def test_every_read_falls_into_a_life_of_random_plans():
    reads = 0
    for seed in range(30):
        graph = random_graph(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        for kernel in plan.kernels:
            for step in (kernel.plain, kernel.observed):
                lives = lifetimes_of(plan, kernel, step)
                for number, launch in enumerate(step.launches):
                    if launch.kind != "subkernel":
                        continue
                    for home in (h for m in launch.members for h in step.subkernels[m].reads):
                        covering = [x for x in lives if x.slot == home.slot and x.first < number <= x.last]
                        assert len(covering) == 1, f"seed {seed}"
                        reads += 1
                for slot in range(len(plan.slots)):
                    mine = [x for x in lives if x.slot == slot]
                    assert all(a.last <= b.first for a, b in itertools.pairwise(mine)), f"seed {seed}"
                kept = {x.slot for x in lives if x.last == len(step.launches)}
                assert kept == {step.rotation[f] for f in range(len(plan.graph.fields))}, f"seed {seed}"
    assert reads > 60
