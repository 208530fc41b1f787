"""What "auto" takes against steps one after the other: python -m tests.bench.bench_schedules [name ...] [--threads N].

Each round runs both schedules in turn, so that its ratio says little of the load; figures are medians of rounds, with
the least and the largest. One thread is measured in processor time, more by the clock. "auto" is at least 0.95 of
"stepwise" at every size; below it, or where tiles that "auto" declines are 1.1 of "stepwise", a line says so, and the
exit status is 1 for the former.
"""

import argparse
import os
import sys
import time
from math import prod
from statistics import median

import numpy as np

from workbench.backends.processor import cache_bytes, shared_cache_bytes
from workbench.planning.schedules.locality import tile_sizes, updates_per_move
from workbench.run.progress import silent
from workbench.solvers import advection, gray_scott, heat, life, maxwell, wave

LEAST, MISSED = 0.95, 1.1
PLANE, SPACE = (256, 512, 1024, 2048, 3000, 4096), (64, 96, 128, 192, 256, 384)
CASES = {
    "heat": (heat.machine(), PLANE),
    "heat-f32": (heat.machine(dtype="f32"), PLANE),
    "heat-3d": (heat.machine(3), SPACE),
    "life": (life.machine(), PLANE),
    "gray-scott": (gray_scott.machine(), PLANE),
    "gray-scott-f32": (gray_scott.machine(dtype="f32"), PLANE),
    "advection": (advection.machine(), PLANE),
    "maxwell": (maxwell.machine(), PLANE),
    "wave-2": (wave.machine(3, order=2, dtype="f32"), SPACE),
    "wave-4": (wave.machine(3, order=4, dtype="f32"), SPACE),
    "wave-8": (wave.machine(3, order=8, dtype="f32"), SPACE),
}
UPDATES = 6e7  # of a cell in one measurement, at least


def fields_of(machine, shape):
    """Smooth hills, ones and zeros for integers."""
    hill = np.ones(())
    for edge in shape:
        hill = np.multiply.outer(hill, 1 + 0.5 * np.sin(2 * np.pi * np.arange(edge) / edge))
    found = {}
    for number, field in enumerate(machine.graph.fields):
        kind = np.dtype(field.type.numpy)
        found[field.name] = (hill > 1 if kind.kind in "iub" else hill / (2 + number)).astype(kind)
    return found


def seconds(run, steps, clock):
    begin = clock()
    run.run(steps, progress=silent)
    return clock() - begin


def sizes_text(tiled, shape, threads):
    """Height, width and chunk of tiles, and how often a cell is updated for each time that it moves."""
    kernel = tiled.compiled.plan.main
    caches = cache_bytes(), shared_cache_bytes(threads)
    sizes = tile_sizes(kernel, shape, tiled.compiled.plan.choices.plan.tiling, threads, *caches)
    if sizes is None or kernel.tiling is None:
        return "no room for tiles"
    moves = updates_per_move(kernel.tiling, shape, sizes) / kernel.tiling.levels
    width = shape[kernel.tiling.roles.index("diamond")] // sizes.spaces
    return f"height {sizes.height}, width {width}, chunk {sizes.chunk}, {moves:.1f} steps a move"


def measure(name, edge, threads, rounds):
    """A line of one machine and size; what "auto" takes, and its ratio to stepwise."""
    machine, _ = CASES[name]
    shape = (edge,) * machine.graph.dim
    clock = time.process_time if threads == 1 else time.perf_counter
    fields = fields_of(machine, shape)
    runs = {
        schedule: machine.simulate(backend="openmp", threads=threads, schedule=schedule, **fields)
        for schedule in ("stepwise", "diamond")
    }
    auto = machine.simulate(backend="openmp", threads=threads, **fields).choices.plan.tiling.schedule
    steps = max(64, int(UPDATES / prod(shape)))
    for run in runs.values():
        run.run(4, progress=silent)
        run.run(max(steps // 4, 16), progress=silent)
    taken = [{kind: seconds(run, steps, clock) for kind, run in runs.items()} for _ in range(rounds)]
    ratios = [each["stepwise"] / each["diamond"] for each in taken]
    rates = [steps * prod(shape) / median(each[kind] for each in taken) / 1e9 for kind in runs]
    ratio, chosen = median(ratios), median(ratios) if auto == "diamond" else 1.0
    verdict = "  BELOW" if chosen < LEAST else "  missed" if auto != "diamond" and ratio > MISSED else ""
    print(
        f"{name:<15}{edge:5d}  stepwise {rates[0]:6.3f}, tiles {rates[1]:6.3f} Gcells/s, tiles / stepwise {ratio:5.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}); auto {auto}; {sizes_text(runs['diamond'], shape, threads)}"
        f"{verdict}",
        flush=True,
    )
    return chosen >= LEAST


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edges", type=int, nargs="*", help="of the grid; all if left out")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {asked.threads} threads, {cache_bytes() >> 10} KiB of second cache")
    good = [
        measure(name, edge, asked.threads, asked.rounds)
        for name in asked.names
        for edge in asked.edges or CASES[name][1]
    ]
    print(f'"auto" is at least {LEAST} of "stepwise" in {sum(good)} of {len(good)} cases')
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
