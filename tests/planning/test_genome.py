"""Genomes: the paper's letters, and what is refused."""

import random
from dataclasses import replace

import pytest

from tests.kit.paper_graphs import hello, wave
from tests.planning.mutation import mutated
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import GenomeError, PlanError
from workbench.frontend.cell import trace_cell
from workbench.graph.keys_1 import program_key_1
from workbench.planning import Choices, Meaning, PlanChoices, plan_graph
from workbench.planning.choices import BarrierChoices, CpuChoices, DeviceChoices, TilingChoices, ValueChoices
from workbench.planning.exchange import from_json, to_json
from workbench.planning.genome import choices_of, decided, genome_of
from workbench.planning.genome_version_1 import version_1_key
from workbench.planning.simplify import simplify
from workbench.planning.transfer import transfer_plan
from workbench.planning.tunables import TUNABLES, tunables_of


def planned(graph, **choices):
    return plan_graph(graph, Choices(plan=PlanChoices().changed(**choices)))


PAPER = {"grid": 32, "block": 32}


NUMBERS = "C=AAAAAAAAAAAAAAAAA/G=AAAAAGAAAAAAAGAA"
VERSION_1 = "AAAAACAAAAAAACAACGAA"  # of the paper's right column


def said(plan):
    """The sections of a plan's genome."""
    return genome_of(plan).partition(":")[2]


def test_table_3_delayed():
    assert said(planned(hello(), preset="as_delayed", **PAPER)) == f"{NUMBERS}/M=A/S=AAA"


def test_table_3_manifest_with_a_barrier_differs_in_the_papers_two_bits():
    graph = planned(hello()).graph
    x, y = graph.kernels[0].keys()[:2]
    plan = planned(hello(), preset="as_delayed", manifest=frozenset({y}), before=frozenset({x}), **PAPER)
    assert said(plan) == f"{NUMBERS}/M=C/S=GAA"


def random_plan(seed):
    """A plan of a random program in which every tunable may have any of its sensible values."""
    graph = random_graph(seed)
    plan = plan_graph(graph, random_choices(graph, seed))
    chosen, generator = plan.choices.plan, random.Random(seed)
    for each in tunables_of(plan):
        if each.section not in ("", "M", "S") and generator.random() < 0.5:
            chosen = each.write(chosen, each.random(generator))
    return plan_graph(graph, Choices(plan=chosen))


def test_genome_and_choices_round_trip():
    for seed in range(30):
        plan = random_plan(seed)
        genome = genome_of(plan)
        choices = choices_of(genome, plan.graph)
        assert choices.plan == decided(plan)
        again = plan_graph(plan.graph, choices)
        assert genome_of(again) == genome
        assert (again.kernels, again.slots) == (plan.kernels, plan.slots)


def test_sizes_of_tiles_round_trip():
    graph = trace_cell('u = field("u", boundary=constant(0.0))\nu.next = u[+1]', name="cell", dim=1).graph
    chosen = PlanChoices().changed(schedule="diamond", depth=8, widths=(0, 32))
    plan = plan_graph(graph, Choices(plan=chosen))
    genome = genome_of(plan)
    assert genome.endswith("/T=schedule:diamond,depth:8,widths:0+32")
    assert choices_of(genome, plan.graph).plan.tiling == chosen.tiling
    assert from_json(to_json(plan.choices)) == plan.choices
    with pytest.raises(GenomeError, match=r"widths is '0\+x'"):
        choices_of(genome.replace("0+32", "0+x"), plan.graph)


def test_true_and_false_are_read_from_a_section_that_names_what_it_sets(monkeypatch):
    """No choice of these sections is one today; the next may be."""
    rows = tuple(replace(row, section="B") if row.name == "stages" else row for row in TUNABLES)
    monkeypatch.setattr("workbench.planning.genome.TUNABLES", rows)
    graph = simplify(wave())
    choices = Choices(plan=PlanChoices(cpu=CpuChoices(stages=True)))
    text = genome_of(plan_graph(graph, choices))
    assert "/B=stages:True" in text
    assert choices_of(text, graph).plan.cpu.stages is True
    with pytest.raises(GenomeError, match="the genome says: stages is 'Yes'"):
        choices_of(text.replace("stages:True", "stages:Yes"), graph)


