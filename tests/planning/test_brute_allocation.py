"""Allocation against brute force: all ways to store or recompute are tried, and each is recounted by substitution.

Nothing of the planner is used to count: a stored value is written out down to the arrays that it reads, one occurrence
at a time.
"""

from tests.planning.small_graphs import assignments, free_keys, small_graph
from workbench.graph import OPERATORS, Arith, Broadcast, Extend, Load, Reduce, Shift, Store
from workbench.planning import Storage, plan_graph
from workbench.planning.estimate import Estimate


def programs(seeds, most):
    """(graph, plan by default, {chosen keys: plan}) of the small programs with 1 to `most` free values."""
    for seed in seeds:
        graph = small_graph(seed)
        plans = dict(assignments(graph, most))
        if len(plans) > 1:
            yield graph, plan_graph(graph), plans


def must_be_stored(kernel):
    """What has to be an array whatever is chosen: values of fields at the end, and what extend() looks at."""
    holders = (n for n in kernel.nodes if isinstance(n.instruction, Store | Extend))
    return {n.operands[0] for n in holders if kernel.nodes[n.operands[0]].is_local}


def is_array_already(node):
    return isinstance(node.instruction, Load | Extend) and node.is_local


def may_be_chosen(kernel, index):
    """Arithmetic on cells that a loop evaluates and nobody forces."""
    return (
        isinstance(kernel.nodes[index].instruction, Arith)
        and kernel.nodes[index].is_local
        and index not in must_be_stored(kernel)
        and index in evaluated(kernel)
    )


def evaluated(kernel):
    """Nodes that some store, sum or extend() is computed from."""
    found, waiting = set(), [n.operands[0] for n in kernel.nodes if isinstance(n.instruction, Store | Reduce | Extend)]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(() if isinstance(kernel.nodes[index].instruction, Extend) else kernel.nodes[index].operands)
    return found


def written_out(kernel, stored, index, cell, by_formula):
    """Every occurrence of an operation and of a read below a value, as ("operation" or "read", node, cell)."""
    node = kernel.nodes[index]
    if (not by_formula and (index in stored or is_array_already(node))) or isinstance(node.instruction, Load):
        yield "read", index, cell
    elif isinstance(node.instruction, Shift):
        there = tuple(i - o for i, o in zip(cell, node.instruction.offset, strict=True))
        yield from written_out(kernel, stored, node.operands[0], there, False)
    elif isinstance(node.instruction, Arith):
        yield "operation", index, cell
        for operand in node.operands:
            yield from written_out(kernel, stored, operand, cell, False)
    else:
        assert not node.operands or isinstance(node.instruction, Broadcast), node


def stored_values(kernel, chosen):
    keys = kernel.keys()
    picked = {i for i in range(len(kernel.nodes)) if f"{kernel.name}/{keys[i]}" in chosen}
    local = {i for i in must_be_stored(kernel) if not is_array_already(kernel.nodes[i])}
    return picked | local


def arrays_for(step, stored, loop):
    """The stored values as a loop finds them: what rolls is no array for one that runs in no chain."""
    together = {m.subkernel for chain in step.chains for m in chain.members}
    rolling = {value.node for chain in step.chains for value in chain.rolling}
    return stored if loop.index in together else stored - rolling


def bodies(kernel, dim, stored, roots, reductions):
    """What one loop over these roots consists of: sets of operations and reads."""
    origin = (0,) * dim
    found = {e for root in roots for e in written_out(kernel, stored, root, origin, True)}
    for reduction in reductions:
        found |= set(written_out(kernel, stored, kernel.nodes[reduction].operands[0], origin, False))
    return found


def test_exactly_what_is_chosen_or_forced_is_stored():
    plans_seen = stored_seen = 0
    for graph, default, plans in programs(range(24), most=4):
        kernel = default.main.kernel
        free = {i for i in range(len(kernel.nodes)) if may_be_chosen(kernel, i)}
        assert {i for i, why in enumerate(default.main.forced) if not why} == free
        assert len(plans) == 2 ** len(free) == 2 ** len(free_keys(graph))
        for chosen, plan in plans.items():
            expected = stored_values(kernel, chosen)
            assert {i for i, s in enumerate(plan.main.storage) if s is Storage.MANIFEST} == expected
            made = [h.node for s in plan.main.observed.subkernels for h in s.outputs]
            assert {n for n in made if not is_array_already(kernel.nodes[n])} == expected
            plans_seen += 1
            stored_seen += len(expected)
    print(f"{plans_seen} plans, {stored_seen} stored values")
    assert plans_seen > 50


