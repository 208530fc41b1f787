"""The first result of the quickstart's cell, cold and warm: python -m tests.bench.bench_first [--rounds N].

Each is a new process, from the moment that it is asked for: start of Python, import, trace, plan, text, compiler, run.
Cold is with an empty build cache, warm the same once more. Each round does this for "auto", as in the quickstart, for
"stepwise" and for "diamond", so that what tiles cost is a difference inside a round; figures are medians of rounds.
Wanted is at most 2 s more than "stepwise" cold and nothing more warm; below 0.05 s a process differs from the next. The
last lines say what misses, and the exit status is 1 then. --cells: of the line; larger ones than the quickstart's 1024
are tiled by "auto" too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from workbench.commands.demo import WAVE

ROOT = Path(__file__).resolve().parents[2]
SCHEDULES = ("stepwise", "auto", "diamond")
PARTS = ("import", "backends", "trace", "plan", "text", "compiler", "run", "all")
MOST = {"cold": 2.0, "warm": 0.05}  # seconds more than stepwise
CELLS = 1024


def first_result(schedule, cells, cache):
    """Seconds of the parts, in a new process with this build cache."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WORKBENCH_CACHE": str(cache)}
    script = str(Path(__file__).with_name("first_result.py"))
    command = [sys.executable, script, repr(time.perf_counter()), schedule, str(cells)]
    done = subprocess.run(command, input=WAVE, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def one_round(cells):
    """{(schedule, "cold" or "warm"): seconds of the parts}."""
    found = {}
    for schedule in SCHEDULES:
        with tempfile.TemporaryDirectory() as folder:
            for state in MOST:
                found[schedule, state] = first_result(schedule, cells, folder)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cells", type=int, default=CELLS)
    asked = parser.parse_args()
    print(f"{asked.cells} cells, medians of {asked.rounds} rounds in seconds, load {os.getloadavg()[0]:.1f}")
    rounds = [one_round(asked.cells) for _ in range(asked.rounds)]
    missed = []
    for state, most in MOST.items():
        print(f"{state:<10}" + "".join(f"{part:>10}" for part in PARTS) + f"{'more':>8}  (least to most)")
        for schedule in SCHEDULES:
            found = [each[schedule, state] for each in rounds]
            more = [each[schedule, state]["all"] - each["stepwise", state]["all"] for each in rounds]
            row = "".join(f"{median(seconds.get(part, 0.0) for seconds in found):10.3f}" for part in PARTS)
            print(f"{schedule:<10}{row}{median(more):8.3f}  ({min(more):.3f} to {max(more):.3f})")
            if median(more) > most:
                missed.append(f"{schedule}, {state}: {median(more):.3f} s more than stepwise, at most {most:g} wanted")
    print("\n".join(missed) if missed else "all figures are as wanted")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
