"""The occupancy calculator against published figures (McDonell's thesis, section 4.6.3) and NVIDIA's tables."""

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


def test_unknown_capability_is_refused():
    with pytest.raises(KeyError):
        device_limits("0.1")
