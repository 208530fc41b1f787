"""What "auto" takes against steps one after the other: python -m tests.bench.bench_schedules [name ...] [--threads N].

Each round runs the schedules in turn, so that its ratio says little of the load; figures are medians of rounds, with
the least and the largest. One thread is measured in processor time, more by the clock. "auto" is at least 0.95 of
"stepwise" at every size; below it, or where tiles that "auto" declines are 1.1 of "stepwise", a line says so. Beyond
the last cache "auto" does at least 0.75 of the cells a second of the better neighbouring size; lines in the end name
the sizes that do not. The exit status is 1 where either fails. --seconds ends the whole after the size under way.
What "auto" takes goes by what was measured of this machine: run it in a cache folder of its own (WORKBENCH_CACHE), on
an idle machine. "else" is what it would take where nobody has measured anything.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from statistics import median

import numpy as np

from workbench.backends.host import ensure_figures
from workbench.backends.processor import available_threads, cache_bytes, last_cache_bytes, third_cache_is_near
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.schedules.gain import Caches, tiles_gain
from workbench.planning.schedules.locality import updates_per_move
from workbench.run.progress import silent
from workbench.solvers import advection, gray_scott, heat, life, maxwell, wave

LEAST, MISSED, LEAST_OF_NEIGHBOUR = 0.95, 1.1, 0.75
PLANE = (64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048, 3000, 3072, 4096)
SPACE = (64, 96, 128, 192, 256, 384, 512)
CASES = {
    "heat": (heat.machine(), PLANE),
    "heat-f32": (heat.machine(dtype="f32"), PLANE),
    "heat-3d": (heat.machine(3), SPACE),
    "heat-3d-f32": (heat.machine(3, dtype="f32"), SPACE),
    "wave": (wave.machine(), PLANE),
    "wave-f32": (wave.machine(dtype="f32"), PLANE),
    "wave-3d": (wave.machine(3), SPACE),
    "life": (life.machine(), PLANE),
    "gray-scott": (gray_scott.machine(), PLANE),
    "gray-scott-f32": (gray_scott.machine(dtype="f32"), PLANE),
    "advection": (advection.machine(), PLANE),
    "maxwell": (maxwell.machine(), PLANE),
    "wave-2": (wave.machine(3, order=2, dtype="f32"), SPACE),
    "wave-4": (wave.machine(3, order=4, dtype="f32"), SPACE),
    "wave-8": (wave.machine(3, order=8, dtype="f32"), SPACE),
    "two-levels-2": (wave.machine(3, order=2, time_order=2, dtype="f32"), SPACE),
    "two-levels-4": (wave.machine(3, order=4, time_order=2, dtype="f32"), SPACE),
    "two-levels-8": (wave.machine(3, order=8, time_order=2, dtype="f32"), SPACE),
}
UPDATES, LEAST_STEPS = 3e7, 64  # of a cell and of the grid in one measurement, at least
MOST_UPDATES = 1.5e9  # of a cell
LONG = 1.0  # seconds of a round, beyond which three of them must do


@dataclass(frozen=True, slots=True)
class Found:
    """Cells a second of "auto", its ratio to stepwise, and whether its arrays leave the last cache."""

    edge: int
    rate: float
    ratio: float
    beyond: bool


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


def tiles_of(tiled, shape, threads):
    """Sizes of tiles, and what they would be taken for where no figures of the machine are known; None without room."""
    kernel = tiled.compiled.plan.main
    sizes = tile_sizes_here(kernel, shape, tiled.compiled.plan.choices.plan.tiling, threads)
    if sizes is None or kernel.tiling is None:
        return None, False
    arrays = memory_bytes(tiled.compiled.plan, shape) // threads
    caches = Caches(cache_bytes(), last_cache_bytes() // threads, third_cache_is_near())
    return sizes, tiles_gain(kernel, shape, sizes, arrays, caches, threads=threads)


def sizes_text(tiling, shape, sizes):
    """Height, width and chunk of tiles, and how often a cell is updated for each time that it moves."""
    if sizes is None:
        return "no room for tiles"
    moves = updates_per_move(tiling, shape, sizes) / tiling.levels
    width = shape[tiling.roles.index("diamond")] // sizes.spaces
    return f"height {sizes.height}, width {width}, chunk {sizes.chunk}, {moves:.1f} steps a move"


def measure(name, edge, threads, rounds):
    """Print a line of one machine and size, and return what was found."""
    machine, _ = CASES[name]
    shape = (edge,) * machine.graph.dim
    clock = time.process_time if threads == 1 else time.perf_counter
    fields = fields_of(machine, shape)
    runs = {
        schedule: machine.simulate(backend="openmp", threads=threads, schedule=schedule, **fields)
        for schedule in ("stepwise", "diamond", "auto")
    }
    del fields
    auto = next((kind for kind in ("stepwise", "diamond") if runs[kind].choices == runs["auto"].choices), "auto")
    if auto != "auto":
        runs.pop("auto").close()
    steps = min(max(LEAST_STEPS, int(UPDATES / prod(shape))), int(MOST_UPDATES / prod(shape)))
    for run in runs.values():
        run.run(max(steps // 4, 8), progress=silent)
    taken = []
    while len(taken) < rounds and not (len(taken) >= 3 and sum(taken[-1].values()) > LONG):
        taken.append({kind: seconds(run, steps, clock) for kind, run in runs.items()})
    ratios = {kind: [each["stepwise"] / each[kind] for each in taken] for kind in runs}
    rates = {kind: steps * prod(shape) / median(each[kind] for each in taken) for kind in runs}
    tiles, chosen = ratios["diamond"], median(ratios[auto])
    sizes, unmeasured = tiles_of(runs["diamond"], shape, threads or available_threads())
    verdict = "  BELOW" if chosen < LEAST else "  missed" if median(tiles) > MISSED * max(chosen, 1.0) else ""
    print(
        f"{name:<12}{edge:5d}  stepwise {rates['stepwise'] / 1e9:6.3f}, tiles {rates['diamond'] / 1e9:6.3f} Gcells/s, "
        f"tiles / stepwise {median(tiles):5.2f} ({min(tiles):.2f} to {max(tiles):.2f}); auto "
        f"{auto if auto != 'auto' else f'in stages {chosen:.2f}'} (else {'diamond' if unmeasured else 'stepwise'}); "
        f"{sizes_text(runs['diamond'].compiled.plan.main.tiling, shape, sizes)}{verdict}",
        flush=True,
    )
    beyond = memory_bytes(runs["stepwise"].compiled.plan, shape) > last_cache_bytes()
    for run in runs.values():
        run.close()
    return Found(edge, rates[auto], chosen, beyond)


def falls(found):
    """Sizes beyond the last cache that do less than they should of their better neighbour there, and how much."""
    rows = [each for each in found if each.beyond]
    better = {each.edge: 0.0 for each in rows}
    for one, other in pairwise(rows):
        better[one.edge] = max(better[one.edge], other.rate)
        better[other.edge] = max(better[other.edge], one.rate)
    ratios = {each.edge: each.rate / better[each.edge] for each in rows if better[each.edge]}
    return {edge: ratio for edge, ratio in ratios.items() if ratio < LEAST_OF_NEIGHBOUR}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--threads", type=int, default=1, help="0 for as many as a simulation takes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edges", type=int, nargs="*", help="of the grid; all if left out")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no further size is begun")
    asked = parser.parse_args()
    threads = f"{asked.threads} threads" if asked.threads else f"up to {available_threads()} threads"
    load = os.getloadavg()[0]
    print(f"load {load:.1f}, {threads}, {cache_bytes() >> 10} KiB of second cache, {ensure_figures()}", flush=True)
    begin, good, all_falls = time.monotonic(), [], {}
    for name in asked.names:
        found = []
        for edge in asked.edges or CASES[name][1]:
            if time.monotonic() - begin > asked.seconds:
                print(f"{name} {edge} not measured: {asked.seconds:.0f} s are over")
                continue
            found.append(measure(name, edge, asked.threads, asked.rounds))
        good += [each.ratio >= LEAST for each in found]
        all_falls |= {(name, edge): ratio for edge, ratio in falls(found).items()}
    print(f'"auto" is at least {LEAST} of "stepwise" in {sum(good)} of {len(good)} cases')
    for (name, edge), ratio in all_falls.items():
        print(f"{name} {edge}: {ratio:.2f} of the better neighbour's cells a second, less than {LEAST_OF_NEIGHBOUR}")
    return 0 if all(good) and not all_falls else 1


if __name__ == "__main__":
    sys.exit(main())
