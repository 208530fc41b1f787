"""Streams, captures, devices and errors of the cuda backend, with the strict stand-in for CuPy."""

import threading

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.backends.device_cells import HEAT, LEAPFROG
from tests.kit.fake_cuda_errors import CUDARuntimeError
from tests.kit.fake_cupy import FakeCupy
from workbench.backends import cuda_instance
from workbench.backends.base import MarchRequest
from workbench.backends.cuda import CudaBackend
from workbench.errors import BackendError


@pytest.fixture(autouse=True)
def long_batches(monkeypatch):
    monkeypatch.setattr(cuda_instance, "SLICE_SECONDS", 60.0)


PLAN, OTHER = cell_plan(LEAPFROG, 1), cell_plan(LEAPFROG, 1, preset="as_manifest")
FIELD = PLAN.graph.fields[0].name


def instance(fake, extents=(40,), plan=PLAN):
    return CudaBackend(fake, fake.cubins).compile(plan).instantiate(extents)


@pytest.mark.parametrize("seed", range(6))
def test_taking_over_waits_for_both_streams(seed):
    fake = FakeCupy(seed=seed)
    backend = CudaBackend(fake, fake.cubins)
    old, new = (backend.compile(plan).instantiate((40,)) for plan in (PLAN, OTHER))
    old.write_field(FIELD, np.arange(40.0))
    with old._on_device():
        old._between(old._domain(FIELD), old._domain(PLAN.graph.fields[1].name))  # something that nobody waited for
    new._take_field(FIELD, old)
    old.close()
    assert not new.read_field(FIELD).any()


@pytest.mark.parametrize("seed", range(6))
def test_a_device_view_shows_what_was_done(seed):
    fake = FakeCupy(seed=seed)
    made = instance(fake)
    made.write_field(FIELD, np.ones(40))
    with made._on_device():
        made._between(made._domain(FIELD), made._domain(PLAN.graph.fields[1].name))
    view = made.device_view(FIELD)
    assert not view.cells.any()  # without the default stream, as a stream of the user's own
    view[3] = 7.0
    assert made.read_field(FIELD)[3] == 7.0


def test_others_may_use_the_default_stream_during_a_capture():
    fake = FakeCupy()
    made = instance(fake)
    before_launches(fake, lambda: fake.null.submit(lambda: None))
    made.march(MarchRequest("step", 101))
    assert made.graphs == 1


def before_launches(fake, do):
    """Have it done before each launch of a kernel."""
    driver = fake.cuda.driver
    launch = driver.launchKernel

    def launched(*arguments):
        do()
        launch(*arguments)

    driver.launchKernel = launched


def test_an_error_in_a_capture_leaves_the_arrays_in_order():
    fake = FakeCupy()
    made = instance(fake)
    values = np.random.default_rng(1).normal(size=40)
    made.write_field(FIELD, values)
    order, left = list(made._order), iter(range(3))

    def fail():
        if next(left, None) is None:
            raise CUDARuntimeError(906)

    before_launches(fake, fail)
    with pytest.raises(BackendError, match="StreamCaptureImplicit"):
        captured(made)
    assert made._order == order
    del fake.cuda.driver.launchKernel
    assert np.array_equal(made.read_field(FIELD), values)
    made.march(MarchRequest("step", 101))


def captured(made):
    with made._on_device():
        made._graph(made._kernels["step"].plain, 16)


def test_copies_need_no_memory_of_the_device():
    fake = FakeCupy()
    made = instance(fake, (30, 50), cell_plan(HEAT, 2))
    fake.room = 0
    values = np.random.default_rng(2).normal(size=(30, 50))
    made.write_field("u", values)
    assert np.array_equal(made.read_field("u"), values)
    made.write_field("u", values[::-1])
    assert np.array_equal(made.read_field("u"), values[::-1])


def test_recorded_steps_come_in_one_copy():
    fake = FakeCupy()
    made = instance(fake)
    made.march(MarchRequest("step", 500, observe_every=1))
    fake.log.clear()
    made.march(MarchRequest("step", 100, first_step=500, observe_every=1))
    assert fake.log.count("synchronize") < 30


