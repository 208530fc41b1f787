"""The host side of the cuda backend, with a stand-in for CuPy whose kernels run on the simulator."""

import os

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.backends.device_cells import HEAT, LEAPFROG, WAVE
from tests.backends.graphs import reducing_graph
from tests.kit.backend_agreement import assert_agrees
from tests.kit.fake_cupy import FakeCupy
from tests.kit.hand_plans import plan_by_hand
from workbench.backends import cuda_instance
from workbench.backends.base import Condition, MarchRequest, StopFlag
from workbench.backends.cuda import CudaBackend
from workbench.backends.cuda_instance import GRAPH_STEPS, _Pace, rotation_period
from workbench.backends.nvrtc import compile_options
from workbench.errors import BackendError, BuildError


@pytest.fixture
def fake():
    return FakeCupy()


def backend_of(fake):
    return CudaBackend(fake, fake.cubins)


def test_programs_agree_through_graphs_and_plain_launches(fake, monkeypatch):
    monkeypatch.setattr(cuda_instance, "SLICE_SECONDS", 60.0)  # on a slow machine too, batches are long enough
    backend = backend_of(fake)
    for text, extents in ((WAVE, (37,)), (HEAT, (5, 9)), (LEAPFROG, (40,))):
        program = backend.compile(cell_plan(text, len(extents)))
        for steps in (1, 7, 2 * GRAPH_STEPS + 5, 75):
            assert_agrees(program, extents, MarchRequest("step", steps, observe_every=50))
    assert fake.log.count("capture") >= 3
    assert fake.log.count("graph") > fake.log.count("capture")


def test_a_graph_is_captured_once_for_each_arrangement(fake):
    instance = backend_of(fake).compile(cell_plan(LEAPFROG, 1)).instantiate((40,))
    instance.write_field("u", np.ones(40))
    (kernel,) = instance._kernels.values()
    period = rotation_period(kernel.plain.rotation)
    for _ in range(6):
        instance.march(MarchRequest("step", 101))
    assert 1 <= instance.graphs <= period


def test_changing_a_param_captures_and_compiles_nothing(fake):
    backend = backend_of(fake)
    instance = backend.compile(cell_plan(LEAPFROG, 1)).instantiate((40,))
    rng = np.random.default_rng(3)
    instance.write_field("u", rng.normal(size=40))
    before = instance.read_field("u")
    for _ in range(4):
        instance.march(MarchRequest("step", 96))
    captured, modules = fake.log.count("capture"), len(fake.compiled)
    instance.write_global("c", 0.0)
    instance.write_field("u", before)
    instance.write_field("w", before)
    instance.march(MarchRequest("step", 96))
    assert np.array_equal(instance.read_field("u"), before)  # c = 0: nothing moves
    assert (fake.log.count("capture"), len(fake.compiled)) == (captured, modules)


def test_another_size_grid_or_block_compiles_nothing(fake):
    backend = backend_of(fake)
    first = backend.compile(cell_plan(HEAT, 2))
    first.instantiate((5, 9)).march(MarchRequest("step", 1))
    again = backend.compile(cell_plan(HEAT, 2, grid=0, block=128))
    again.instantiate((50, 9)).march(MarchRequest("step", 1))
    assert (first.from_cache, again.from_cache, again.compile_seconds) == (False, True, 0.0)
    assert len(fake.compiled) == 1
    backend.compile(cell_plan(HEAT, 2, block=512))  # needs fewer registers a thread
    assert len(fake.compiled) == 2


def test_until_never_does_a_step_too_many(fake):
    plan = plan_by_hand(reducing_graph(1), 0)
    program = backend_of(fake).compile(plan)
    assert_agrees(program, (40,), MarchRequest("step", 100, until=(Condition("t", ">=", 9.9),)))
    assert "graph" not in fake.log


def test_stop_and_deadline_end_a_march_after_a_whole_step(fake):
    instance = backend_of(fake).compile(plan_by_hand(reducing_graph(1), 0)).instantiate((40,))
    stop = StopFlag()
    stop.set()
    assert instance.march(MarchRequest("step", 10, stop=stop)).steps == 0
    stop.clear()
    result = instance.march(MarchRequest("step", 10**9, stop=stop, seconds=0.2))
    assert result.ended == "time"
    assert instance.read_global("t") == 0.25 * result.steps
    synchronizations = fake.log.count("synchronize")
    assert synchronizations < result.steps  # batches, not single steps


def test_no_host_round_trip_inside_a_batch(fake):
    instance = backend_of(fake).compile(cell_plan(WAVE, 1)).instantiate((16,))
    instance.march(MarchRequest("step", 50, observe_every=5))
    fake.log.clear()
    result = instance.march(MarchRequest("step", 50, first_step=50, observe_every=5))
    assert result.observed_steps.tolist() == list(range(55, 101, 5))
    assert fake.log.count("synchronize") < 50


