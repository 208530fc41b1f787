"""The simulator runs hand-written CUDA kernels right, and names kernel, line, thread and cell of every seeded fault."""

import shutil
import struct
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from workbench.backends.simulated_device import (
    SIMULATOR_FLAGS,
    ArrayArgument,
    LaunchShape,
    SimulatedDevice,
    ValueArgument,
)

TEXT = (Path(__file__).parent / "simulator_kernels.cu").read_text()
WITH_BARRIER = (
    *("tiled", "warp_sum", "block_sum", "warp_facts", "warp_exchange", "races_in_block", "diverges", "leaves_early"),
    *("reads_stale_shared", "splits_warp", "shuffles_from_nobody", "takes_everything"),
)
PLAIN = (
    *("copy", "histogram", "expressions", "record_block", "reads_outside", "writes_outside", "races_between_blocks"),
    *("forgets_declaration", "wrong_everywhere"),
)


def build(folder, text, *extra):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no C++ compiler")
    source, library = folder / "kernels.cu", folder / "kernels.so"
    source.write_text(text)
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-psabi")
    command = [compiler, *warnings, *extra, *SIMULATOR_FLAGS, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library


def wrappers():
    lines = [f"STENCIL_SIM_KERNEL({name}, true)" for name in WITH_BARRIER]
    return "\n".join([*lines, *(f"STENCIL_SIM_KERNEL({name}, false)" for name in PLAIN)])


@pytest.fixture(scope="module", params=["native", "ucontext"])
def library(request, tmp_path_factory):
    extra = ("-DSTENCIL_SIM_UCONTEXT",) if request.param == "ucontext" else ()
    return build(tmp_path_factory.mktemp(request.param), f"{TEXT}\n{wrappers()}\n", *extra)


@pytest.fixture
def device(library):
    simulated = SimulatedDevice(library)
    yield simulated
    simulated.close()


def shape_bytes(nx, ny=1, stride=0):
    return ValueArgument("shape", struct.pack("qqq", nx, ny, stride))


def integer(name, value):
    return ValueArgument(name, struct.pack("i", value))


def line_of(kernel, mark):
    """The line, inside the text of `kernel`, that ends in the comment `mark`."""
    lines = TEXT.splitlines()
    start = next(n for n, line in enumerate(lines) if f"void {kernel}(" in line)
    return next(n + 1 for n in range(start, len(lines)) if lines[n].endswith(f"// {mark}"))


def one_fault(device):
    faults = device.faults()
    assert len(faults) == 1, [fault["message"] for fault in faults]
    return faults[0]


# ---- right kernels ----


@pytest.mark.parametrize("seed", [0, 1, 99])
def test_copy(device, seed):
    u, out = np.arange(1000.0), np.full(1000, -1.0)
    scale = np.array([3.0]).view(np.uint64)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), ArrayArgument("globals", scale), shape_bytes(1000)]
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


# ---- seeded faults ----


def test_read_out_of_bounds(device):
    u, out = np.ones(32), np.zeros(32)
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u)]
    assert device.launch("reads_outside", LaunchShape((1, 1, 1), (32, 1, 1)), arguments) == 1
    fault = one_fault(device)
    assert fault["kind"] == "read out of bounds"
    assert fault["kernel"] == "reads_outside"
    assert fault["line"] == line_of("reads_outside", "read out of bounds")
    assert (fault["array"], fault["index"], fault["length"], fault["thread"]) == ("u", 32, 32, [31, 0, 0])
    assert "u[32] of 32 cells, block (0, 0, 0), thread (31, 0, 0)" in fault["message"]


def test_write_out_of_bounds_touches_nothing(device):
    memory = np.full(34, 7.0)
    arguments = [ArrayArgument("out", memory[1:33]), ArrayArgument("u", np.ones(32))]
    assert device.launch("writes_outside", LaunchShape((1, 1, 1), (32, 1, 1)), arguments) == 1
    fault = one_fault(device)
    assert fault["kind"] == "write out of bounds"
    assert fault["line"] == line_of("writes_outside", "write out of bounds")
    assert fault["index"] == -1
    assert memory[0] == 7.0


