"""3-D wave of order 2, float32, beside a parallel Numba version with row slices: interleaved rounds, medians.

Run it by itself: `python tests/bench/bench_wave3d.py [--cells 384] [--rounds 7] [--threads 2]`. Both update one of two
arrays in place from the other, 12 bytes a cell; boundary cells are zero.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

CELL = """
u, w = fields("u w", dtype="f32", boundary=constant(0.0))
c = param("c", 0.1, dtype="f32")
faces = (u[+1, 0, 0] + u[-1, 0, 0]) + (u[0, +1, 0] + u[0, -1, 0]) + (u[0, 0, +1] + u[0, 0, -1])
u.next = (2 - 6 * c) * u - w + c * faces
w.next = u
"""

NUMBA = """
from numba import njit, prange
@njit(parallel=True, fastmath=True)
def step(u, w, a0, a1):
    n = u.shape[2] - 2
    for z in prange(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            c = u[z, y, 1:1 + n]; o = w[z, y, 1:1 + n]
            xm = u[z, y, 0:n]; xp = u[z, y, 2:2 + n]
            ym = u[z, y - 1, 1:1 + n]; yp = u[z, y + 1, 1:1 + n]
            zm = u[z - 1, y, 1:1 + n]; zp = u[z + 1, y, 1:1 + n]
            for x in range(n):
                o[x] = a0 * c[x] - o[x] + a1 * ((zp[x] + zm[x]) + (yp[x] + ym[x]) + (xp[x] + xm[x]))
"""


def numba_march(state, steps, threads):
    import numba
    import numpy as np

    numba.set_num_threads(threads)
    names = {}
    exec(NUMBA, names)  # the contender's own text
    shape = tuple(n + 2 for n in state.shape)
    arrays = [np.zeros(shape, np.float32), np.zeros(shape, np.float32)]
    inner = (slice(1, -1),) * 3
    arrays[0][inner] = state
    arrays[1][inner] = state
    factors = np.float32(2 - 6 * np.float32(0.1)), np.float32(0.1)

    def march():
        for _ in range(steps):
            names["step"](arrays[0], arrays[1], *factors)
            arrays.reverse()

    return march, lambda: arrays[0][inner]


def workbench_march(state, steps, threads):
    from workbench.backends.base import MarchRequest
    from workbench.backends.openmp import OpenmpBackend
    from workbench.frontend.cell import trace_cell
    from workbench.planning import plan_graph

    program = OpenmpBackend().compile(plan_graph(trace_cell(CELL, name="wave", dim=3).graph))
    instance = program.instantiate(state.shape, threads)
    instance.write_field("u", state)
    instance.write_field("w", state)
    return lambda: instance.march(MarchRequest("step", steps)), lambda: instance.read_field("u")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=384)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    import numpy as np

    state = np.random.default_rng(0).normal(size=(options.cells,) * 3).astype(np.float32)
    contenders = {
        "workbench": workbench_march(state, options.steps, options.threads),
        "numba rows": numba_march(state, options.steps, options.threads),
    }
    seconds = {name: [] for name in contenders}
    for march, _ in contenders.values():
        march()
    first, second = (read() for _, read in contenders.values())
    print(f"largest difference {np.abs(first - second).max():.2e} of {np.abs(second).max():.2e}")
    for _ in range(options.rounds):
        for name, (march, _) in contenders.items():
            begin = time.perf_counter()
            march()
            seconds[name].append(time.perf_counter() - begin)
    work = options.cells**3 * options.steps / 1e9
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"{name:12} {work / median:6.2f} Gcell/s (best {work / min(times):.2f}, worst {work / max(times):.2f})")
    ratios = [b / a for a, b in zip(*seconds.values(), strict=True)]
    print(f"workbench / numba rows: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
