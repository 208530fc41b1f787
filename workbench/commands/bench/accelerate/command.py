"""`workbench bench accelerate`: measures the programs, one after the other, and writes the tables."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.amounts import seconds_text
from workbench.backends.processor import available_threads
from workbench.backends.teams import check_threads
from workbench.commands.bench.accelerate.ablations import ABLATIONS, FEW_STEPS, STEPS, point
from workbench.commands.bench.accelerate.first_calls import MOST_PROCESSES, first_calls
from workbench.commands.bench.accelerate.matrices import MATRICES
from workbench.commands.bench.accelerate.measure import BACKEND, ProgramRounds, contenders, making_of
from workbench.commands.bench.accelerate.others import LIBRARIES, has
from workbench.commands.bench.accelerate.page import first_calls_text, page, table_lines
from workbench.commands.bench.accelerate.rehearsal import rehearsed
from workbench.commands.bench.accelerate.results import AccelerateResults, ProgramResult, Timing
from workbench.commands.bench.accelerate.row import Call, Inputs, ProgramRow
from workbench.commands.bench.accelerate.rows import ROWS, THESIS, named
from workbench.commands.bench.command import host_figures, write_file
from workbench.commands.bench.processors import processors_of
from workbench.commands.report import report_path
from workbench.errors import RunError

NAME = "accelerate"
_SEED = 2015
_MOST_SECONDS = 10.0  # of a call of another system
Say = Callable[[str], None]
_Runs = Iterable[tuple[Timing, Call | None]]

PARTS = ("matrices", "ablations", "first_calls")
"""What is measured beside the programs, as --only names it."""


@dataclass(frozen=True, slots=True)
class AccelerateRequest:
    """The command line.

    only: names of programs and of PARTS, () for all. inputs: of which size. seconds: what a call of another system may
    take; 0 for the default.
    """

    only: tuple[str, ...] = ()
    threads: int = 0
    rounds: int = 9
    inputs: Inputs = "usual"
    seconds: float = 0.0
    json: Path | None = None
    report: Path | None = None


def run_table(request: AccelerateRequest, say: Say) -> AccelerateResults:
    """Measure, say what is known as soon as it is, write the files. Raises RunError for what cannot be."""
    chosen = named(request.only, (*(row.name for row in ROWS), *PARTS))
    check_threads(request.threads)
    if request.rounds < 1:
        raise RunError(f"--rounds {request.rounds} is too small", advice="Use 1 or more.")
    if request.seconds < 0:
        raise RunError(f"--seconds {request.seconds:g} cannot be measured", advice="Use more than 0.")
    threads = request.threads or available_threads()
    absent = tuple(library for library in LIBRARIES if not has(library))
    for library in absent:
        say(f"  {library}: not installed. {sys.executable} -m pip install {library.lower()}")
    run = _Run(request, threads, say, AccelerateResults(threads, request.rounds, host_figures(), absent=absent))
    with _own_cache(threads) as folder, processors_of(threads):
        try:
            run.measure(chosen, folder)
        except KeyboardInterrupt:
            run.table = replace(run.table, interrupted=True)
            say("interrupted; the report has the whole rounds that were measured")
    table = run.table
    for line in table_lines(table):
        say(line)
    report = report_path(request.report, f"{NAME}.html")
    write_file(report, page(table))
    say(f"report: {report}")
    if request.json is not None:
        write_file(request.json, json.dumps(table.to_dict(), indent=1))
        say(f"figures: {request.json}")
    return table


class _Run:
    """What is measured; `table` is whole after each round."""

    def __init__(self, request: AccelerateRequest, threads: int, say: Say, table: AccelerateResults) -> None:
        self.table = table
        self._threads, self._say, self._inputs = threads, say, request.inputs
        self._asked = request.threads
        self._rounds, self._most = request.rounds, request.seconds or _MOST_SECONDS

    def measure(self, chosen: tuple[str, ...], folder: Path) -> None:
        """The programs and parts of these names; folder: a build cache for what is compiled once more."""
        for row in ROWS:
            if row.name in chosen:
                self._program(row, "programs", folder)
        if "matrices" in chosen:
            for row in MATRICES:
                self._program(row, "matrices", folder)
        if "ablations" in chosen:
            self._ablations()
        if "first_calls" in chosen:
            for found in first_calls(THESIS, self._asked, min(self._rounds, MOST_PROCESSES)):
                self.table = replace(self.table, first_calls=(*self.table.first_calls, found))
                self._say(f"  {first_calls_text(found)}")

    def _program(self, row: ProgramRow, of: Literal["programs", "matrices"], folder: Path) -> None:
        rehearsal = rehearsed(row, self._inputs)
        refusal = "" if rehearsal is None else rehearsal.row_refusal()
        if refusal:
            self.table = replace(self.table, left_out=(*self.table.left_out, (row.title, refusal)))
            self._say(f"  {row.title}: {refusal}")
            return
        case = row.case(self._inputs)
        making = making_of(case, folder) if of == "programs" else None
        program = ProgramResult(row.name, row.title, case.size, making=making, flops=row.flops(case))
        runs = contenders(case, self._threads, rehearsal, self._most)
        for now in _raced(program, runs, case.tolerance, self._rounds, self._most):
            self.table = self.table.with_program(now, of)
        self._say(f"  {row.title}, {case.size}: {_words(now)}")

    def _ablations(self) -> None:
        """The ablations, then the curve."""
        how = {"backend": BACKEND, "threads": self._threads}
        for name, title, make in ABLATIONS:
            size, calls = make(np.random.default_rng(_SEED), self._inputs, how)
            runs: _Runs = [
                (Timing(label, label, note=call), None) if isinstance(call, str) else (Timing(label, label), call)
                for label, call in calls.items()
            ]
            for now in _raced(ProgramResult(name, title, size), runs, 0.0, self._rounds):
                self.table = self.table.with_program(now, "ablations")
            self._say(f"  {title}, {size}: {_words(now)}")
        for steps in FEW_STEPS if self._inputs == "small" else STEPS:
            self.table = replace(self.table, curve=(*self.table.curve, point(steps)))


def _raced(
    program: ProgramResult, runs: _Runs, tolerance: float, rounds: int, most: float = math.inf
) -> Iterator[ProgramResult]:
    """The program before the first round and after each."""
    race = ProgramRounds(program, runs, tolerance, most)
    yield race.program
    for _ in range(rounds):
        race.round()
        yield race.program


def _words(program: ProgramResult) -> str:
    return ", ".join(f"{t.label} {seconds_text(t.median) if t.seconds else t.note}" for t in program.timings)


@contextlib.contextmanager
def _own_cache(threads: int) -> Iterator[Path]:
    """An empty build cache that goes away, and as many threads for Numba; idle threads of all sleep.

    Gives a folder that goes with it.
    """
    names = {"NUMBA_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "JAX_PLATFORMS": "cpu"}
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        before = {name: os.environ.get(name) for name in (*names, "WORKBENCH_CACHE")}
        os.environ.update(names, WORKBENCH_CACHE=str(Path(folder) / "cache"))
        try:
            yield Path(folder) / "one-by-one"
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
