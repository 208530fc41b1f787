"""Seconds of the programs beside NumPy, and Numba where it is installed; run: python tests/bench/bench_programs.py.

All take turns, so that what else the machine does meets all of them. "call" is what a call of tiny arrays costs. Numba
compiles a loop as one writes it by hand, on all threads.
"""

import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from workbench.programs.black_scholes import prices
from workbench.programs.dot_product import dot_product
from workbench.programs.mandelbrot import escape_times
from workbench.programs.matrix_product import matrix_product
from workbench.programs.n_body import accelerations

try:
    import numba
except ImportError:
    numba = None

TURNS = 7


def median_times(contenders, turns=TURNS):
    """{name: median seconds of a call}, each called once before it is timed."""
    times = {name: [] for name in contenders}
    for turn in range(turns + 1):
        for name, call in contenders.items():
            begin = time.perf_counter()
            call()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def plain(function):
    """The body of a program in NumPy."""
    return function.__wrapped__


def hand_loop(source, *given):
    """A loop in Numba, or nothing where there is none."""
    if numba is None:
        return {}
    names = {"numba": numba, "np": np}
    exec(source, names)
    compiled = numba.njit(parallel=True, fastmath=False)(names["loop"])
    return {"Numba": lambda: compiled(*given)}


MANDELBROT = """
def loop(x, y, step, limit, out):
    for row in numba.prange(out.shape[0]):
        for column in range(out.shape[1]):
            a = x + np.float32(column) * step
            b = y + np.float32(row) * step
            u, v, k = a, b, 0
            while k < limit and u * u + v * v <= np.float32(4):
                u, v, k = u * u - v * v + a, np.float32(2) * u * v + b, k + 1
            out[row, column] = k
"""
DOT = "def loop(x, y):\n    t = 0.0\n    for i in numba.prange(x.size):\n        t += x[i] * y[i]\n    return t"


def main():
    draw = np.random.default_rng(0)
    rows = []
    for n in (1_000_000, 20_000_000):
        x, y = draw.random(n), draw.random(n)
        calls = {"ours": lambda x=x, y=y: dot_product(x, y), "NumPy": lambda x=x, y=y: plain(dot_product)(x, y)}
        rows.append((f"dot product, {n:,}", median_times({**calls, **hand_loop(DOT, x, y)})))
    options = 5 + 25 * draw.random(2_000_000), 1 + 99 * draw.random(2_000_000), 0.25 + 9.75 * draw.random(2_000_000)
    rows.append(
        (
            "Black-Scholes, 2,000,000",
            median_times({"ours": lambda: prices(*options), "NumPy": lambda: plain(prices)(*options)}),
        )
    )
    shape, (x, y, width) = (1200, 1600), map(np.float32, (-0.5, 0.0, 3.2))
    step, turns = width / np.float32(shape[1]), np.zeros(shape, np.int64)
    corner = x - width / 2 + step / 2, y - step * np.float32(shape[0] / 2 - 0.5)
    views = {"ours": lambda: escape_times(x, y, width, 255, shape)}
    by_hand = hand_loop(MANDELBROT, *corner, step, 255, turns)
    rows.append(("Mandelbrot, 1600 x 1200, f32, 255 turns", median_times({**views, **by_hand})))
    a, b = draw.random((600, 600)), draw.random((600, 600))
    rows.append(
        (
            "matrix product, 600²",
            median_times({"ours": lambda: matrix_product(a, b), "NumPy (BLAS)": lambda: plain(matrix_product)(a, b)}),
        )
    )
    bodies = tuple(draw.random((3, 3000))), draw.random(3000)
    rows.append(
        (
            "N-body, 3,000",
            median_times({"ours": lambda: accelerations(*bodies), "NumPy": lambda: plain(accelerations)(*bodies)}),
        )
    )
    tiny = np.ones(10)
    call = median_times(
        {"ours": lambda: dot_product(tiny, tiny), "NumPy": lambda: plain(dot_product)(tiny, tiny)}, 2000
    )
    rows.append(("a call of 10 elements", call))
    print(f"medians of {TURNS}, one after the other; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for title, found in rows:
        shown = "   ".join(f"{name} {1e3 * seconds:10.4f} ms" for name, seconds in found.items())
        print(f"{title:26}{shown}")


if __name__ == "__main__":
    main()
