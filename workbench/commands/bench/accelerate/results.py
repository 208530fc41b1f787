"""Results: seconds of the programs by whom, what their plans are, how long they take to make, and the ablations."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Literal

from workbench.commands.bench.results import Ratio


@dataclass(frozen=True, slots=True)
class Timing:
    """Who ran a program: seconds of a call in each round; `note` says why there are none."""

    name: str
    label: str
    seconds: tuple[float, ...] = ()
    note: str = ""

    @property
    def median(self) -> float:
        """Of the rounds; not a number before the first one."""
        return median(self.seconds) if self.seconds else math.nan


@dataclass(frozen=True, slots=True)
class Making:
    """What it takes to make a program: seconds of each stage, and its loops and the arrays that it makes.

    compile: seconds with as many compilers at once as there are processors, which share a long text. one_by_one: with
    one after the other. cached: of the same stage where the build cache has the library.
    """

    loops: int
    arrays: int
    axes: int
    trace: float
    plan: float
    render: float
    compile: float
    one_by_one: float
    cached: float

    def __add__(self, other: Making) -> Making:
        mine, more = asdict(self), asdict(other)
        return Making(
            **{name: max(mine[name], more[name]) if name == "axes" else mine[name] + more[name] for name in mine}
        )


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """One row: `ours` is the first of `timings`, then our other plans, then other systems. flops: of a run, or 0."""

    name: str
    title: str
    size: str
    timings: tuple[Timing, ...] = ()
    making: Making | None = None
    flops: float = 0.0

    @property
    def done(self) -> int:
        """Whole rounds."""
        return len(self.timings[0].seconds) if self.timings else 0

    def timing(self, name: str) -> Timing | None:
        """That of one, None if it does not take part."""
        return next((each for each in self.timings if each.name == name), None)

    def ratio(self, other: Timing) -> Ratio | None:
        """How many times the seconds of ours another one takes, inside the same rounds."""
        mine = self.timings[0].seconds
        if not mine or len(other.seconds) != len(mine):
            return None
        return Ratio.of([b / a for a, b in zip(mine, other.seconds, strict=True)])

    def best_of(self, names: tuple[str, ...]) -> Timing | None:
        """The fastest of these that was measured."""
        found = [each for each in self.timings if each.name in names and each.seconds]
        return min(found, key=lambda each: each.median, default=None)


@dataclass(frozen=True, slots=True)
class StepsTiming:
    """One program of so many steps: seconds to trace and to plan it."""

    steps: int
    trace: float
    plan: float


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """A program in fresh processes, with inputs of a few elements: what calls take beside the run itself, seconds.

    cold, warm: the first call with an empty build cache and with one that a process has filled, one a process. later: a
    later call of the program; around: what Python does for it before and after. compiled: how many files a cold and a
    warm process compiled at most.
    """

    name: str
    title: str
    cold: tuple[float, ...] = ()
    warm: tuple[float, ...] = ()
    later: tuple[float, ...] = ()
    around: tuple[float, ...] = ()
    compiled: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class AccelerateResults:
    """Everything that the report says. left_out: titles of rows and why they are not there."""

    threads: int
    rounds: int
    host: dict[str, str]
    programs: tuple[ProgramResult, ...] = ()
    matrices: tuple[ProgramResult, ...] = ()
    ablations: tuple[ProgramResult, ...] = ()
    first_calls: tuple[FirstCalls, ...] = ()
    curve: tuple[StepsTiming, ...] = ()
    absent: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    interrupted: bool = False

    def with_program(
        self, program: ProgramResult, of: Literal["programs", "matrices", "ablations"] = "programs"
    ) -> AccelerateResults:
        """With one more row of a table, or in place of the one of its name."""
        old: tuple[ProgramResult, ...] = getattr(self, of)
        rows = (*(each for each in old if each.name != program.name), program)
        return replace(self, **{of: rows})  # type: ignore[arg-type]  # a name of a field

    def to_dict(self) -> dict[str, Any]:
        """For JSON: all that was measured, and the ratios that follow from it."""
        ratios = {
            program.name: {
                t.name: asdict(found) for t in program.timings[1:] if (found := program.ratio(t)) is not None
            }
            for program in (*self.programs, *self.matrices, *self.ablations)
        }
        return {**asdict(self), "ratios": ratios}


def slope(points: tuple[StepsTiming, ...], seconds: list[float]) -> float:
    """The exponent of a power law through the points, by least squares of the logarithms."""
    x, y = [math.log(point.steps) for point in points], [math.log(each) for each in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)
