"""Course: the whole exam, in an order that tells early, and its report as text or JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from typing import Any

from workbench.amounts import counted, seconds_text, span_text
from workbench.backends.registry import select_backend
from workbench.errors import StencilError
from workbench.experiments.exam.accuracy import PROBLEMS, SCHEMES, Series, Setting, measure_error, measure_series
from workbench.experiments.exam.ending import ProgressClock, Say, interrupted_after
from workbench.experiments.exam.invariance import Check, Runner, check_genome, checks_of
from workbench.experiments.exam.results import ExamResults
from workbench.machine import Machine

RESOLUTIONS = (16, 32, 64, 128, 256, 512, 1024)
PLACEMENTS = ("coaxial", "oblique")
_NAMED = 4  # parts that were not examined, by name


@dataclass(frozen=True, slots=True)
class Course:
    """What is examined. Oblique flows are two-dimensional; their grids have resolution² cells.

    resolutions: cells to a unit of length. oblique_resolutions: the same for oblique flows. schemes, problems and
    placements: the series of errors. checks: whether what must hold to the bit is looked at too; genomes: on how many
    random genomes. threads: of each run on the CPU, 0 for all. seconds: after which the exam ends, with what is done.
    """

    dims: tuple[int, ...] = (1, 2, 3)
    backend: str = "auto"
    dtype: str = "f64"
    resolutions: tuple[int, ...] = RESOLUTIONS
    oblique_resolutions: tuple[int, ...] = RESOLUTIONS
    schemes: tuple[str, ...] = ("minmod", "mc", "weno_z")
    genomes: int = 10
    problems: tuple[str, ...] = tuple(PROBLEMS)
    placements: tuple[str, ...] = PLACEMENTS
    checks: bool = True
    threads: int = 0
    seconds: float = inf

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise StencilError(f"seconds={self.seconds!r} is no time for an exam", advice="Pass a positive number.")
        if not self.dims or not set(self.dims) <= {1, 2, 3}:
            raise StencilError(f"dims={self.dims!r} cannot be examined", advice="Use some of 1, 2 and 3.")
        if self.dtype not in ("f32", "f64"):
            raise StencilError(f"dtype={self.dtype!r} cannot be examined", advice="Use f64 or f32.")
        for kind, names, known in (
            ("scheme", self.schemes, SCHEMES),
            ("problem", self.problems, PROBLEMS),
            ("placement", self.placements, PLACEMENTS),
        ):
            for name in names:
                if name not in known:
                    raise StencilError(f"there is no {kind} {name!r}", advice=f"Use some of {', '.join(known)}.")
        for grids in (self.resolutions, self.oblique_resolutions):
            if len(grids) < 2 or sorted(set(grids)) != list(grids) or grids[0] < 4:
                raise StencilError(f"resolutions {grids!r} do not grow from 4 on", advice="Pass 16,32,64 or the like.")

    def settings(self, backend: str) -> list[tuple[Setting, tuple[int, ...]]]:
        """All columns with their grids."""
        columns = [
            (Setting(problem, "coaxial", dim, scheme, backend, self.dtype), self.resolutions)
            for dim in self.dims
            for scheme in self.schemes
            for problem in PROBLEMS
        ]
        if 2 in self.dims:
            columns += [
                (Setting(problem, "oblique", 2, scheme, backend, self.dtype), self.oblique_resolutions)
                for scheme in self.schemes
                for problem in ("sod", "sound", "entropy")
            ]
        return [(s, grids) for s, grids in columns if s.problem in self.problems and s.placement in self.placements]


@dataclass(frozen=True, slots=True)
class Exam:
    """What came out. `left`: names of the parts that were not examined, by Ctrl-C or as the time was over."""

    course: Course
    backend: str
    checks: tuple[Check, ...]
    series: tuple[Series, ...]
    left: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def passed(self) -> bool:
        """Whether all was examined, every check holds and every required order is reached."""
        return self.failures == 0 and not self.left

    @property
    def failures(self) -> int:
        """How many checks do not hold, and how many series stay below the required order."""
        return sum(not check.passed for check in self.checks) + sum(not series.passed for series in self.series)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.checks), *map(str, self.series), self.verdict()])

    def __repr__(self) -> str:
        return str(self)

    def verdict(self) -> str:
        """One line, and one more for what was not examined."""
        checks = f"{counted(len(self.checks), 'check')}, " if self.course.checks else ""
        count = f"{checks}{len(self.series)} series of errors on {self.backend}, {self.course.dtype}"
        if not self.left:
            return f"exam {'passed' if self.passed else f'FAILED {self.failures} times'}: {count}"
        parts = len(self.checks) + len(self.series) + len(self.left)
        so_far = f"FAILED {self.failures} times so far" if self.failures else "nothing failed so far"
        named, more = ", ".join(self.left[:_NAMED]), len(self.left) - _NAMED
        why = "interrupted" if self.interrupted else f"its time of {span_text(self.course.seconds)} was over"
        rest = f"{named} and {more} more" if more > 0 else named
        return f"exam not complete ({why}), {so_far}: {count}\nnot examined: {len(self.left)} of {parts} parts: {rest}"

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        series = [
            {**asdict(s), "orders": s.orders, "fitted": s.fitted, "required": s.required, "passed": s.passed}
            for s in self.series
        ]
        checks = [asdict(check) for check in self.checks]
        course = {**asdict(self.course), "seconds": None if self.course.seconds == inf else self.course.seconds}
        return {
            "passed": self.passed,
            "course": course,
            "checks": checks,
            "series": series,
            "left": list(self.left),
            "interrupted": self.interrupted,
        }


def run_exam(
    course: Course | None = None,
    say: Say = lambda _: None,
    results: ExamResults | None = None,
    **options: Any,  # noqa: ANN401  # of Course
) -> Exam:
    """Take the exam; `options` are those of `Course`. `say` gets each line as soon as it is known, and the time left.

    results: errors that are there are not measured again, new ones are added and told one by one. Nothing is raised for
    a bad mark: look at `passed`. After `seconds` of the course, or Ctrl-C, the exam is of the parts that were done, and
    says which were not. StencilError for options that make no sense.
    """
    course = course or Course(**options)
    backend = select_backend(course.backend).name
    jobs = checks_of(Runner(backend, course.dtype), course.dims, course.genomes) if course.checks else []
    settings = course.settings(backend)

    def measure(setting: Setting, machine: Machine, cells: int) -> float:
        if results is None:
            return measure_error(setting, machine, cells, course.threads)
        return _measure_once(setting, machine, cells, course.threads, results, say)

    kinds: list[list[_Part]] = [
        [_of_check(*job) for job in jobs if job[0] is not check_genome],
        [(str(setting), partial(measure_series, setting, grids, measure=measure)) for setting, grids in settings],
        [_of_check(*job) for job in jobs if job[0] is check_genome],  # which are the longest: each is a program
    ]
    parts = [part for kind in kinds for part in kind]
    done: list[Check | Series] = []
    interrupted = False
    pace = ProgressClock([len(kind) for kind in kinds], say)
    if course.seconds < inf:
        say(f"{len(parts)} parts, in {span_text(course.seconds)} at most")
    try:
        with interrupted_after(course.seconds):
            for _, examine in parts:
                done.append(examine())
                say(str(done[-1]))
                pace.done()
                if pace.seconds >= course.seconds:
                    break
    except KeyboardInterrupt:
        interrupted = pace.seconds < course.seconds
    left = tuple(name for name, _ in parts[len(done) :])
    checks = tuple(one for one in done if isinstance(one, Check))
    series = tuple(one for one in done if isinstance(one, Series))
    exam = Exam(course, backend, checks, series, left, interrupted and bool(left))
    say(exam.verdict())
    return exam


_Part = tuple[str, Callable[[], Check | Series]]


def _of_check(function: Callable[..., Check], runner: Runner, dim: int, *seed: int) -> _Part:
    """A check with a name that it has before it is done."""
    words = " ".join([function.__name__.removeprefix("check_"), *map(str, seed)])
    return f"{dim}-D {words}", partial(function, runner, dim, *seed)


def _measure_once(
    setting: Setting, machine: Machine, cells: int, threads: int, results: ExamResults, say: Say
) -> float:
    """The error, unless it is among the results already."""
    program = machine.genome.partition(":")[0]
    known = results.get(setting, program, cells)
    if known is not None:
        return known
    begin = time.perf_counter()
    error = measure_error(setting, machine, cells, threads)
    seconds = time.perf_counter() - begin
    results.keep(setting, program, cells, error, seconds)
    say(f"  {setting!s:<34}{cells:5d} cells a unit: error {error:.3e} in {seconds_text(seconds)}")
    return error
