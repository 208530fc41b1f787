"""Reasons for two values being together or apart, each proved by another way than the one that found it."""

import itertools

import pytest

from tests.kit.paper_graphs import hello, named_wave
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import PlanError
from workbench.graph import Graph, KernelBuilder, Load, Reduce
from workbench.planning import Choices, PlanChoices, Storage, grouping, plan_graph
from workbench.planning import explain as explaining
from workbench.planning.explain import explain, explain_nodes, membership_of


def two_products(more=()):
    """p = x * x and q = x + x, both named; `more` adds what tests want and returns the value to store."""
    statics = hello().statics
    b = KernelBuilder(hello().space, statics)
    x = b.load("density")
    p, q = b.arith("multiply", x, x), b.arith("add", x, x)
    b.annotate(p, name="p")
    b.annotate(q, name="q")
    b.store("density", more(b, p, q) if more else b.arith("add", p, q))
    return Graph("g", hello().space, statics, (b.finish("step"),))


AS_MANIFEST = Choices(plan=PlanChoices().changed(preset="as_manifest"))


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("f1", "g1", "g1 is in a later sub-kernel than f1, because it needs f1."),
        ("E", "g1", "E is in a later sub-kernel than g1, because it needs g1."),
        ("f", "g1", "g1 is in a later sub-kernel than f, because it needs f."),  # the value that f takes
    ],
)
def test_a_value_that_needs_another_is_later(first, second, says):
    assert explain(plan_graph(named_wave()).main, first, second) == says


def test_a_delayed_value_is_where_it_is_recomputed():
    assert explain(plan_graph(hello()).main, "y", "y").startswith("y is Delayed: recomputed in step_0")


def test_values_that_do_not_need_each_other_are_together():
    assert "neither needs the other" in explain(plan_graph(two_products(), AS_MANIFEST).main, "p", "q")


def test_a_value_may_wait_for_a_third():
    def more(b, p, q):
        r = b.arith("multiply", q, q)
        b.annotate(r, name="r")
        return b.arith("add", p, r)

    assert explain(plan_graph(two_products(more), AS_MANIFEST).main, "p", "r") == (
        "r does not need p, but it needs q, which is made in the same sub-kernel as p."
    )


def test_two_sub_kernels_may_be_too_long_for_one(monkeypatch):
    monkeypatch.setattr(grouping, "EMISSION_LIMIT", 1)
    monkeypatch.setattr(explaining, "EMISSION_LIMIT", 1)
    assert "together would hold more than 1" in explain(plan_graph(two_products(), AS_MANIFEST).main, "p", "q")


def test_an_unknown_name_is_refused():
    with pytest.raises(PlanError, match="no value of step is called 'nonsense'"):
        explain(plan_graph(hello()).main, "nonsense", "y")


def all_needs(kernel, node):
    """Every node that a node depends on by any path."""
    found, waiting = set(), list(kernel.nodes[node].operands)
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(kernel.nodes[index].operands)
    return found


def check(plan, each, a, b):
    """Prove one explanation; returns its reason."""
    loops = each.observed.subkernels
    found = explain_nodes((each, a), (each, b))
    assert found.text.endswith(".")
    match found.reason:
        case "together":
            at = found.subkernels[0]
            assert loops[at].name in found.text
            assert all(at in membership_of(each, each.observed, node).subkernels for node in (a, b))
        case "needs":
            late, early = found.path[0], found.path[-1]
            assert early in all_needs(each.kernel, late)
            for node, index in zip((early, late), found.subkernels, strict=True):
                assert node in {h.node for h in loops[index].outputs} | set(loops[index].reductions)
        case "margins":
            first, second = found.subkernels
            assert loops[first].margins != loops[second].margins
        case "waits":
            late, blocker = found.path
            assert blocker in all_needs(each.kernel, late)
            makers = [s.index for s in loops if blocker in s.reductions or blocker in {h.node for h in s.outputs}]
            assert makers[0] >= found.subkernels[0]
        case "nowhere":
            assert not all(membership_of(each, each.observed, n).subkernels for n in (a, b))
        case "length" | "kernels":
            raise AssertionError(str(found))
    return found.reason


def test_every_reason_of_random_plans_is_true():
    seen = {}
    for seed in range(30):
        graph = random_graph(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        for each in plan.kernels:
            nodes = range(0, len(each.kernel.nodes), 1 + len(each.kernel.nodes) // 24)
            for a, b in itertools.product(nodes, nodes):
                reason = check(plan, each, a, b)
                seen[reason] = seen.get(reason, 0) + 1
    print(seen)
    assert min(seen.get(r, 0) for r in ("together", "needs", "margins", "waits", "nowhere")) > 3


def test_places_agree_with_the_storage():
    for seed in range(40):
        graph = random_graph(seed)
        for each in plan_graph(graph, random_choices(graph, seed)).kernels:
            for index, node in enumerate(each.kernel.nodes):
                membership = membership_of(each, each.observed, index)
                if each.storage[index] is Storage.MANIFEST and membership.subkernels:
                    assert membership.role == "made"
                if isinstance(node.instruction, Reduce):
                    assert len(membership.subkernels) <= 1
                if isinstance(node.instruction, Load) and each.storage[index] is Storage.EXISTING:
                    assert membership.role in ("read", "made")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("f1", "f1 is Manifest (its array becomes field f): made in step_observed_0_f1; read by step_observed_1_g1, "),
        ("E", "E is Global (one number needs no array): made in step_observed_2_E."),
    ],
)
def test_one_name_says_how_a_value_is_stored_and_where_it_is_used(name, says):
    assert plan_graph(named_wave()).explain(name).startswith(says)


def test_one_name_of_a_recomputed_value_says_where():
    assert plan_graph(hello()).explain("y").startswith("y is Delayed: recomputed in step_0")


def test_one_unknown_name_is_refused():
    with pytest.raises(PlanError, match="no value of step is called 'nonsense'"):
        plan_graph(hello()).explain("nonsense")
