"""The simulator runs hand-written CUDA kernels right and counts what they do."""

import math
import re
import threading
from contextlib import closing

import numpy as np
import pytest

from tests.kit.simulator_kernels import FIBERS, integer, kernel_library, scale_argument, shape_bytes
from workbench.backends.compile_pool import build
from workbench.backends.simulated_device import (
    INCLUDE,
    ArrayArgument,
    LaunchShape,
    SimulatedDevice,
    ValueArgument,
    simulator_source,
)


@pytest.fixture(scope="module", params=FIBERS)
def library(request):
    return kernel_library(request.param)


@pytest.fixture
def device(library):
    simulated = SimulatedDevice(library)
    yield simulated
    simulated.close()


@pytest.mark.parametrize("seed", [0, 1, 99])
def test_copy(device, seed):
    u, out = np.arange(1000.0), np.full(1000, -1.0)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), scale_argument(3.0), shape_bytes(1000)]
    assert device.launch("copy", LaunchShape((4, 1, 1), (256, 1, 1), seed), arguments) == 0
    np.testing.assert_array_equal(out, 3 * u)
    counters = device.counters()
    assert counters["threads"] == 1024
    assert counters["loads"] == 2000
    assert counters["stores"] == 1000


@pytest.mark.parametrize("seed", [0, 5])
def test_tiled_stencil(device, seed):
    nx, ny, stride = 37, 21, 40
    u = np.random.default_rng(1).random((ny, stride), np.float32)
    out = np.full_like(u, -1)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), shape_bytes(nx, ny, stride)]
    assert device.launch("tiled", LaunchShape((5, 3, 1), (8, 8, 1), seed), arguments) == 0, device.faults()
    p = np.pad(u[:, :nx], 1, mode="edge")
    middle = p[1:-1, 1:-1]
    expected = p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - np.float32(4) * middle
    np.testing.assert_array_equal(out[:, :nx], expected)
    assert (out[:, nx:] == -1).all()
    assert device.counters()["barriers"] == 15
    assert device.counters()["shared_stores"] == 15 * 100


def test_warp_reduction(device):
    u, sums = np.arange(200.0), np.zeros(8)
    arguments = [ArrayArgument("sums", sums), ArrayArgument("u", u), integer("n", 200)]
    assert device.launch("warp_sum", LaunchShape((2, 1, 1), (128, 1, 1)), arguments) == 0, device.faults()
    np.testing.assert_array_equal(sums, np.pad(u, (0, 56)).reshape(8, 32).sum(axis=1))


def test_block_reduction(device):
    u, sums = np.arange(1000.0), np.zeros(8)
    arguments = [ArrayArgument("sums", sums), ArrayArgument("u", u), integer("n", 1000)]
    assert device.launch("block_sum", LaunchShape((8, 1, 1), (128, 1, 1), 3), arguments) == 0, device.faults()
    np.testing.assert_array_equal(sums, np.pad(u, (0, 24)).reshape(8, 128).sum(axis=1))


def test_warp_functions(device):
    out = np.zeros((64, 6), np.int32)
    assert device.launch("warp_facts", LaunchShape((1, 1, 1), (64, 1, 1)), [ArrayArgument("out", out)]) == 0
    lane = np.arange(64) % 32
    assert (out[:, 0].view(np.uint32) == 0xAAAAAAAA).all()
    assert (out[:, 1] == 1).all()
    assert (out[:, 2] == 0).all()
    np.testing.assert_array_equal(out[:, 3], np.maximum(lane - 1, 0))
    np.testing.assert_array_equal(out[:, 4], lane ^ 1)
    np.testing.assert_array_equal(out[:, 5], 100 + lane // 8 * 8)


def test_atomics_do_not_race(device):
    u, bins = np.random.default_rng(2).integers(0, 8, 3000).astype(np.uint8), np.zeros(8, np.int32)
    arguments = [ArrayArgument("bins", bins), ArrayArgument("u", u), integer("n", 3000)]
    assert device.launch("histogram", LaunchShape((12, 1, 1), (256, 1, 1), 7), arguments) == 0, device.faults()
    np.testing.assert_array_equal(bins, np.bincount(u, minlength=8))


def test_syncwarp_orders_a_warp(device):
    out = np.zeros(64, np.int32)
    assert device.launch("warp_exchange", LaunchShape((1, 1, 1), (64, 1, 1)), [ArrayArgument("out", out)]) == 0
    np.testing.assert_array_equal(out, np.arange(64) ^ 1)


def test_cells_in_expressions(device):
    u, v, out = np.array([2, 9], np.float32), np.array([3, 0], np.float32), np.zeros(8, np.float32)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), ArrayArgument("v", v), ValueArgument("flag", b"\1")]
    assert device.launch("expressions", LaunchShape((1, 1, 1), (1, 1, 1)), arguments) == 0, device.faults()
    np.testing.assert_array_equal(out, np.array([2, 1, 2, 19, 21, 9, -8, 5.75], np.float32))


def test_seed_shuffles_blocks(device):
    def order(seed):
        turn, blocks = np.zeros(1, np.int32), np.full(50, -1, np.int32)
        arguments = [ArrayArgument("turn", turn), ArrayArgument("order", blocks)]
        assert device.launch("record_block", LaunchShape((50, 1, 1), (1, 1, 1), seed), arguments) == 0, device.faults()
        return blocks.tolist()

    assert order(0) == list(range(50))
    assert order(1) != order(0)
    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(2)) == list(range(50))