def test_missing_barrier_is_a_race(device):
    arguments = [ArrayArgument("out", np.zeros(64)), ArrayArgument("u", np.ones(64))]
    assert device.launch("races_in_block", LaunchShape((1, 1, 1), (64, 1, 1)), arguments) > 0
    race = next(fault for fault in device.faults() if fault["kind"] == "race in a block")
    lines = {line_of("races_in_block", "race in a block"), line_of("races_in_block", "other: race in a block")}
    assert {race["line"], race["other_line"]} == lines
    assert race["array"] == "part"
    assert "written" in race["message"]
    assert "read" in race["message"]


@pytest.mark.parametrize("seed", [0, 4])
def test_race_between_blocks(device, seed):
    shape = LaunchShape((8, 1, 1), (1, 1, 1), seed)
    assert device.launch("races_between_blocks", shape, [ArrayArgument("u", np.zeros(9))]) > 0
    line = line_of("races_between_blocks", "race between blocks")
    for fault in device.faults():
        assert fault["kind"] == "race between blocks"
        assert (fault["line"], fault["other_line"]) == (line, line)


def test_launches_do_not_race_with_each_other(device):
    u = np.zeros(9)
    for _ in range(3):
        assert device.launch("races_between_blocks", LaunchShape((1, 1, 1), (1, 1, 1)), [ArrayArgument("u", u)]) == 0


def test_divergent_barrier_names_both_lines(device):
    shape = LaunchShape((1, 1, 1), (64, 1, 1))
    assert device.launch("diverges", shape, [ArrayArgument("out", np.zeros(64))]) == 1
    fault = one_fault(device)
    assert fault["kind"] == "divergent barrier"
    assert fault["line"] == line_of("diverges", "divergent barrier")
    assert fault["other_line"] == line_of("diverges", "other: divergent barrier")
    assert f"line {fault['other_line']}" in fault["message"]


def test_barrier_that_some_threads_never_reach(device):
    shape = LaunchShape((1, 1, 1), (64, 1, 1))
    assert device.launch("leaves_early", shape, [ArrayArgument("out", np.zeros(64))]) == 1
    fault = one_fault(device)
    assert fault["line"] == line_of("leaves_early", "leaves")
    assert fault["other_line"] == line_of("leaves_early", "other: leaves")
    assert "thread (60, 0, 0) ended after line" in fault["message"]


def test_uninitialised_shared_read_in_every_block(device):
    out = np.zeros(64)
    shape = LaunchShape((1, 1, 1), (64, 1, 1))
    assert device.launch("reads_stale_shared", shape, [ArrayArgument("out", out)]) == 1
    fault = one_fault(device)
    assert fault["kind"] == "read of uninitialised shared memory"
    assert fault["line"] == line_of("reads_stale_shared", "read of uninitialised shared memory")
    assert (fault["array"], fault["index"], fault["thread"]) == ("part", 63, [63, 0, 0])
    assert np.isnan(out[63])


def test_uninitialised_global_read(device):
    scale = ArrayArgument("globals", np.array([1.0]).view(np.uint64))
    scratch, out, shape = np.zeros(64), np.zeros(64), LaunchShape((1, 1, 1), (64, 1, 1))
    first = [ArrayArgument("scratch", scratch, undefined=True), ArrayArgument("u", np.ones(64)), scale, shape_bytes(63)]
    assert device.launch("copy", shape, first) == 0
    second = [ArrayArgument("out", out), ArrayArgument("scratch", scratch), scale, shape_bytes(63)]
    assert device.launch("copy", shape, second) == 0
    assert device.launch("copy", shape, [*second[:3], shape_bytes(64)]) == 1
    fault = one_fault(device)
    assert (fault["kind"], fault["array"], fault["index"]) == ("read of an uninitialised cell", "scratch", 63)
    device.reset()
    filled = [second[0], ArrayArgument("scratch", scratch, filled=True), scale, shape_bytes(64)]
    assert device.launch("copy", shape, filled) == 0


def test_divergent_warp_collective(device):
    shape = LaunchShape((1, 1, 1), (32, 1, 1))
    assert device.launch("splits_warp", shape, [ArrayArgument("out", np.zeros(32, np.int32))]) == 1
    fault = one_fault(device)
    assert fault["kind"] == "divergent warp collective"
    assert fault["line"] == line_of("splits_warp", "divergent warp collective")


