"""First calls: what a program takes in a fresh process, with an empty build cache and with one that has its library.

`python -m workbench.commands.bench.accelerate.first_calls NAME THREADS` is such a process: it calls the program with
inputs of a few elements, again and again, and prints a JSON object.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

from workbench.array_function import Collective
from workbench.backends.build_cache import counters
from workbench.backends.compile_pool import Built
from workbench.backends.openmp import OpenmpProgram
from workbench.codegen.source import Source
from workbench.commands.bench.accelerate.measure import BACKEND
from workbench.commands.bench.accelerate.results import FirstCalls
from workbench.commands.bench.accelerate.row import Call, ProgramRow
from workbench.commands.bench.accelerate.rows import THESIS
from workbench.errors import RunError
from workbench.planning.plan import Plan

MOST_PROCESSES = 3  # of a kind for each program: they take seconds each
_LATER = 200  # calls at most
_SECONDS = 0.5  # of later calls, about
_LAST_LINES = 3  # of what a process printed that failed


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """Of one process: seconds of its first and of a later call beside the run, and how many files it compiled.

    around: of a later call what Python makes before and after the call of the program, as arguments of a picture.
    """

    first: float
    later: float
    compiled: int
    around: float = 0.0


def first_calls(rows: tuple[ProgramRow, ...], threads: int, processes: int) -> Iterator[FirstCalls]:
    """Of each row in turn, by so many processes of each kind. RunError if one fails.

    threads: 0 leaves their number to the program, as calls do that name none: one for a run of a few elements.
    """
    for row in rows:
        found = FirstCalls(row.name, row.title)
        for _ in range(processes):
            with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
                cold, warm = (_asked(row.name, threads, Path(folder)) for _ in range(2))
            found = replace(
                found,
                cold=(*found.cold, cold.first),
                warm=(*found.warm, warm.first),
                later=(*found.later, warm.later),
                around=(*found.around, warm.around),
                compiled=(max(found.compiled[0], cold.compiled), max(found.compiled[1], warm.compiled)),
            )
        yield found


def _asked(name: str, threads: int, cache: Path) -> ProcessTimes:
    """What a fresh process says."""
    command = [sys.executable, "-m", "workbench.commands.bench.accelerate.first_calls", name, str(threads)]
    environ = {**os.environ, "WORKBENCH_CACHE": str(cache)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        raise RunError(
            f"a process that calls {name} ended with {done.returncode}: {said}",
            advice="Leave out first_calls by --only.",
        )
    return ProcessTimes(**json.loads(done.stdout.splitlines()[-1]))


def timed_calls(
    call: Call,
    ran: Callable[[], float],
    clock: Callable[[], float] = time.perf_counter,
    called: Callable[[], float] | None = None,
) -> ProcessTimes:
    """Call again and again; a later call is the median of many.

    ran: seconds that compiled programs have run so far, which are taken away. clock: seconds that only grow. called:
    seconds that calls of programs have taken so far; None where there is nothing around them.
    """

    def seconds() -> tuple[float, float]:
        inside, begin = ran(), clock()
        before = begin if called is None else called()
        call()
        whole = clock() - begin
        program = whole if called is None else called() - before
        return program - (ran() - inside), whole - program

    first, compiled = sum(seconds()), counters().compiled
    later, begin = [seconds()], clock()
    while len(later) < _LATER and clock() - begin < _SECONDS:
        later.append(seconds())
    inside, around = (median(part) for part in zip(*later, strict=True))
    return ProcessTimes(first, inside, compiled, around)


def watched_calls() -> Callable[[], float]:
    """From now on a clock runs while functions of arrays are called; returns how to read it, in seconds."""
    total, depth, begun = [0.0], [0], Collective.__call__

    def timed(program: Collective, *arguments: object, **options: object) -> object:
        before = time.perf_counter()
        depth[0] += 1
        try:
            return begun(program, *arguments, **options)
        finally:
            depth[0] -= 1
            if not depth[0]:  # else one is called while another one is traced
                total[0] += time.perf_counter() - before

    Collective.__call__ = timed  # type: ignore[assignment,method-assign]  # in a process that only measures
    return lambda: total[0]


def watched_runs() -> Callable[[], float]:
    """From now on a clock runs while code of newly loaded libraries does; returns how to read it, in seconds."""
    total, begun = [0.0], OpenmpProgram.__init__

    def begin(program: OpenmpProgram, plan: Plan, source: Source, built: Built) -> None:
        begun(program, plan, source, built)
        entry = program.entry

        def timed(march: object) -> int:
            before = time.perf_counter()
            status: int = entry(march)
            total[0] += time.perf_counter() - before
            return status

        program.entry = timed  # type: ignore[assignment]  # in a process that only measures

    OpenmpProgram.__init__ = begin  # type: ignore[assignment,method-assign]  # as above
    return lambda: total[0]


def main(arguments: list[str]) -> None:
    """Print what `timed_calls` finds of a program. arguments: its name, threads. KeyError for another name."""
    name, threads = arguments
    case = {row.name: row for row in THESIS}[name].case("small")
    call = partial(case.ours, backend=BACKEND, threads=int(threads))
    found = timed_calls(call, watched_runs(), called=watched_calls())
    print(json.dumps(asdict(found)))  # noqa: T201  # for the process that asked


if __name__ == "__main__":
    main(sys.argv[1:])
