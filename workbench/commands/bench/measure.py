"""Measure: all contenders of a problem in turn, round after round, with the ceilings of the machine in each round.

Ratios inside a round are robust where a machine is shared: what slows one contender slows its neighbours in time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from workbench.amounts import bytes_text, counted, scaled, seconds_text, span_text
from workbench.backends.base import Array
from workbench.backends.build_cache import BuildCache
from workbench.backends.host import Ceilings, hand_on_figures
from workbench.commands.bench.budget import FIRST_RESULTS, SIZES, STEPS_FOUND, VERIFIED, TimeBudget
from workbench.commands.bench.contenders import MORE_TIME, Absent, Contender, Ours, absence, version
from workbench.commands.bench.crew import ContenderError, Crew, CrewProcess
from workbench.commands.bench.model import Model
from workbench.commands.bench.problem import Problem, Shape
from workbench.commands.bench.results import Agreement, BenchResults, ContenderResult, Size
from workbench.errors import RunError
from workbench.graph.types import storage_type
from workbench.run.memory import bytes_available

VERIFIED_STEPS = 10  # after which fields are compared
_MODEL = "numpy"  # with which the others are compared, where it takes part
_ROUNDING = {"f32": 1e-4, "f64": 1e-10}  # of the largest value: more is another computation, whose rate says nothing
_SMALL_ROUNDS, _SMALL_SECONDS = 3, 0.15  # of the smaller sizes
_LONG_BUILD = 5.0  # seconds; a longer one was for the most part the first use of a library
_LEAST_CELLS = 1 << 13
_LEAST_EXTENT = 16
_KEPT, _AT_WORK = 2, 4  # arrays of a field that each contender keeps, and that the one at work has beside them, about
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Workload:
    """How much is measured. seconds: about how long a contender runs in a round; sizes: smaller ones, at most."""

    shape: Shape
    dtype: str
    threads: int
    rounds: int
    seconds: float
    sizes: int


class _SpentError(Exception):
    """The budget is spent."""


class Bench:
    """One measurement of one problem; `results` is whole at any time, whatever interrupts it."""

    def __init__(
        self,
        problem: Problem,
        workload: Workload,
        rows: tuple[Contender, ...],
        results: BenchResults,
        say: Say,
        budget: TimeBudget,
    ) -> None:
        self.results = replace(results, budget=budget.seconds)
        self._problem, self._workload, self._say = problem, workload, say
        self._rows, self._budget = rows, budget
        self._until = budget.seconds  # when an answer must be there, in seconds of the budget
        self._members: dict[str, CrewProcess] = {}
        self._step_seconds: dict[str, float] = {}
        self._build_seconds: dict[str, float] = {}

    def run(self) -> BenchResults:
        """Start, verify, measure rounds, then smaller sizes. Ctrl-C or the budget ends it; what is done is kept."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stencil-workbench-")))
            stack.callback(self._end)
            crew = Crew(self._problem.name, self._workload.dtype, self._workload.threads, folder)
            try:
                self._start(crew)
                self._verify(folder)
                self._rounds()
                self._smaller_sizes()
                if 0 < self.results.done < self._workload.rounds and self._members:
                    raise _SpentError
            except KeyboardInterrupt:
                self.results = replace(self.results, interrupted=True)
            except _SpentError:
                self.results = replace(self.results, cut=self._missing())
            self.results = replace(self.results, seconds=self._budget.taken())
        return self.results

    def _missing(self) -> tuple[str, ...]:
        """What is missing: rounds and smaller sizes."""
        cut = []
        if self.results.done < self._workload.rounds:
            cut.append(f"{self._workload.rounds - self.results.done} of {counted(self._workload.rounds, 'round')}")
        measured = {size.shape for size in self.results.sizes}
        sizes = [s for s in smaller(self._workload.shape, self._workload.sizes) if s not in measured]
        if sizes:
            cut.append(f"sizes of {', '.join(map(shape_text, sizes))} cells")
        return tuple(cut)

    def _end(self) -> None:
        for member in self._members.values():
            member.end()

    # ---- one contender after the other

    def _start(self, crew: Crew) -> None:
        """First results: of ours with an empty build cache and once more, of the others once."""
        present: list[Contender] = []
        for row in self._rows:
            absent = absence(row)
            if absent is None:
                present.append(row)
            else:
                self.results = self.results.without(absent)
                self._say(f"  {row.label}: {absent.reason}. {absent.advice}")
        if not present:
            gone = self.results.absent
            raise RunError(
                f"none of the contenders can run here: {'; '.join(f'{a.label}: {a.reason}' for a in gone)}",
                advice=gone[-1].advice or "Name others by --only.",
            )
        _check_memory(self._problem, self._workload, len(present))
        for number, row in enumerate(present):
            self._until = self._budget.share(FIRST_RESULTS, len(present) - number, others=bool(self._members))
            try:
                self._first_result(crew, row)
            except ContenderError as error:
                self._drop(row, error)

    def _first_result(self, crew: Crew, row: Contender) -> None:
        entry = ContenderResult(row.name, row.label, version(row), isinstance(row.runs, Ours))
        cache = crew.folder / f"cache-{row.name}" if entry.ours else None
        if cache is not None:
            hand_on_figures(BuildCache(cache))
            with crew.process(row, cache=cache) as member:
                answer = member.ask("open", within=self._within(), shape=self._workload.shape)
                cold = time.perf_counter() - member.began - answer["start_seconds"]
                entry = replace(entry, cold_seconds=cold)
        member = self._members[row.name] = crew.start(row, cache=cache)
        answer = member.ask("open", within=self._within(), shape=self._workload.shape)
        first = time.perf_counter() - member.began - answer["start_seconds"]
        entry = replace(
            entry,
            label=_label(row, answer),
            first_seconds=first,
            schedule=answer.get("schedule", ""),
            bytes_moved=answer.get("bytes", 0.0),
            operations=answer.get("operations", 0.0),
            model=Model.read(answer["model"]) if "model" in answer else None,
        )
        self._build_seconds[row.name] = answer["seconds"]
        self.results = self.results.with_entry(entry)
        cold = f", cold {seconds_text(entry.cold_seconds)}" if entry.cold_seconds is not None else ""
        self._say(f"  {entry.label} {entry.version}: first result after {seconds_text(first)}{cold}")

    def _within(self) -> float:
        """Seconds until an answer must be there."""
        return max(0.0, self._until - self._budget.taken())

    def _drop(self, row: Contender, error: ContenderError) -> None:
        """A contender that cannot go on is out, and the others go on."""
        member = self._members.pop(row.name, None)
        if member is not None:
            member.end()
        reason = f"{'cannot run' if error.refused else 'failed'}: {str(error).strip()}"
        advice = ""
        if error.late:
            reason = f"cut by the time budget of {seconds_text(self._budget.seconds)}: {error}"
            advice = MORE_TIME
        self.results = self.results.without(Absent(row.name, row.label, reason, advice, error.late))
        self._say(f"  {row.label} {reason}")

    def _ask(self, name: str, do: str, **more: Any) -> dict[str, Any] | None:  # noqa: ANN401  # of JSON
        """The answer of a contender; None if there is none, and it is out. _SpentError at the end of the budget."""
        member = self._members[name]
        try:
            return member.ask(do, within=self._within(), **more)
        except ContenderError as error:
            if error.late and not self._budget.left():
                raise _SpentError from None
            self._drop(member.row, error)
            return None

    # ---- the same results

    def _verify(self, folder: Path) -> None:
        """Fields of all contenders after the same steps from the same start."""
        model, values = None, np.zeros(0)
        names = sorted(self._members, key=lambda name: name != _MODEL)
        for number, name in enumerate(names):
            self._until = self._budget.share(VERIFIED, len(names) - number, others=model is not None)
            found = self._fields(name, folder / f"fields-{name}")
            if found is None:
                continue
            entry = self.results.entry(name)
            if model is None:
                model, values = entry, found
                continue
            agreement = compare(values, found, model.label)
            if not agreement.deviation <= _ROUNDING[self._workload.dtype]:
                words = f"differs by {agreement.deviation:.1e} from {model.label} after {VERIFIED_STEPS} steps"
                self._drop(self._members[name].row, ContenderError(words))
                continue
            self.results = self.results.with_entry(replace(entry, agreement=agreement))
            words = "bit-equal to" if agreement.bit_equal else f"differs by {agreement.deviation:.1e} from"
            self._say(f"  {entry.label}: {words} {agreement.other} after {agreement.steps} steps")

    def _fields(self, name: str, path: Path) -> Array | None:
        """The fields, one behind the other, after VERIFIED_STEPS from the start; the time of a step is noted."""
        done = self._ask(name, "advance", steps=VERIFIED_STEPS - 1)
        if done is None or self._ask(name, "save", path=str(path)) is None:
            return None
        self._step_seconds[name] = done["seconds"] / (VERIFIED_STEPS - 1)
        values: Array = np.fromfile(path, storage_type(self._workload.dtype).numpy)
        path.unlink()
        return values

    # ---- rounds

    def _rounds(self) -> None:
        if not self._members:
            return
        workload = self._workload
        cells = int(np.prod(workload.shape, dtype=np.int64))
        steps: dict[str, int] = {}
        names = tuple(self._members)
        for number, name in enumerate(names):
            self._until = self._budget.share(STEPS_FOUND, len(names) - number, others=any(steps.values()))
            steps[name] = self._steps_for(name, workload.seconds)
        self._until = self._budget.seconds
        reserved = min(self._seconds_of_sizes(), SIZES * self._budget.left())
        for name in self._members:
            self.results = self.results.with_entry(replace(self.results.entry(name), steps=steps[name]))
        models = (entry.model for entry in self.results.entries if entry.name in self._members)
        arrays = max((model.needs.arrays for model in models if model is not None), default=0)
        ceilings = Ceilings(workload.threads, arrays)
        for number in range(workload.rounds):
            begin = time.perf_counter()
            copied, now = ceilings.measure()
            seconds = dict(self._round({name: steps[name] for name in self._members}))
            if not seconds:
                return
            entries = tuple(
                replace(e, rates=(*e.rates, cells * steps[e.name] / seconds[e.name]))
                for e in self.results.entries
                if e.name in seconds
            )
            self.results = replace(
                self.results,
                entries=entries,
                copies=(*self.results.copies, copied),
                ceilings=(*self.results.ceilings, now),
            )
            took = time.perf_counter() - begin
            left = min(took * (workload.rounds - number - 1) + self._seconds_of_sizes(), self._budget.left())
            self._say(_round_text(self.results, number + 1, left))
            if number + 1 < workload.rounds and took > self._budget.left() - reserved:
                break  # the smaller sizes have their part

    def _round(self, steps: dict[str, int]) -> Iterator[tuple[str, float]]:
        """Seconds of each contender that is still there, in turn."""
        for name, count in steps.items():
            done = self._ask(name, "advance", steps=count)
            if done is not None:
                yield name, done["seconds"]

    def _steps_for(self, name: str, seconds: float) -> int:
        """How many steps take about so long, by runs of so many: caches and tiles are warm then. 0: it is out."""
        steps = 0
        for _ in range(2):
            steps = max(1, round(seconds / max(self._step_seconds[name], 1e-9)))
            done = self._ask(name, "advance", steps=steps)
            if done is None:
                return 0
            self._step_seconds[name] = done["seconds"] / steps
        return max(1, round(seconds / max(self._step_seconds[name], 1e-9)))

    # ---- smaller sizes

    def _smaller_sizes(self) -> None:
        """The same at half the extents, and so on."""
        if not self.results.done:
            return
        whole = Size(self._workload.shape, {e.name: e.rate for e in self.results.ranking})
        self.results = replace(self.results, sizes=(whole,))
        shapes = smaller(self._workload.shape, self._workload.sizes)
        for shape in shapes:
            if self._seconds_of_sizes() / len(shapes) > self._budget.left():
                raise _SpentError
            rates = self._size(shape)
            self.results = replace(self.results, sizes=(Size(shape, rates), *self.results.sizes))
            best = max(rates, key=lambda name: rates[name], default="")
            if best:
                self._say(f"  {shape_text(shape)}: {best} is the fastest, {rate_text(rates[best])}")

    def _size(self, shape: Shape) -> dict[str, float]:
        cells = int(np.prod(shape, dtype=np.int64))
        steps: dict[str, int] = {}
        for name in tuple(self._members):
            if self._ask(name, "close") is None or self._ask(name, "open", shape=shape) is None:
                continue
            done = self._ask(name, "advance", steps=4)
            if done is not None:
                self._step_seconds[name] = done["seconds"] / 4
                steps[name] = self._steps_for(name, _SMALL_SECONDS)
        taken: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(_SMALL_ROUNDS):
            for name, seconds in self._round({name: steps[name] for name in self._members if name in steps}):
                taken[name].append(seconds)
        return {n: cells * steps[n] / median(s) for n, s in taken.items() if len(s) == _SMALL_ROUNDS}

    def _seconds_of_sizes(self) -> float:
        """About how long the smaller sizes will take."""
        count = len(smaller(self._workload.shape, self._workload.sizes))
        again = (min(self._build_seconds[name], _LONG_BUILD) for name in self._members)  # libraries are loaded by now
        one = sum(again) + len(self._members) * (_SMALL_ROUNDS + 2) * _SMALL_SECONDS
        return count * one


