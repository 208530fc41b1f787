"""Two threads against one, and a busy core beside them: python -m tests.bench.bench_threads [name ...] [--rounds N].

Each round does the same steps on one thread, on two, and on two while another process computes all the time on one of
their two cores; figures are medians of ratios inside a round, with the least and the largest. Two threads do 1.7 times
the work of one for tiles of the wave and for Euler, the others' figures are stated; the busy core makes two threads
take at most 3 times as long. The last lines say which figures miss that, and the exit status is 1 then. All runs on the
first two cores that the process may use, by the clock: on an idle machine. --seconds ends the whole after the case
under way; a case that is wanted and was not measured misses too.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from statistics import median

import numpy as np

from tests.bench.bench_schedules import fields_of, seconds
from workbench.backends.processor import available_threads, processor_name
from workbench.commands.bench.problems import problem_named
from workbench.run.progress import silent
from workbench.solvers import advection, burgers, gray_scott, heat, hydro, life, maxwell, shallow_water, wave

SCALING, COST = 1.7, 3.0  # of two threads to one at least where it is wanted, of a busy core at most
TILED_STEPS = {2: 64, 3: 32}  # in one measurement at least, by axes: several tiles in time
ABOUT = 0.4  # seconds of one measurement, of the slower one
OF_A_CASE, LEAST_ROUNDS = 20.0, 3  # seconds after which no further round is begun, once there are so many
BUSY = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the process that began it, whatever ends that one
os.sched_setaffinity(0, {int(sys.argv[1])})
print(flush=True)
while True:
    pass
"""


@dataclass(frozen=True, slots=True)
class Case:
    """machine: makes it; wanted: of two threads to one, 0 where the figure is only stated."""

    machine: object
    edge: int
    schedule: str
    wanted: float = 0.0


CASES = {
    "wave-tiles": Case(wave.machine, 2048, "diamond", SCALING),
    "wave-3d-tiles": Case(lambda: wave.machine(3), 256, "diamond", SCALING),
    "wave-3d-f32-tiles": Case(lambda: problem_named("wave3d").machine("f32"), 256, "diamond", SCALING),
    "euler-2d": Case(lambda: hydro.machine(2), 1024, "stepwise", SCALING),
    "euler-3d": Case(lambda: hydro.machine(3), 96, "stepwise", SCALING),
    "heat-tiles": Case(heat.machine, 2048, "diamond"),
    "heat-3d-tiles": Case(lambda: heat.machine(3), 256, "diamond"),
    "wave-steps": Case(wave.machine, 2048, "stepwise"),
    "wave-3d-steps": Case(lambda: wave.machine(3), 256, "stepwise"),
    "heat-steps": Case(heat.machine, 2048, "stepwise"),
    "life-tiles": Case(life.machine, 2048, "diamond"),
    "gray-scott-tiles": Case(gray_scott.machine, 1024, "diamond"),
    "maxwell-tiles": Case(maxwell.machine, 1024, "diamond"),
    "advection-tiles": Case(advection.machine, 1024, "diamond"),
    "burgers": Case(burgers.machine, 1024, "stepwise"),
    "shallow-water": Case(shallow_water.machine, 1024, "stepwise"),
}


def start_of(name, machine, shape):
    """Gas that slides along itself for Euler, smooth hills for the others."""
    if not name.startswith("euler"):
        return fields_of(machine, shape)
    arrays = problem_named(f"euler{len(shape)}d").start(shape)
    names = [field.name for field in machine.graph.fields]
    return {name: np.ascontiguousarray(array) for name, array in zip(names, arrays, strict=True)}


@contextmanager
def neighbour(core):
    """A process that computes on one core whenever the block is inside what this gives."""
    process = subprocess.Popen([sys.executable, "-c", BUSY, str(core)], stdout=subprocess.PIPE)

    @contextmanager
    def busy():
        process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            process.send_signal(signal.SIGSTOP)

    try:
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        yield busy
    finally:
        process.kill()
        process.wait()


def measure(name, rounds, busy):
    """Print a line of one case; return what two threads do of one's work and what a busy core costs."""
    case = CASES[name]
    machine = case.machine()
    shape = (case.edge,) * machine.graph.dim
    fields = start_of(name, machine, shape)
    one, two = (
        machine.simulate(backend="openmp", threads=threads, schedule=case.schedule, **fields) for threads in (1, 2)
    )
    del fields
    least = TILED_STEPS[len(shape)] if case.schedule == "diamond" else 2
    for run in (one, two):
        run.run(1, progress=silent)
    slower = max(seconds(run, least, time.perf_counter) for run in (one, two))
    steps = max(least, int(least * ABOUT / slower))
    begin, rows = time.monotonic(), []
    while len(rows) < rounds and not (len(rows) >= LEAST_ROUNDS and time.monotonic() - begin > OF_A_CASE):
        alone, both = (seconds(run, steps, time.perf_counter) for run in (one, two))
        with busy():
            beside = seconds(two, steps, time.perf_counter)
        rows.append((alone, both, beside))
    for run in (one, two):
        run.close()
    ratios, costs = [row[0] / row[1] for row in rows], [row[2] / row[1] for row in rows]
    rates = [steps * prod(shape) / median(row[k] for row in rows) / 1e6 for k in range(2)]
    wanted = f", {case.wanted} wanted" if case.wanted else ""
    print(
        f"{name:<18}{'x'.join(map(str, shape)):<12} one {rates[0]:7.1f}, two {rates[1]:7.1f} Mcells/s: "
        f"{median(ratios):4.2f} ({min(ratios):.2f} to {max(ratios):.2f}{wanted}); beside a busy core "
        f"{median(costs):4.2f} times as long ({min(costs):.2f} to {max(costs):.2f}); {len(rows)} rounds of {steps} "
        "steps",
        flush=True,
    )
    return median(ratios), median(costs)


def misses(name, found):
    """Lines about what one case misses; found: None where it was not measured."""
    wanted = CASES[name].wanted
    if found is None:
        return [f"{name}: not measured"] if wanted else []
    ratio, cost = found
    lines = [f"{name}: two threads do {ratio:.2f} times the work of one, {wanted} is wanted"] if ratio < wanted else []
    if cost > COST:
        lines.append(f"{name}: a busy core beside costs {cost:.2f} times the time, {COST} is the most")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=300.0, help="after which no further case is begun")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in CASES]
    if unknown:
        parser.error(f"there is no {unknown[0]}; use some of: {', '.join(CASES)}")
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    if available_threads() < 2:
        parser.error("two cores are needed, and this process may keep one busy")
    print(f"{processor_name()}, cores {cores}, load {os.getloadavg()[0]:.1f}", flush=True)
    begin, missed = time.monotonic(), []
    with neighbour(cores[1]) as busy:
        for name in asked.names:
            left = asked.seconds - (time.monotonic() - begin)
            if left <= 0:
                print(f"{name} not measured: {asked.seconds:.0f} s are over", flush=True)
            missed += misses(name, measure(name, asked.rounds, busy) if left > 0 else None)
    print("\n".join(missed) if missed else "all figures are as wanted")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
