"""A real study and what it is worth: python -m tests.bench.bench_tuning PROGRAM [--budget "30 min"] [--compare S].

The study is kept in a file and goes on there when the same command runs again; Ctrl-C or a termination ends it with all
that it has found. Printed are how the best score rose, the statuses of all candidates and the best one; --picture
writes the curve. --compare leaves the search out: it measures the start, hand annotations and the champion of the file
in turn, so that its ratios say little of the load, and --exam runs the champion's accuracy exam.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from math import prod
from statistics import median

import numpy as np

from workbench.amounts import seconds_text
from workbench.planning.exchange import from_json
from workbench.run.progress import silent
from workbench.solvers import gray_scott, hydro, wave
from workbench.tuning.study import Study
from workbench.views.drawing.shapes import to_svg
from workbench.views.study.drawing import draw_study
from workbench.views.study.summary import summarise_study

TILES = ("tiling", "cpu", "build")
PROGRAMS = {
    "hydro": (lambda: hydro.machine(2), (512, 512), None),
    "hydro-f32": (lambda: hydro.machine(2, dtype="f32"), (512, 512), None),
    "hydro-3d": (lambda: hydro.machine(3), (80, 80, 80), None),
    "hydro-delayed": (
        lambda: hydro.machine(2, manifest=None).with_choices(preset="as_delayed", hints=False),
        (512, 512),
        None,
    ),
    "wave-3d": (lambda: wave.machine(3), (192, 192, 192), TILES),
    "gray-scott": (lambda: gray_scott.machine(), (512, 512), None),
}
"""The program, its extents, and what of it is tuned (None: all)."""
HANDS = {"none": None, "DM": ("riemann",), "MD": ("primitives",), "MM": ("primitives", "riemann")}
"""Hand annotations of hydro, as in the Paraiso paper's Table 5: primitives and Riemann result, Delayed or Manifest."""
SAMPLE_SECONDS = 0.1
WARMING = 4  # steps


def hills(shape, phase=0.0):
    """A smooth positive function of period one domain."""
    hill = np.ones(())
    for edge in shape:
        hill = np.multiply.outer(hill, 1 + 0.3 * np.sin(2 * np.pi * np.arange(edge) / edge + phase))
    return hill


def start_of(machine, shape):
    """Fields by name: a gas that moves, a wave, or two substances."""
    found = {field.name: hills(shape, number) for number, field in enumerate(machine.graph.fields)}
    if machine.name == "hydro":
        found |= {name: 0.1 * hills(shape) for name in found if name.startswith("momentum")}
        found["energy"] = 2.5 * found["energy"]
    return found


def curve(study):
    """How the best score rose: minutes since the first result, number, score and what was changed."""
    first, best, lines = None, 0.0, []
    for one in study.individuals:
        first = one.told if first is None else first
        if one.score is not None and one.score > best:
            best = one.score
            minutes = (one.told - first) / 60
            lines.append(
                f"  {minutes:6.1f} min {one.number:5d}  {best / 1e6:9.3f} Mcells/s  {one.strategy:<12} {one.birth}"
            )
    return lines


def search(asked, machine, shape, only):
    """Tune until the budget ends or somebody interrupts."""
    study = machine.tune(
        **start_of(machine, shape), backend=asked.backend, threads=asked.threads, budget=asked.budget,
        strategy=asked.strategy, seed=asked.seed, workers=asked.workers, path=asked.path, only=only,
    )  # fmt: skip
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        study.wait()
    except KeyboardInterrupt:
        study.stop().wait()
        print("interrupted; the same command goes on with the study")
    return study


def tell(study, picture):
    """The study in words, and its curve."""
    print(*curve(study), sep="\n")
    print("statuses", dict(Counter(one.outcome.status for one in study.individuals)))
    print(summarise_study(study).text())
    print(study)
    print(study.best)
    print(f"kept in {study.path}")
    if picture:
        with open(picture, "w", encoding="utf-8") as file:
            file.write(to_svg(draw_study(summarise_study(study))))


def contenders(name, machine, study, numbers):
    """The start first; the hand annotations of hydro; individuals that are asked for; the champion last."""
    found = {"start": machine}
    if name.startswith("hydro"):
        dim, dtype = machine.graph.dim, "f32" if name.endswith("f32") else "f64"
        found |= {f"hand {key}": hydro.machine(dim, dtype=dtype, manifest=value) for key, value in HANDS.items()}
    if name == "wave-3d":
        found["stepwise"] = machine.with_choices(schedule="stepwise")
    for number in numbers:
        found[f"number {number}"] = machine.with_choices(from_json(study.individuals[number - 1].choices))
    return found | {"champion": machine.with_choices(study.best.choices)}


def measured(run, steps):
    begin = time.perf_counter()
    run.run(steps, progress=silent)
    return (time.perf_counter() - begin) / steps


def compare(asked, name, machine, shape, study):
    """Median and least seconds a step of each, and its speed over the first, in rounds of all."""
    fields, named = start_of(machine, shape), contenders(name, machine, study, asked.numbers)
    runs = {
        key: one.with_choices(threads=asked.threads).simulate(backend=asked.backend, **fields)
        for key, one in named.items()
    }
    for run in runs.values():
        run.run(WARMING, progress=silent)
    steps = {key: max(asked.steps, round(SAMPLE_SECONDS / measured(run, WARMING))) for key, run in runs.items()}
    rows, end = {key: [] for key in runs}, time.monotonic() + asked.compare
    while time.monotonic() < end:
        for key, run in runs.items():
            rows[key].append(measured(run, steps[key]))
    first = next(iter(rows.values()))
    for key, row in rows.items():
        ratio = median(a / b for a, b in zip(first, row, strict=True))
        print(
            f"  {key:<10} median {seconds_text(median(row))}, least {seconds_text(min(row))} a step, "
            f"{prod(shape) / min(row) / 1e6:.2f} Mcells/s; speed over the start {ratio:.3f} by medians of {len(row)} "
            f"rounds, {min(first) / min(row):.3f} by least"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--budget", default="30 min")
    parser.add_argument("--strategy", default="portfolio")
    parser.add_argument("--backend", default="openmp")
    parser.add_argument("--path", help="the study's file; by default in the user's data folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--edge", type=int, help="of the grid along each axis")
    parser.add_argument("--picture", help="an SVG file")
    parser.add_argument("--compare", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument(
        "--steps", type=int, default=WARMING, help="of a sample at least; tiles need as many as their depth"
    )
    parser.add_argument("--numbers", type=int, nargs="*", default=[], help="individuals to compare as well")
    parser.add_argument("--exam", action="store_true")
    asked = parser.parse_args()
    if (asked.compare or asked.exam) and asked.path is None:
        parser.error("--compare and --exam need the study's file: --path FILE; the search prints where it is")
    asked.budget = int(asked.budget) if asked.budget.isdecimal() else asked.budget
    make, shape, only = PROGRAMS[asked.program]
    machine, shape = make(), (asked.edge,) * len(shape) if asked.edge else shape
    print(f"{asked.program} {shape}, {asked.threads} threads, load {os.getloadavg()[0]:.1f}", flush=True)
    if asked.compare or asked.exam:
        study = Study.attach(asked.path)
        if asked.compare:
            compare(asked, asked.program, machine, shape, study)
        if asked.exam:
            exam = study.best.exam(resolutions=(16, 32, 64), problems=("entropy", "sod"))
            print(exam)
            return 0 if exam.passed else 1
        return 0
    tell(search(asked, machine, shape, only), asked.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