def test_shuffle_from_a_lane_outside_the_mask(device):
    shape = LaunchShape((1, 1, 1), (16, 1, 1))
    assert device.launch("shuffles_from_nobody", shape, [ArrayArgument("out", np.zeros(16, np.int32))]) == 1
    fault = one_fault(device)
    assert fault["kind"] == "shuffle from a missing lane"
    assert fault["line"] == line_of("shuffles_from_nobody", "shuffle from a missing lane")
    assert fault["thread"] == [15, 0, 0]


def test_barrier_in_a_kernel_launched_without(device):
    shape = LaunchShape((1, 1, 1), (8, 1, 1))
    assert device.launch("forgets_declaration", shape, [ArrayArgument("out", np.zeros(8, np.int32))]) == 1
    fault = one_fault(device)
    assert fault["line"] == line_of("forgets_declaration", "undeclared barrier")


def test_too_much_shared_memory(device):
    shape = LaunchShape((1, 1, 1), (8, 1, 1))
    assert device.launch("takes_everything", shape, [ArrayArgument("out", np.zeros(8))]) == 1
    fault = one_fault(device)
    assert fault["line"] == line_of("takes_everything", "too much shared memory")
    assert "49160 bytes" in fault["message"]


def test_a_launch_ends_after_eight_faults(device):
    out = np.zeros(8, np.int32)
    assert device.launch("wrong_everywhere", LaunchShape((4, 1, 1), (8, 1, 1)), [ArrayArgument("out", out)]) == 8
    assert [fault["index"] for fault in device.faults()] == list(range(100, 108))
    assert not out.any()
    device.reset()
    assert device.faults() == ()


def test_bad_launches_are_refused(device):
    u, out, one = np.ones(8), np.zeros(8), LaunchShape((1, 1, 1), (8, 1, 1))
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u)]
    n = integer("n", 8)
    refused = [
        ("writes_outside", one, arguments[:1], "has 2 parameters, given are 1"),
        ("writes_outside", LaunchShape((1, 1, 1), (1025, 1, 1)), arguments, "1 to 1024 threads"),
        ("writes_outside", LaunchShape((1, 0, 1), (8, 1, 1)), arguments, "a grid has 1 to"),
        ("writes_outside", one, [ArrayArgument("out", u[1:]), ArrayArgument("u", u)], "overlap"),
        ("warp_sum", one, [*arguments, ValueArgument("n", bytes(8))], "parameter n has 4 bytes, given are 8"),
        ("warp_sum", one, [ArrayArgument("sums", np.zeros(17, np.uint8)[1:9]), arguments[1], n], "not aligned"),
    ]
    for kernel, shape, given, words in refused:
        device.reset()
        assert device.launch(kernel, shape, given) == 1
        assert words in one_fault(device)["message"]
    assert not out.any()


# ---- what it counts, threads, text ----


def test_trace(device):
    u, out = np.arange(4.0), np.zeros(4)
    scale = ArrayArgument("globals", np.array([1.0]).view(np.uint64))
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
    scale = ArrayArgument("globals", np.array([1.0]).view(np.uint64))
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
    scale = ArrayArgument("globals", np.array([1.0]).view(np.uint64))
    arguments = [ArrayArgument("out", out), ArrayArgument("u", u), scale, shape_bytes(1000)]
    device.cancel()
    assert device.launch("copy", LaunchShape((4, 1, 1), (256, 1, 1)), arguments) == 0
    assert not out.any()
    device.reset()
    device.launch("copy", LaunchShape((4, 1, 1), (256, 1, 1)), arguments)
    assert out.all()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("__shared__ double part[4]; out[0] = part[0];", "write STENCIL_SHARED"),
        ("stencil_tma_load(1);", "TMA is not simulated"),
        ("__pipeline_memcpy_async(1, 2, 3);", "cp.async is not simulated"),
        ("auto kept = out[0]; out[1] = kept + 1.0;", "Reference"),
    ],
)
def test_what_cannot_be_simulated_does_not_compile(tmp_path, body, words):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no C++ compiler")
    source = tmp_path / "kernel.cu"
    source.write_text(f'extern "C" __global__ void k(stencil::array<double> out) {{ {body} }}\n')
    command = [compiler, *SIMULATOR_FLAGS, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert words in done.stderr
