"""The cuda backend on a real device, bit for bit against the interpreter: `pytest -m gpu`."""

import itertools
import time

import numpy as np
import pytest

from tests.agreement import check_pairs, make_pair
from tests.backends.agreement import assert_agrees
from tests.backends.cell_plans import cell_plan, chosen
from tests.backends.device_cells import HEAT, HELLO, LEAPFROG, WAVE
from tests.backends.graphs import RULES, field_graph, reducing_graph, side_pairs
from tests.codegen.hand_plans import plan_by_hand
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.cuda import CudaBackend
from workbench.graph.types import F64

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def backend():
    found = CudaBackend()
    state = found.availability()
    if not state.available:
        pytest.skip(f"no CUDA device: {state.reason}")
    return found


@pytest.mark.parametrize("preset", ["cost", "as_delayed", "as_manifest"])
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (WAVE, ((1,), (37,), (5000,))),
        (HEAT, ((1, 1), (9, 37), (300, 1030))),
        (HELLO, ((11,), (100_000,))),
        (LEAPFROG, ((3,), (4096,))),
    ],
    ids=["wave", "heat", "hello", "leapfrog"],
)
def test_programs_agree(backend, text, sizes, preset):
    program = backend.compile(cell_plan(text, len(sizes[0]), preset=preset))
    for extents, steps in itertools.product(sizes, (1, 100)):
        assert_agrees(program, extents, MarchRequest("step", steps, observe_every=7))


@pytest.mark.parametrize(("grid", "block"), [(0, 256), (1, 1), (3, 7), (5, 48), (0, 1024), (32, 32)])
def test_grid_and_block_change_nothing(backend, grid, block):
    program = backend.compile(cell_plan(HEAT, 2, grid=grid, block=block))
    for extents in ((1, 1), (5, 33), (400, 3)):
        assert_agrees(program, extents, MarchRequest("step", 3, observe_every=1))


def test_every_rule_with_reach_beyond_the_extent(backend):
    for a, b in side_pairs():
        program = backend.compile(plan_by_hand(field_graph(1, ((RULES[a], RULES[b]),), F64, 7), 7))
        for n in (1, 2, 3, 7, 19):
            assert_agrees(program, (n,), MarchRequest("step", 2))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_reductions_in_canonical_order(backend, dim):
    outer = {1: (), 2: (30,), 3: (5, 30)}[dim]
    program = backend.compile(plan_by_hand(reducing_graph(dim), 0, chosen(grid=0, block=256)))
    for n in (1, 15, 16, 17, 1023, 1024, 1025, 20 * 1024 + 5):
        assert_agrees(program, (*outer, n), MarchRequest("step", 2, observe_every=1))


def test_random_pairs_agree(backend):
    pairs = [make_pair(seed) for seed in range(1000, 1300)]
    wrong = check_pairs(backend, pairs)
    print(f"{len(pairs)} pairs, {len(wrong)} differ")
    assert not wrong


def test_64_bit_element_numbers(backend):
    text = 'u = field("u", boundary="periodic", dtype="u8")\nu.next = u[+1] + u[-1]\n'
    extents = (2**31 + 37,)
    with_room = backend.compile(cell_plan(text, 1))
    instance = with_room.instantiate(extents)
    values = (np.arange(extents[0], dtype=np.int64) * 7 % 251).astype(np.uint8)
    instance.write_field("u", values)
    instance.march(MarchRequest("step", 1))
    found = instance.read_field("u")
    assert np.array_equal(found[1:-1], values[2:] + values[:-2])
    assert found[0] == values[1] + values[-1]
    assert found[-1] == values[0] + values[-2]
    instance.close()


def test_until_never_does_a_step_too_many(backend):
    program = backend.compile(plan_by_hand(reducing_graph(1), 0))
    assert_agrees(program, (4000,), MarchRequest("step", 100, until=(Condition("t", ">=", 9.9),)))


def test_params_reach_captured_graphs(backend):
    instance = backend.compile(cell_plan(LEAPFROG, 1)).instantiate((4096,))
    values = np.random.default_rng(3).normal(size=4096)
    for c in (0.25, 0.0):
        instance.write_global("c", c)
        instance.write_field("u", values)
        instance.write_field("w", values)
        for _ in range(3):
            instance.march(MarchRequest("step", 100))
        assert np.array_equal(instance.read_field("u"), values) == (c == 0.0)
    assert instance.graphs >= 1


def test_a_long_march_ends_soon_after_its_deadline(backend):
    instance = backend.compile(cell_plan(HEAT, 2)).instantiate((2048, 2048))
    begin = time.monotonic()
    result = instance.march(MarchRequest("step", 10**9, stop=StopFlag(), seconds=0.5, observe_last=False))
    assert result.ended == "time"
    assert result.steps > 0
    print(f"{result.steps} steps in {time.monotonic() - begin:.3f} s")


def test_device_view_is_the_live_array(backend):
    instance = backend.compile(cell_plan(HEAT, 2)).instantiate((5, 9))
    view = instance.device_view("u")
    view[2, 3] = 77.0
    assert instance.read_field("u")[2, 3] == 77.0
