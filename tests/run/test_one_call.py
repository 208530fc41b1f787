"""Calls of programs of arrays: no copies on the host, nothing is kept, memory stays flat, threads do not meet."""

import gc
import resource
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.at_the_same_time import at_the_same_time
from tests.kit.bits import assert_same_bits
from tests.kit.lent import Watched
from workbench.backends import openmp_instance
from workbench.errors import RunError
from workbench.language import while_loop
from workbench.run import calling


@wb.collective(backend="openmp", threads=1)
def squares(x, shift=0.0):
    return x * x + shift, np.sum(x)


def waiting(program):
    (prepared,) = program._prepared.values()
    (call,) = prepared._idle
    return call


def lent(program):
    return waiting(program)._instance


def test_arrays_on_the_host_are_not_copied():
    n = 200_000
    program = wb.collective(backend="openmp")(lambda x, y: x * y + x)
    x = np.linspace(0, 1, n)
    first = program(x, x)
    assert lent(program).memory_bytes < n  # of 8 n bytes an array
    program(x, first)
    watched = Watched(waiting(program))
    again = program(first, first)
    seen = [values for _, values in watched.seen]
    assert seen[0] is first  # a result that is fed back
    assert seen[1] is first  # an array that is given twice
    assert seen[2] is again  # the result is made where it is returned
    assert again.tolist() == (first * first + first).tolist()


def test_strided_arrays_need_no_memory_of_their_own():
    program = wb.collective(backend="openmp", threads=1)(lambda a: np.sum(a[1:-1, 1:-1] * a[2:, :-2]))
    a = np.random.default_rng(1).random((400, 400))
    others = [a.T, 2 * a, np.asfortranarray(a)]
    for each in (a, *others):
        program(each)
        exact = np.sum(each[1:-1, 1:-1] * each[2:, :-2])
        tracemalloc.start()
        found = program(each)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == pytest.approx(exact, rel=1e-13)  # a sum in another order
        assert peak < a.nbytes / 4
    program.close()


def test_rows_of_one_slice_are_copied_once():
    def stencil(u):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return around - 4 * u[1:-1, 1:-1], u[:2, 2:5] * u[3:5, 2:5]

    program, reference = (
        wb.collective(backend="openmp", threads=2)(stencil),
        wb.collective(backend="reference")(stencil),
    )
    packed = np.zeros((20, 30), [("u", "f8"), ("number", "i4")])  # strides are no multiples of an element: copied
    u = packed["u"]
    u[:] = np.random.default_rng(4).random((20, 30))
    expected = reference(u)
    for mine, bits in zip(program(u), expected, strict=True):
        assert_same_bits(mine, bits)
    watched = Watched(waiting(program))
    program(u)
    seen = dict(watched.seen)
    inside = [values for values in seen.values() if values.shape == (18, 28)]
    owners = {id(values.base if values.base is not None else values) for values in inside[:5]}
    few = [values for values in seen.values() if values.shape == (2, 3)]
    assert len(owners) == 3
    assert sum(values.base is None for values in few) == len(few) == 3  # two arguments, one result
    for mine, bits in zip(program(u.astype("f4")), reference(u.astype("f4")), strict=True):
        assert_same_bits(mine, bits)


def test_calls_with_loops_of_whole_arrays_make_no_march_record_anew(monkeypatch):
    program = wb.collective(backend="openmp", threads=1)(
        lambda x, most: while_loop(lambda v, n: n < most, lambda v, n: (2 * v, n + 1), (x, 0), at_most=60)
    )
    x, made = np.ones(3), []
    program(x, 3)
    record = openmp_instance.MarchRecord
    monkeypatch.setattr(openmp_instance, "MarchRecord", lambda **members: made.append(members) or record(**members))
    for most in (3, 0, 41, 3):
        values, turns = program(x, most)
        assert (values.tolist(), turns) == ([2.0**most] * 3, most)
    assert not made
    with pytest.raises(RunError, match="60"):
        program(x, 61)
    assert program(x, 60)[1] == 60


