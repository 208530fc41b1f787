"""Seconds of tracing and planning functions of arrays that cut what they made; run: python tests/bench/bench_cuts.py.

Each function repeats one step 16 to 1024 times (give other numbers as arguments). Times are of the processor. "slope"
is the exponent of their growth, fitted to all sizes from the second on: 2 is wanted (Accelerate, Figure 6.1).
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import workbench as wb
from workbench.frontend import collective
from workbench.frontend.positions import FunctionPositions
from workbench.language import compute
from workbench.pipeline import plan_for

SIZES = (16, 32, 64, 128, 256, 512, 1024)


def by_way_of(d, k):
    return np.minimum(d, d[:, k][:, None] + d[k, :][None, :])


FUNCTIONS = {  # a step, and the axes of what it is given
    "shortest paths by way of a node": (by_way_of, 2),
    "the same, each step stored": (lambda d, k: compute(by_way_of(d, k)), 2),
    "means of neighbours": (lambda x, _: 0.5 * (x[1:] + x[:-1]), 1),
    "sums of two elements": (lambda x, k: x + x[k] * x[k + 1], 1),
}


def repeated(step, count):
    def function(x):
        for k in range(count):
            x = step(x, k)
        return x

    return function


def main():
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    attempts = []
    collective.FunctionPositions = lambda *given: attempts.append(given) or FunctionPositions(*given)
    for name, (step, rank) in FUNCTIONS.items():
        print(f"{name}\n{'steps':>8}{'attempts':>10}{'nodes':>8}{'trace s':>10}{'plan s':>10}")
        seconds = []
        for size in sizes:
            attempts.clear()
            started = time.process_time()
            machine = wb.collective(repeated(step, size)).machine(np.ones((2048,) * rank))
            traced = time.process_time()
            plan_for(machine.graph, machine.choices, "openmp")
            planned = time.process_time()
            seconds.append(planned - started)
            nodes = sum(len(kernel.nodes) for kernel in machine.graph.kernels)
            print(
                f"{size:>8}{len(attempts):>10}{nodes:>8}{traced - started:>10.3f}{planned - traced:>10.3f}", flush=True
            )
        if len(sizes) > 2:
            print(f"   slope {np.polyfit(np.log(sizes[1:]), np.log(seconds[1:]), 1)[0]:.2f}")


if __name__ == "__main__":
    main()
