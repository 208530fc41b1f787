"""Random functions of arrays: NumPy's own results to the last bit, as all numbers are whole; then equal bits compiled.

A function is drawn by a seed (`tests.kit.random_array_functions`), once for the words of `tests.kit.array_oracle` and
once for each attempt to trace it, and makes the same choices. NumPy's small ones have axes of no or one element.
"""

import random
from collections import Counter

import pytest

import workbench as wb
from tests.kit import array_oracle
from tests.kit.array_records import KINDS_OF_ARGUMENTS, is_structured, leaves
from tests.kit.bits import assert_same_bits
from tests.kit.compiled_together import compiled_together
from tests.kit.random_array_arguments import arguments, kind_of_record
from tests.kit.random_array_functions import KINDS, kinds_drawn, random_function
from workbench import language
from workbench.planning.choices import Choices, PlanChoices

PRESETS = ("cost", "as_manifest", "as_delayed")
OPENMP, SIMULATED = ("openmp", (1, 2, 3)), ("cuda-sim", (0,))


def small_sizes(seed):
    draw = random.Random(f"sizes {seed}")
    return draw.choice([0, 1, 2, 3, 4]), draw.choice([0, 1, 2, 4, 5])


def large_sizes(seed):
    """One in five has an axis without elements."""
    draw = random.Random(f"sizes {seed}")
    return draw.choice([0, 1, 1, 3, 3, 3, 5, 5]), draw.choice([0, 1, 31, 31, 35, 35, 1030, 1030])


def assert_equal(found, expected, what):
    """Equal records of equal arrays."""
    for mine, exact in zip(found, expected, strict=True):
        assert type(mine) is type(exact) or not isinstance(exact, KINDS_OF_ARGUMENTS)
        assert is_structured(mine) == is_structured(exact)
    for place, (mine, exact) in enumerate(zip(leaves(found), leaves(expected), strict=True)):
        assert_same_bits(mine, exact, f"{what}, value {place}")


def is_numpy(seeds):
    for seed in seeds:
        sizes = small_sizes(seed)
        given = arguments(seed, *sizes)
        expected = random_function(seed, array_oracle, sizes)(*given)
        found = wb.collective(random_function(seed, language, sizes))(*given, backend="reference")
        assert_equal(found, expected, f"seed {seed}")


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


COMPILED, ON_THE_DEVICE = range(200, 500), range(500, 800)


@pytest.mark.parametrize("seeds", [COMPILED, ON_THE_DEVICE])
def test_functions_that_are_compiled_have_all_sizes_and_records(seeds):
    sizes = Counter(large_sizes(seed) for seed in seeds)
    assert {n for n, _ in sizes} == {0, 1, 3, 5}
    assert {m for _, m in sizes} == {0, 1, 31, 35, 1030}
    assert 40 < sum(count for pair, count in sizes.items() if 0 in pair) < 100
    assert {kind_of_record(seed) for seed in seeds} == set(KINDS_OF_ARGUMENTS)
    assert {presets_of(seed) for seed in seeds} == {("cost", other) for other in PRESETS[1:]}


def presets_of(seed):
    """What the preset of users is compared with: everything stored, or nothing that need not be."""
    return "cost", PRESETS[1 + seed % 2]


def compiled_bits(seeds, on, level=None):
    """Equal bits whatever is fused, stored once or computed again, on a backend with each team."""
    (backend, teams), cases = on, []
    for seed in seeds:
        sizes = large_sizes(seed)
        program, given = wb.collective(random_function(seed, language, sizes)), arguments(seed, *sizes)
        for preset in presets_of(seed):
            cases.append((seed, preset, program, given, Choices(plan=PlanChoices().changed(preset=preset))))
    machines = [program.machine(*given).with_choices(choices) for *_, program, given, choices in cases]
    with compiled_together(backend, machines, level):
        for seed, preset, program, given, choices in cases:
            expected = program(*given, backend="reference")
            for threads in teams:
                found = program(*given, backend=backend, threads=threads, choices=choices)
                assert_equal(found, expected, f"seed {seed}, {preset}, {backend}, {threads} threads")


@pytest.mark.parametrize(("on", "seeds"), [(OPENMP, (95, 101)), (SIMULATED, (95,))], ids=["openmp", "cuda-sim"])
def test_compiled_functions_have_equal_bits(on, seeds):
    """Short texts; the first one has a branch, the second one a structured array."""
    compiled_bits(seeds, on, level=0)


@pytest.mark.proof(seeds=COMPILED, batch=10, sample=4)
def test_many_compiled_functions_have_equal_bits(proof_seeds):
    compiled_bits(proof_seeds, OPENMP)


@pytest.mark.proof(seeds=ON_THE_DEVICE, batch=10, sample=2)
def test_many_functions_have_equal_bits_on_the_simulated_device(proof_seeds):
    compiled_bits(proof_seeds, SIMULATED)
