"""What padding gains: python -m tests.bench.bench_padding [--rounds N] [case ...].

A case is a machine at an edge, such as wave-8:248. With its ghost cells a row or plane of most of these sizes is a
power of two of bytes, so that the neighbours of a cell lie in few cache sets. Each round runs all paddings in turn, on
one thread, in single steps, by processor time: figures are medians of how many times as fast as "automatic" they were,
with the least and the largest.
"""

import argparse
import time
from statistics import median

from tests.bench.bench_schedules import fields_of
from workbench.planning.plan_figures import memory_bytes
from workbench.planning.tunables import paddings
from workbench.run.progress import silent
from workbench.solvers import heat, wave

MACHINES = {
    "heat": lambda: heat.machine(2),
    "heat-3d": lambda: heat.machine(3),
    "wave-2": lambda: wave.machine(3, order=2),
    "wave-8": lambda: wave.machine(3, order=8),
    "wave-8-f32": lambda: wave.machine(3, order=8, dtype="f32"),
    "wave-8-plane": lambda: wave.machine(2, order=8),
}
CASES = ("wave-8:120", "wave-8:128", "wave-8:248", "wave-8-f32:120", "wave-2:126", "heat-3d:126", "wave-8-plane:1016")
UPDATES = 1e7  # of cells, in one measurement, at least


def times_of(simulations, steps, rounds):
    taken = [[] for _ in simulations]
    for number in range(rounds + 1):
        for times, simulation in zip(taken, simulations, strict=True):
            begin = time.process_time()
            simulation.run(steps, progress=silent)
            if number:  # the first one brings code and data
                times.append(time.process_time() - begin)
    return taken


def measure(case, rounds):
    name, _, edge = case.partition(":")
    machine = MACHINES[name]().with_choices(schedule="stepwise", threads=1)
    shape = (int(edge),) * machine.graph.dim
    tried = paddings(machine.graph.dim)
    machines = [machine.with_choices(padding=lines) for lines in tried]
    memory = [memory_bytes(each.plan("openmp"), shape) for each in machines]
    simulations = [each.simulate(shape=shape, backend="openmp", **fields_of(machine, shape)) for each in machines]
    cells = int(edge) ** len(shape)
    steps = max(2, int(UPDATES / cells))
    automatic, *others = times_of(simulations, steps, rounds)
    print(f"{case:20} {1e9 * median(automatic) / steps / cells:6.2f} ns a cell", end="")
    for lines, times, taken in zip(tried[1:], others, memory[1:], strict=True):
        ratios = [before / now for before, now in zip(automatic, times, strict=True)]
        extent = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"; {lines}: {extent}, {100 * (taken / memory[0] - 1):+.1f} % memory", end="")
    print(flush=True)
    for simulation in simulations:
        simulation.close()


def main():
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("cases", nargs="*", default=CASES)
    reader.add_argument("--rounds", type=int, default=5)
    asked = reader.parse_args()
    for case in asked.cases:
        measure(case, asked.rounds)


if __name__ == "__main__":
    main()
