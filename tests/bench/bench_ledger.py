"""Milliseconds of a row of a study's ledger, of attaching to it, and of a proposal of each search.

Run: python tests/bench/bench_ledger.py [rows]. A row is an individual with seven samples, 20 kB of choices as large
programs have them, and the message of a compiler. Beside each: the same bytes appended to a plain file, so that a slow
disk is not taken for a slow ledger. A proposal is what `ask` and the `tell` of its score take, in processor time, on a
recorded landscape and in the space of 400 choices of a large solver. The load of the machine is printed.
"""

import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workbench.tuning.ledger import open_ledger
from workbench.tuning.replay import read_landscape
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.registry import STRATEGIES, make_strategy
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome, Race

ABOUT = {"program": "bench", "key": "k", "backend": "openmp", "extents": [512, 512], "tunables": []}
CHOICES = "x" * 20_000
TAIL = "y" * 4_000
LANDSCAPE = Path(__file__).resolve().parents[1] / "tuning" / "landscapes" / "jac3d.npz"
PROPOSALS = 400


def individual(number):
    draw = random.Random(number)
    outcome = Outcome("success", tuple(draw.random() for _ in range(7)), f"p{number}", 1.0, 0.5, TAIL, 0.1)
    point = tuple(draw.randrange(8) for _ in range(200))
    return Individual(number, point, CHOICES, "tile = 64", "sweep", "mutation", (1,), outcome, 1.0, 0, time.time())


def ledger_times(rows):
    individuals = [individual(number) for number in range(1, rows + 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.sqlite"
        times, worked, plain = [], [], []
        with open_ledger(path) as ledger, (Path(folder) / "plain").open("ab", buffering=0) as file:
            ledger.describe(ABOUT)
            for one in individuals:
                begin, busy = time.perf_counter(), time.process_time()
                ledger.add(one)
                middle = time.perf_counter()
                worked.append(1e3 * (time.process_time() - busy))
                file.write((one.choices + one.outcome.tail).encode())
                times.append(1e3 * (middle - begin))
                plain.append(1e3 * (time.perf_counter() - middle))
            begin = time.perf_counter()
            ledger.add_race(Race(1, rows, tuple((number, (1.0,) * 30) for number in range(1, 9))))
            race = 1e3 * (time.perf_counter() - begin)
        begin = time.perf_counter()
        Study.attach(path)
        attached = time.perf_counter() - begin
        size = path.stat().st_size / rows / 1e3
    tell("row of the ledger", times)
    tell("processor time of it", worked)
    tell("plain append", plain)
    print(f"{'race of eight':<24} {race:.3f} ms")
    print(f"{'attach':<24} {attached:.2f} s at {rows} rows of {size:.1f} kB")


def proposal_times(name, strategy, cost):
    """The first proposal, which makes the search, is not counted."""
    times, asked = [], 0
    while asked < PROPOSALS:
        begin = time.process_time()
        point = strategy.ask()
        middle = time.process_time()
        if point is None:
            break
        score = cost(point)
        again = time.process_time()
        strategy.tell(point, score)
        times.append(1e3 * (middle - begin + time.process_time() - again))
        asked += 1
    tell(name, times[1:])


def wide_space():
    """400 choices of two values, of which a few matter, as storage and barriers of a large solver do."""
    space = SearchSpace(tuple(TuningParameter(f"p{number}", ("no", "yes")) for number in range(400)))
    return space, lambda point: 2.0 ** (sum(point[1::40]) - sum(point[::40]) - 0.001 * sum(point))


def tell(name, times):
    times = sorted(times)
    count = len(times)
    mean, median, late = sum(times) / count, times[count // 2], times[count * 99 // 100]
    print(f"{name:<24} mean {mean:.3f} ms, median {median:.3f}, 99 % within {late:.3f}, longest {times[-1]:.1f}")


def main():
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    ledger_times(int(sys.argv[1]) if sys.argv[1:] else 10_000)
    landscape = read_landscape(LANDSCAPE)
    wide, cost = wide_space()
    for name in STRATEGIES:
        start = (next(iter(landscape.space)),)
        proposal_times(
            f"{name}, jac3d", make_strategy(name, landscape.space, start, 1), lambda p: 1 / landscape.costs[p]
        )
        if name != "exhaustive":
            proposal_times(f"{name}, 400 choices", make_strategy(name, wide, ((0,) * 400,), 1), cost)


main()
