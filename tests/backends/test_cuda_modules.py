"""Modules of the cuda backend leave the device with the last simulation that runs them, at moments when they may."""

import gc
import threading

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.backends.device_cells import LEAPFROG
from tests.kit.fake_cupy import FakeCupy
from workbench.backends.base import MarchRequest
from workbench.backends.cuda import CudaBackend
from workbench.errors import BackendError

PLAN, OTHER = cell_plan(LEAPFROG, 1), cell_plan(LEAPFROG, 1, preset="as_manifest")


def backend_of(fake):
    return CudaBackend(fake, fake.cubins)


def test_a_module_goes_with_its_last_user():
    fake = FakeCupy()
    program = backend_of(fake).compile(PLAN)
    first, second = program.instantiate((40,)), program.instantiate((50,))
    for each in (first, second):
        each.march(MarchRequest("step", 101))
    first.close()
    second.march(MarchRequest("step", 101))
    assert (fake.loaded, fake.unloaded) == ([0], [])
    second.close()
    gc.collect()
    assert (fake.loaded, fake.unloaded, fake.warned) == ([0], [0], [])
    again = program.instantiate((40,))
    again.march(MarchRequest("step", 3))
    assert fake.loaded == [0, 0]


def test_each_device_unloads_its_own():
    fake = FakeCupy(devices=2)
    program = backend_of(fake).compile(PLAN)
    made = []
    for device in (0, 1):
        fake.cuda.Device(device).use()
        made.append(program.instantiate((40,)))
    fake.cuda.Device(0).use()
    for each in reversed(made):
        each.close()
    gc.collect()
    assert (fake.loaded, fake.unloaded, fake.warned) == ([0, 1], [1, 0], [])


def test_what_is_dropped_in_a_thread_without_a_context_is_unloaded_later():
    fake = FakeCupy()
    backend = backend_of(fake)
    made = [backend.compile(PLAN).instantiate((40,))]

    def drop():
        made.clear()
        gc.collect()

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert (fake.unloaded, fake.warned) == ([], [])
    thread = threading.Thread(target=lambda: made.append(backend.compile(OTHER).instantiate((40,))))
    thread.start()
    thread.join()
    assert (fake.unloaded, fake.warned) == ([0], [])


class Dropping:
    """Functions; in front of a launch, garbage is collected that another instance is part of."""

    def __init__(self, functions, others):
        self.functions, self.others = functions, others

    def __getitem__(self, name):
        if self.others:
            self.others.clear()
            gc.collect()
        return self.functions[name]


def test_what_is_dropped_in_a_capture_is_unloaded_after_it():
    fake = FakeCupy()
    backend = backend_of(fake)
    others, made = [backend.compile(OTHER).instantiate((40,))], backend.compile(PLAN).instantiate((40,))
    values = np.random.default_rng(1).normal(size=40)
    made.write_field("u", values)
    made._functions = Dropping(made._functions, others)
    with made._on_device():
        made._graph(made._kernels["step"].plain, 16)
    assert (fake.unloaded, fake.warned) == ([], [])
    made.close()
    gc.collect()
    assert (fake.unloaded, fake.warned) == ([0, 0], [])


def test_nothing_is_unloaded_after_an_error_that_lasts():
    fake = FakeCupy()
    made = backend_of(fake).compile(PLAN).instantiate((40,))
    fake.status = 700
    made.close()  # waits, and is told so
    gc.collect()
    assert (fake.unloaded, fake.warned) == ([], [])


def test_what_cannot_be_unloaded_now_is_told_as_ours_and_unloaded_later():
    fake = FakeCupy()
    program = backend_of(fake).compile(PLAN)
    made = [program.instantiate((40,))]
    made.clear()
    gc.collect()
    fake.status = 100
    with pytest.raises(BackendError, match="unloading kernels failed: cudaErrorNoDevice"):
        program.instantiate((40,))
    assert (fake.unloaded, fake.warned) == ([], [])
    fake.status = 0
    program.instantiate((40,))
    assert (fake.unloaded, fake.warned) == ([0], [])
