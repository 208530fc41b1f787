"""Occupancy: how many warps of a kernel a multiprocessor holds at once, and what it is that holds no more.

The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h); Accelerate chose launches by the same ones
(McDonell, thesis, section 4.6.3), and its examples are this file's tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WARP = 32  # threads

Limit = Literal["blocks", "warps", "registers", "shared memory"]


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What one multiprocessor of a compute capability has.

    Registers are given out in units of `register_unit`, to whole blocks (`by_block`, before capability 2.0) or to
    warps, from `partitions` equal parts of the file. shared: bytes in all, of which a block may have `shared_block` at
    most and takes `shared_reserved` for itself, in units of `shared_unit`.
    """

    capability: str
    example: str
    warps: int
    blocks: int
    block_threads: int
    registers: int
    register_unit: int
    by_block: bool
    partitions: int
    shared: int
    shared_block: int
    shared_unit: int
    shared_reserved: int


_KIB = 1024
# From 7.0 on: CUDA programming guide, appendix "Compute Capabilities"; units of allocation from cuda_occupancy.h.
DEVICES: tuple[DeviceLimits, ...] = (
    DeviceLimits("1.3", "GTX 280", 32, 8, 512, 16384, 512, True, 2, 16 * _KIB, 16 * _KIB, 512, 0),
    DeviceLimits("2.0", "Tesla C2050", 48, 8, 1024, 32768, 64, False, 2, 48 * _KIB, 48 * _KIB, 128, 0),
    DeviceLimits("7.0", "V100", 64, 32, 1024, 65536, 256, False, 4, 96 * _KIB, 96 * _KIB, 256, 0),
    DeviceLimits("7.5", "RTX 2080, T4", 32, 16, 1024, 65536, 256, False, 4, 64 * _KIB, 64 * _KIB, 256, 0),
    DeviceLimits("8.0", "A100", 64, 32, 1024, 65536, 256, False, 4, 164 * _KIB, 163 * _KIB, 128, _KIB),
    DeviceLimits("8.6", "RTX 3090, A40", 48, 16, 1024, 65536, 256, False, 4, 100 * _KIB, 99 * _KIB, 128, _KIB),
    DeviceLimits("8.9", "RTX 4090", 48, 24, 1024, 65536, 256, False, 4, 100 * _KIB, 99 * _KIB, 128, _KIB),
    DeviceLimits("9.0", "H100, H200", 64, 32, 1024, 65536, 256, False, 4, 228 * _KIB, 227 * _KIB, 128, _KIB),
    DeviceLimits("10.0", "B200", 64, 32, 1024, 65536, 256, False, 4, 228 * _KIB, 227 * _KIB, 128, _KIB),
    DeviceLimits("12.0", "RTX 5090", 48, 24, 1024, 65536, 256, False, 4, 100 * _KIB, 99 * _KIB, 128, _KIB),
)


MOST_REGISTERS = 255
"""Of a thread, that an instruction can name from capability 3.5 on."""
_FILE, _UNIT, _PARTITIONS = 65536, 8, 4  # registers; a thread's part of what a warp is given at once; as from 7.0 on


def device_limits(capability: str) -> DeviceLimits:
    """The row of a compute capability; KeyError if there is none."""
    for device in DEVICES:
        if device.capability == capability:
            return device
    raise KeyError(capability)


def limits_for(architecture: str) -> DeviceLimits | None:
    """The row for what is compiled for an architecture such as "sm_90"; None if no row of its major version is below.

    Minor versions that have no row count as the one below: sm_87, sm_103 and sm_121 have the limits of 8.6, 10.0, 12.0.
    """
    wanted = int("".join(filter(str.isdigit, architecture)))
    fitting = [
        device
        for device in DEVICES
        if (number := int(device.capability.replace(".", ""))) <= wanted and number // 10 == wanted // 10
    ]
    return fitting[-1] if fitting else None


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`blocks` of a kernel fit at once, with `warps` warps in all; `share` of the most there can be, from 0 to 1.

    limit: what holds no more. No blocks: the kernel cannot be launched, and `limit` says for want of what.
    """

    blocks: int
    warps: int
    share: float
    limit: Limit


def occupancy(device: DeviceLimits, block: int, registers: int, shared: int = 0) -> Occupancy:
    """The occupancy of blocks of `block` threads with `registers` a thread and `shared` bytes a block."""
    warps = _divide_up(max(block, 1), WARP)
    fitting: dict[Limit, int] = {
        "warps": device.warps // warps if block <= device.block_threads else 0,
        "blocks": device.blocks,
        "registers": _blocks_by_registers(device, warps, registers),
        "shared memory": _blocks_by_shared(device, shared),
    }
    limit = min(fitting, key=lambda name: fitting[name])
    blocks = fitting[limit]
    return Occupancy(blocks, blocks * warps, blocks * warps / device.warps, limit)


def resident_threads(device: DeviceLimits, registers: int) -> int:
    """The most threads at once for which there are registers, in blocks of any size."""
    return min(device.warps, _blocks_by_registers(device, 1, registers)) * WARP


def registers_of_a_thread(block: int) -> int:
    """The most registers that a thread of such a block may have on every device from capability 7.0 on."""
    warps = _round_up(_divide_up(block, WARP), _PARTITIONS)
    each = _FILE // warps // WARP // _UNIT * _UNIT
    return min(each, MOST_REGISTERS)


def largest_block(device: DeviceLimits, registers: int, shared_per_thread: int = 0) -> int:
    """The most threads of a block, in whole warps, for which there are registers and shared memory."""
    fitting = (
        warps * WARP
        for warps in range(device.warps, 0, -1)
        if _blocks_by_registers(device, warps, registers)
        and _blocks_by_shared(device, warps * WARP * shared_per_thread)
    )
    return next(fitting, 0)


def best_block(device: DeviceLimits, registers: int, shared_per_thread: int = 0, *, powers: bool = False) -> int:
    """The smallest block (of whole warps, or of a power of two threads) with the highest occupancy."""
    sizes = [n for n in range(WARP, device.block_threads + 1, WARP) if not powers or n & (n - 1) == 0]
    return max(sizes, key=lambda n: (occupancy(device, n, registers, n * shared_per_thread).warps, -n))


def _blocks_by_registers(device: DeviceLimits, warps: int, registers: int) -> int:
    """How many blocks the register file holds; none where it does not hold one."""
    if registers <= 0:
        return device.warps
    whole = _round_up(warps, device.partitions)  # a block's warps are spread evenly over the parts
    if device.by_block:
        return device.registers // _round_up(whole * WARP * registers, device.register_unit)
    each = _round_up(WARP * registers, device.register_unit)
    if whole * each > device.registers:
        return 0
    return (device.registers // device.partitions // each) * device.partitions // warps


def _blocks_by_shared(device: DeviceLimits, shared: int) -> int:
    needed = _round_up(shared + device.shared_reserved, device.shared_unit)
    if shared > device.shared_block:
        return 0
    return device.shared // needed if needed else device.blocks


def _round_up(count: int, unit: int) -> int:
    return _divide_up(count, unit) * unit


def _divide_up(count: int, by: int) -> int:
    return -(-count // by)
