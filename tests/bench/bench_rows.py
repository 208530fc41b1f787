"""Rows of a star of order 8 in registers, and prefetch, against what is generated: python -m tests.bench.bench_rows.

A loop by hand does one, two or four rows along y at a time, so that each value of a column is loaded once for all of
them, and fetches the next plane while it does so, or not. One thread, in processor time, so that other work matters
little; schedules take turns, figures are medians of ratios inside a round.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from functools import partial
from math import prod
from pathlib import Path
from statistics import median

import numpy as np

from tests.bench.bench_model import simulation_of
from workbench.backends.toolchain import find_toolchain
from workbench.commands.bench.problems import problem_named
from workbench.run.progress import silent

SHAPES = ((192, 256, 256), (32, 64, 256))  # beyond the second cache of common processors, and near it
UPDATES = 6e7  # of a cell in one measurement
REACH = 4
PAD = 16  # cells of a row's ghosts: rows begin with a line of the cache
SOURCE = """
static const float W[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
template <int ROWS, bool AHEAD>
static void sweep(float *__restrict w, const float *__restrict u, long nz, long ny, long nx, long sy, long sz) {
    for (long z = 0; z < nz; ++z)
        for (long y = 0; y < ny; y += ROWS) {
            const float *p = u + z * sz + y * sy;
            float *q = w + z * sz + y * sy;
            #pragma omp simd
            for (long x = 0; x < nx; ++x) {
                float column[ROWS + 8];
                #pragma GCC unroll 16
                for (int k = 0; k < ROWS + 8; ++k) column[k] = p[x + (k - 4) * sy];
                #pragma GCC unroll 8
                for (int r = 0; r < ROWS; ++r) {
                    const float *m = p + r * sy;
                    const float centre = column[r + 4];
                    float bend = 3 * W[0] * centre;
                    #pragma GCC unroll 4
                    for (int k = 1; k <= 4; ++k)
                        bend += W[k] * ((m[x - k] + m[x + k]) + (column[r + 4 - k] + column[r + 4 + k])
                                        + (m[x - k * sz] + m[x + k * sz]));
                    q[r * sy + x] = 2 * centre - q[r * sy + x] + 0.1f * bend;
                }
            }
            if (AHEAD)
                for (int r = 0; r < ROWS; ++r)
                    for (long x = 0; x < nx; x += 16) {
                        __builtin_prefetch(p + r * sy + 5 * sz + x, 0, 2);
                        __builtin_prefetch(q + r * sy + sz + x, 1, 2);
                    }
        }
}
#define LOOP(name, rows, ahead)                                                                              \\
    extern "C" void name(float *w, const float *u, long nz, long ny, long nx, long sy, long sz) {            \\
        sweep<rows, ahead>(w, u, nz, ny, nx, sy, sz);                                                        \\
    }
LOOP(one, 1, false) LOOP(two, 2, false) LOOP(four, 4, false)
LOOP(one_ahead, 1, true) LOOP(two_ahead, 2, true) LOOP(four_ahead, 4, true)
"""
NAMES = ("one", "two", "four", "one_ahead", "two_ahead", "four_ahead")


def compiled(folder):
    """The loops, compiled as kernels are."""
    source, library = Path(folder, "rows.cpp"), Path(folder, "rows.so")
    source.write_text(SOURCE)
    tools = find_toolchain()
    subprocess.run([*tools.command, source, *tools.flags, "-fvisibility=default", "-o", library], check=True)
    code = ctypes.CDLL(str(library))
    for name in NAMES:
        getattr(code, name).argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_long] * 5
    return code


def by_hand(code, shape, steps):
    """name -> steps of two arrays of zeros with ghost cells, which change places."""
    nz, ny, nx = shape
    sy = nx + 2 * PAD
    sz = sy * (ny + 2 * REACH)
    arrays = [np.zeros(sz * (nz + 2 * REACH) + PAD, np.float32) for _ in range(2)]

    def run(loop):
        firsts = [a.ctypes.data + -a.ctypes.data % 64 + 4 * (REACH * (sz + sy) + PAD) for a in arrays]
        for step in range(steps):
            loop(firsts[step % 2], firsts[1 - step % 2], nz, ny, nx, sy, sz)

    return {name: partial(run, getattr(code, name)) for name in NAMES}


def measure(code, shape, rounds):
    steps = max(1, int(UPDATES / prod(shape)))
    generated = simulation_of(problem_named("wave3d-8"), shape, "stepwise")
    runs = {**by_hand(code, shape, steps), "generated": lambda: generated.run(steps, progress=silent)}
    taken = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            begin = time.process_time()
            run()
            if number:  # the first one warms up
                taken[name].append(time.process_time() - begin)
    for name, seconds in taken.items():
        rate = steps * prod(shape) / min(seconds) / 1e9
        ratio = median(one / s for one, s in zip(taken["one"], seconds, strict=True))
        print(f"{'x'.join(map(str, shape)):<12} {name:<11} {rate:6.3f} Gcells/s at best, {ratio:5.2f} times one row's")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        code = compiled(folder)
        for shape in SHAPES:
            measure(code, shape, asked.rounds)


if __name__ == "__main__":
    main()
