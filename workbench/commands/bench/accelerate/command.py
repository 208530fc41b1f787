"""`workbench bench accelerate`: measures the programs, one after the other, and writes the tables."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.amounts import seconds_text
from workbench.backends.processor import available_threads
from workbench.backends.teams import check_threads
from workbench.commands.bench.accelerate.ablations import ABLATIONS, FEW_STEPS, STEPS, point
from workbench.commands.bench.accelerate.measure import BACKEND, ProgramRounds, contenders, making_of
from workbench.commands.bench.accelerate.page import page, table_lines
from workbench.commands.bench.accelerate.results import AccelerateResults, ProgramResult, Timing
from workbench.commands.bench.accelerate.row import Call
from workbench.commands.bench.accelerate.rows import LIBRARIES, has, rows_named
from workbench.commands.bench.command import host_figures, write_file
from workbench.commands.report import report_path
from workbench.errors import RunError

NAME = "accelerate"
_SEED = 2015
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AccelerateRequest:
    """The command line. only: names of programs, () for all and the ablations; small: inputs of a few elements."""

    only: tuple[str, ...] = ()
    threads: int = 0
    rounds: int = 9
    small: bool = False
    json: Path | None = None
    report: Path | None = None


def run_table(request: AccelerateRequest, say: Say) -> AccelerateResults:
    """Measure, say what is known as soon as it is, write the files. Raises RunError for what cannot be."""
    rows = rows_named(request.only)
    check_threads(request.threads)
    if request.rounds < 1:
        raise RunError(f"--rounds {request.rounds} is too small", advice="Use 1 or more.")
    threads = request.threads or available_threads()
    absent = tuple(library for library in LIBRARIES if not has(library))
    for library in absent:
        say(f"  {library}: not installed. {sys.executable} -m pip install {library.lower()}")
    table = AccelerateResults(threads, request.rounds, host_figures(), absent=absent)
    with _own_cache(threads):
        try:
            for row in rows:
                case = row.make(np.random.default_rng(_SEED), request.small)
                program = ProgramResult(row.name, row.title, case.size, making=making_of(case))
                for now in _raced(program, contenders(case, threads), case.tolerance, request.rounds):
                    table = table.with_program(now)
                say(f"  {row.title}, {case.size}: {_words(table.programs[-1])}")
            if not request.only:
                table = _ablated(table, request.small, say)
        except KeyboardInterrupt:
            table = replace(table, interrupted=True)
            say("interrupted; the report has the whole rounds that were measured")
    for line in table_lines(table):
        say(line)
    report = report_path(request.report, f"{NAME}.html")
    write_file(report, page(table))
    say(f"report: {report}")
    if request.json is not None:
        write_file(request.json, json.dumps(table.to_dict(), indent=1))
        say(f"figures: {request.json}")
    return table


def _ablated(table: AccelerateResults, small: bool, say: Say) -> AccelerateResults:
    """The ablations, then the curve."""
    how = {"backend": BACKEND, "threads": table.threads}
    for name, title, make in ABLATIONS:
        size, calls = make(np.random.default_rng(_SEED), small, how)
        runs: list[tuple[Timing, Call | None]] = [(Timing(label, label), call) for label, call in calls.items()]
        for now in _raced(ProgramResult(name, title, size), runs, 0.0, table.rounds):
            table = table.with_program(now, ablation=True)
        say(f"  {title}, {size}: {_words(table.ablations[-1])}")
    for steps in FEW_STEPS if small else STEPS:
        table = replace(table, curve=(*table.curve, point(steps)))
    return table


def _raced(
    program: ProgramResult,
    runs: Iterator[tuple[Timing, Call | None]] | list[tuple[Timing, Call | None]],
    tolerance: float,
    rounds: int,
) -> Iterator[ProgramResult]:
    """The program before the first round and after each."""
    race = ProgramRounds(program, runs, tolerance)
    yield race.program
    for _ in range(rounds):
        race.round()
        yield race.program


def _words(program: ProgramResult) -> str:
    return ", ".join(f"{t.label} {seconds_text(t.median)}" for t in program.timings if t.seconds)


@contextlib.contextmanager
def _own_cache(threads: int) -> Iterator[None]:
    """An empty build cache that goes away, and as many threads for Numba; idle threads of all sleep."""
    names = {"NUMBA_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        before = {name: os.environ.get(name) for name in (*names, "WORKBENCH_CACHE")}
        os.environ.update(names, WORKBENCH_CACHE=folder)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
