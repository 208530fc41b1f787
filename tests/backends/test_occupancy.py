"""The occupancy calculator against published figures (McDonell's thesis, section 4.6.3), NVIDIA's tables and code."""

import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.backends.occupancy import DEVICES, WARP, best_block, device_limits, largest_block, occupancy

GTX, FERMI, HOPPER = device_limits("1.3"), device_limits("2.0"), device_limits("9.0")


def best(device, registers, shared_per_thread=0, powers=False):
    size = best_block(device, registers, shared_per_thread, powers=powers)
    return occupancy(device, size, registers, size * shared_per_thread).share


def test_ray_tracer_of_the_thesis():
    assert best(GTX, 73) == 0.1875


def test_fused_fold_of_the_thesis():
    assert best(GTX, 41, 12, powers=True) == 0.3125


def test_unfused_fold_of_the_thesis():
    assert best(GTX, 17, powers=True) == 0.75


@pytest.mark.parametrize(("device", "threads"), [(GTX, 704), (FERMI, 1472)])
def test_largest_block_that_the_register_file_allows(device, threads):
    assert largest_block(device, 22, 16) == threads


# block, registers, shared bytes: blocks at once and what holds no more, by NVIDIA's spreadsheet for 9.0
HOPPER_CASES = [
    ((256, 32, 0), (8, "warps")),
    ((256, 40, 0), (6, "registers")),
    ((256, 64, 0), (4, "registers")),
    ((256, 128, 0), (2, "registers")),
    ((256, 255, 0), (1, "registers")),
    ((1024, 64, 0), (1, "registers")),
    ((1024, 65, 0), (0, "registers")),
    ((32, 32, 0), (32, "blocks")),
    ((256, 32, 48 * 1024), (4, "shared memory")),
    ((256, 32, 227 * 1024), (1, "shared memory")),
    ((256, 32, 228 * 1024), (0, "shared memory")),
    ((1056, 16, 0), (0, "warps")),
]


@pytest.mark.parametrize(("kernel", "expected"), HOPPER_CASES)
def test_hopper(kernel, expected):
    found = occupancy(HOPPER, *kernel)
    assert (found.blocks, found.limit) == expected
    assert found.warps == found.blocks * -(-kernel[0] // WARP)
    assert found.share == found.warps / 64


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.capability)
def test_occupancy_never_grows_with_what_a_kernel_takes(device):
    for block in (32, 96, 256, 512):
        by_registers = [occupancy(device, block, n).warps for n in range(8, 128)]
        by_shared = [occupancy(device, block, 16, n).warps for n in range(0, device.shared_block, 1024)]
        assert by_registers == sorted(by_registers, reverse=True)
        assert by_shared == sorted(by_shared, reverse=True)
        assert 0 <= min(by_registers + by_shared) <= max(by_registers + by_shared) <= device.warps


# Of the guide's tables of compute capabilities: resident warps and blocks, KiB of shared memory in all and of a block.
GUIDE = {
    "7.5": (32, 16, 64, 64),
    "8.0": (64, 32, 164, 163),
    "8.6": (48, 16, 100, 99),
    "8.9": (48, 24, 100, 99),
    "9.0": (64, 32, 228, 227),
    "10.0": (64, 32, 228, 227),
    "12.0": (48, 24, 100, 99),
}


@pytest.mark.parametrize("capability", GUIDE)
def test_limits_are_those_of_the_programming_guide(capability):
    device = device_limits(capability)
    assert (device.warps, device.blocks, device.shared // 1024, device.shared_block // 1024) == GUIDE[capability]
    assert (device.registers, device.block_threads) == (65536, 1024)


KERNELS = tuple(
    itertools.product(
        (1, 32, 33, 64, 96, 128, 160, 192, 256, 384, 512, 736, 1000, 1024, 1025),
        (1, 8, 16, 24, 31, 32, 33, 40, 48, 56, 64, 65, 72, 80, 96, 128, 168, 200, 255),
        (0, 1, 128, 1000, 1024, 4096, 8191, 16384, 33000, 65535, 65536, 65537, 101376, 101377, 166912, 232448, 232449),
    )
)


def header_folder():
    """Where NVIDIA's cuda_occupancy.h is: in a toolkit, or in the wheel that the extra cuda brings."""
    nvcc = shutil.which("nvcc")
    roots = [Path(nvcc).resolve().parent.parent] if nvcc else []
    roots += [Path("/usr/local/cuda"), *(Path(folder, "nvidia", "cu13") for folder in sys.path)]
    found = [root / "include" for root in roots if (root / "include" / "cuda_occupancy.h").exists()]
    return found[0] if found else pytest.skip("no CUDA compiler with cuda_occupancy.h")


def test_blocks_at_once_are_those_of_nvidias_own_calculator(tmp_path):
    """All kernels on all devices that the header knows, which are those since 3.0."""
    program = tmp_path / "calculator"
    source = Path(__file__).with_name("nvidia_occupancy.cpp")
    subprocess.run(["c++", "-std=c++17", "-I", str(header_folder()), "-o", str(program), str(source)], check=True)
    known = [device for device in DEVICES if int(device.capability.partition(".")[0]) >= 3]
    given = []
    for device in known:
        numbers = (device.warps, device.block_threads, device.registers, device.shared, device.shared_block)
        given.append([*device.capability.split("."), *numbers, device.shared_reserved, len(KERNELS)])
        given += KERNELS
    text = "\n".join(" ".join(map(str, row)) for row in given)
    said = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True).stdout
    blocks = [occupancy(device, *kernel).blocks for device in known for kernel in KERNELS]
    assert len(known) == 8
    assert [int(line) for line in said.split()] == blocks


def test_unknown_capability_is_refused():
    with pytest.raises(KeyError):
        device_limits("0.1")