def test_plans_that_differ_in_any_choice_have_different_genomes():
    compared = 0
    for seed in range(15):
        plan = random_plan(seed)
        genome = genome_of(plan)
        table = [each for each in tunables_of(plan) if each.section]  # what preset and hints decide is in M and S
        for each in random.Random(seed).sample(table, min(len(table), 25)):
            now = each.read(decided(plan))
            other = mutated(each, now, random.Random(seed))
            if other == now:
                continue  # legal at its default only
            choices = Choices(plan=each.write(decided(plan), other))
            decides = each.section in ("M", "S") or each.name == "loops"
            changed = plan_graph(plan.graph, choices) if decides else replace(plan, choices=choices)
            assert genome_of(changed) != genome, each.name
            assert each.read(choices_of(genome_of(changed), plan.graph).plan) == other
            compared += 1
    print(f"{compared} pairs")
    assert compared > 200


def test_lettered_sections_have_the_places_that_stored_genomes_have():
    """Another number in C or G would make all of these unreadable; new choices stand in sections that name them."""
    places = {section: [row.name for row in TUNABLES if row.section == section] for section in ("C", "G")}
    assert places == {"C": ["stages", "threads", "tile", "loops"], "G": ["grid", "block"]}


def test_missing_sections_are_defaults():
    plan = planned(hello(), preset="as_manifest", block=64, threads=2)
    genome = genome_of(plan)
    space = genome.partition(":")[0]
    assert choices_of(f"{space}:", plan.graph) == Choices()
    sections = dict(part.split("=", 1) for part in said(plan).split("/"))
    only = {name: choices_of(f"{space}:{name}={text}", plan.graph).plan for name, text in sections.items()}
    assert only["C"] == PlanChoices().changed(threads=2)
    assert only["G"] == PlanChoices().changed(block=64)
    assert only["M"] == PlanChoices().changed(manifest=decided(plan).values.manifest, hints=False)
    assert only["S"] == PlanChoices().changed(hints=False)


def test_a_genome_of_version_1_is_read_and_leaves_the_rest_to_the_base():
    plan = planned(hello())
    x, y = (f"step/{key}" for key in plan.graph.kernels[0].keys()[:2])
    base = Choices(plan=PlanChoices().changed(threads=3, tile=5))
    choices = choices_of(f"v1-{version_1_key(plan.graph)}:{VERSION_1}", plan.graph, base)
    asked = {"grid": 32, "block": 32, "threads": 3, "tile": 5, "hints": False}
    assert choices.plan == PlanChoices().changed(manifest=frozenset({y}), before=frozenset({x}), **asked)
    with pytest.raises(GenomeError, match="the genome says: block is 0\nUse a number from 1 to 1024"):
        choices_of(f"v1-{version_1_key(plan.graph)}:{'A' * 20}", plan.graph)


def test_version_1_knew_programs_by_the_old_hash():
    plan = planned(hello())
    assert version_1_key(plan.graph) == program_key_1(plan.graph) != genome_of(plan)[3:19]


def test_a_genome_fits_every_size_but_no_other_program():
    plan = planned(hello())
    for version in ("v1", "v2"):
        with pytest.raises(GenomeError, match=r"belongs to program .*\n?.*") as error:
            choices_of(genome_of(plan).replace("v2", version), planned(wave()).graph)
        assert "with_choices_of" in str(error.value)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda g: g[:-1], "^section S has 2 letters, this program's have 3"),
        (lambda g: g[:-1] + "X", "'X' is no letter"),
        (lambda g: g.replace("v2", "v7"), "version v7"),
        (lambda g: "nonsense", "is no genome"),
        (lambda g: g.replace("M=A", "M=T"), "padding bit of section M"),
        (lambda g: g.replace("G=", "X="), "'X=.* is no section"),
        (lambda g: g + "/M=A", "two sections M"),
        (lambda g: g.replace("G=AAAAAAAAAAACAAAA", "G=AAAAAAAAAATAAAAA"), "the genome says: block is 3072"),
        (lambda g: g + "/B=flags:-ffast-math", "flags is .'-ffast-math'"),
        (lambda g: g + "/B=flag:-O2", "sets 'flag'"),
        (lambda g: g + "/B=vector_width:" + "9" * 5000, "vector_width is '999"),
        (lambda g: g + "/T=depth:65536", "the genome says: depth is 65536"),
        (lambda g: g + "/L=ab.block:0", "block of loop ab is 0"),
        (lambda g: g + "/L=ab.warp:1", "sets 'ab.warp'"),
        (lambda g: g + "/L=", "no damage"),
    ],
)
def test_damaged_genomes_are_refused(damage, text):
    plan = planned(hello())
    damaged = damage(genome_of(plan))
    if text == "no damage":
        assert choices_of(damaged, plan.graph) == choices_of(genome_of(plan), plan.graph)
        return
    with pytest.raises(GenomeError, match=text):
        choices_of(damaged, plan.graph)


