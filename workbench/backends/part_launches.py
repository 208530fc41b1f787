"""Part launches: grids and blocks of scans and ranks, which are cut into parts, and of what joins their parts."""

from __future__ import annotations

from workbench.codegen.cuda.device import LaunchCode
from workbench.planning.choices import DeviceChoices
from workbench.planning.partials import CHUNK, line_chunks, rank_parts, rank_threads, scan_threads

Launched = tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, ...]]
"""Grid, block, and the numbers that the kernel gets, if any."""

MOST_BLOCKS = 2**31 - 1
_WARP, _RUN = 32, 32
_JOINED = 512
"""Values that one launch joins to a tree at most, a power of two."""


def part_launches(code: LaunchCode, extents: tuple[int, ...], choices: DeviceChoices) -> list[Launched]:
    """Return the launches of code of kind "scan", "rank" or "subtrees" over a loop's extents: none, one or several."""
    if code.digits:
        lines, each = 1, code.digits * rank_parts(extents[0], code.digits)
    else:
        lines, each = line_chunks(extents, code.scanned)
        if code.several and each < 2:
            return []
    if code.kind == "subtrees":
        return _joining(lines, each, choices)
    if code.digits:
        threads = _whole_warps(choices.block, rank_threads(code.digits))
        return [_in_blocks(rank_parts(extents[0], code.digits) * _WARP, threads, choices)]
    across = code.scanned < len(extents) - 1
    runs = CHUNK // _RUN if each > 1 else power_of_two(-(-extents[code.scanned] // _RUN))
    threads = _whole_warps(choices.block, scan_threads(code.arrays[-1].type.itemsize, across=across))
    return [_in_blocks(lines * each * runs, threads, choices)]


def _joining(lines: int, each: int, choices: DeviceChoices) -> list[Launched]:
    """One launch joins up to 512 neighbours, the next one up to 512 of these, until all are joined."""
    made = list[Launched]()
    step = 1
    while each // step > 1:
        leaves = each // step
        width = min(_JOINED, power_of_two(leaves))
        across = min(choices.block, width // 2)
        count = lines * -(-leaves // width)
        down = min(choices.block // across, power_of_two(count))
        blocks = min(-(-count // down), choices.grid or MOST_BLOCKS)
        made.append(((blocks, 1, 1), (across, down, 1), (lines, each, step, width)))
        step *= width
    return made


def _in_blocks(wanted: int, threads: int, choices: DeviceChoices) -> Launched:
    blocks = min(max(-(-wanted // threads), 1), choices.grid or MOST_BLOCKS)
    return (blocks, 1, 1), (threads, 1, 1), ()


def _whole_warps(block: int, most: int) -> int:
    return min(-(-block // _WARP) * _WARP, most)


def power_of_two(count: int) -> int:
    """Return the smallest that is not below `count`."""
    return 1 << max(count - 1, 0).bit_length()
