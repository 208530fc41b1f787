"""Seconds of tracing and planning long programs; run: python tests/bench/bench_planning.py [nodes ...].

Each program repeats one turn until it has about so many nodes. "work" is the effort of the search, which its budget
bounds; times are of the processor, planning's the median of five: look at the ratio from one size to the next. Garbage
of tracing and of the program before is collected before planning begins.
"""

import gc
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import workbench as wb
from workbench.planning import estimate
from workbench.planning.passes import plan_graph

SIZES = (200, 400, 800, 1600, 3200, 6400, 12800)
REPEATS = 5
HEAD = 'u = field("u", boundary="periodic")\nk = param("k", 0.1)\nv = u\nfor i in range({}):\n'
PROGRAMS = {  # nodes a turn and what a turn does
    "one cell farther a turn": (7, "    v = v + k * (v[+1] - 2 * v + v[-1])"),
    "the same, each turn stored": (7, "    v = manifest(v + k * (v[+1] - 2 * v + v[-1]))"),
    "a sum over shifts": (4, "    v = v + u[i + 1] * (0.5 + i)"),
    "many values beside their cell": (8, "    w = sqrt(u[+1] * (i + 0.5) + u[-1])\n    v = v + w[+1] * w[-1]"),
    "Jacobi in 2-D, stored every 20 turns": (
        11,
        "    t = v + k * (v[+1, 0] + v[-1, 0] + v[0, +1] + v[0, -1] - 4 * v)\n"
        '    v = extend(t, "periodic") if i % 20 == 19 else t',
    ),
}


def main():
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    efforts = []
    measured = estimate.Estimate.of

    def of(self, *arguments):
        result = measured(self, *arguments)
        efforts.append(self.effort)
        return result

    estimate.Estimate.of = of
    for name, (nodes, turn) in PROGRAMS.items():
        print(f"{name}\n{'nodes':>8}{'trace s':>10}{'plan s':>10}{'ratio':>8}{'estimates':>11}{'work':>11}  ended")
        last = None
        for size in sizes:
            started = time.process_time()
            graph = wb.trace(HEAD.format(size // nodes) + turn + "\nu.next = v", name="long").graph
            traced = time.process_time() - started
            times = []
            for _ in range(REPEATS):
                efforts.clear()
                gc.collect()
                started = time.process_time()
                plan = plan_graph(graph)
                times.append(time.process_time() - started)
            planned = median(times)
            ratio = f"{planned / last:8.1f}" if last else " " * 8
            last = planned
            print(
                f"{len(graph.kernels[0].nodes):>8}{traced:>10.2f}{planned:>10.2f}{ratio}"
                f"{len(efforts):>11}{max(efforts, default=0):>11}  {'yes' if plan.main.search_ended else 'no'}",
                flush=True,
            )


main()