def test_transfer_goes_by_name_and_reports():
    old = planned(hello(), preset="as_manifest")
    changed = hello()
    kernel = changed.kernels[0]
    nodes = tuple(replace(n, names=("renamed",)) if "y" in n.names else n for n in kernel.nodes)
    renamed = replace(changed, kernels=(replace(kernel, nodes=nodes),))
    choices, report = transfer_plan(old, old.graph, Choices(), lambda choices: plan_graph(old.graph, choices))
    assert report.carried == ("step.y",)
    assert plan_graph(changed, choices).main.storage == old.main.storage
    _, report = transfer_plan(old, renamed, Choices(), lambda choices: plan_graph(renamed, choices))
    assert (report.carried, report.lost, report.new) == ((), ("step.y",), ("step.renamed",))


def test_json_round_trip():
    for seed in range(20):
        graph = random_graph(seed)
        plan = plan_graph(graph, random_choices(graph, seed))
        chosen, generator = plan.choices.plan, random.Random(seed)
        for each in tunables_of(plan):
            if generator.random() < 0.5:
                chosen = each.write(chosen, each.random(generator))
        choices = Choices(Meaning(precision=(("u", "f32"),)), chosen)
        assert from_json(to_json(choices)) == choices


def test_json_of_format_1_is_read():
    text = """{"format": 1, "meaning": {"arithmetic": "ieee", "precision": [["u", "f32"]]}, "plan": {
    "block_size": 64, "delayed": ["step/ab"], "grid_size": 7, "hints": false, "loops": "apart", "manifest": ["cd"],
    "preset": "as_manifest", "schedule": "stepwise", "sync_after": [], "sync_before": ["ef"], "threads": 2,
    "tile": 3}}"""
    plan = PlanChoices(
        ValueChoices("as_manifest", frozenset({"cd"}), frozenset({"step/ab"}), hints=False),
        BarrierChoices(before=frozenset({"ef"})),
        CpuChoices(2, 3, "apart"),
        DeviceChoices(7, 64),
        tiling=TilingChoices("stepwise"),
    )
    assert from_json(text) == Choices(Meaning(precision=(("u", "f32"),)), plan)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("{}", "unknown format"),
        ('{"format": 3}', "unknown format"),
        ('{"format": 2, "plan": {"speed": {}}}', "'speed' is no choice of plan"),
        ('{"format": 2, "plan": {"cpu": {"grid": 3}}}', "'grid' is no choice of cpu"),
        ('{"format": 2, "plan": {"cpu": 3}}', "cpu is 3"),
        ('{"format": 2, "plan": {"device": {"block": 1025}}}', "block is 1025\nUse a number from 1 to 1024"),
        ('{"format": 2, "plan": {"build": {"flags": ["-ffast-math"]}}}', "flags is .'-ffast-math'"),
        ('{"format": 2, "plan": {"build": {"flags": [[]]}}}', "flags is"),
        ('{"format": 2, "plan": {"tiling": {"depth": -4}}}', "depth is -4\nUse a number from 0 to 65535"),
        ('{"format": 2, "plan": {"tiling": {"widths": [4, "x"]}}}', "Give a list of numbers from 0 to 999999999"),
        (
            '{"format": 2, "plan": {"tiling": {"schedule": "torre"}}}',
            "schedule is 'torre'\nUse one of auto, stepwise, diamond",
        ),
        ('{"format": 2, "plan": {"loops": {"ab": {"block": 0}}}}', "block of loop ab is 0"),
        ('{"format": 2, "plan": {"loops": {"ab": {"warp": 1}}}}', "'warp' is no choice of ab"),
        ('{"format": 1, "plan": {"block_size": 2048}}', "block is 2048"),
        ('{"format": 1, "plan": {"speed": 3}}', "'speed' is no choice of plan"),
        ('{"format": 1, "plan": {"tile": "3"}}', "tile is '3'"),
        ('{"format": 1, "plan": {"tile": -3}}', "tile is -3"),
        ('{"format": 1, "plan": {"hints": 1}}', "hints is 1\nGive true or false"),
        ('{"format": 1, "plan": {"preset": "fast"}}', "preset is 'fast'"),
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
