"""Grouping and launch order against brute force: all legal ways to form groups; launches from first principles."""

import itertools

from tests.planning.random_graphs import random_choices, random_graph
from tests.planning.small_graphs import assignments, small_graph
from tests.planning.walk import reads_of, reductions
from workbench.graph import Extend, Load
from workbench.planning import plan_graph


def steps():
    """(seed, kernel plan, step) of small programs under all allocations and random ones under random choices."""
    plans = [(seed, plan) for seed in range(16) for _, plan in assignments(small_graph(seed), most=4)]
    for seed in range(50):
        graph = random_graph(seed)
        plans.append((seed, plan_graph(graph, random_choices(graph, seed))))
    return [(seed, k, step) for seed, plan in plans for k in plan.kernels for step in (k.plain, k.observed)]


def roots_of(kernel, subkernel):
    """What a loop makes; a copied Load is made from a field that is there already, so it is written ("copy", node)."""
    made = {
        ("copy", h.node) if isinstance(kernel.nodes[h.node].instruction, Load) else h.node for h in subkernel.outputs
    }
    return frozenset(made | set(subkernel.reductions))


def nearest(kernel, made, root):
    """The values of `made` that a root is computed from with nothing of `made` in between, by any path."""
    found, waiting = set(), [] if isinstance(root, tuple) else list(kernel.nodes[root].operands)
    while waiting:
        index = waiting.pop()
        if index in made:
            found.add(index)
        else:
            waiting.extend(kernel.nodes[index].operands)
    return found


def fewest_groups(needs, margins):
    """The least number of groups by trying all sets that may come next; equal margins in a group, needs before it."""
    everything = frozenset(needs)
    reached, count = {frozenset()}, 0
    while everything not in reached:
        following = set()
        for done in reached:
            ready = [r for r in everything - done if needs[r] <= done]
            for size in range(1, len(ready) + 1):
                for group in itertools.combinations(ready, size):
                    if len({margins[r] for r in group}) == 1:
                        following.add(done | set(group))
        reached, count = following, count + 1
    return count


def test_groups_are_legal_and_as_few_as_possible():
    total = several = 0
    for seed, plan, step in steps():
        kernel = plan.kernel
        groups = [roots_of(kernel, s) for s in step.subkernels]
        margins = {r: s.margins for s, roots in zip(step.subkernels, groups, strict=True) for r in roots}
        needs = {r: nearest(kernel, set(margins), r) for r in margins}
        assert sum(map(len, groups)) == len(margins), f"seed {seed}: something is made twice"
        done = set()
        for group in groups:
            assert all(needs[r] <= done for r in group), f"seed {seed}: {group} needs what is not made"
            done |= group
        if 0 < len(margins) <= 6:
            fewest = fewest_groups(needs, margins)
            assert len(groups) == fewest, f"seed {seed}: {len(groups)} groups, {fewest} are enough"
            total += 1
            several += len(groups) > 1
    print(f"{total} steps tried exhaustively, {several} with several groups")
    assert several > 50


def numbers_of_fill(kernel, node):
    """Reduce nodes that the values of an Extend's rules are computed from."""
    return set().union(*(reductions(kernel, o) for o in kernel.nodes[node].operands[1:]))


def test_every_launch_finds_what_it_needs():
    """Walk the launches: what is made, filled and finished so far; members of one see nothing of each other."""
    found = steps()
    fills = joined = waited = 0
    for seed, plan, step in found:
        kernel = plan.kernel
        made = {n for n, node in enumerate(kernel.nodes) if isinstance(node.instruction, Load)}
        filled, finished, summed = set(), set(), set()
        to_fill = {f.node for f in step.fills}
        for launch in step.launches:
            now_made, now_filled, now_summed = set(), set(), set()
            for member in launch.members:
                if launch.kind == "fill":
                    fill = step.fills[member]
                    source = kernel.nodes[fill.node].operands[0]
                    assert source in made or isinstance(kernel.nodes[source].instruction, Extend), f"seed {seed}"
                    assert numbers_of_fill(kernel, fill.node) <= finished, f"seed {seed}: fill {fill.node}"
                    now_filled.add(fill.node)
                    fills += 1
                elif launch.kind == "subkernel":
                    loop = step.subkernels[member]
                    reads, numbers = reads_of(kernel, step, loop)
                    assert numbers <= finished, f"seed {seed}: {loop.name} before {numbers - finished}"
                    waited += len(numbers)
                    for node, _ in reads:
                        is_extend = isinstance(kernel.nodes[node].instruction, Extend)
                        assert node in (filled if node in to_fill else made | {node} if is_extend else made), (
                            f"seed {seed}"
                        )
                        if is_extend:
                            assert kernel.nodes[node].operands[0] in made, f"seed {seed}: {node}"
                    now_made |= {h.node for h in loop.outputs}
                    now_summed |= set(loop.reductions)
                else:
                    finisher = step.finishers[member]
                    assert finisher.node in summed, f"seed {seed}: {finisher.node} is finished before it is summed"
                    finished.add(finisher.node)
            joined += len(launch.members) > 1
            made, filled, summed = made | now_made, filled | now_filled, summed | now_summed
        assert filled == to_fill
        assert finished == summed
    print(f"{len(found)} steps: {fills} fills, {waited} numbers waited for, {joined} launches of several members")
    assert min(fills, joined, waited) > 25