def test_loops_read_and_compute_what_substitution_finds():
    moved = repeated = 0
    for graph, _, plans in programs(range(30), most=4):
        for chosen, plan in plans.items():
            kernel = plan.main.kernel
            stored = stored_values(kernel, chosen)
            for loop in plan.main.observed.subkernels:
                roots = {h.node for h in loop.outputs}
                arrays = arrays_for(plan.main.observed, stored, loop)
                body = bodies(kernel, graph.dim, arrays, roots, loop.reductions)
                operations = [e for e in body if e[0] == "operation"]
                reads = [e for e in body if e[0] == "read"]
                assert loop.emitted == len(operations)
                assert loop.cost.loads == len(reads)
                assert loop.cost.flops == sum(
                    OPERATORS[kernel.nodes[n].instruction.operator].flops for _, n, _ in operations
                )
                assert {h.node for h in loop.reads} == {n for _, n, _ in reads}
                moved += any(any(cell) for *_, cell in reads)
                repeated += len({n for _, n, _ in operations}) < len(operations)
    print(f"{moved} loops read neighbours, {repeated} compute a value at several cells")
    assert moved > 50
    assert repeated > 10


def weight(kernel, index):
    node = kernel.nodes[index]
    name = node.instruction.operator
    return (
        (16 if name in ("divide", "sqrt") else OPERATORS[name].flops) * kernel.nodes[node.operands[0]].type.itemsize / 8
    )


def model(graph, plan):
    """What workbench.planning.estimate says that it counts, recounted for the loops and chains of a finished plan."""
    kernel, step = plan.main.kernel, plan.main.plain
    stored = {i for i, s in enumerate(plan.main.storage) if s is Storage.MANIFEST}
    seams = {}
    for chain in step.chains:
        where = Estimate(kernel, plan.main.margins, frozenset(range(len(kernel.nodes))), (), True).computed_cells(chain)
        seams.update({member.subkernel: each for member, each in zip(chain.members, where, strict=True)})
    total, moved = 4.0 * len(step.subkernels), {}
    for number, loop in enumerate(step.subkernels):
        roots = {h.node for h in loop.outputs}
        body = bodies(kernel, graph.dim, arrays_for(step, stored, loop), roots, loop.reductions)
        reads = [n for kind, n, _ in body if kind == "read"]
        work = sum(weight(kernel, n) for kind, n, _ in body if kind == "operation")
        work += 2 * sum(traffic(kernel, n) for n in reads)
        work += 2 * sum(traffic(kernel, n) for n in roots if not is_array_already(kernel.nodes[n]))
        total += work * seams.get(number, 1.0)
        chain = next((c for c in step.chains if number in {m.subkernel for m in c.members}), number)
        moved.setdefault(chain, set()).update(roots, reads)
    for chain, nodes in moved.items():
        rolling = set() if isinstance(chain, int) else {v.node for v in chain.rolling}
        total += 2 * sum(kernel.nodes[n].type.itemsize for n in nodes - rolling)
    return total + 8 * (len(step.launches) - sum(c.launches[1] - c.launches[0] - 1 for c in step.chains))


def traffic(kernel, index):
    size = kernel.nodes[index].type.itemsize
    return 8 if size == 1 else size / 8


def test_the_default_is_never_worse_than_a_preset_and_seldom_far_from_the_best():
    """The relation that choose_allocation promises: see its docstring."""
    best = stores = count = 0
    worst = 1.0
    for graph, default, plans in programs((*range(30), 46, 55, 61, 74, 113, 137, 139, 162, 177, 192), most=5):
        count += 1
        kernel = default.main.kernel
        keys = kernel.keys()
        step = default.main.plain
        costs = {chosen: model(graph, plan) for chosen, plan in plans.items()}
        picked = frozenset(
            f"{kernel.name}/{keys[i]}"
            for i, s in enumerate(default.main.storage)
            if s is Storage.MANIFEST and not default.main.forced[i]
        )
        assert step.subkernels == plans[picked].main.plain.subkernels
        nothing, everything = costs[frozenset()], costs[frozenset(free_keys(graph))]
        assert costs[picked] <= min(nothing, everything) + 1e-9
        best += costs[picked] <= min(costs.values()) + 1e-9
        stores += bool(picked)
        worst = max(worst, costs[picked] / min(costs.values()))
    print(f"{count} programs: the default is the best in {best}, at worst {worst:.2f} of it, stores in {stores}")
    assert best >= 0.9 * count
    assert worst <= 1.2
    assert stores >= 9
