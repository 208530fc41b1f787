"""Least traffic: what tiles that run several steps must move through the border of a cache, whatever their shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, prod

from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.schedules.locality import slot_bytes
from workbench.planning.schedules.shapes import Use, uses_of


def least_bytes(kernel: KernelPlan, extents: tuple[int, ...], cache_bytes: int, whole: tuple[int, ...] = ()) -> float:
    """Return the least bytes an update of tiles that share nothing and have so much cache; 0 where no cell is near.

    A tile that stays in the cache reads its surroundings anew at each level and leaves its rim behind: for C cells and
    the hull K of what is read, the volume of C enlarged by K less that of C made smaller by K. By Minkowski's
    inequality for mixed volumes that is at least 2 dim V(K)^(1/dim) V(C)^(1 - 1/dim), and no more if C is similar to K,
    a diamond for a star: in a plane the tower of the paper is as good as can be. C is what the cache holds of all
    values that are still needed, K at least what is read along the axes. Muranushi and Makino (Procedia Computer
    Science 51 (2015) 1303) prove such a limit of temporal blocking, and give tiles that reach it.

    whole: axes that tiles do not cut, as they keep rows along the last one. Nothing crosses a border there, and all
    cells of such a row are held, so that C and K are those of the other axes.
    """
    cut = [axis for axis in range(len(extents)) if axis not in whole]
    if not cut:
        return 0.0
    uses, dim = uses_of(kernel), len(cut)
    held, near = _values_held(kernel, uses), _reads_along_axes(uses, len(extents))
    cells = cache_bytes / max(held, 1) / prod(extents[axis] for axis in whole)
    least = 0.0
    for value, ranges in near.items():
        hull = prod(ranges[axis][1] - ranges[axis][0] for axis in cut) / factorial(dim)
        least += value_bytes(kernel, *value) * 2 * dim * float(hull / cells) ** (1 / dim)
    return least


def _reads_along_axes(uses: Sequence[Sequence[Use]], dim: int) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each value that a step makes, (level, number), the least and largest offset along each axis alone."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for level, reads in enumerate(uses):
        for use in reads:
            along = [axis for axis, offset in enumerate(use.offset) if offset]
            if use.back < 0 or len(along) != 1:
                continue
            ranges = found.setdefault(((level - use.back) % len(uses), use.value), [(0, 0)] * dim)
            low, high = ranges[along[0]]
            offset = use.offset[along[0]]
            ranges[along[0]] = min(low, offset), max(high, offset)
    return found


def _values_held(kernel: KernelPlan, uses: Sequence[Sequence[Use]]) -> int:
    """Bytes of a cell's values that are needed later or always, at least."""
    ages: dict[tuple[int, int], int] = {}
    constant: set[int] = set()
    for level, reads in enumerate(uses):
        for use in reads:
            if use.back < 0:
                constant.add(use.value)
            else:
                value = (level - use.back) % len(uses), use.value
                ages[value] = max(ages.get(value, 0), use.back // len(uses))
    sizes = slot_bytes(kernel)
    return sum(value_bytes(kernel, *value) * age for value, age in ages.items()) + sum(sizes[s] for s in constant)


def value_bytes(kernel: KernelPlan, level: int, number: int) -> int:
    """Bytes of what the loops of a level store as their value `number`."""
    launches = [launch for launch in kernel.plain.launches if launch.kind == "subkernel"]
    homes = [home for member in launches[level].members for home in kernel.plain.subkernels[member].outputs]
    return kernel.kernel.nodes[homes[number].node].value_type.itemsize
