"""What a later call asks of a GPU: launches, copies, waits and allocations, most of what a short call takes."""

import threading
from collections import Counter, OrderedDict

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.fake_cupy import FakeCupy, FakeDevice, FakeStream
from workbench import pipeline
from workbench.backends import cuda_instance, registry
from workbench.backends.cuda import CudaBackend
from workbench.errors import BackendError
from workbench.language import while_loop
from workbench.run import known_calls

X = np.linspace(-1, 1, 40)
KEYWORDS = {"backend": "cuda", "device": True}


def sent(values):
    """The values on the GPU."""
    return wb.collective(lambda x: x + 0)(values, **KEYWORDS)


def on_gpu(fake, monkeypatch):
    backend, load = CudaBackend(fake, fake.cubins), registry._load
    monkeypatch.setattr(registry, "_load", lambda row: backend if row.name == "cuda" else load(row))
    monkeypatch.setattr(pipeline, "_programs", OrderedDict())  # those that are kept are of other devices
    return fake


@pytest.fixture
def gpu(monkeypatch):
    """The cuda backend on a stand-in for CuPy; its log has launches, copies and waits, here allocations as well."""
    fake = on_gpu(FakeCupy(), monkeypatch)
    make = fake.empty

    def empty(shape, dtype):
        fake.log.append("empty")
        return make(shape, dtype)

    fake.empty = empty
    yield fake
    fake.pool.free_all_blocks()


OTHERS = ("empty", "to device", "on device", "to host", "synchronize", "capture", "graph")


def asked(fake, call):
    """How many launches a call makes, and of all else what it asks for."""
    call()
    call()
    fake.log.clear()
    call()
    found = Counter(fake.log)
    others = {name: found[name] for name in OTHERS if found[name]}
    return len(fake.log) - sum(others.values()), others


def test_a_later_call_allocates_its_results_launches_and_waits_once(gpu):
    x, y = (sent(each) for each in (X, X))
    for function, given, launches, results in (
        (lambda x, y: 2.0 * x + y, (x, y), 1, 1),
        (lambda x, y: (x + y, x - y, x * y), (x, y), 1, 3),
        (lambda x, c: c * x, (x, 3.0), 1, 1),
    ):
        program = wb.collective(function)
        found = asked(gpu, lambda program=program, given=given: program(*given, **KEYWORDS))
        assert found == (launches, {"empty": results, "synchronize": 1})
        program.close()


def test_a_number_comes_with_the_only_wait(gpu):
    x = sent(X)
    program = wb.collective(lambda x: np.sum(x))
    assert asked(gpu, lambda: program(x, **KEYWORDS)) == (3, {"to host": 1, "synchronize": 1})
    program.close()


def test_a_number_that_has_changed_goes_there_without_a_wait(gpu):
    x, numbers = sent(X), iter((1.0, 2.0, 3.0))
    program = wb.collective(lambda x, c: c * x)
    found = asked(gpu, lambda: program(x, next(numbers), **KEYWORDS))
    assert found == (1, {"empty": 1, "to device": 1, "synchronize": 1})
    assert_same_bits(program(x, 4.0, **KEYWORDS).get(), 4 * X)
    program.close()


def test_a_later_call_enters_the_device_twice(gpu, monkeypatch):
    x, entered = sent(X), []
    program = wb.collective(lambda x: (2 * x, 3 * x))
    program(x, **KEYWORDS)
    for kind in (FakeDevice, FakeStream):
        enter = kind.__enter__
        monkeypatch.setattr(kind, "__enter__", lambda self, enter=enter: entered.append(self) or enter(self))
    program(x, **KEYWORDS)
    assert len(entered) == 4  # the device and its stream, for the results and for the launches
    program.close()


def test_a_turn_is_its_launches_one_copy_and_one_wait(gpu):
    x = sent(2 * np.ones(40))
    counts = {}
    for turns in (3, 9):
        least = 2.0 ** (1 - turns)
        program = wb.collective(
            lambda x, least=least: while_loop(lambda u: np.max(u) > least, lambda u: u / 2, x, at_most=20)
        )
        launches, others = asked(gpu, lambda program=program: program(x, **KEYWORDS))
        counts[turns] = np.array([launches, others["to host"], others["synchronize"]])
        assert set(others) == {"empty", "to host", "synchronize"}
        program.close()
    assert ((counts[9] - counts[3]) / 6).tolist() == [4, 1, 1]


