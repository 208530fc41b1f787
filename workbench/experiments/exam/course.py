"""Course: the whole exam, in an order that tells early, and its report as text or JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from workbench.backends.registry import select_backend
from workbench.errors import StencilError
from workbench.experiments.exam.accuracy import PROBLEMS, SCHEMES, Series, Setting, measure_error, measure_series
from workbench.experiments.exam.invariance import Check, Place, checks_of
from workbench.experiments.exam.results import Results
from workbench.machine import Machine

RESOLUTIONS = (16, 32, 64, 128, 256, 512, 1024)
PLACEMENTS = ("coaxial", "oblique")
SAY_SECONDS = 5.0  # between two words on the time left
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Course:
    """What is examined. Oblique flows are two-dimensional; their grids have resolution² cells.

    resolutions: cells to a unit of length. oblique_resolutions: the same for oblique flows. schemes, problems and
    placements: the series of errors. checks: whether what must hold to the bit is looked at too; genomes: on how many
    random genomes. threads: of each run on the CPU, 0 for all.
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

    def __post_init__(self) -> None:
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
    """What came out."""

    course: Course
    backend: str
    checks: tuple[Check, ...]
    series: tuple[Series, ...]

    @property
    def passed(self) -> bool:
        """Whether every check holds and every required order is reached."""
        return self.failures == 0

    @property
    def failures(self) -> int:
        """How many checks do not hold, and how many series stay below the required order."""
        return sum(not check.passed for check in self.checks) + sum(not series.passed for series in self.series)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.checks), *map(str, self.series), self.verdict()])

    def __repr__(self) -> str:
        return str(self)

    def verdict(self) -> str:
        """One line."""
        count = f"{len(self.checks)} checks, {len(self.series)} series of errors on {self.backend}"
        return f"exam {'passed' if self.passed else f'FAILED {self.failures} times'}: {count}, {self.course.dtype}"

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        series = [
            {**asdict(s), "orders": s.orders, "fitted": s.fitted, "required": s.required, "passed": s.passed}
            for s in self.series
        ]
        checks = [asdict(check) for check in self.checks]
        return {"passed": self.passed, "course": asdict(self.course), "checks": checks, "series": series}


class Pace:
    """Says now and then how much is done and how long the rest will take, if parts of a kind take alike."""

    def __init__(self, checks: int, series: int, say: Say, clock: Callable[[], float] = time.perf_counter) -> None:
        self._checks, self._parts, self._say, self._clock = checks, checks + series, say, clock
        self._begin = self._told = clock()
        self._finished: list[float] = []  # seconds from the beginning

    def done(self) -> None:
        """One part more."""
        now = self._clock()
        self._finished.append(now - self._begin)
        if now - self._told < SAY_SECONDS or len(self._finished) == self._parts:
            return
        self._told = now
        spent = f"{len(self._finished)} of {self._parts} parts in {duration_text(now - self._begin)}"
        self._say(f"  {spent}, about {duration_text(self._left())} left")

    def _left(self) -> float:
        """Of each kind as many seconds as those of it took that are done; of series, before the first, as checks."""
        count, seconds = len(self._finished), self._finished[-1]
        if count <= self._checks:
            return seconds / count * (self._parts - count)
        before = self._finished[self._checks - 1] if self._checks else 0.0
        return (seconds - before) / (count - self._checks) * (self._parts - count)


def duration_text(seconds: float) -> str:
    """ "40 s", "3 min", "2.5 h"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.2g} h"


def run_exam(
    course: Course | None = None,
    say: Say = lambda _: None,
    results: Results | None = None,
    **options: Any,  # noqa: ANN401  # of Course
) -> Exam:
    """Take the exam; `options` are those of `Course`. `say` gets each line as soon as it is known, and the time left.

    results: errors that are there are not measured again, new ones are added and told one by one. Nothing is raised for
    a bad mark: look at `passed`. StencilError for options that make no sense.
    """
    course = course or Course(**options)
    backend = select_backend(course.backend).name
    checks, series = [], []
    jobs = checks_of(Place(backend, course.dtype), course.dims, course.genomes) if course.checks else []
    settings = course.settings(backend)
    pace = Pace(len(jobs), len(settings), say)
    for function, *arguments in jobs:
        checks.append(function(*arguments))
        say(str(checks[-1]))
        pace.done()

    def measure(setting: Setting, machine: Machine, cells: int) -> float:
        if results is None:
            return measure_error(setting, machine, cells, course.threads)
        return _measure_once(setting, machine, cells, course.threads, results, say)

    for setting, resolutions in settings:
        series.append(measure_series(setting, resolutions, measure=measure))
        say(str(series[-1]))
        pace.done()
    exam = Exam(course, backend, tuple(checks), tuple(series))
    say(exam.verdict())
    return exam


def _measure_once(setting: Setting, machine: Machine, cells: int, threads: int, results: Results, say: Say) -> float:
    """The error, unless it is among the results already."""
    program = machine.genome.partition(":")[0]
    known = results.get(setting, program, cells)
    if known is not None:
        return known
    begin = time.perf_counter()
    error = measure_error(setting, machine, cells, threads)
    seconds = time.perf_counter() - begin
    results.keep(setting, program, cells, error, seconds)
    say(f"  {setting!s:<34}{cells:5d} cells a unit: error {error:.3e} in {seconds:.0f} s")
    return error
