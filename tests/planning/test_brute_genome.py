"""Genomes against brute force: whole spaces of choices go there and back, and each bit decides its own thing alone."""

import itertools
import random
from dataclasses import replace

from tests.planning.small_graphs import free_keys, small_graph
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.genome import LETTERS, choices_of, genome_of, genome_sites


def decided(plan):
    """What a plan decided, read off the plan alone; choices, which may spell the same thing differently, left out."""
    return replace(plan, choices=Choices())


def bits_of(genome, count):
    letters = genome.partition(":")[2]
    return "".join(f"{LETTERS.index(letter):02b}" for letter in letters)[-count:]


def genome_with(genome, bits):
    padded = bits.zfill(len(bits) + len(bits) % 2)
    letters = (LETTERS[2 * int(a) + int(b)] for a, b in zip(padded[::2], padded[1::2], strict=True))
    return genome.partition(":")[0] + ":" + "".join(letters)


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
            plan = plan_graph(graph, Choices(plan=PlanChoices(manifest=chosen, delayed=frozenset(keys) - chosen)))
            genome = genome_of(plan)
            choices = choices_of(genome, plan.graph)
            assert (choices.plan.manifest, choices.plan.delayed) == (chosen, frozenset(keys) - chosen)
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
        graph = small_graph(seed)
        plan = plan_graph(graph)
        sites = genome_sites(plan.graph)
        rng = random.Random(seed)
        bits = "".join(rng.choice("01") for _ in sites)
        genome = genome_with(genome_of(plan), bits)
        before = choices_of(genome, plan.graph).plan
        place = {"grid_size": 0, "block_size": 0}
        for number, site in enumerate(sites):
            flipped = bits[:number] + "10"[int(bits[number])] + bits[number + 1 :]
            after = choices_of(genome_with(genome, flipped), plan.graph).plan
            there = after if flipped[number] == "1" else before
            elsewhere = before if flipped[number] == "1" else after
            if site.part in place:
                place[site.part] += 1
                weight = 1 << (16 - place[site.part])
                assert getattr(there, site.part) - getattr(elsewhere, site.part) == weight
                assert replace(before, **{site.part: 0}) == replace(after, **{site.part: 0})
            else:
                assert getattr(there, site.part) - getattr(elsewhere, site.part) == {site.key}
                others = dict.fromkeys([site.part, *(["delayed"] if site.part == "manifest" else [])], frozenset())
                if site.part == "manifest":
                    assert elsewhere.delayed - there.delayed == {site.key}
                assert replace(before, **others) == replace(after, **others)
            changed += 1
        assert place == {"grid_size": 16, "block_size": 16}
    print(f"{changed} bits flipped")
    assert changed > 2000


def test_any_bits_are_a_genome_that_its_plan_gives_back():
    """Also where the cell asks for barriers and arrays that the genome does not want."""
    tried = against = 0
    for graph, _ in spaces(range(60), most=5, hints=True):
        hinted = plan_graph(graph)
        sites = genome_sites(hinted.graph)
        wished = bits_of(genome_of(hinted), len(sites))
        rng = random.Random(len(sites))
        wild = ["".join(rng.choice("01") for _ in sites) for _ in range(2)]
        cleared = wished[:32] + "0" * (len(wished) - 32)
        for bits in (wished, cleared, *wild):
            genome = genome_with(genome_of(hinted), bits)
            plan = plan_graph(graph, choices_of(genome, hinted.graph))
            assert bits_of(genome_of(plan), len(sites)) == bits
            tried += 1
            against += bits == cleared != wished
    print(f"{tried} genomes, {against} against the hints of their programs")
    assert against > 10


def test_equal_genomes_have_equal_plans_whoever_decided():
    compared = 0
    for graph, _ in spaces(range(40), most=6, hints=True):
        for preset in ("cost", "as_delayed", "as_manifest"):
            plan = plan_graph(graph, Choices(plan=PlanChoices(preset=preset)))
            for other in ("cost", "as_manifest"):
                base = Choices(plan=PlanChoices(preset=other))
                again = plan_graph(graph, choices_of(genome_of(plan), plan.graph, base))
                assert decided(again) == decided(plan)
                compared += 1
    assert compared > 60