def test_arrays_of_different_lengths_need_no_room_for_their_product():
    program = wb.collective(backend="openmp")(lambda x, y: np.sum(x) * np.sum(y))
    x, y = np.ones(300_000), np.ones(200_000)
    assert program(x, y) == 6e10
    assert lent(program).memory_bytes < 10_000


def test_neither_arguments_nor_results_are_kept():
    x = np.linspace(0, 1, 1000)
    found, _ = squares(x)
    seen = [weakref.ref(x), weakref.ref(found)]
    del x, found
    assert [each() for each in seen] == [None, None]


def held():
    """Bytes that the code of calls holds, whatever else the process does."""
    gc.collect()
    own = [tracemalloc.Filter(True, f"*/workbench/{part}") for part in ("run/*", "backends/*", "array_function.py")]
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(own).traces)


def test_memory_is_flat_over_many_calls():
    x = np.linspace(0, 1, 50)
    tracemalloc.start()
    try:
        for turn in range(300):
            squares(x, float(turn))
        before = held()
        for turn in range(3000):
            squares(x, float(turn))
        assert held() - before < 100_000  # less than 40 bytes a call; a result has 400
    finally:
        tracemalloc.stop()


def resident():
    """Bytes of this process in memory; where the system does not tell, the most that there were."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_the_process_does_not_grow_over_ten_thousand_calls():
    x = np.linspace(0, 1, 5000)
    for _turn in range(100):
        x, _ = squares(x, 0.1)
    before = resident()
    for _turn in range(10_000):
        x, _ = squares(x, 0.1, device=True)
    assert resident() - before < 40_000_000  # a tenth of what one result a call would be


def test_a_machine_of_a_cell_works_on_arrays_that_fit():
    machine = wb.trace('x = array("x", "n")\noutput("y", 2 * x)', name="doubled")
    x = np.linspace(0, 1, 1000)
    machine(x=x, backend="openmp")
    *_, (_, _, call) = calling._instances.values()
    watched = Watched(call)
    for given in (x, x.tolist(), x.astype("f4")):
        assert_same_bits(machine(x=given, backend="openmp")["y"], 2 * np.asarray(given, float))
    assert watched.seen[0][1] is x


def test_params_of_the_last_call_do_not_stay():
    x = np.zeros(3)
    for shift in (1.5, 0.0, -0.0, np.float64(2.0)):
        assert_same_bits(squares(x, shift)[0], np.full(3, 0.0 + shift))
    assert squares(x)[0].tolist() == [0.0] * 3


def test_strided_misaligned_and_read_only_arrays():
    x = np.arange(12.0)
    locked = x.copy()
    locked.flags.writeable = False
    misaligned = np.zeros(97, np.uint8)[1:].view(np.float64)
    misaligned[:] = x
    for given in (x[::3], x[::-1], locked, misaligned, x.astype(">f8")):
        assert squares(given)[0].tolist() == (np.asarray(given, float) ** 2).tolist()
    assert x.tolist() == list(range(12))


def test_threads_call_at_the_same_time():
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).random(3000)
        for _ in range(40):
            found, total = squares(x, float(seed))
            if not (np.array_equal(found, x * x + seed) and abs(total - x.sum()) < 1e-9):
                wrong.append(seed)

    at_the_same_time(work, range(4))
    assert not wrong


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_machines_of_cells_are_called_in_the_same_way(backend):
    machine = wb.trace('x = array("x", "n")\nc = param("c", 2.0)\noutput("y", c * x)', name="scaled")
    x = np.arange(5.0)
    first = machine(x=x, backend=backend)["y"]
    second = machine(x=first, c=3.0, backend=backend)["y"]
    assert first.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert second.tolist() == [0.0, 6.0, 12.0, 18.0, 24.0]
    assert not np.shares_memory(first, second)


LIST = "import sys, workbench as wb; wb.collective(lambda x: x + 1)([1.0], threads=1); print('numpy.ma' in sys.modules)"


def test_a_first_call_loads_no_masked_arrays():
    done = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