def test_closing_gives_memory_back():
    fake = FakeCupy()
    before = fake.room
    made = instance(fake, (5000,))
    made.time_launches(True)
    made.march(MarchRequest("step", 101))
    made.close()
    assert before - fake.room < 1000
    made.close()


def test_without_room_for_it_nothing_is_timed():
    fake = FakeCupy()
    old, new = instance(fake), instance(fake)
    room, fake.room = fake.room, 1000
    for each in (old, new):
        each.time_launches(True)
        each.march(MarchRequest("step", 3))
        assert each.launch_times() == ()
    fake.room = room
    new.time_launches(True)
    new.march(MarchRequest("step", 3))
    assert new.launch_times()


def test_an_error_that_lasts_asks_for_a_restart():
    fake = FakeCupy()
    backend = CudaBackend(fake, fake.cubins)
    made = backend.compile(PLAN).instantiate((40,))
    fake.status = 700
    with pytest.raises(BackendError, match=r"IllegalAddress[^\n]*\nRestart the Python process"):
        made.march(MarchRequest("step", 3))
    state = backend.availability()
    assert (state.available, "cudaErrorIllegalAddress" in state.reason) == (False, True)
    assert state.advice.startswith("Restart the Python process")
    fake.status = 0  # whatever the next call would say
    with pytest.raises(BackendError, match=r"an earlier error .*IllegalAddress[^\n]*\nRestart the Python process"):
        made.read_field(FIELD)
    made.close()  # raises nothing


@pytest.mark.parametrize("act", ["compile", "instantiate", "read", "write", "march"])
def test_every_error_leaves_as_ours(act):
    fake = FakeCupy()
    backend = CudaBackend(fake, fake.cubins)
    program = backend.compile(PLAN)
    made = program.instantiate((40,))
    acts = {
        "compile": lambda: backend.compile(OTHER),
        "instantiate": lambda: program.instantiate((50,)),
        "read": lambda: made.read_field(FIELD),
        "write": lambda: made.write_field(FIELD, np.zeros(40)),
        "march": lambda: made.march(MarchRequest("step", 3)),
    }
    failing = {"compile": "Device", "instantiate": "Stream"}.get(act)
    if failing:

        def fail(*_, **__):
            raise CUDARuntimeError(100)

        setattr(fake.cuda, failing, fail)
    else:
        fake.status = 100
    with pytest.raises(BackendError, match="cudaErrorNoDevice"):
        acts[act]()


def test_a_program_runs_on_every_device():
    fake = FakeCupy(devices=2)
    program = CudaBackend(fake, fake.cubins).compile(PLAN)
    first = program.instantiate((40,))
    fake.cuda.Device(1).use()
    second = program.instantiate((40,))
    values = np.random.default_rng(3).normal(size=40)
    for each in (first, second):
        each.write_field(FIELD, values)
        each.march(MarchRequest("step", 101))
    assert (first.place.device, second.place.device) == (0, 1)
    assert np.array_equal(first.read_field(FIELD), second.read_field(FIELD))


def test_an_instance_lies_beside_another_one_whatever_thread_makes_it():
    fake = FakeCupy(devices=2)
    program = CudaBackend(fake, fake.cubins).compile(PLAN)
    fake.cuda.Device(1).use()
    old = program.instantiate((40,))
    made = []
    thread = threading.Thread(target=lambda: made.append(program.instantiate((40,), beside=old)))
    thread.start()
    thread.join()
    assert (old.place.device, made[0].place.device) == (1, 1)
    made[0].take_over(old)


def test_free_memory_is_the_devices_with_what_the_pool_keeps():
    fake = FakeCupy(room=100_000)
    program = CudaBackend(fake, fake.cubins).compile(PLAN)
    fake.pool.free = 5000
    assert program.free_memory() == 105_000


def test_figures_of_kernels_come_from_any_thread():
    fake = FakeCupy()
    program = CudaBackend(fake, fake.cubins).compile(PLAN)
    fake.status = 201  # no context: the device must not be asked
    found = []
    thread = threading.Thread(target=lambda: found.append((program.resources(), program.compiler_words())))
    thread.start()
    thread.join()
    ((resources, words),) = found
    assert resources
    assert words
