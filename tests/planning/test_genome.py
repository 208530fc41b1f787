"""Genomes: the paper's letters, and what is refused."""

from dataclasses import replace

import pytest

from tests.planning.programs import hello, wave
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import GenomeError, PlanError
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.exchange import choice_space, from_json, to_json
from workbench.planning.genome import choices_of, genome_of, genome_sites, transfer


def planned(graph, **choices):
    return plan_graph(graph, Choices(plan=PlanChoices(**choices)))


PAPER = {"grid_size": 32, "block_size": 32}


def test_table_3_delayed():
    assert genome_of(planned(hello(), preset="as_delayed", **PAPER)).split(":")[1] == "AAAAACAAAAAAACAAAAAA"


def test_table_3_manifest_with_a_barrier_differs_in_two_letters():
    graph = planned(hello()).graph
    x, y = graph.kernels[0].keys()[:2]
    plan = planned(hello(), preset="as_delayed", manifest=frozenset({y}), sync_before=frozenset({x}), **PAPER)
    assert genome_of(plan).split(":")[1] == "AAAAACAAAAAAACAACGAA"


def test_genome_and_choices_round_trip():
    for seed in range(60):
        graph = random_graph(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        genome = genome_of(plan)
        again = plan_graph(graph, choices_of(genome, plan.graph))
        assert genome_of(again) == genome
        assert [k.storage for k in again.kernels] == [k.storage for k in plan.kernels]
        assert len(genome_sites(plan.graph)) in (2 * len(genome.split(":")[1]), 2 * len(genome.split(":")[1]) - 1)


def test_a_genome_fits_every_size_but_no_other_program():
    plan = planned(hello())
    with pytest.raises(GenomeError, match=r"belongs to program .*\n?.*") as error:
        choices_of(genome_of(plan), planned(wave()).graph)
    assert "transfer" in str(error.value)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda g: g[:-1], "19 letters"),
        (lambda g: g[:-1] + "X", "'X' is no letter"),
        (lambda g: g.replace("v1", "v7"), "version v7"),
        (lambda g: "nonsense", "is no genome"),
        (lambda g: g.split(":")[0] + ":" + "T" + g.split(":")[1][1:], "padding bit"),
    ],
)
def test_damaged_genomes_are_refused(damage, text):
    plan = planned(hello())
    with pytest.raises(GenomeError, match=text):
        choices_of(damage(genome_of(plan)), plan.graph)


def test_transfer_goes_by_name_and_reports():
    old = planned(hello(), preset="as_manifest")
    changed = hello()
    kernel = changed.kernels[0]
    nodes = tuple(replace(n, names=("renamed",)) if "y" in n.names else n for n in kernel.nodes)
    renamed = replace(changed, kernels=(replace(kernel, nodes=nodes),))
    choices, report = transfer(genome_of(old), old.graph, old.graph)
    assert report.carried == ("step.y",)
    assert plan_graph(changed, choices).main.storage == old.main.storage
    _, report = transfer(genome_of(old), old.graph, renamed)
    assert (report.carried, report.lost, report.new) == ((), ("step.y",), ("step.renamed",))


def test_json_round_trip():
    for seed in range(20):
        choices = random_choices(random_graph(seed), seed)
        assert from_json(to_json(choices)) == choices


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("{}", "unknown format"),
        ('{"format": 1, "plan": {"speed": 3}}', "'speed' is no choice of plan"),
        ('{"format": 1, "plan": {"tile": "3"}}', "tile is '3'"),
        ('{"format": 1, "plan": {"tile": -3}}', "tile is -3"),
        ('{"format": 1, "plan": {"hints": 1}}', "hints is 1\nGive true or false"),
        ('{"format": 1, "plan": {"preset": "fast"}}', "preset 'fast'"),
        ('{"format": 1, "plan": {"manifest": ["a"], "delayed": ["a"]}}', "both Manifest and Delayed"),
        ('{"format": 1, "meaning": {"precision": ["u"]}}', "pairs"),
    ],
)
def test_bad_json_is_refused(text, says):
    with pytest.raises(PlanError, match=says):
        from_json(text)


def test_unknown_keys_are_refused():
    with pytest.raises(PlanError, match="no value of Hello has the key abc"):
        planned(hello(), manifest=frozenset({"abc"}))


def test_the_space_lists_numbers_and_every_free_value():
    space = choice_space(planned(hello()).graph)
    assert [t.name for t in space if t.kind == "allocation"] == ["y"]
    assert sum(t.kind == "sync" for t in space) == 6
    assert {"grid_size", "block_size", "threads", "tile"} <= {t.name for t in space}
    assert all(t.default in t.values for t in space)
