"""Costs against plain counting: every operation, read and byte of a loop found by walking its formulas."""

import itertools

import pytest

from tests.planning.random_graphs import random_choices, random_graph
from workbench.graph import OPERATORS, Arith, Load, Shift
from workbench.machine import trace
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.cost import HostFigures, bound_seconds, ghost_percent, halo_bytes, near_cost, step_cost
from workbench.planning.emission import doubles_weight, operator_weight
from workbench.views.graph.summary import plan_line

SEEDS = range(60)


def plans():
    for seed in SEEDS:
        graph = random_graph(seed)
        yield plan_graph(graph, random_choices(graph, seed))


def steps():
    for plan in plans():
        for kernel in plan.kernels:
            for step in (kernel.plain, kernel.observed):
                yield plan, kernel, step


def walked(kernel, subkernel):
    """Sets of (node, offset): operations and reads of one cell, each value once wherever it is asked for."""
    nodes = kernel.kernel.nodes
    stored = {h.node for h in subkernel.reads}
    operations, reads = set(), set()

    def visit(index, offset, by_formula):
        node = nodes[index]
        if index in stored and (not by_formula or isinstance(node.instruction, Load)):
            reads.add((index, offset))
        elif isinstance(node.instruction, Shift):
            moved = tuple(a - b for a, b in zip(offset, node.instruction.offset, strict=True))
            visit(node.operands[0], moved, False)
        elif isinstance(node.instruction, Arith):
            operations.add((index, offset))
            for operand in node.operands:
                visit(operand, offset, False)

    zero = (0,) * len(subkernel.margins)
    for home in subkernel.outputs:
        visit(home.node, zero, True)
    for reduction in subkernel.reductions:
        visit(nodes[reduction].operands[0], zero, False)
    return operations, reads


def test_cost_of_a_loop_against_counting():
    offsets = loops = 0
    for _, kernel, step in steps():
        nodes = kernel.kernel.nodes
        rolling = {value.node for chain in step.chains for value in chain.rolling}
        for subkernel in step.subkernels:
            operations, reads = walked(kernel, subkernel)
            size = {h.slot: nodes[h.node].value_type.itemsize for h in subkernel.reads if h.node not in rolling}
            written = sum(nodes[h.node].value_type.itemsize for h in subkernel.outputs if h.node not in rolling)
            assert subkernel.cost.loads == len(reads)
            assert subkernel.cost.flops == sum(OPERATORS[nodes[n].instruction.operator].flops for n, _ in operations)
            assert subkernel.cost.doubles == sum(
                OPERATORS[nodes[n].instruction.operator].flops
                * max(nodes[m].value_type.itemsize for m in (n, *nodes[n].operands))
                / 8
                for n, _ in operations
            )
            assert subkernel.cost.bytes_moved == sum(size.values()) + written
            assert subkernel.emitted == len(operations)
            offsets += len(reads) > len({n for n, _ in reads})
            loops += 1
    print(f"{loops} loops, {offsets} of them read an array at several offsets")
    assert offsets > 20


def cells_of(margins, extents):
    ranges = (range(-below, n + above) for (below, above), n in zip(margins, extents, strict=True))
    return sum(1 for _ in itertools.product(*ranges))


def test_bound_of_a_step_against_counting():
    figures = HostFigures(3.0, 7.0, "made up")
    grown = 0
    for plan, _, step in steps():
        extents = (5, 3)[: plan.graph.dim]
        expected = 0.0
        for s in step.subkernels:
            cells = cells_of(s.margins, extents)
            grown += cells > cells_of(((0, 0),) * len(extents), extents)
            expected += cells * max(s.cost.bytes_moved / 3.0, s.cost.doubles / 7.0)
        assert bound_seconds(step, extents, figures) == pytest.approx(expected)
        assert step_cost(step).loads == sum(s.cost.loads for s in step.subkernels)
    assert grown > 10


