"""Random functions of arrays: NumPy's own results to the last bit, as all numbers are whole; then equal bits compiled.

A function is drawn by a seed (`tests.kit.random_array_functions`), once for the words of `tests.kit.array_oracle` and
once for each attempt to trace it, and makes the same choices. NumPy's small ones have axes of no or one element.
"""

import random

import pytest

import workbench as wb
from tests.kit import array_oracle
from tests.kit.bits import assert_same_bits
from tests.kit.random_array_functions import KINDS, arguments, kinds_drawn, random_function
from workbench import language
from workbench.planning.choices import Choices, PlanChoices

PRESETS = ("cost", "as_manifest", "as_delayed")
TEAMS = [("openmp", 1), ("openmp", 2), ("openmp", 3)]


def small_sizes(seed):
    draw = random.Random(f"sizes {seed}")
    return draw.choice([0, 1, 2, 3, 4]), draw.choice([0, 1, 2, 4, 5])


def large_sizes(seed):
    draw = random.Random(f"sizes {seed}")
    return draw.choice([1, 3, 5]), draw.choice([1, 31, 35, 1030])


def is_numpy(seeds):
    for seed in seeds:
        sizes = small_sizes(seed)
        given = arguments(seed, *sizes)
        expected = random_function(seed, array_oracle, sizes)(*given)
        found = wb.collective(random_function(seed, language, sizes))(*given, backend="reference")
        for place, (mine, exact) in enumerate(zip(found, expected, strict=True)):
            assert_same_bits(mine, exact, f"seed {seed}, value {place}")


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_functions_are_numpy(first):
    is_numpy(range(first, first + 20))


@pytest.mark.proof(seeds=range(1000, 4000), batch=100, sample=100)
def test_many_random_functions_are_numpy(proof_seeds):
    is_numpy(proof_seeds)


def test_all_kinds_of_steps_and_sizes_are_drawn():
    drawn, sizes = set(), set()
    for seed in range(60):
        sizes.add(small_sizes(seed))
        drawn.update(kinds_drawn(seed, array_oracle, small_sizes(seed), arguments(seed, *small_sizes(seed))))
    assert drawn == set(KINDS)
    assert {n for n, _ in sizes} == {0, 1, 2, 3, 4}
    assert {m for _, m in sizes} == {0, 1, 2, 4, 5}


def compiled_bits(seed, ways, presets):
    """Equal bits whatever is fused, stored once or computed again, on all backends and teams."""
    sizes = large_sizes(seed)
    given = arguments(seed, *sizes)
    program = wb.collective(random_function(seed, language, sizes))
    expected = program(*given, backend="reference")
    for preset in presets:
        choices = Choices(plan=PlanChoices().changed(preset=preset))
        for backend, threads in ways:
            found = program(*given, backend=backend, threads=threads, choices=choices)
            for mine, bits in zip(found, expected, strict=True):
                assert_same_bits(mine, bits, f"seed {seed}, {preset}, {backend}, {threads} threads")


@pytest.mark.parametrize("seed", [1, 2])
def test_compiled_functions_have_equal_bits(seed):
    compiled_bits(seed, TEAMS, ("cost",))


@pytest.mark.proof(seeds=range(200, 500), batch=10, sample=4)
def test_many_compiled_functions_have_equal_bits(proof_seeds):
    for seed in proof_seeds:
        compiled_bits(seed, TEAMS, ("cost", PRESETS[1 + seed % 2]))


@pytest.mark.proof(seeds=range(500, 800), batch=10, sample=2)
def test_many_functions_have_equal_bits_on_the_simulated_device(proof_seeds):
    for seed in proof_seeds:
        compiled_bits(seed, [("cuda-sim", 0)], (PRESETS[seed % 3],))
