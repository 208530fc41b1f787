"""The simulator names kernel, line, thread and cell of every seeded fault and never harms its process."""

import numpy as np
import pytest

from tests.kit.simulator_kernels import (
    FIBERS,
    integer,
    kernel_library,
    line_of,
    one_fault,
    scale_argument,
    shape_bytes,
)
from workbench.backends.compile_pool import build
from workbench.backends.simulated_device import (
    ArrayArgument,
    LaunchShape,
    SimulatedDevice,
    ValueArgument,
    simulator_source,
)
from workbench.errors import BuildError


@pytest.fixture(scope="module", params=FIBERS)
def library(request):
    return kernel_library(request.param)


@pytest.fixture
def device(library):
    simulated = SimulatedDevice(library)
    yield simulated
    simulated.close()


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
    scale = scale_argument(1.0)
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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("__shared__ double part[4]; out[0] = part[0];", "write STENCIL_SHARED"),
        ("stencil_tma_load(1);", "TMA is not simulated"),
        ("__pipeline_memcpy_async(1, 2, 3);", "cp.async is not simulated"),
        ("auto kept = out[0]; out[1] = kept + 1.0;", "Reference"),
    ],
)
def test_what_cannot_be_simulated_does_not_compile(body, words):
    text = f'extern "C" __global__ void k(stencil::array<double> out) {{ {body} }}\n'
    with pytest.raises(BuildError, match=words):
        build([simulator_source("refused", text, {"k": False})])