def test_operations_on_bytes_do_not_bind_as_those_on_doubles_do():
    text = """
alive = field("alive", dtype="u8", boundary="periodic")
around = sum(alive[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1)) - alive
alive.next = astype((around == 3) | ((around == 2) & (alive == 1)), "u8")
"""
    step = trace(text, 2, name="life").plan().main.plain
    assert (step_cost(step).flops, step_cost(step).doubles) == (15, 15 / 8)
    # at 15 operations a cell of 7 a second: 15 / 7; vector registers hold eight times as many bytes as doubles
    assert bound_seconds(step, (1, 1), HostFigures(1e9, 7.0, "made up")) == pytest.approx(15 / 8 / 7)


def test_halo_bytes_against_counting():
    fills = 0
    for plan, kernel, step in steps():
        extents = (4, 6)[: plan.graph.dim]
        total = 0
        for fill in step.fills:
            ghosts = cells_of(fill.margins, extents) - cells_of(((0, 0),) * len(extents), extents)
            total += ghosts * kernel.kernel.nodes[fill.node].value_type.itemsize
            fills += 1
        assert halo_bytes(step, kernel.kernel, extents) == total
        if step.subkernels:
            domain = cells_of(((0, 0),) * len(extents), extents)
            cells = sum(cells_of(s.margins, extents) for s in step.subkernels)
            percent = 100.0 * (cells / (domain * len(step.subkernels)) - 1)
            assert ghost_percent(step, extents) == pytest.approx(percent)
    assert fills > 50


def test_the_cost_preset_is_seldom_worse_than_the_other_two():
    figures = HostFigures(1.0, 4.0, "made up")  # the balance that the preset assumes
    better = worse = 0
    for seed in SEEDS:
        graph = random_graph(seed)
        extents = (64, 64)[: graph.dim]
        times = {}
        for preset in ("cost", "as_delayed", "as_manifest"):
            step = plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset))).main.plain
            times[preset] = bound_seconds(step, extents, figures)
        best = min(times["as_delayed"], times["as_manifest"])
        better += times["cost"] <= best * 1.001
        worse += times["cost"] > best * 1.25
    print(f"cost preset: best or equal in {better} of {len(SEEDS)}, more than 25 % worse in {worse}")
    assert better >= 0.8 * len(SEEDS)


def test_an_operator_on_dd_weighs_as_much_as_its_f64_operations():
    kernel = trace('u = field("u", dtype="dd")\nu.next = u * u + astype(u, "f64")', name="pairs").graph.kernel("step")
    found = {
        node.instruction.operator: (operator_weight(kernel, index), doubles_weight(kernel, index))
        for index, node in enumerate(kernel.nodes)
        if isinstance(node.instruction, Arith)
    }
    assert found == {"multiply": (13.0, 13.0), "add": (23.0, 23.0), "cast": (1.0, 1.0)}


NEAR = """
xi, = targets("x")
xj, m = sources("x m")
near, = totals("near", cutoff=0.1, positions="x")
most, = totals("most", reduce="max", cutoff=0.1, positions="x")
{every}near += m * (xj - xi) * xi**2
most.include(m)
"""
EVERY = 'every, = totals("every")\nevery += m * xi\n'


def near_of(text):
    planned = trace(text, name="near").plan().main
    return near_cost(planned.plain, planned.kernel, planned.storage)


def test_sums_within_a_cutoff_cost_what_a_visited_pair_does():
    """Of each sum: distance, its square, comparison, selection; of the first two products more, xi**2 once a target."""
    cost = near_of(NEAR.format(every=""))
    flops = {name: OPERATORS[name].flops for name in ("subtract", "multiply", "less_equal", "select")}
    assert cost.flops == 2 * sum(flops.values()) + 2 * flops["multiply"]
    assert (cost.bytes_moved, cost.loads) == (2 * 16, 4)  # x and m of the source, for each sum
    assert near_of(NEAR.format(every=EVERY)) == cost
    assert near_of('x, = targets("x")\ns, = sources("x")\nt, = totals("t")\nt += s * x') is None


def test_the_line_of_a_plan_says_visited_pairs():
    assert plan_line(trace(NEAR.format(every=""), name="near").plan()).endswith("; 32 bytes a visited pair")
    assert plan_line(trace(NEAR.format(every=EVERY), name="near").plan()).endswith(" bytes a pair")
