"""Allocations that long searches found: taken over where all that they depend on is the same, else searched for."""

import json
from dataclasses import replace

import pytest

from workbench.backends import kept_allocations
from workbench.backends.build_cache import BuildCache
from workbench.backends.kept_allocations import KeptAllocations
from workbench.planning import Choices, PlanChoices, plan_graph, remembered
from workbench.planning.kernel_plan import Storage
from workbench.solvers import hydro, wave

GRAPH = hydro.machine(1).graph


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A folder of our own, which is asked for small programs too."""
    monkeypatch.setattr(remembered, "_LEAST", 1)
    return KeptAllocations(BuildCache(tmp_path))


@pytest.fixture
def searches(monkeypatch):
    """The kernels that were searched through."""
    found, search = [], remembered.cheapest_allocation

    def counted(estimate, wanted):
        found.append(estimate.kernel.name)
        return search(estimate, wanted)

    monkeypatch.setattr(remembered, "cheapest_allocation", counted)
    return found


def notes_in(store):
    return sorted((store._given.folder / "notes").glob("allocation-*.json"))


def test_a_plan_is_that_of_the_search(store, searches):
    plain, first = plan_graph(GRAPH), plan_graph(GRAPH, allocations=store)
    count = len(searches)
    second = plan_graph(GRAPH, allocations=store)
    assert plain == first == second
    assert [k.search_ended for k in plain.kernels] == [k.search_ended for k in second.kernels]
    assert count > 0
    assert len(searches) == count
    assert any(storage is Storage.MANIFEST for storage in second.main.storage)


def test_names_and_lines_of_values_do_not_count(store, searches):
    plan_graph(GRAPH, allocations=store)
    count = len(searches)
    bare = tuple(
        replace(kernel, nodes=tuple(replace(node, names=(), spans=()) for node in kernel.nodes))
        for kernel in GRAPH.kernels
    )
    other = replace(GRAPH, kernels=bare)
    assert plan_graph(other, allocations=store) == plan_graph(other)
    assert len(searches) == count


def stored_by_hand():
    """The choice to store a value that the search leaves out."""
    main = plan_graph(GRAPH).main
    free = zip(main.kernel.keys(), main.storage, main.forced, strict=True)
    key = next(key for key, storage, why in free if storage is Storage.DELAYED and not why)
    return Choices(plan=PlanChoices().changed(manifest=frozenset({key})))


@pytest.mark.parametrize(
    ("graph", "choices", "chains"),
    [
        (lambda: GRAPH, lambda: Choices(plan=PlanChoices().changed(loops="apart")), True),
        (lambda: GRAPH, stored_by_hand, True),
        (lambda: GRAPH, Choices, False),
        (lambda: hydro.machine(1, dtype="f32").graph, Choices, True),
        (lambda: wave.machine(1).graph, Choices, True),
    ],
)
def test_what_differs_is_searched_for(store, searches, graph, choices, chains):
    plan_graph(GRAPH, allocations=store)
    count = len(searches)
    asked = graph(), choices()
    found = plan_graph(*asked, follows_chains=chains, allocations=store)
    assert len(searches) > count
    assert found == plan_graph(*asked, follows_chains=chains)


def test_other_code_searches_again(store, searches, monkeypatch):
    plan_graph(GRAPH, allocations=store)
    count = len(searches)
    monkeypatch.setattr(kept_allocations, "code_digest", lambda *rooms: "other")
    plan_graph(GRAPH, allocations=store)
    assert len(searches) == 2 * count


@pytest.mark.parametrize(
    "damage",
    [
        lambda found: found[:0],
        lambda found: [*found, 10**6],
        lambda found: [*found, "30"],
        lambda found: {"1": 1},
        lambda found: [0, 0],  # a node that is no value to decide
    ],
)
def test_what_is_damaged_is_searched_for(store, searches, damage):
    plan = plan_graph(GRAPH, allocations=store)
    count = len(searches)
    for path in notes_in(store):
        path.write_text(json.dumps({key: damage(found) for key, found in json.loads(path.read_text()).items()}))
    assert plan_graph(GRAPH, allocations=store) == plan
    assert len(searches) == 2 * count


def test_a_program_keeps_the_last_few(store):
    for number in range(11):
        store.keep("program", f"key {number}", [0, number])
    assert [store.find("program", f"key {number}") for number in range(11)] == [None] * 3 + [
        [0, k] for k in range(3, 11)
    ]
    assert store.find("another", "key 10") is None
