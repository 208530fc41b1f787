"""Random programs of pairs: bits of the reference on every backend, any number of threads; how exact sums are."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.optimised import COMPARED, optimised
from tests.kit.proofs import with_enough
from tests.kit.random_pairs import random_pairs, random_particles
from workbench.backends.reference import ReferenceBackend
from workbench.planning import plan_graph

WIDTHS = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}
PAIR_ULP = 2.0**-104  # of dd, in units of which bounds of its functions count


def check(backend, level, pairs):
    """Programs of several pairs at once, so that the compiler works in parallel; sets of no element are called."""
    some = [each for each in pairs if 0 not in each.lengths]
    plans = [plan_graph(each.machine.graph, each.machine.choices) for each in some]
    programs = optimised(backend, level).compile_many(plans)
    compared = [(each, program) for each, program in zip(some, programs, strict=True)]
    compared += [(each, None) for each in pairs if 0 in each.lengths]
    for each, program in compared:
        expected = each.called("reference")
        for threads in (1, 2, 3) if backend == "openmp" else (1,):
            found = each.called(backend, threads) if program is None else each.totals(program, threads)
            for name, values in expected.items():
                what = f"seed {each.seed}, {each.lengths}, {backend}, {threads} threads: {name}\n{each.text}"
                assert_same_bits(found[name], values, what)


@pytest.mark.parametrize("backend", COMPARED)
def test_random_pairs_have_the_bits_of_the_reference(backend):
    check(backend, "0", [random_pairs(seed) for seed in range(10 if backend == "openmp" else 6)])


@pytest.mark.proof(seeds=range(100, 300), batch=20, sample=20)
@pytest.mark.parametrize("backend", COMPARED)
def test_many_random_pairs_have_the_bits_of_the_reference(backend, proof_seeds):
    check(backend, "3", [random_pairs(seed) for seed in proof_seeds])


@pytest.mark.proof(seeds=range(400, 460), batch=20, sample=10)
@pytest.mark.parametrize("backend", COMPARED)
def test_pairs_have_the_bits_of_the_reference_however_they_are_unrolled(backend, proof_seeds):
    check(backend, "3", [unrolled(seed) for seed in proof_seeds])


def unrolled(seed):
    """Random pairs of a machine with numbers of targets side by side, or a thread, and of sources a turn."""
    pairs, draw = random_pairs(seed), random.Random(seed)
    lanes, targets, sources = draw.choice((1, 3, 4, 16, 64, 256)), draw.randint(1, 8), draw.randint(1, 8)
    return replace(pairs, machine=pairs.machine.with_choices(lanes=lanes, targets=targets, sources=sources))


def check_particles(backend, level, programs):
    """Three steps from one start; the old state is seen along the axis of sources (Load along)."""
    compiled = optimised(backend, level).compile_many([plan_graph(each.machine.graph) for each in programs])
    for each, program in zip(programs, compiled, strict=True):
        expected = each.states(ReferenceBackend().compile(program.plan))
        for threads in (1, 2, 3) if backend == "openmp" else (1,):
            for name, values in each.states(program, threads).items():
                what = f"seed {each.seed}, {each.lengths}, {backend}, {threads} threads: {name}\n{each.text}"
                assert_same_bits(values, expected[name], what)


@pytest.mark.parametrize("backend", COMPARED)
def test_random_particles_have_the_bits_of_the_reference(backend):
    check_particles(backend, "0", [random_particles(seed) for seed in range(4 if backend == "openmp" else 3)])


@pytest.mark.proof(seeds=range(100, 300), batch=50, sample=20)
@pytest.mark.parametrize("backend", COMPARED)
def test_many_random_particles_have_the_bits_of_the_reference(backend, proof_seeds):
    check_particles(backend, "3", [random_particles(seed) for seed in proof_seeds])


def exact(value):
    """A number as a fraction; of a dd hi + lo."""
    parts = (value["hi"], value["lo"]) if value.dtype.names else (value,)
    return sum((Fraction(float(part)) for part in parts), Fraction(0))


def check_sums(pairs):
    """A total of one source is what the pair contributes; n of them are summed with an error of at most n ulp.

    One ulp is that of the sum of absolute contributions. Returns how many sums were looked at.
    """
    together, count = pairs.called("reference"), 0
    alone = [pairs.called("reference", sources=slice(j, j + 1)) for j in range(pairs.lengths[1])]
    for name, found in together.items():
        if f'totals("{name}", reduce="sum"' not in pairs.text:
            continue
        ulp = PAIR_ULP if found.dtype.names else WIDTHS[found.dtype]
        for i in range(pairs.lengths[0]):
            parts = [each[name][i] for each in alone]
            if not all(np.isfinite(part["hi"] if part.dtype.names else part) for part in (*parts, found[i])):
                continue
            contributions = [exact(part) for part in parts]
            bound = len(parts) * Fraction(ulp) * sum(map(abs, contributions))
            error = abs(exact(found[i]) - sum(contributions))
            assert error <= bound, f"seed {pairs.seed}: {name}[{i}] is {float(error)} from its sum\n{pairs.text}"
            count += 1
    return count


def with_same_numbers(pairs):
    """index(0) == index(1) names another pair where sources are called one by one."""
    return "index" not in pairs.text and 0 not in pairs.lengths and min(pairs.lengths) <= 5


def test_sums_are_within_n_ulp_of_absolute_contributions():
    chosen = [each for seed in range(40) if with_same_numbers(each := random_pairs(seed, longest=40, reduces=["sum"]))]
    assert sum(check_sums(each) for each in chosen) > 100


def check_long_sums(seed):
    pairs = random_pairs(seed, reduces=["sum"])
    return check_sums(pairs) if with_same_numbers(pairs) else 0


@pytest.mark.proof(seeds=range(1000, 1060), batch=20, sample=5)
def test_long_sums_are_within_n_ulp_of_absolute_contributions(proof_seeds):
    looked_at = with_enough(proof_seeds, lambda seed: check_long_sums(seed) > 0, needed=len(proof_seeds) // 4 + 1)
    print(f"{len(looked_at)} programs")


def test_what_is_needed_is_drawn():
    drawn = [random_pairs(seed) for seed in range(80)]
    lengths = {n for each in drawn for n in each.lengths}
    assert {0, 1, 1023, 1024, 1025} <= lengths
    assert {each.lengths[0] == each.lengths[1] for each in drawn} == {True, False}
    texts = "\n".join(each.text for each in drawn)
    for needed in (
        "f32",
        "f64",
        "dd",
        *(f'reduce="{name}"' for name in ("sum", "max", "min", "product", "any", "all")),
        "reduce=nearer",
    ):
        assert needed in texts
