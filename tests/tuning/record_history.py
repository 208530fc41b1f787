"""Records the studies that the history analysis is tested and taught with; goes on where it was stopped.

The paper's experiment on a processor: a solver from everything recomputed and without hints, by `paraiso` alone. It is
second-order advection in two dimensions and one thread, because a candidate of the Euler equations takes ten times
longer to compile. The second study is the component swap of its champion. To repeat both:

    python -m tests.tuning.record_history FOLDER "60 min" notebooks/data

The files in notebooks/data have 493 individuals of 40 minutes on two busy cores, where each candidate ran with raised
priority while it was timed.
"""

import lzma
import sqlite3
import sys
from pathlib import Path

import numpy as np

from workbench.solvers import advection
from workbench.tuning.history_components import hybrids
from workbench.tuning.study import Study

CELLS = 128
SEED = 2012
OPTIONS = {"backend": "openmp", "threads": 1, "fixed": ["threads"], "strategy": "paraiso", "seed": SEED}


def solver():
    return advection.machine(dim=2, order=2).with_choices(preset="as_delayed", hints=False)


def start():
    x = (np.arange(CELLS) + 0.5) / CELLS
    hill = np.exp(-((x[:, None] - 0.4) ** 2 + (x[None, :] - 0.5) ** 2) / 0.02)
    return {"u": hill, "dx0": 1 / CELLS, "dx1": 1 / CELLS}


def record(path, packed, **options):
    study = solver().tune(**start(), **OPTIONS, **options, path=path)
    study.listen(lambda study: print(study, flush=True))
    study.wait()
    with sqlite3.connect(path) as connection:  # one file, which a reader needs not write beside
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
    connection.close()
    packed.write_bytes(lzma.compress(path.read_bytes(), preset=9))


def main(folder, budget, packed):
    folder, packed = Path(folder), Path(packed)
    record(folder / "advection.sqlite", packed / "advection.sqlite.xz", budget=budget)
    found = Study.attach(folder / "advection.sqlite")
    mixed = hybrids(solver().tunables("openmp"), found.individuals[0], found.best.individual)
    record(folder / "swap.sqlite", packed / "advection-swap.sqlite.xz", budget=len(set(mixed)), start=mixed)


if __name__ == "__main__":
    main(*sys.argv[1:])
