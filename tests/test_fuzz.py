"""Random programs under random choices have the reference's bits on every backend; what was tried is counted.

pytest tests/test_fuzz.py                                     80 pairs
pytest tests/test_fuzz.py -m proof                            2,200 pairs
pytest tests/test_fuzz.py --fuzz-seed 7 --fuzz-count 5000     any others
"""

import time

import pytest

from tests.kit.agreement import check_pairs, describe, make_pair, plan_coverage
from tests.kit.capabilities import CAPABILITIES
from tests.kit.optimised import COMPARED, optimised
from tests.kit.random_kernels import EXACT, WITH_PAIRS
from tests.kit.shrink_pair import shrink_pair
from workbench.graph import REDUCTIONS
from workbench.graph.instructions import Instruction
from workbench.graph.side_rules import INDEX_MAPS, VALUE_RULES, Mirror, Reflect, Undefined, Wall
from workbench.planning import Storage

FIRST_SEED = 2216  # the next eighty hold everything that is NEEDED; if they no longer do, look for others
BATCH = 40
COUNT = 80
PROOF = 2200
NEEDED = {
    *(kind.__name__ for kind in Instruction.__args__),
    *(f"operator {row.name}" for row in EXACT),
    *(f"reduction {name}" for name in (*REDUCTIONS, "region")),
    *(f"rule {kind.__name__}" for kind in (*INDEX_MAPS, *VALUE_RULES, Undefined)),
    *(f"rule {kind.__name__} negative" for kind in (Reflect, Mirror, Wall)),
    *(f"storage {storage.value}" for storage in Storage if storage is not Storage.ROLLING),
    *(f"storage {storage} by choice" for storage in ("Manifest", "Delayed")),
    *(f"preset {preset}" for preset in ("cost", "as_delayed", "as_manifest")),
    *(f"{n} axes" for n in (1, 2, 3)),
    *(f"{n} cells along an axis" for n in (1, 2, 3)),
    *(f"launch of {kind}s" for kind in ("fill", "subkernel", "finisher")),
    "loop that reads arrays",
    "more cells",
    "schedule stepwise",
    "precision chosen",
    "two kernels",
    "kernel with diagnostics",
    "launch of several sub-kernels",
    "rotation of slots",
    "sub-kernel with margins",
    "loop over some axes",
    "loop that folds several values",
    "fold beyond the domain",
    "fill of some axes",
    "barrier asked for",
    "asks for rolling",
    "rolls as asked for",
    "recomputed though it asks to roll",
}


def agree(name, seeds, level="3", **options):
    backend = optimised(name, level)
    begin = time.monotonic()
    pairs = [make_pair(seed, **CAPABILITIES[name].fuzz, **options) for seed in seeds]
    wrong = check_pairs(backend, pairs)
    took = time.monotonic() - begin
    where = f"{name} -O{level}" if name == "openmp" else name
    print(f"{len(pairs)} pairs, seeds {seeds[0]} to {seeds[-1]}, on {where}: {len(wrong)} differ; {took:.0f} s")
    if wrong:
        others = "".join(f"\nseed {pair.seed}: {difference}" for pair, difference in wrong[1:])
        raise AssertionError(describe(backend, *wrong[0], shrink_pair) + others)


def pytest_generate_tests(metafunc):
    if "fuzz_batch" in metafunc.fixturenames:
        first = metafunc.config.getoption("--fuzz-seed")
        count = metafunc.config.getoption("--fuzz-count")
        first = FIRST_SEED if first is None else first
        count = COUNT if count is None else count
        starts = range(first, first + count, BATCH)
        batches = [range(start, min(start + BATCH, first + count)) for start in starts]
        # Half quickly, half as users get it. The names say no seeds, so that the list of long cases has them.
        levels = [(batch, "13"[number % 2]) for number, batch in enumerate(batches)]
        names = [f"part{number + 1}" for number in range(len(batches))]
        metafunc.parametrize(("fuzz_batch", "level"), levels, ids=names)


@pytest.mark.parametrize("backend", COMPARED)
def test_random_pairs_have_the_bits_of_the_reference(backend, fuzz_batch, level, pytestconfig):
    agree(backend, fuzz_batch, pytestconfig.getoption("--fuzz-optimisation") or level)


@pytest.mark.proof(seeds=range(10**6, 10**6 + PROOF), batch=100, sample=50)
@pytest.mark.parametrize("backend", COMPARED)
def test_many_random_pairs_have_the_bits_of_the_reference(backend, proof_seeds):
    agree(backend, proof_seeds)


@pytest.mark.parametrize("backend", COMPARED)
def test_random_pairs_with_numbers_of_type_dd_have_the_bits_of_the_reference(backend):
    agree(backend, range(6), "0", nodes=(8, 16), types=WITH_PAIRS)


@pytest.mark.proof(seeds=range(2 * 10**6, 2 * 10**6 + 400), batch=40, sample=20)
@pytest.mark.parametrize("backend", COMPARED)
def test_many_random_pairs_with_numbers_of_type_dd_have_the_bits_of_the_reference(backend, proof_seeds):
    agree(backend, proof_seeds, "1", types=WITH_PAIRS)


@pytest.mark.parametrize("backend", COMPARED)
def test_the_pairs_hold_everything_that_can_be_planned(backend):
    pairs = [make_pair(seed, **CAPABILITIES[backend].fuzz) for seed in range(FIRST_SEED, FIRST_SEED + COUNT)]
    found = plan_coverage(pairs)
    print(f"{COUNT} pairs for {backend}:")
    for name, number in sorted(found.items()):
        print(f"{number:7d} {name}")
    missing = sorted(name for name in NEEDED if not found[name])
    assert not missing