def test_what_nvrtc_gets(fake):
    backend_of(fake).compile(cell_plan(WAVE, 1))
    ((code, options, architecture),) = fake.compiled.values()
    hosts = ("#include <stdint.h>", "#include <string.h>", '#include "simulator.h"')  # which no device's compiler reads
    assert [line for line in code.splitlines() if line.startswith("#include") and line not in hosts] == []
    assert {"--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"} <= set(options)
    assert (options, architecture) == (compile_options(32, "int32_t"), "sm_90")
    assert "-DSTENCIL_INDEX=int64_t" in compile_options(32, "int64_t")


def test_refused_text_is_told(fake):
    fake.refuses = True
    with pytest.raises(BuildError, match=r"kernels.cu\(7\)"):
        backend_of(fake).compile(cell_plan(WAVE, 1))


def test_full_memory_is_told_and_nothing_stays_behind():
    fake = FakeCupy(room=20_000)
    program = backend_of(fake).compile(cell_plan(WAVE, 1))
    with pytest.raises(BackendError, match="no memory for machine with extents") as kept:
        program.instantiate((1000,))
    assert kept.value.__cause__ is not None  # whose frames somebody may keep
    assert fake.room > 19_000
    program.instantiate((100,))


def test_a_forked_process_is_told_to_be_spawned(fake, monkeypatch):
    backend = backend_of(fake)
    program = backend.compile(cell_plan(WAVE, 1))
    instance = program.instantiate((100,))
    parent = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: parent + 1)
    state = backend.availability()
    assert not state.available
    assert "was forked from one that uses CUDA" in state.reason
    assert 'get_context("spawn")' in state.advice
    for work in (
        lambda: backend.compile(cell_plan(WAVE, 1)),
        lambda: program.instantiate((100,)),
        lambda: instance.march(MarchRequest("step", 1)),
        lambda: instance.read_field("u"),
    ):
        with pytest.raises(BackendError, match=r'was forked.*\n.*get_context\("spawn"\)'):
            work()


def test_a_process_that_has_only_imported_cupy_may_be_forked(fake, monkeypatch):
    asked = []
    monkeypatch.setattr("workbench.backends.cuda.import_module", lambda name: asked.append(name) or fake)
    monkeypatch.setattr("workbench.backends.cuda.find_spec", lambda name: name)
    backend = CudaBackend(None, fake.cubins)
    backend.load_library()
    backend.load_library()
    assert asked == ["cupy"]
    assert (fake.log, fake.allocated, fake.contexts) == ([], {}, set())
    parent = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: parent + 1)
    assert backend.availability().available
    backend.compile(cell_plan(WAVE, 1)).instantiate((100,)).march(MarchRequest("step", 1))
    monkeypatch.setattr("os.getpid", lambda: parent + 2)
    assert not backend.availability().available


def test_batches_grow_to_a_slice_and_shrink_when_steps_get_slow():
    pace = _Pace()
    counts = []
    for _ in range(6):
        counts.append(pace.next_batch(10**6, 0.05))
        pace.measured(counts[-1] * 1e-5)
    assert counts == [1, 8, 64, 512, 4096, 5000]
    for _ in range(9):
        pace.measured(5000 * 1e-2)
    assert pace.next_batch(10**6, 0.05) <= 6
    assert pace.next_batch(3, 0.05) <= 3
    assert pace.next_batch(10**6, 0.0) == 1
    for count in (1, 100, 1000):
        for least in (1, 4, 7):  # steps of a move
            taken = pace.next_batch(count, 0.05, min(least, count))
            assert taken >= min(least, count)
            assert taken % min(least, count) == 0
            pace.measured(taken * 1e-4)


def test_period_of_rotations():
    assert rotation_period(()) == 1
    assert rotation_period((0, 1, 2)) == 1
    assert rotation_period((1, 2, 0, 4, 3)) == 6


def test_a_state_is_taken_over_on_the_device():
    fake = FakeCupy()
    backend = backend_of(fake)
    old = backend.compile(cell_plan(LEAPFROG, 1)).instantiate((40,))
    new = backend.compile(cell_plan(LEAPFROG, 1, preset="as_manifest")).instantiate((40,))
    name = old.plan.graph.fields[0].name
    old.write_field(name, np.arange(40.0))
    old.write_global("c", 0.125)
    fake.log.clear()
    new.take_over(old)
    fields, globals_ = len(old.plan.graph.fields), len(old.plan.graph.params) + len(old.plan.graph.scalars)
    assert [fake.log.count(copy) for copy in ("on device", "to host", "to device")] == [fields, globals_, globals_]
    assert new.read_field(name).tolist() == list(range(40))
    assert new.read_global("c") == 0.125
