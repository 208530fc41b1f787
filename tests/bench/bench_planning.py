"""Seconds of tracing and planning long programs; run: python tests/bench/bench_planning.py [nodes ...].

Each program repeats one turn until it has about so many nodes. "work" is the effort of the search, which its budget
bounds; times are of the processor, planning's the median of five: look at the ratio from one size to the next, the
median of five too. All sizes are planned in turn, so that a processor that slows down slows a size and its double
alike. Garbage of tracing and of the plan before is collected before each plan.
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
        graphs, traced = [], []
        for size in sizes:
            started = time.process_time()
            graphs.append(wb.trace(HEAD.format(size // nodes) + turn + "\nu.next = v", name="long").graph)
            traced.append(time.process_time() - started)
        rounds = [[_planned(graph, efforts) for graph in graphs] for _ in range(REPEATS)]
        for i, graph in enumerate(graphs):
            _, estimates, work, ended = rounds[0][i]
            ratio = f"{median(r[i][0] / r[i - 1][0] for r in rounds):8.1f}" if i else " " * 8
            print(
                f"{len(graph.kernels[0].nodes):>8}{traced[i]:>10.2f}{median(r[i][0] for r in rounds):>10.2f}{ratio}"
                f"{estimates:>11}{work:>11}  {'yes' if ended else 'no'}",
                flush=True,
            )


def _planned(graph, efforts):
    """Processor seconds of planning ``graph``, the search's estimates, its greatest effort and whether it was ended."""
    efforts.clear()
    gc.collect()
    started = time.process_time()
    plan = plan_graph(graph)
    seconds = time.process_time() - started
    return seconds, len(efforts), max(efforts, default=0), plan.main.search_ended


main()
