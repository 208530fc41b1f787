"""device=True: results stay where the backend has them, and a later call takes them without a copy through the host."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.fake_cupy import FakeArray, FakeCupy
from workbench.backends import registry
from workbench.backends.cuda import CudaBackend
from workbench.errors import RunError, TraceError
from workbench.language import while_loop
from workbench.run import calling


@pytest.fixture
def gpu(monkeypatch):
    """The cuda backend on a stand-in for CuPy; its log has each copy between host and device."""
    fake = FakeCupy()
    backend, load = CudaBackend(fake, fake.cubins), registry._load
    monkeypatch.setattr(registry, "_load", lambda row: backend if row.name == "cuda" else load(row))
    yield fake
    fake.pool.free_all_blocks()


def stepped(x, y, dt):
    return x + dt * y, y - dt * x, np.sum(x * x)


def copies(fake):
    """How often something went to the device, stayed there and came from it, since the last look."""
    found = tuple(fake.log.count(way) for way in ("to device", "on device", "to host"))
    fake.log.clear()
    return found


X = np.linspace(-1, 1, 40)


def test_what_is_fed_back_never_sees_the_host(gpu):
    program = wb.collective(stepped)
    x, y, energy = program(X, X, 0.25, backend="cuda", device=True)
    copies(gpu)
    for _ in range(3):
        x, y, energy = program(x, y, 0.25, backend="cuda", device=True)
        assert isinstance(x, FakeArray)
        assert copies(gpu) == (0, 0, 1)  # the number energy; arrays lie where they are, dt is there
    expected = (X, X, 0.0)
    for _ in range(4):
        expected = program(*expected[:2], 0.25, backend="reference")
    assert_same_bits(x.get(), expected[0])
    assert_same_bits(y.get(), expected[1])
    assert_same_bits(np.asarray(energy), np.asarray(expected[2]))
    program.close()


def test_an_array_that_is_given_twice_is_sent_once(gpu):
    program = wb.collective(lambda x, y: x * y)
    program(X, X, backend="cuda", device=True)
    copies(gpu)
    product = program(X, X, backend="cuda", device=True)
    assert copies(gpu) == (1, 0, 0)
    assert_same_bits(product.get(), X * X)
    program.close()


def test_arrays_of_a_gpu_come_back_to_the_host_unless_asked(gpu):
    program = wb.collective(lambda x: x[::-1] + 1)
    first = program(X, backend="cuda", device=True)
    assert_same_bits(program(first, backend="cuda"), (X[::-1] + 1)[::-1] + 1)
    program.close()


def test_memory_of_the_device_is_flat(gpu):
    program = wb.collective(stepped)
    x, y, _ = program(X, X, 0.25, backend="cuda", device=True)
    held = []
    for _ in range(20):
        x, y, _ = program(x, y, 0.25, backend="cuda", device=True)
        gpu.null.submit(lambda: None)
        gpu.stream.synchronize()
        held.append(sum(gpu.allocated.values()))
    assert max(held[2:]) <= max(held[:2])
    program.close()


def test_machines_of_cells_and_loops_do_the_same(gpu):
    machine = wb.trace('x = array("x", "n")\nc = param("c", 2.0)\noutput("y", c * x)', name="scaled")
    first = machine(x=X, backend="cuda", device=True)["y"]
    copies(gpu)
    second = machine(x=first, c=3.0, backend="cuda", device=True)["y"]
    assert copies(gpu) == (1, 0, 0)
    assert_same_bits(second.get(), 6 * X)
    halved = wb.collective(lambda x: while_loop(lambda u: np.max(u) > 0.1, lambda u: u / 2, x, at_most=9))
    once = halved(second, backend="cuda", device=True)
    assert_same_bits(halved(once, backend="cuda"), 6 * X / 64)
    halved.close()


def test_what_a_program_selects_is_on_the_device_for_the_next_one(gpu):
    def selected(x):
        y = x[x > 0]
        return y - x.max(), y.sum(), y

    program = wb.collective(selected)
    (given,) = wb.collective(lambda x: (x + 0.0,))(X, backend="cuda", device=True)
    program(given, backend="cuda", device=True)
    copies(gpu)
    made, total, kept = program(given, backend="cuda", device=True)
    assert copies(gpu) == (0, 0, 2)  # the length with the maximum, and the sum
    assert isinstance(made, FakeArray)
    on_host = program(X, backend="cuda")
    for mine, fetched, exact in zip((made, total, kept), on_host, program(X, backend="reference"), strict=True):
        assert_same_bits(mine.get() if isinstance(mine, FakeArray) else mine, exact)
        assert_same_bits(fetched, exact)
    assert_same_bits(program(X - 2, backend="cuda")[2], X[:0])
    program.close()


@pytest.mark.simulator
@pytest.mark.parametrize("backend", ["openmp", "cuda-sim", "reference"])
def test_elsewhere_they_are_arrays_of_numpy_that_others_read_in_place(backend):
    program = wb.collective(stepped)
    x, y, _ = program(X, X, 0.25, backend=backend, device=True)
    plain = program(X, X, 0.25, backend=backend)
    assert_same_bits(x, plain[0])
    assert np.shares_memory(np.from_dlpack(x), x)
    assert_same_bits(program(x, y, 0.25, backend=backend, device=True)[1], program(*plain[:2], 0.25)[1])


def test_device_is_a_keyword_of_the_call():
    with pytest.raises(TraceError, match="'device' is a keyword of the call"):
        wb.collective(lambda device: device + 1)


def test_arrays_of_the_caller_are_neither_kept_nor_written(gpu):
    program = wb.collective(lambda x, y: (x + y, np.cumsum(x)))
    given = program(X, X, backend="cuda", device=True)
    before = [each.get() for each in given]
    copies(gpu)
    for _ in range(2):  # other arrays at each call
        total, sums = program(*given, backend="cuda", device=True)
        assert copies(gpu)[:2] == (0, 0)
        for found, expected in zip((total, sums), program(*before, backend="reference"), strict=True):
            assert_same_bits(found.get(), expected)
        for each, cells in zip(given, before, strict=True):
            assert_same_bits(each.get(), cells)
        given, before = (total, sums), [total.get(), sums.get()]
        gpu.log.clear()
    (instance,) = [kept[2]._instance for key, kept in calling._instances.items() if key[2] == "cuda"][-1:]
    assert instance._sent == []
    assert not any(instance._memory[slot.index].size for slot in instance.plan.slots if slot.field)
    program.close()


def test_a_strided_array_of_a_gpu_is_packed_there(gpu):
    program = wb.collective(lambda x: 2 * x)
    whole = program(X, backend="cuda", device=True)
    copies(gpu)
    assert_same_bits(program(whole[::2], backend="cuda", device=True).get(), 4 * X[::2])
    assert copies(gpu)[0] == 0
    program.close()


def test_pairs_are_sent_and_fetched_as_their_bytes(gpu):
    machine = wb.trace('x = array("x", "n", dtype="dd")\noutput("y", x + x)\noutput("s", reduce_sum(x))', name="pairs")
    expected = machine(x=X, backend="reference")
    for _ in range(2):
        found = machine(x=X, backend="cuda", device=True)
        for name, value in expected.items():
            assert_same_bits(found[name], value, name)


def test_numbers_go_to_the_device_when_they_change_and_come_back_once(gpu):
    program = wb.collective(lambda x, a, b: (np.sum(a * x), np.max(x) - b, np.sum(x * x)))
    x = wb.collective(lambda x: x + 0)(X, backend="cuda", device=True)
    program(x, 0.5, 2.0, backend="cuda")
    copies(gpu)
    for a, b, sent in ((0.5, 2.0, 0), (0.25, 2.0, 1), (0.25, 2.0, 0), (-0.0, 0.0, 2), (0.0, 0.0, 1), (0.5, -1.0, 2)):
        found = program(x, a, b, backend="cuda")
        assert copies(gpu) == (sent, 0, 1)
        for each, expected in zip(found, program(X, a, b, backend="reference"), strict=True):
            assert_same_bits(np.asarray(each), np.asarray(expected))
    program.close()


def test_an_index_outside_is_an_error_of_one_call_only(gpu):
    program = wb.collective(lambda x, k: (x[k], np.sum(x)))
    inside, outside = np.array([0, 39, 7]), np.array([0, 40, 7])
    for k in (inside, outside, inside):
        if k is outside:
            with pytest.raises(RunError, match="40"):
                program(X, k, backend="cuda")
        else:
            found, _ = program(X, k, backend="cuda", device=True)
            assert_same_bits(found.get(), X[k])
    program.close()
