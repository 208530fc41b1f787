"""Rates that the model predicts beside those that are measured: python -m tests.bench.bench_model [--rounds N].

One thread, in processor time, so that other work matters little. Ceilings are measured inside each round: what loops
copy in the nearest cache, in the second one and in memory, and what they compute. Figures are medians of rounds. Grids
are larger than a last cache of 260 MiB. Where it holds some of the arrays, steps find more of them there than a copy.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from math import prod
from pathlib import Path
from statistics import median

import numpy as np

from workbench.backends.processor import cache_bytes
from workbench.backends.tile_sizes import tile_sizes_here
from workbench.backends.toolchain import find_toolchain
from workbench.commands.bench.problems import problem_named
from workbench.planning.cost import CacheLevel, HostFigures
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.schedules.forecast import forecasts
from workbench.planning.schedules.least_traffic import least_bytes
from workbench.run.progress import silent

CASES = (
    ("heat2d", (6144, 6144)),
    ("wave3d", (320, 384, 384)),
    ("wave3d-4", (320, 384, 384)),
    ("wave3d-8", (320, 384, 384)),
    ("gray-scott", (2048, 2048)),
    ("maxwell3d", (128, 128, 128)),
)
REASONS = {
    "wave3d-4": "loads that are not aligned, and more instructions than two ports take (planning/DECISIONS.md)",
    "wave3d-8": "as of order 4",
    "gray-scott": "waits for caches and memory are added, and may pass together (planning/DECISIONS.md)",
    "maxwell3d": "as of Gray-Scott",
}
SOURCE = """
extern "C" float work(long turns) {
    float a[128];
    for (int k = 0; k < 128; ++k) a[k] = 1.0f + k * 0x1p-20f;
    for (long i = 0; i < turns; ++i)
        for (int k = 0; k < 128; ++k) a[k] = a[k] * 0.999999f + 1e-6f;
    float sum = 0.0f;
    for (int k = 0; k < 128; ++k) sum += a[k];
    return sum;
}
extern "C" void move(float *__restrict to, const float *__restrict from, long count, long turns) {
    for (long i = 0; i < turns; ++i) {
        for (long k = 0; k < count; ++k) to[k] = from[k] + 1.0f;
        __asm__ volatile("" : : "r"(to) : "memory");
    }
}
"""
NEAR, SECOND, MOVED = 1 << 14, 1 << 19, 1 << 28  # bytes of both arrays, and in one measurement
TURNS = 1 << 20


def compiled(folder):
    """The loops that ceilings are measured with, compiled as kernels are."""
    source, library = Path(folder, "ceilings.cpp"), Path(folder, "ceilings.so")
    source.write_text(SOURCE)
    tools = find_toolchain()
    subprocess.run([*tools.command, source, *tools.flags, "-fvisibility=default", "-o", library], check=True)
    code = ctypes.CDLL(str(library))
    code.move.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    code.work.argtypes, code.work.restype = [ctypes.c_long], ctypes.c_float
    return code


def seconds(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def on_lines(count):
    """Ones that begin with a line of the cache, as arrays of simulations do."""
    values = np.ones(count + 16, np.float32)
    first = -values.ctypes.data % 64 // 4
    return values[first : first + count]


def ceilings(code, arrays_bytes):
    """Measure the figures of one round, each when it is called; memory by as many bytes as a problem's arrays have."""
    arrays = {size: [on_lines(size // 8) for _ in range(2)] for size in (NEAR, SECOND, arrays_bytes)}

    def moved(size):
        to, origin = arrays[size]
        turns = -(-MOVED // size)
        return size * turns / seconds(lambda: code.move(to.ctypes.data, origin.ctypes.data, size // 8, turns))

    def there_and_back():
        """As steps do that read what the last one wrote."""
        to, origin = (array.ctypes.data for array in arrays[arrays_bytes])
        turns = -(-MOVED // arrays_bytes)
        both = [(to, origin), (origin, to)] * turns
        count = arrays_bytes // 8
        return arrays_bytes * len(both) / seconds(lambda: [code.move(*pair, count, 1) for pair in both])

    def figures():
        memory = 1.5 * there_and_back()  # lines that are written come in first
        flops = 128 * TURNS / seconds(lambda: code.work(TURNS))  # 2 x 128 in f32, which count half
        near, second = (CacheLevel(size, moved(size)) for size in (NEAR, SECOND))
        return HostFigures(memory, flops, "this round", (near, second, CacheLevel(arrays_bytes, memory)))

    return figures


def simulation_of(problem, shape, schedule):
    machine = problem.machine("f32")
    arrays = (np.ascontiguousarray(array, np.float32) for array in problem.start(shape))
    fields = dict(zip([field.name for field in machine.graph.fields], arrays, strict=True))
    return machine.simulate(backend="openmp", threads=1, schedule=schedule, **fields)


def measure(name, shape, code, rounds):
    """Lines of one problem, and whether both predictions are within 25 %."""
    problem, extents = problem_named(name), tuple(shape)
    runs = {
        "step": (simulation_of(problem, shape, "stepwise"), 16),
        "tile": (simulation_of(problem, shape, "diamond"), 64),
    }
    kernels = {kind: run.compiled.plan.main for kind, (run, _) in runs.items()}
    figures = ceilings(code, memory_bytes(runs["step"][0].compiled.plan, extents) // 8 * 8)
    sizes = tile_sizes_here(kernels["tile"], extents, runs["tile"][0].compiled.plan.choices.plan.tiling, 1)
    for run, steps in runs.values():
        run.run(steps, progress=silent)
    found = {kind: [] for kind in runs}
    for _ in range(rounds):
        now = figures()
        told = {each.shape: each for each in forecasts(kernels["tile"], extents, sizes, now, cache_bytes())}
        for kind, (run, steps) in runs.items():
            rate = steps * prod(extents) / seconds(lambda run=run, steps=steps: run.run(steps, progress=silent))
            found[kind].append((told[kind].rate, rate, told[kind].limit))
    good = True
    for kind, rows in found.items():
        expected, rate = median(row[0] for row in rows), median(row[1] for row in rows)
        ratio = median(row[1] / row[0] for row in rows)
        good = good and abs(ratio - 1) <= 0.25
        why = "" if abs(ratio - 1) <= 0.25 else f"; {REASONS.get(name, 'not explained')}"
        print(
            f"{name:<11} {kind:<5} predicted {expected / 1e9:5.2f}, measured {rate / 1e9:5.2f} Gcells/s, "
            f"measured / predicted {ratio:4.2f} ({min(r / e for e, r, _ in rows):.2f} to "
            f"{max(r / e for e, r, _ in rows):.2f}); limit: {rows[-1][2]}{why}"
        )
    limit = least_bytes(kernels["tile"], extents, cache_bytes())
    print(f"{'':<17} tiles of {sizes}; no tiles move less than {limit:.2f} bytes an update")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[name for name, _ in CASES])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        code = compiled(folder)
        good = [measure(name, shape, code, asked.rounds) for name, shape in CASES if name in asked.only]
    print(f"{sum(good)} of {len(good)} problems are predicted within 25 %")


if __name__ == "__main__":
    main()