def _label(row: Contender, answer: Mapping[str, Any]) -> str:
    """A contender's label, with the schedule that ran where its row leaves it open."""
    is_open = isinstance(row.runs, Ours) and row.runs.schedule == "auto"
    return f"{row.label} ({answer['schedule']})" if is_open else row.label


def compare(model: Array, other: Array, name: str) -> Agreement:
    """How far `other` is from `model`, the contender called `name`. Values that are not numbers are infinitely far."""
    equal = bool(np.array_equal(model.view(f"u{model.itemsize}"), other.view(f"u{other.itemsize}")))
    if equal:
        return Agreement(name, VERIFIED_STEPS, 0.0, bit_equal=True)
    largest = float(np.abs(model).max(initial=0.0))
    deviation = float(np.abs(other - model).max(initial=0.0)) / (largest or 1.0)
    return Agreement(name, VERIFIED_STEPS, deviation if np.isfinite(deviation) else float("inf"), bit_equal=False)


def smaller(shape: Shape, count: int) -> list[Shape]:
    """Shapes of half the extents, a quarter, ..., `count` at most, none too small to measure."""
    found: list[Shape] = []
    while len(found) < count:
        shape = tuple(extent // 2 for extent in shape)
        if min(shape) < _LEAST_EXTENT or int(np.prod(shape, dtype=np.int64)) < _LEAST_CELLS:
            break
        found.append(shape)
    return found


def shape_text(shape: Shape) -> str:
    """ "384 x 384 x 384"."""
    return " x ".join(map(str, shape))


def rate_text(rate: float) -> str:
    """Updates of a cell a second: "2.35 Gcells/s"."""
    return scaled(rate, "cells/s")


def _round_text(results: BenchResults, number: int, left: float) -> str:
    rates = ", ".join(f"{e.name} {rate_text(e.rates[-1])}" for e in results.entries)
    return f"round {number} of {results.rounds}: {rates}; {span_text(left)} left"


def _check_memory(problem: Problem, workload: Workload, contenders: int) -> None:
    cells = int(np.prod(workload.shape, dtype=object))
    fields = len(problem.machine(workload.dtype).graph.fields)
    arrays = (contenders * _KEPT + _AT_WORK) * fields
    needed = arrays * cells * storage_type(workload.dtype).itemsize
    available = bytes_available()
    if available is not None and needed > available:
        raise RunError(
            f"{counted(contenders, 'contender')} of {problem.name} with {shape_text(workload.shape)} cells need about "
            f"{bytes_text(needed)}, and {bytes_text(available)} are available",
            advice="Use a smaller --shape, or fewer contenders by --only.",
        )
