"""The hint rolling(): stored exactly where it rolls, recomputed elsewhere, and every plan says why."""

import pytest

from tests.kit.rolled import TWICE, names, plan_of
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, Storage, plan_graph
from workbench.planning.genome import choices_of, genome_of

ASKED = TWICE.replace("manifest", "rolling")


def storage(plan, name):
    return plan.main.storage[plan.main.kernel.find(name)]


def test_it_is_stored_where_it_rolls():
    plan = plan_of(ASKED)
    assert [names(plan, chain) for chain in plan.main.plain.chains] == [["a", "b"]]
    assert plan.main.plain == plan_of(TWICE).main.plain


def test_it_is_recomputed_where_loops_run_one_by_one():
    plan = plan_of(ASKED, loops="apart")
    assert (storage(plan, "a"), storage(plan, "b")) == (Storage.DELAYED, Storage.DELAYED)
    assert plan.main.plain == plan_of(TWICE.replace("manifest", "delayed"), loops="apart").main.plain


def test_in_one_dimension_nothing_rolls():
    text = 'u = field("u", boundary="periodic")\na = rolling(u * u)\nu.next = a[+1] - a[-1]'
    assert storage(plan_of(text, dim=1), "a") is Storage.DELAYED


def test_a_value_that_does_not_roll_is_given_up_and_others_roll():
    text = ASKED + 'w = field("w")\nc = rolling(u + 1.0)\nw.next = extend(c * u, "outflow")[+1, 0] + c[+1, 0]\n'
    plan = plan_of(text)
    assert storage(plan, "c") is Storage.DELAYED
    assert storage(plan, "a") is Storage.MANIFEST
    assert "a" in [name for chain in plan.main.plain.chains for name in names(plan, chain)]


def test_the_search_takes_it_as_given():
    graph = trace_cell(ASKED, name="cell", dim=2).graph
    assert storage(plan_graph(graph), "a") is Storage.MANIFEST
    assert storage(plan_graph(graph, Choices(plan=PlanChoices().changed(loops="apart"))), "a") is Storage.DELAYED


def test_what_is_stored_anyway_may_ask():
    plan = plan_of('u, v = fields("u v", boundary="periodic")\na = rolling(u * u)\nv.next = a\nu.next = a[0, +1]')
    assert storage(plan, "a") is Storage.MANIFEST
    assert "becomes field v" in str(plan)


def test_choices_win():
    plan = plan_of(ASKED)
    key = plan.main.kernel.keys()[plan.main.kernel.find("a")]
    assert storage(plan_of(ASKED, delayed=frozenset({key})), "a") is Storage.DELAYED
    assert storage(plan_of(ASKED, loops="apart", manifest=frozenset({key})), "a") is Storage.MANIFEST


@pytest.mark.parametrize("loops", ["together", "apart"])
def test_a_genome_gives_the_plan_again(loops):
    plan = plan_of(ASKED, loops=loops)
    again = plan_graph(plan.graph, choices_of(genome_of(plan), plan.graph, plan.choices))
    assert again.kernels == plan.kernels
    assert genome_of(again) == genome_of(plan)


def test_the_plan_says_why():
    assert "a: Manifest (line 3 asks that it is stored where it rolls, and it does)" in str(plan_of(ASKED))
    text = str(plan_of(ASKED, loops="apart"))
    assert "a: Delayed (line 3 asks that it is stored where it rolls, and here it does not)" in text
    assert "asks" not in str(plan_of(TWICE))
