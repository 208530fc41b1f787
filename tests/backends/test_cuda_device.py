"""The cuda backend on a real device, bit for bit against the interpreter: `pytest -m gpu`."""

import itertools
import threading
import time

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan, chosen
from tests.backends.device_cells import HEAT, HELLO, LEAPFROG, SEVERAL, WAVE, gravity
from tests.backends.graphs import RULES, field_graph, reducing_graph, side_pairs
from tests.kit.agreement import check_pairs, make_pair
from tests.kit.backend_agreement import assert_agrees, assert_folds_agree
from tests.kit.bits import assert_same_bits
from tests.kit.hand_plans import plan_by_hand
from tests.kit.spaced_programs import spaced_programs
from workbench import trace
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.cuda import CudaBackend
from workbench.backends.reference import ReferenceBackend
from workbench.graph.types import F64
from workbench.planning import plan_graph
from workbench.run.memory import bytes_available

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


def test_folds_over_some_axes(backend):
    for graph in spaced_programs():
        program = backend.compile(plan_graph(graph, follows_chains=False))
        for extents in {2: ((1, 2), (300, 1025)), 3: ((2, 1, 3), (5, 30, 1030)), 4: ((2, 3, 4, 5),)}[graph.dim]:
            assert_folds_agree(program, extents, (1,))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_totals_of_pairs(backend, dtype):
    machine, draw = trace(gravity(dtype), name="gravity"), np.random.default_rng(1)
    targets = {name: draw.normal(size=300) for name in "xyz"} | {"e2": 0.01}
    sources = {name: draw.normal(size=2049) for name in "xyzm"}
    found = machine(targets=targets, sources=sources, backend=backend.name)
    for name, expected in machine(targets=targets, sources=sources, backend="reference").items():
        assert_same_bits(found[name], expected, name)


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


@pytest.mark.parametrize("streams", [2, 4])
def test_streams_change_nothing(backend, streams):
    """Launches one by one, and in graphs."""
    program = backend.compile(cell_plan(SEVERAL, 1, streams=streams))
    for extents, observed in itertools.product(((5,), (100_000,)), (1, 0)):
        assert_agrees(program, extents, MarchRequest("step", 100, observe_every=observed))


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


DECAY = 'u = field("u", boundary="outflow", dtype="f32")\nu.next = u + 0.2 * (u[-1] - 2 * u + u[+1])\n'
COPY = 'u = field("u", boundary="periodic", dtype="u8")\nu.next = u[+1]\n'


def test_float32_below_the_normal_numbers(backend):
    plan = cell_plan(DECAY, 1)
    found = []
    for program in (backend.compile(plan), ReferenceBackend().compile(plan)):
        instance = program.instantiate((400,))
        spike = np.zeros(400, np.float32)
        spike[200] = 1.0
        instance.write_field("u", spike)
        instance.march(MarchRequest("step", 60))
        found.append(instance.read_field("u"))
        instance.close()
    tiny = (found[1] != 0) & (np.abs(found[1]) < np.finfo(np.float32).tiny)
    assert tiny.any()
    assert np.array_equal(found[0].view(np.uint32), found[1].view(np.uint32))


def test_figures_of_kernels_in_a_fresh_thread(backend):
    program = backend.compile(cell_plan(WAVE, 1))
    said = []
    thread = threading.Thread(target=lambda: said.append((program.resources(), program.compiler_words())))
    thread.start()
    thread.join()
    ((resources, words),) = said
    assert all(0 < each.registers <= 255 for each in resources)
    assert words


def test_a_field_set_just_before_it_is_taken_over(backend):
    programs = [backend.compile(cell_plan(LEAPFROG, 1, preset=preset)) for preset in ("cost", "as_manifest")]
    old, new = (program.instantiate((1 << 24,)) for program in programs)
    rng = np.random.default_rng(5)
    for _ in range(10):
        values = rng.normal(size=1 << 24)
        old.write_field("u", values)
        new.take_over(old)
        assert np.array_equal(new.read_field("u"), values)
        old, new = new, old
    old.close()
    new.close()


def test_a_field_over_a_third_of_the_memory_is_written_and_read(backend):
    program = backend.compile(cell_plan(COPY, 1))
    cells = min(int(0.35 * program.free_memory()), bytes_available() // 4)
    print(f"{cells} bytes of {program.free_memory()} on the device")
    values = np.arange(cells, dtype=np.uint8)
    instance = program.instantiate((cells,))
    instance.write_field("u", values)
    instance.march(MarchRequest("step", 1))
    found = instance.read_field("u")
    instance.close()
    assert np.array_equal(found[:-1], values[1:])
    assert found[-1] == values[0]


def test_work_of_others_on_the_default_stream_disturbs_no_capture(backend):
    import cupy

    ended = threading.Event()

    def work():
        while not ended.is_set():
            cupy.ones(1000).sum().get()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        program = backend.compile(cell_plan(LEAPFROG, 1))
        for extent in range(4000, 4020):  # each with graphs of its own
            assert_agrees(program, (extent,), MarchRequest("step", 200))
    finally:
        ended.set()
        thread.join()


def test_times_of_launches_are_not_those_of_the_host(backend):
    instance = backend.compile(cell_plan(WAVE, 1)).instantiate((100_000,))
    instance.march(MarchRequest("step", 5000, observe_last=False))
    begin = time.perf_counter()
    instance.march(MarchRequest("step", 20_000, observe_last=False))
    step = (time.perf_counter() - begin) / 20_000
    instance.time_launches(True)
    instance.march(MarchRequest("step", 5000, observe_last=False))
    timed = sum(t.seconds for t in instance.launch_times() if not t.observed)
    print(f"a step {step * 1e6:.1f} us, its launches by events {timed * 1e6:.1f} us")
    assert 0 < timed < 3 * step  # events themselves take a little


def test_memory_is_given_back(backend):
    program = backend.compile(cell_plan(HEAT, 2))
    program.instantiate((64, 64)).close()
    before = program.free_memory()
    instance = program.instantiate((4096, 4096))
    instance.march(MarchRequest("step", 10))
    instance.close()
    assert program.free_memory() >= before - (32 << 20)


def test_modules_leave_the_device_with_their_last_user(backend):
    program = backend.compile(cell_plan(HEAT, 2))
    kept = program.instantiate((64, 64))  # so that the context and CuPy's own memory are there

    def used(count):
        before = program.free_memory()
        for _ in range(count):
            other = backend.compile(cell_plan(HEAT, 2, block=512)).instantiate((64, 64))
            other.march(MarchRequest("step", 40))
            other.close()
        return before - program.free_memory()

    used(10)
    taken = used(1000)  # some 50 kB each, if they stayed
    print(f"{taken} bytes more after 1000 modules")
    kept.close()
    assert taken < 16 << 20
