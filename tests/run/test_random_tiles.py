"""Random machines that can be tiled have the bits of steps in tiles of any size, on any number of threads.

pytest tests/run/test_random_tiles.py             20 machines
pytest tests/run/test_random_tiles.py -m proof    200 machines, 20 grids each
"""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.optimised import optimised
from tests.kit.random_steps import RINGS, RULES, WALLS, random_steps
from tests.run.tiled import state_of, with_tiles
from workbench.backends.base import Condition, MarchRequest
from workbench.errors import PlanError, ShapeError
from workbench.pipeline import plan_for
from workbench.planning.choices import TilingChoices
from workbench.planning.schedules.locality import tile_sizes

LARGEST = {1: 60, 2: 24, 3: 12}
BATCH = 10
FIRSTS = range(1000, 1800, 40)  # seeds of the proof; with its rules each batch meets 1, 2, 3 tiles


def planned(seed):
    """(plan, rules) of the machine of a seed; None in place of the plan if it is refused."""
    dim = random.Random(seed).choice((1, 1, 2, 2, 3))
    text, rules = random_steps(seed, dim)
    try:
        made = wb.trace(text, name="cell", dim=dim)
        plan = made.choices.plan.changed(schedule="diamond")
        return plan_for(made.graph, replace(made.choices, plan=plan), "openmp"), rules
    except PlanError as error:
        if "cannot run several steps together" not in str(error):
            raise
        return None, rules


def machines(first, count):
    """(seed, plan, rules) of `count` machines that can be tiled, seeds from `first` on."""
    found = []
    for seed in range(first, first + 4 * count):
        plan, rules = planned(seed)
        if plan is not None:
            found.append((seed, plan, rules))
        if len(found) == count:
            return found
    raise AssertionError(f"{len(found)} of {4 * count} machines can be tiled")


def instances(program, rng, times):
    """Two instances of equal random extents and contents, and the extents; none too small for a reflection."""
    dim = program.plan.graph.dim
    while True:
        extents = tuple(rng.randint(2, times * LARGEST[dim]) for _ in range(dim))
        try:
            pair = program.instantiate(extents, 1), program.instantiate(extents, rng.choice((1, 2, 3)))
        except ShapeError:
            continue
        for static in program.plan.graph.fields:
            values = np.random.default_rng(rng.randrange(2**32)).random(extents).astype(static.type.numpy)
            for instance in pair:
                instance.write_field(static.name, values)
        return *pair, extents


def check(program, rules, rng, grids, hit, further=0):
    """Marches with steps one after the other and in tiles; `hit` counts rules by the number of tiles.

    further: grids at most, of up to three times the extents, until there were marches in 1, 2 and 3 tiles.
    """
    kernel, own = program.plan.main, set()
    for number in range(grids + further):
        if number >= grids and own == {1, 2, 3}:
            return
        one, other, extents = instances(program, rng, 1 if number < grids else 3)
        with_tiles(one, None)
        for steps in (3, 17):
            choices = TilingChoices(
                "diamond", rng.choice((2, 3, 5, 8)), tuple(rng.choice((0, 1, 3, 8)) for _ in extents)
            )
            sizes = tile_sizes(kernel, extents, choices, other.threads)
            if sizes is not None:
                sizes = replace(sizes, window=rng.choice((0, 0, 1, 2, 5)))
            with_tiles(other, sizes)
            until = (Condition("time", ">=", 1.0),) if rng.random() < 0.3 else ()
            request = MarchRequest(
                "step", steps, until=until, observe_every=rng.choice((0, 0, 5)), observe_last=rng.random() < 0.5
            )
            right, found = one.march(request), other.march(request)
            where = f"{extents}, {sizes}, {other.threads} threads, {request}"
            assert (right.steps, right.ended) == (found.steps, found.ended), where
            assert all(np.array_equal(a, b) for a, b in zip(state_of(one), state_of(other), strict=True)), where
            if sizes is not None and found.steps >= 2:
                assert sizes.depth >= 2, where
                own.add(min(sizes.spaces, 3))
                hit.update((rule, min(sizes.spaces, 3)) for rule in rules)


def agree(first, count, grids, level, further=0):
    """How often each rule was met by each number of tiles, over random machines that all agree."""
    hit = Counter()
    found = machines(first, count)
    programs = optimised("openmp", level).compile_many([plan for _, plan, _ in found])
    for (seed, _, rules), program in zip(found, programs, strict=True):
        try:
            check(program, rules, random.Random(seed), grids, hit, further)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    return hit


def table(hit):
    rules = [*RINGS, *RULES, *WALLS.values()]
    lines = [f"{'rule':<26} {'1 tile':>7} {'2':>7} {'3 or more':>10}"]
    lines += [f"{r:<26} {hit[r, 1]:>7} {hit[r, 2]:>7} {hit[r, 3]:>10}" for r in rules]
    return "\n".join(lines)


@pytest.mark.parametrize("first", [0, 40])
def test_random_machines_have_the_bits_of_steps(first):
    print(table(agree(first, BATCH, 3, "0")))


@pytest.mark.proof(sample=1)
@pytest.mark.parametrize("first", FIRSTS)
def test_more_random_machines_have_the_bits_of_steps(first):
    hit = agree(first, BATCH, 20, "3", further=60)
    print(table(hit))
    met = {rule for _, _, rules in machines(first, BATCH) for rule in rules}
    missed = [(rule, tiles) for rule in sorted(met) for tiles in (1, 2, 3) if not hit[rule, tiles]]
    assert not missed, f"no march met {missed}"


@pytest.mark.proof(sample=1)
def test_the_random_machines_of_the_proof_have_every_rule():
    met = Counter(rule for first in FIRSTS for _, _, rules in machines(first, BATCH) for rule in set(rules))
    assert [rule for rule in (*RINGS, *RULES, *WALLS.values()) if met[rule] < 3] == []
