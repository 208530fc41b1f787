"""The budget of a search: it ends the search soon, the plan is sound then, and plan and card say so."""

import pytest

from tests.planning.long_programs import products, smoothed, smoothed_in_two_dimensions
from workbench.notebook.card_html import card_html
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary
from workbench.planning import search
from workbench.planning.kernel_plan import Storage
from workbench.planning.passes import plan_graph
from workbench.planning.text import SEARCH_ENDED
from workbench.planning.verify import find_faults

BUDGET = 20_000


@pytest.fixture
def efforts(monkeypatch):
    """The efforts of the searches so far, which end early."""
    found = []
    whole = search.cheapest_allocation

    def counted(estimate, wanted):
        result = whole(estimate, wanted)
        found.append(estimate.effort)
        return result

    monkeypatch.setattr(search, "EFFORT", BUDGET)
    monkeypatch.setattr("workbench.planning.allocation.cheapest_allocation", counted)
    return found


def test_work_beyond_the_budget_grows_as_the_program(efforts):
    for times in (60, 120):
        assert plan_graph(smoothed(times).graph).main.search_ended
    print(f"efforts {efforts}, budget {BUDGET}")
    assert BUDGET <= efforts[0] < efforts[1]
    assert efforts[1] - BUDGET < 2.5 * efforts[0]


@pytest.mark.parametrize("program", [smoothed, smoothed_in_two_dimensions])
def test_a_plan_whose_search_ended_is_sound(program, efforts):
    plan = plan_graph(program(60).graph)
    assert efforts
    assert not find_faults(plan)
    stored = len(plan.main.manifest)
    # Neither is every turn stored, nor are loops left that recompute what compilers cannot take.
    assert 60 / 9 < stored <= 60
    assert max(s.emitted for s in plan.subkernels) < 5000


def all_strides(self, frontiers):
    """What `_Descent._stride` finds, by way of every stride."""
    changed = [node for nodes in frontiers for node in nodes]
    trials = []
    for stride in search._STRIDES:
        kept = {node for nodes in frontiers[::stride] for node in nodes}
        storage = [Storage.MANIFEST if i in kept else s for i, s in enumerate(self._now.storage)]
        storage = [Storage.DELAYED if i in changed and i not in kept else s for i, s in enumerate(storage)]
        trials.append(self._estimate.of(storage, self._now, changed))
    self._now = min((*trials, self._now), key=lambda each: each.cost)


@pytest.mark.parametrize(("program", "times"), [(smoothed, 150), (smoothed_in_two_dimensions, 60), (products, 600)])
def test_strides_end_where_longer_ones_cost_more(program, times, efforts, monkeypatch):
    monkeypatch.setattr("workbench.planning.estimate._COMFORTABLE", 500)
    graph = program(times).graph
    early = plan_graph(graph)
    monkeypatch.setattr(search._Descent, "_stride", all_strides)
    assert str(plan_graph(graph)) == str(early)
    assert BUDGET < efforts[0] < efforts[1]


@pytest.mark.usefixtures("efforts")
def test_a_plan_and_a_card_say_that_the_budget_ended_the_search():
    machine = smoothed(62)  # plans are remembered, so that no other test takes this one
    card = summary(machine)
    for text in (str(machine.plan()), card_html(card), " ".join(card_text(card).split())):
        assert text.count(SEARCH_ENDED) == 1


def test_a_search_that_tried_all_says_nothing():
    machine = smoothed(12)
    assert not machine.plan().main.search_ended
    for text in (str(machine.plan()), card_html(summary(machine)), card_text(summary(machine))):
        assert "budget" not in text


def test_one_program_has_one_plan_whatever_was_planned_before(efforts):
    graph = smoothed(60).graph
    first = str(plan_graph(graph))
    plan_graph(smoothed(61).graph)
    assert str(plan_graph(graph)) == first
    assert len(efforts) == 3
    assert efforts[0] == efforts[2]