def test_turns_that_are_counted_ask_nothing_of_the_host(gpu, monkeypatch):
    monkeypatch.setattr(cuda_instance, "SLICE_SECONDS", 60.0)  # on a slow machine too, one batch is long enough
    x = sent(2 * np.ones(40))
    for turns in (10, 30):
        program = wb.collective(
            lambda x, n: while_loop(lambda u, k: k < n, lambda u, k: (u / 2, k + 1), (x, 0), at_most=50)[0]
        )
        launches, others = asked(gpu, lambda program=program, turns=turns: program(x, turns, **KEYWORDS))
        assert others == {"empty": 1, "to host": 3, "synchronize": 4}  # after the begin, the first and the last turn
        assert 2 * turns <= launches <= 2 * turns + 3  # and scalars of each turn
        assert_same_bits(program(x, turns, **KEYWORDS).get(), 2 * np.ones(40) / 2.0**turns)
        program.close()


def test_a_machine_knows_a_call_by_types_and_shapes_on_the_device(gpu, monkeypatch):
    read, first = [], known_calls.read_call
    monkeypatch.setattr(known_calls, "read_call", lambda graph, given: read.append(1) or first(graph, given))
    machine = wb.trace('x = array("x", "n")\nc = param("c", 2.0)\noutput("y", c * x)', name="scaled")
    whole = sent(np.arange(12.0))
    for given, cells, reads in (
        (whole, np.arange(12.0), 1),
        (whole, np.arange(12.0), 1),
        (whole[::2], np.arange(0.0, 12.0, 2), 2),
        (whole[:6], np.arange(6.0), 2),
        (whole[:1].view(np.int64), np.zeros(1), 3),
        (whole[1::2], np.arange(1.0, 12.0, 2), 3),
    ):
        assert_same_bits(machine(x=given, **KEYWORDS)["y"].get(), 2 * cells)
        assert len(read) == reads
    assert asked(gpu, lambda: machine(x=whole, **KEYWORDS)) == (1, {"empty": 1, "synchronize": 1})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["default", "blocking", "non_blocking"])
def test_a_call_comes_after_what_its_caller_has_asked_for(kind, seed, monkeypatch):
    """Also where nobody has waited for what makes the array."""
    fake = on_gpu(FakeCupy(seed=seed), monkeypatch)
    stream = fake.null if kind == "default" else fake.cuda.Stream(non_blocking=kind == "non_blocking")
    program = wb.collective(lambda x: 2.0 * x)
    with stream:
        for value in (1.0, 2.0, 3.0):
            given = fake.empty(40, np.float64)
            stream.submit(lambda given=given, value=value: given.cells.fill(value))
            found = program(given, **KEYWORDS)
            assert_same_bits(found.cells, np.full(40, 2 * value))  # and nothing is under way any more
    program.close()


def test_a_call_from_another_thread_finds_a_context(gpu):
    x = sent(X)
    program = wb.collective(lambda x: np.sum(x * x))
    expected, found = program(x, **KEYWORDS), []
    for _ in range(2):
        thread = threading.Thread(target=lambda: found.append(program(x, **KEYWORDS)))
        thread.start()
        thread.join()
    assert [float(each) for each in found] == [float(expected)] * 2
    program.close()


def test_an_error_of_the_device_is_ours_at_each_place(gpu):
    x = sent(X)
    program = wb.collective(lambda x: 2.0 * x)
    program(x, **KEYWORDS)
    gpu.status = 999
    with pytest.raises(BackendError, match="the CUDA device failed: cudaErrorUnknown"):
        program(x, **KEYWORDS)
    gpu.status = 0
    assert_same_bits(program(x, **KEYWORDS).get(), 2 * X)
    assert gpu.stack == []
    assert gpu.before == []
    program.close()
