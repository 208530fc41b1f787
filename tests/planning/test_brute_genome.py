"""Genomes against brute force: whole spaces of choices go there and back, and each bit decides its own thing alone."""

import itertools
import random
from dataclasses import replace

from tests.planning.small_graphs import free_keys, small_graph
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.genome import choices_of, genome_of
from workbench.planning.letters import bits_of as bits_in
from workbench.planning.letters import letters_of
from workbench.planning.sites import barrier_sites, storage_sites

NUMBERS = {"C": 33, "G": 32}
PLACES = (
    ("C", 0, "cpu", "threads"),
    ("C", 16, "cpu", "tile"),
    ("G", 0, "device", "grid"),
    ("G", 16, "device", "block"),
)


def decided(plan):
    """What a plan decided, read off the plan alone; choices, which may spell the same thing differently, left out."""
    return replace(plan, choices=Choices())


def widths(graph):
    """Bits of each section that has letters, in order."""
    return {**NUMBERS, "M": len(storage_sites(graph)), "S": len(barrier_sites(graph))}


def bits_of(genome, graph):
    """All bits of a genome in the order of its sections."""
    sections = dict(part.split("=") for part in genome.partition(":")[2].split("/"))
    return "".join(bits_in(sections.get(name, ""), count) for name, count in widths(graph).items())


def genome_with(genome, bits, graph):
    sections, place = [], 0
    for name, count in widths(graph).items():
        sections.append(f"{name}={letters_of(bits[place : place + count])}")
        place += count
    return f"{genome.partition(':')[0]}:{'/'.join(sections)}"


def random_bits(rng, graph):
    """Any bits, but a block that is legal."""
    sites = sum(widths(graph).values()) - sum(NUMBERS.values())
    numbers = "".join(rng.choice("01") for _ in range(33 + 16)) + f"{rng.randrange(1, 1024):016b}"
    return numbers + "".join(rng.choice("01") for _ in range(sites))


def spaces(seeds, most, hints=False):
    """(graph, keys of free values) of small programs with 1 to `most` free values."""
    for seed in seeds:
        graph = small_graph(seed, hints)
        keys = free_keys(graph)
        if 0 < len(keys) <= most:
            yield graph, keys


def test_every_allocation_goes_there_and_back_and_differs_from_every_other():
    tried = 0
    for graph, keys in spaces(range(30), most=4):
        seen = {}
        for bits in itertools.product((False, True), repeat=len(keys)):
            chosen = frozenset(key for key, bit in zip(keys, bits, strict=True) if bit)
            plan = plan_graph(
                graph, Choices(plan=PlanChoices().changed(manifest=chosen, delayed=frozenset(keys) - chosen))
            )
            genome = genome_of(plan)
            choices = choices_of(genome, plan.graph)
            assert (choices.plan.values.manifest, choices.plan.values.delayed) == (chosen, frozenset(keys) - chosen)
            again = plan_graph(graph, choices)
            assert genome_of(again) == genome
            assert decided(again) == decided(plan)
            for other, others_plan in seen.items():
                assert other != genome
                assert others_plan != decided(plan)
            seen[genome] = decided(plan)
            tried += 1
    print(f"{tried} allocations")
    assert tried > 60


def test_each_bit_changes_its_own_choice_and_nothing_else():
    changed = 0
    for seed in range(40):
        plan = plan_graph(small_graph(seed))
        graph, genome = plan.graph, genome_of(plan)
        bits = random_bits(random.Random(seed), graph)
        before = choices_of(genome_with(genome, bits, graph), graph).plan
        sites = (*storage_sites(graph), *barrier_sites(graph))
        first = sum(NUMBERS.values())
        for number, site in enumerate(sites, first):
            flipped, there, elsewhere = flip(genome, bits, number, graph, before)
            own = {"before": "barriers", "after": "barriers", "manifest": "values"}[site.part]
            assert getattr(getattr(there, own), site.part) - getattr(getattr(elsewhere, own), site.part) == {site.key}
            others = dict.fromkeys([site.part, *(["delayed"] if site.part == "manifest" else [])], frozenset())
            if site.part == "manifest":
                assert elsewhere.values.delayed - there.values.delayed == {site.key}
            assert there.changed(**others) == elsewhere.changed(**others)
            changed += flipped != bits
        for section, begin, record, member in PLACES:
            start = begin + (NUMBERS["C"] if section == "G" else 0)
            for place in range(6 if member == "block" else 0, 16):  # more than 1023 threads are not legal
                if member == "block" and int(bits[start : start + 16], 2) == 1 << (15 - place):
                    continue  # nor is none
                _, there, elsewhere = flip(genome, bits, start + place, graph, before)
                difference = getattr(getattr(there, record), member) - getattr(getattr(elsewhere, record), member)
                assert difference == 1 << (15 - place)
                assert there.changed(**{member: 1}) == elsewhere.changed(**{member: 1})
                changed += 1
        _, there, elsewhere = flip(genome, bits, 32, graph, before)
        assert (there.cpu.loops, elsewhere.cpu.loops) == ("apart", "together")
    print(f"{changed} bits flipped")
    assert changed > 3000


def flip(genome, bits, number, graph, before):
    """The bits with one changed, and the choices with this bit set and cleared."""
    flipped = bits[:number] + "10"[int(bits[number])] + bits[number + 1 :]
    after = choices_of(genome_with(genome, flipped, graph), graph).plan
    return (flipped, after, before) if flipped[number] == "1" else (flipped, before, after)


def test_any_bits_are_a_genome_that_its_plan_gives_back():
    """Also where the cell asks for barriers and arrays that the genome does not want."""
    tried = against = 0
    numbers = sum(NUMBERS.values())
    for graph, _ in spaces(range(60), most=5, hints=True):
        hinted = plan_graph(graph)
        wished = bits_of(genome_of(hinted), hinted.graph)
        rng = random.Random(len(wished))
        wild = [random_bits(rng, hinted.graph) for _ in range(2)]
        cleared = wished[:numbers] + "0" * (len(wished) - numbers)
        for bits in (wished, cleared, *wild):
            genome = genome_with(genome_of(hinted), bits, hinted.graph)
            plan = plan_graph(graph, choices_of(genome, hinted.graph))
            assert bits_of(genome_of(plan), hinted.graph) == bits
            tried += 1
            against += bits == cleared != wished
    print(f"{tried} genomes, {against} against the hints of their programs")
    assert against > 10


def test_equal_genomes_have_equal_plans_whoever_decided():
    compared = 0
    for graph, _ in spaces(range(40), most=6, hints=True):
        for preset in ("cost", "as_delayed", "as_manifest"):
            plan = plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))
            for other in ("cost", "as_manifest"):
                base = Choices(plan=PlanChoices().changed(preset=other))
                again = plan_graph(graph, choices_of(genome_of(plan), plan.graph, base))
                assert decided(again) == decided(plan)
                compared += 1
    assert compared > 60