def test_trace(device):
    u, out = np.arange(4.0), np.zeros(4)
    scale = scale_argument(1.0)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), scale, shape_bytes(4)]
    device.launch("copy", LaunchShape((2, 1, 1), (2, 1, 1)), arguments, trace=True)
    trace = device.trace()
    stores = trace[trace["kind"] == 1]
    assert [tuple(e) for e in stores[["index", "block", "thread", "parameter"]].tolist()] == [
        (0, 0, 0, 0),
        (1, 0, 1, 0),
        (2, 1, 0, 0),
        (3, 1, 1, 0),
    ]
    assert len(trace) == 12
    assert device.launch("copy", LaunchShape((2, 1, 1), (2, 1, 1)), arguments) == 0
    assert len(device.trace()) == 12


def test_sectors_of_a_row_and_of_a_column(device):
    n = 32
    u, out = np.zeros(n), np.zeros(n)
    scale = scale_argument(1.0)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), scale, shape_bytes(n)]
    device.launch("copy", LaunchShape((1, 1, 1), (n, 1, 1)), arguments, sectors=True)
    by_array = {count["array"]: count for count in device.sectors()}
    assert by_array["u"]["warp_accesses"] == 1
    assert by_array["u"]["lanes"] == 32
    assert (by_array["u"]["sectors32"], by_array["u"]["sectors128"]) == (8, 2)
    assert (by_array["globals"]["sectors32"], by_array["globals"]["sectors128"]) == (1, 1)
    device.reset()
    facts = ArrayArgument("out", np.zeros(32 * 6, np.int32))  # a stride of 24 bytes
    device.launch("warp_facts", LaunchShape((1, 1, 1), (32, 1, 1)), [facts], sectors=True)
    assert {(c["sectors32"], c["sectors128"]) for c in device.sectors()} == {(24, 6)}


def test_two_devices_in_two_threads(library):
    results = {}

    def work(name, kernel, length):
        device = SimulatedDevice(library)
        u, sums = np.ones(128 * 20), np.zeros(length)
        arguments = [ArrayArgument("sums", sums), ArrayArgument("u", u), integer("n", u.size)]
        found = sum(device.launch(kernel, LaunchShape((20, 1, 1), (128, 1, 1), k), arguments) for k in range(10))
        results[name] = (found, device.counters()["launches"], sums.tolist())
        device.close()

    threads = [
        threading.Thread(target=work, args=("right", "block_sum", 20)),
        threading.Thread(target=work, args=("wrong", "block_sum", 19)),
        threading.Thread(target=work, args=("warps", "warp_sum", 80)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["right"] == (0, 10, [128.0] * 20)
    assert results["wrong"] == (10, 10, [128.0] * 19)
    assert results["warps"] == (0, 10, [32.0] * 80)


def test_cancel_ends_a_launch(device):
    u, out = np.ones(1000), np.zeros(1000)
    scale = scale_argument(1.0)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), scale, shape_bytes(1000)]
    device.cancel()
    assert device.launch("copy", LaunchShape((4, 1, 1), (256, 1, 1)), arguments) == 0
    assert not out.any()
    device.reset()
    device.launch("copy", LaunchShape((4, 1, 1), (256, 1, 1)), arguments)
    assert out.all()


def test_kernels_are_compiled_without_the_headers_of_the_standard_library():
    """<cmath> alone is a third of the time in which a small kernel is compiled."""
    included = re.findall(r"^#include <(\w+)", "".join(file.read_text() for file in INCLUDE.glob("*.h")), re.MULTILINE)
    assert set(included) == {"cstdint", "type_traits"}


NAMES = ("fabs", "floor", "ceil", "rint", "trunc", "sqrt", "exp", "log1p", "tanh", "erf", "lgamma", "sinh")
PAIRS = {"atan2": math.atan2, "copysign": math.copysign, "fmax": max, "fmin": min, "fmod": math.fmod, "pow": math.pow}
OF_MATH = {"rint": round, "fabs": abs}


def test_mathematics_has_names_for_both_types():
    calls = [*(f"{name}(x)" for name in NAMES), *(f"{name}(x, y)" for name in PAIRS), "fma(x, y, x)", "1 / rsqrt(x)"]
    calls += ["isfinite(x)", "isnan(x)", "isinf(x)", "signbit(y)"]
    body = "".join(f"  out[{number}] = {call};\n" for number, call in enumerate(calls))
    typed = "".join(f'  static_assert(sizeof({call}) == sizeof(x), "");\n' for call in calls[:-4])
    head = 'extern "C" __global__ void all_%s(stencil::array<%s> out, %s x, %s y) {\n'
    text = "".join(head % ((type_,) * 4) + typed + body + "}\n" for type_ in ("float", "double"))
    (built,) = build([simulator_source("mathematics", text, {"all_float": False, "all_double": False})])
    with closing(SimulatedDevice(built.path)) as device:
        for kernel, type_ in (("all_float", np.float32), ("all_double", np.float64)):
            x, y, out = type_(2.75), type_(-0.25), np.zeros(len(calls), type_)
            given = [ArrayArgument("out", out), ValueArgument("x", x.tobytes()), ValueArgument("y", y.tobytes())]
            assert device.launch(kernel, LaunchShape((1, 1, 1), (1, 1, 1)), given) == 0, device.faults()
            wanted = [OF_MATH.get(name, getattr(math, name, None))(float(x)) for name in NAMES]
            wanted += [function(float(x), float(y)) for function in PAIRS.values()]
            wanted += [float(x) * float(y) + float(x), math.sqrt(x), 1, 0, 0, 1]
            np.testing.assert_allclose(out, wanted, rtol=4 * np.finfo(type_).eps)
