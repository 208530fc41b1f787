"""Groups against all dependencies, found by following every path; and what must share a loop."""

from tests.kit.paper_graphs import LINE
from tests.planning.random_graphs import random_choices, random_graph
from workbench.graph import GLOBAL, Extend, Graph, KernelBuilder, Load, Static
from workbench.graph.types import F64
from workbench.planning import plan_graph


def needed(kernel, made, root):
    """Groups of all values and reductions that a root depends on by any path, the root apart."""
    found, waiting, seen = set(), list(kernel.nodes[root].operands), set()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            if index in made:
                found.add(made[index])
            waiting.extend(kernel.nodes[index].operands)
    return found


def test_a_group_is_later_than_all_that_it_depends_on():
    pairs = 0
    for seed in range(120):
        graph = random_graph(seed)
        for each in plan_graph(graph, random_choices(graph, seed)).kernels:
            nodes = each.kernel.nodes
            for step in (each.plain, each.observed):
                made = {r: s.index for s in step.subkernels for r in s.reductions}
                for subkernel in step.subkernels:
                    copies = (h.node for h in subkernel.outputs if isinstance(nodes[h.node].instruction, Load))
                    copied = set(copies)
                    made |= {h.node: subkernel.index for h in subkernel.outputs if h.node not in copied}
                for root, group in made.items():
                    assert not isinstance(nodes[root].instruction, Extend)
                    before = needed(each.kernel, made, root)
                    assert all(other < group for other in before), f"seed {seed}, node {root}: {before} before {group}"
                    pairs += len(before)
    print(f"{pairs} dependencies between groups")
    assert pairs > 300


def test_groups_of_the_same_margins_could_not_be_one():
    """Of two neighbouring groups with equal margins the later one needs something of the earlier."""
    neighbours = 0
    for seed in range(120):
        graph = random_graph(seed)
        for each in plan_graph(graph, random_choices(graph, seed)).kernels:
            made = {h.node: s.index for s in each.plain.subkernels for h in s.outputs}
            for first, second in zip(each.plain.subkernels, each.plain.subkernels[1:], strict=False):
                if first.margins == second.margins and not (first.reductions or second.reductions):
                    neighbours += 1
                    groups = [needed(each.kernel, made, h.node) for h in second.outputs]
                    loads = [h for h in second.outputs if isinstance(each.kernel.nodes[h.node].instruction, Load)]
                    assert loads or any(first.index in g for g in groups), f"seed {seed}"
    assert neighbours > 10


def test_a_reduction_joins_the_loop_of_a_store():
    statics = (Static("u", "field", F64, LINE), Static("s", "scalar", F64, GLOBAL, 0.0))
    b = KernelBuilder(LINE, statics)
    u = b.load("u")
    b.store("s", b.reduce("sum", u))
    b.store("u", b.arith("multiply", u, b.imm(0.5, F64, LINE)))
    plan = plan_graph(Graph("g", LINE, statics, (b.finish("step"),)))
    (loop,) = plan.main.observed.subkernels
    assert (len(loop.outputs), len(loop.reductions)) == (1, 1)
