"""Chains: which launches run together, what rolls in them, and that arrays are left alone meanwhile."""

from dataclasses import replace

import pytest

from tests.kit.rolled import TWICE, names, plan_of
from workbench.planning import plan_graph
from workbench.planning.kernel_plan import ChainMember


def test_a_chain_keeps_what_only_its_members_read():
    plan = plan_of(TWICE)
    (chain,) = plan.main.plain.chains
    assert chain.launches == (1, 4)
    assert chain.margins == ((0, 0), (0, 0))
    assert names(plan, chain) == ["a", "b"]
    assert chain.moved == ()


def test_members_grow_by_what_later_ones_read_and_run_ahead():
    (chain,) = plan_of(TWICE).main.plain.chains
    # u.next reads b at y-1, b reads a at x+1, x-2 and y+1.
    assert chain.members == (
        ChainMember(0, ((2, 1), (1, 1)), 1),
        ChainMember(1, ((0, 0), (1, 0)), 0),
        ChainMember(2, ((0, 0), (0, 0)), 0),
    )
    assert [v.planes for v in chain.rolling] == [4, 1]  # x-2 to x+1 of a, this plane of b


def test_what_rolls_is_not_moved():
    assert [each.cost.bytes_moved for each in plan_of(TWICE).main.plain.subkernels] == [8, 0, 8]
    assert [each.cost.bytes_moved for each in plan_of(TWICE, loops="apart").main.plain.subkernels] == [16, 16, 16]


def test_loops_apart_make_no_chain():
    assert plan_of(TWICE, loops="apart").main.plain.chains == ()


def test_one_dimension_makes_no_chain():
    text = 'u = field("u", boundary="periodic")\na = manifest(u * u)\nu.next = a[+1] - a[-1]'
    assert plan_of(text, dim=1).main.plain.chains == ()


def test_a_reduction_between_parts_a_chain_but_what_waits_for_it_moves():
    text = """
u = field("u", boundary="periodic")
a = manifest(u[+1, 0] - u[-1, 0])
largest = reduce_max(u)
u.next = u + a[0, +1] / largest
"""
    plan = plan_of(text)
    (chain,) = plan.main.plain.chains
    assert names(plan, chain) == ["a"]
    assert [plan.main.plain.launches[k].kind for k in range(*chain.launches)] == ["subkernel"]
    assert len(chain.moved) == 1  # the sub-kernel of a stands before the finisher of the maximum


def test_a_value_that_is_read_outside_does_not_roll():
    text = """
u, w = fields("u w", boundary="periodic")
a = manifest(u * u)
w.next = a
u.next = a[+1, 0] - a[-1, 0]
"""
    assert plan_of(text).main.plain.chains == ()  # a becomes a field, so it must be an array


def test_an_extended_value_does_not_roll():
    text = """
u = field("u", boundary="periodic")
a = manifest(u * u)
u.next = extend(a, "outflow")[+1, 0] - extend(a, "outflow")[-1, 0]
"""
    assert plan_of(text).main.plain.chains == ()


def test_a_barrier_that_is_wished_parts_a_chain():
    plan = plan_of(TWICE)
    keys = plan.main.kernel.keys()
    a = next(i for i, n in enumerate(plan.main.kernel.nodes) if n.names == ("a",))
    choices = replace(plan.choices, plan=plan.choices.plan.changed(after=frozenset({keys[a]})))
    chains = plan_graph(plan.graph, choices).main.plain.chains
    assert all(m.subkernel != 0 for chain in chains for m in chain.members)


def slots_read_elsewhere(step, chain):
    rolling = {v.node for v in chain.rolling}
    members = [step.subkernels[m.subkernel] for m in chain.members]
    for writer in members:
        written = {h.slot for h in writer.outputs if h.node not in rolling}
        for reader in members:
            if reader is not writer:
                yield from written & {h.slot for h in (*reader.reads, *reader.outputs) if h.node not in rolling}


@pytest.mark.parametrize("manifest", [("riemann", "stage"), ("primitives", "riemann", "stage"), None])
def test_no_member_writes_an_array_that_another_one_uses(manifest):
    from workbench.solvers import hydro

    machine = hydro.machine(dim=2, manifest=manifest)
    plan = plan_graph(machine.graph, machine.choices)
    assert plan.main.plain.chains
    for chain in plan.main.plain.chains:
        assert not list(slots_read_elsewhere(plan.main.plain, chain))


def test_rolling_values_need_no_arrays():
    plan = plan_of(TWICE)
    assert [slot.label for slot in plan.array_slots] == ["u", "u.next"]
    assert len(plan.slots) == 4  # for those who run the loops one by one


def test_a_rolling_value_takes_no_array_that_is_still_read():
    # Two values of one loop, of which one is read at the same cell only: u's array must not pass to the result by it.
    text = """
u = field("u", boundary="periodic")
a = manifest(0.5 * u)
b = manifest(2.0 * u * u)
u.next = a + b[+1, 0] - b[-1, 0]
"""
    plan = plan_of(text)
    (chain,) = plan.main.plain.chains
    assert names(plan, chain) == ["a", "b"]
    assert not list(slots_read_elsewhere(plan.main.plain, chain))
