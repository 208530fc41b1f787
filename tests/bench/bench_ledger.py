"""Milliseconds of a row of a study's ledger, and of attaching to it; run: python tests/bench/bench_ledger.py [rows].

A row is an individual with seven samples, 20 kB of choices as large programs have them, and the message of a compiler.
Beside each: the same bytes appended to a plain file, so that a slow disk is not taken for a slow ledger.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workbench.tuning.ledger import open_ledger
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome, Race

ABOUT = {"program": "bench", "key": "k", "backend": "openmp", "extents": [512, 512], "tunables": []}
CHOICES = "x" * 20_000
TAIL = "y" * 4_000


def individual(number):
    draw = random.Random(number)
    outcome = Outcome("success", tuple(draw.random() for _ in range(7)), f"p{number}", 1.0, 0.5, TAIL, 0.1)
    point = tuple(draw.randrange(8) for _ in range(200))
    return Individual(number, point, CHOICES, "tile = 64", "sweep", "mutation", (1,), outcome, 1.0, 0, time.time())


def main():
    rows = int(sys.argv[1]) if sys.argv[1:] else 10_000
    individuals = [individual(number) for number in range(1, rows + 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.sqlite"
        times, plain = [], []
        with open_ledger(path) as ledger, (Path(folder) / "plain").open("ab", buffering=0) as file:
            ledger.describe(ABOUT)
            for one in individuals:
                begin = time.perf_counter()
                ledger.add(one)
                middle = time.perf_counter()
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
    for name, each in (("row of the ledger", times), ("plain append", plain)):
        each.sort()
        mean, median, late = sum(each) / rows, each[rows // 2], each[rows * 99 // 100]
        print(f"{name:<20} mean {mean:.3f} ms, median {median:.3f}, 99 % within {late:.3f}, longest {each[-1]:.1f}")
    print(f"{'race of eight':<20} {race:.3f} ms")
    print(f"{'attach':<20} {attached:.2f} s at {rows} rows of {size:.1f} kB")


main()
