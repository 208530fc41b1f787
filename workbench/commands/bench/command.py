"""`workbench bench`: lists the problems, or measures one of them, and writes what it found."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench._version import __version__
from workbench.amounts import seconds_text
from workbench.backends.host import ensure_figures
from workbench.backends.processor import available_threads, processor_name
from workbench.backends.teams import check_threads
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.commands.bench.budget import TimeBudget
from workbench.commands.bench.contenders import CONTENDERS, absence, chosen, version
from workbench.commands.bench.measure import Bench, Workload, shape_text
from workbench.commands.bench.page import cut_text, headline, page, table_lines
from workbench.commands.bench.problem import Problem, Shape
from workbench.commands.bench.problems import PROBLEMS, problem_named
from workbench.commands.bench.results import BenchResults
from workbench.commands.report import report_path
from workbench.errors import RunError
from workbench.run.whole_file import whole_file

_LEAST = 16  # cells along an axis
_LEAST_BUDGET, _MOST_BUDGET = 1, 86400  # seconds
_LANES = {"f32": 2, "f64": 1}  # operations of that type for one of f64 in a vector
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """The command line. shape: () for the problem's own, one number for all axes; dtype "": the problem's own."""

    problem: str
    only: tuple[str, ...] = ()
    shape: Shape = ()
    dtype: str = ""
    threads: int = 0
    rounds: int = 9
    seconds: float = 0.5
    sizes: int = 4
    budget: float = 240.0
    json: Path | None = None
    report: Path | None = None


def list_problems(say: Say) -> None:
    """The problems, the contenders that are here, and those that are not."""
    width = 2 + max(*(len(problem.name) for problem in PROBLEMS), *(len(row.name) for row in CONTENDERS))
    say("problems:")
    for problem in PROBLEMS:
        say(f"  {problem.name:<{width}}{problem.title}: {problem.scheme}")
        say(f"  {'':<{width}}{shape_text(problem.shape)} cells, {problem.dtype}")
    say("contenders:")
    for row in CONTENDERS:
        absent = absence(row)
        state = version(row) if absent is None else f"{absent.reason}. {absent.advice}".strip()
        say(f"  {row.name:<{width}}{row.label}: {state}" + ("" if row.usual else "; runs if --only names it"))
    say("for example: workbench bench heat2d --rounds 5 -o heat.html")
    say("programs of whole arrays, and what fusion does to them: workbench bench accelerate")


def run_bench(request: BenchRequest, say: Say) -> BenchResults:
    """Measure as asked for, say what is known as soon as it is, write the files. Raises RunError for what cannot be."""
    budget = TimeBudget(request.budget)
    problem = problem_named(request.problem)
    rows = chosen(request.only)
    workload = _workload(problem, request)
    cells, threads = shape_text(workload.shape), workload.threads
    say(f"{problem.title}: {problem.scheme}; {cells} cells, {workload.dtype}, {threads} threads")
    say(f"at most {seconds_text(budget.seconds)} (--budget); Ctrl-C ends it with a report of what was measured")
    results = BenchResults(
        problem=problem.name,
        title=problem.title,
        scheme=problem.scheme,
        cell=problem.machine(workload.dtype).text.strip("\n"),
        shape=workload.shape,
        dtype=workload.dtype,
        threads=workload.threads,
        rounds=workload.rounds,
        host=host_figures(),
        peak=ensure_figures().flops * _LANES[workload.dtype],
    )
    results = Bench(problem, workload, rows, results, say, budget).run()
    if results.interrupted:
        say(f"interrupted after {results.done} of {results.rounds} rounds; the report has what was measured")
    if results.cut:
        say(cut_text(results))
    for line in table_lines(results) if results.done else ():
        say(line)
    say(headline(results))
    report = report_path(request.report, f"{problem.name}.html")
    write_file(report, page(results))
    say(f"report: {report}")
    if request.json is not None:
        write_file(request.json, json.dumps(results.to_dict(), indent=1))
        say(f"figures: {request.json}")
    return results


def _workload(problem: Problem, request: BenchRequest) -> Workload:
    """The numbers, checked; each error names its option."""
    shape = request.shape or problem.shape
    if len(shape) == 1:
        shape = shape * problem.dim
    if len(shape) != problem.dim:
        raise RunError(
            f"--shape {'x'.join(map(str, shape))} has {len(shape)} axes, {problem.name} has {problem.dim}",
            advice=f"Give {problem.dim} numbers, such as {'x'.join(map(str, problem.shape))}, or one for all axes.",
        )
    if min(shape) < _LEAST:
        raise RunError(
            f"--shape {'x'.join(map(str, shape))} is too small to measure",
            advice=f"Use at least {_LEAST} cells along each axis.",
        )
    for name, number, least in (("rounds", request.rounds, 1), ("sizes", request.sizes, 0)):
        if number < least:
            raise RunError(f"--{name} {number} is too small", advice=f"Use {least} or more.")
    if not 0 < request.seconds <= 60:
        raise RunError(f"--seconds {request.seconds:g} cannot be measured", advice="Use more than 0, at most 60.")
    if not _LEAST_BUDGET <= request.budget <= _MOST_BUDGET:
        raise RunError(
            f"--budget {request.budget:g} is no number of seconds to measure in",
            advice=f"Use {_LEAST_BUDGET} to {_MOST_BUDGET}.",
        )
    check_threads(request.threads)
    return Workload(
        shape,
        request.dtype or problem.dtype,
        request.threads or available_threads(),
        request.rounds,
        request.seconds,
        request.sizes,
    )


def write_file(path: Path, text: str) -> None:
    """The whole file, or none."""
    with whole_file(path.expanduser().absolute()) as file:
        file.write(text.encode())


def host_figures() -> dict[str, str]:
    """What the measurements ran on, for a report."""
    toolchain = find_toolchain()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "processor": processor_name(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "load at first": f"{os.getloadavg()[0]:.1f}",
        "compiler": str(toolchain) if isinstance(toolchain, Toolchain) else toolchain.reason,
        "workbench": f"{__version__}, Python {platform.python_version()}, NumPy {np.__version__}",
    }
