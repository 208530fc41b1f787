"""Speeds and plan times as ratios that are kept: python tests/bench/bench_ratios.py [--record] [--rounds N] [name ...].

A step is measured in turn with a copy of memory, and planning in turn with a fixed piece of Python, so that the ratio
says more of the code than of the machine and its load, which still moves it by a tenth. Without --record each is
compared with `ratios.json`, where the machine and its load stand too: another machine has other ratios. Below 0.9 of
what is kept the exit status is 1.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from workbench.backends.base import MarchRequest
from workbench.backends.registry import get_backend
from workbench.planning.cost import step_cost
from workbench.planning.passes import plan_graph
from workbench.solvers import heat, hydro, wave

KEPT = Path(__file__).with_name("ratios.json")
LEAST = 0.9
STEPS = {"heat 2-D step": (heat, 2, 1024), "wave 3-D step": (wave, 3, 128), "hydro 2-D step": (hydro, 2, 512)}
PLANS = {"heat 2-D plan": (heat, 2), "hydro 1-D plan": (hydro, 1), "hydro 2-D plan": (hydro, 2)}


def in_turn(work, yardstick, rounds, clock):
    """Median over rounds of yardstick seconds over work seconds; larger is faster."""
    ratios = []
    for _ in range(rounds):
        taken = []
        for function in (yardstick, work):
            begin = clock()
            function()
            taken.append(clock() - begin)
        ratios.append(taken[0] / taken[1])
    return statistics.median(ratios)


def step_ratio(kind, dim, edge, rounds):
    """Bytes that a step moves by the plan, over those that a copy moves in the same time."""
    machine = kind.machine(dim)
    program = get_backend("openmp").compile(machine.plan("openmp"))
    instance = program.instantiate((edge,) * dim)
    for static in machine.graph.fields:
        instance.write_field(static.name, np.ones((edge,) * dim, static.type.numpy))
    kernel, steps = program.plan.main.kernel.name, 10
    moved = step_cost(program.plan.main.plain).bytes_moved * edge**dim * steps
    source = np.ones(int(moved) // 16 // 4)  # a quarter of the bytes, read and written
    target = np.empty_like(source)

    def copy():
        for _ in range(4):
            np.copyto(target, source)

    def march():
        instance.march(MarchRequest(kernel, steps, observe_last=False))

    march(), copy()
    ratio = in_turn(march, copy, rounds, time.perf_counter)
    instance.close()
    return ratio


def plan_ratio(kind, dim, rounds):
    """Time of a fixed piece of Python over that of planning."""
    graph = kind.machine(dim).graph

    def python():
        found = {}
        for number in range(200_000):
            found[number % 1000, number % 7] = number
        return sorted(found)

    return in_turn(lambda: plan_graph(graph), python, max(5, rounds // 3), time.process_time)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join([*STEPS, *PLANS])}")
    parser.add_argument("--record", action="store_true", help="keep what is measured now")
    parser.add_argument("--rounds", type=int, default=31)
    parsed = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"ratios": {}}
    slower = []
    for name in parsed.names or [*STEPS, *PLANS]:
        measure, about = (step_ratio, STEPS[name]) if name in STEPS else (plan_ratio, PLANS[name])
        ratio = measure(*about, parsed.rounds)
        before = kept["ratios"].get(name)
        share = ratio / before if before else float("nan")
        print(f"{name:<18}{ratio:8.3f}   {share:6.2f} of what is kept", flush=True)
        if before and share < LEAST:
            slower.append(name)
        if parsed.record:
            kept["ratios"][name] = round(ratio, 4)
    if parsed.record:
        machine = f"{platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
        KEPT.write_text(json.dumps({"machine": machine, "ratios": kept["ratios"]}, indent=1) + "\n")
        return 0
    print(
        f"slower: {', '.join(slower)}"
        if slower
        else f"none is slower than {LEAST} of what was kept on {kept.get('machine')}"
    )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
