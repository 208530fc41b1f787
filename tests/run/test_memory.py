"""Memory: what a simulation needs is known before anything is allocated."""

import tracemalloc

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from workbench.amounts import bytes_text
from workbench.errors import ShapeError
from workbench.pipeline import memory_of
from workbench.run import memory
from workbench.solvers import heat, maxwell

MACHINE = wb.trace('u, v = fields("u v", boundary="periodic")\nu.next = v[+1, 0]\nv.next = u', name="swap")


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize("shape", [(1, 1), (37, 100), (500, 300), (600_000, 1)])
def test_a_simulation_takes_no_more_than_was_predicted(shape, backend):
    needed = memory_of(MACHINE.plan(backend), shape, backend)
    assert needed >= 2 * 8 * np.prod(shape)
    with MACHINE.simulate(u=0, v=0, shape=shape, backend=backend) as simulation:
        assert 2 * 8 * np.prod(shape) <= simulation.memory_bytes <= needed + 4096


@pytest.mark.parametrize("schedule", ["stepwise", "diamond"])
@pytest.mark.parametrize(
    ("machine", "shape"),
    [(heat.machine(dtype="f32"), (1500, 1200)), (maxwell.machine(3), (80, 70, 90))],
    ids=["heat", "maxwell"],
)
def test_a_run_allocates_what_the_plan_says(machine, shape, schedule):
    """NumPy tells of its arrays; beside those of the plan there are Python's own records and nothing of a field's size.

    The first field is an array of the caller's, the others are numbers.
    """
    first, *others = machine.graph.fields
    given = {first.name: np.ones(shape, first.type.numpy)} | {field.name: 0.5 for field in others}

    def run(extents):
        fields = given | {first.name: given[first.name][tuple(slice(n) for n in extents)]}
        return machine.simulate(**fields, backend="openmp", threads=2, schedule=schedule).run(5)

    run((40,) * len(shape))  # whatever is imported, planned and compiled is kept from here on
    peaks = []
    for _ in range(3):  # threads that earlier tests have left allocate too, some time
        tracemalloc.start()
        try:
            simulation = run(shape)
            peaks.append(tracemalloc.get_traced_memory()[1])
            held = simulation.memory_bytes
            simulation.close()
        finally:
            tracemalloc.stop()
    needed = memory_of(simulation.compiled.plan, shape, "openmp")
    assert np.prod(shape) * len(machine.graph.fields) * first.type.itemsize < needed <= held + 4096
    assert min(peaks) <= 1.05 * needed


@pytest.mark.parametrize(
    ("schedule", "order", "pitch"), [("stepwise", 2, 2003), ("diamond", 2, 2008), ("stepwise", 4, 2008)]
)
def test_rows_of_large_arrays_are_padded_where_loops_wait_for_caches(schedule, order, pitch):
    """Vectors of rows that begin with a line cross none in the cache; from memory every byte between rows comes too."""
    machine = heat.machine(order=order)
    with machine.simulate(u=1.0, shape=(2200, 2001), backend="openmp", schedule=schedule) as simulation:
        needed = memory_of(simulation.compiled.plan, (2200, 2001), "openmp")
        assert needed == pytest.approx(2 * 8 * (2200 + order) * pitch, rel=1e-4)
        assert needed <= simulation.memory_bytes + 4096 <= needed + 8192


def test_rows_of_large_arrays_are_padded_on_devices_only():
    plan = MACHINE.plan("cuda")
    bare = 3 * 8 * 600_000  # three arrays; beside them is one row of ghost cells
    assert memory_of(plan, (600_000, 1), "openmp") // bare == 1
    assert memory_of(plan, (600_000, 1), "cuda") // bare == 8


def test_a_shape_beyond_the_memory_is_refused_with_both_figures(monkeypatch):
    monkeypatch.setattr(memory, "bytes_available", lambda: 10**6)
    memory.check_memory(MACHINE.plan(), (100, 100), "openmp")
    with pytest.raises(ShapeError, match=r"swap with shape \(400, 400\) needs .* MB .*, and 1 MB are available"):
        memory.check_memory(MACHINE.plan(), (400, 400), "openmp")


def test_memory_of_a_device_counts_where_the_arrays_lie_there(monkeypatch):
    monkeypatch.setattr(memory, "bytes_available", lambda: 10**3)
    memory.check_memory(MACHINE.plan(), (100, 100), "cuda", device=10**6)
    monkeypatch.setattr(memory, "bytes_available", lambda: 10**12)
    with pytest.raises(ShapeError, match="and 1 MB are available on the device"):
        memory.check_memory(MACHINE.plan(), (400, 400), "cuda", device=10**6)
    with pytest.raises(ShapeError, match=r"needs 115\.2 MB .*, and 100 MB are available on the device"):
        memory.check_memory(MACHINE.plan(), (600_000, 1), "cuda", device=10**8)


def test_available_memory_is_plausible():
    assert 2**20 < memory.bytes_available() < 2**50


def test_unknown_memory_refuses_only_what_cannot_be_addressed(monkeypatch):
    monkeypatch.setattr(memory, "bytes_available", lambda: None)
    memory.check_memory(MACHINE.plan(), (10**6, 10**6), "openmp")
    with pytest.raises(ShapeError, match="EB"):
        memory.check_memory(MACHINE.plan(), (10**10, 10**10), "openmp")


@pytest.mark.parametrize(("count", "text"), [(0, "0 bytes"), (1, "1 byte"), (1500, "1.5 kB"), (2 * 10**20, "200 EB")])
def test_bytes_in_words(count, text):
    assert bytes_text(count) == text
