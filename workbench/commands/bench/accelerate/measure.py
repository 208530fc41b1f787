"""Measure: one program by all who run it, in rounds in which they take turns, after their results were compared."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.amounts import seconds_text
from workbench.array_function import Collective, collective
from workbench.backends.build_cache import BuildCache
from workbench.backends.compile_pool import Compiler, default_compiler
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.registry import get_backend
from workbench.commands.bench.accelerate.rehearsal import Rehearsal
from workbench.commands.bench.accelerate.results import Making, ProgramResult, Timing
from workbench.commands.bench.accelerate.row import OURS, VARIANTS, Call, Case, Given, PlanVariant
from workbench.errors import NoRoomError
from workbench.pipeline import plan_for, render
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan

BACKEND = "openmp"
MOST_LOOPS = 100  # of a plan that is measured: a compiler takes minutes for more
_TURN_SECONDS = 0.03  # of one contender in a round at least, by repeating the call


def plans_of(case: Case, choices: Choices | None) -> list[Plan]:
    """The plans of the programs of a case."""
    found = []
    for program, given in case.called:
        machine = program.machine(*given)
        found.append(plan_for(machine.graph, choices or machine.choices, BACKEND))
    return found


def shape_of(plan: Plan) -> tuple[int, int, int]:
    """Its loops, the arrays that it makes beside arguments and results, and the most axes of one of those."""
    loops = sum(len(kernel.observed.subkernels) for kernel in plan.kernels)
    made = [len(slot.axes) or plan.graph.dim for slot in plan.array_slots if not slot.field]  # () is all axes
    return loops, len(made), max(made, default=0)


def making_of(case: Case, folder: Path) -> Making:
    """All stages of each program of a case, by the clock, traced anew. The build cache must not know them yet.

    folder: a build cache of its own for what is compiled once more by one compiler after the other.
    """
    parts = [_making(program, given, folder) for program, given in case.called]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _making(program: Collective, given: Given, folder: Path) -> Making:
    anew = collective(name=program.name, dtype=program.dtype)(program.__wrapped__)  # type: ignore[attr-defined]  # of update_wrapper
    clock = _Clock()
    machine = anew.machine(*given)
    trace = clock.lap()
    plan = plan_for(machine.graph, machine.choices, BACKEND)
    planned = clock.lap()
    render(plan, BACKEND)
    rendered = clock.lap()
    backend = get_backend(BACKEND)
    backend.compile(plan)
    compiled = clock.lap()
    backend.compile(plan)
    cached = clock.lap()
    alone = OpenmpBackend(Compiler(default_compiler().toolchain, BuildCache(folder), jobs=1))
    clock.lap()
    alone.compile(plan)
    one_by_one = clock.lap()
    compiled, one_by_one = (max(0.0, each - rendered) for each in (compiled, one_by_one))
    return Making(*shape_of(plan), trace, planned, rendered, compiled, one_by_one, cached)


class _Clock:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last one."""
        now = time.perf_counter()
        self._last, last = now, self._last
        return now - last


def contenders(
    case: Case, threads: int, rehearsal: Rehearsal | None = None, most: float = math.inf
) -> Iterator[tuple[Timing, Call | None]]:
    """Ours, our other plans, other systems; no call, but a note, for what is not run.

    rehearsal: what other systems are expected to take, of at most so many seconds a call.
    """

    def call(variant: PlanVariant) -> Call:
        how: dict[str, Any] = {"backend": BACKEND, "threads": threads}
        if variant.choices is not None:
            how["choices"] = variant.choices
        return lambda: case.ours(**how)

    yield Timing(OURS.name, OURS.label), call(OURS)
    usual = plans_of(case, OURS.choices)
    for variant in VARIANTS:
        plans = plans_of(case, variant.choices)
        loops = sum(shape_of(plan)[0] for plan in plans)
        timing = Timing(variant.name, variant.label)
        if [plan.kernels for plan in plans] == [plan.kernels for plan in usual]:
            yield replace(timing, note="the same plan"), None
        elif loops > MOST_LOOPS:
            yield replace(timing, note=f"left out: {loops} loops take a compiler minutes"), None
        else:
            yield timing, call(variant)
    for name, other in case.others().items():
        refusal = "" if rehearsal is None else rehearsal.refusal(name, most)
        yield Timing(name, name, note=refusal), None if refusal else other


class ProgramRounds:
    """The rounds of one program; `program` is whole after each of them."""

    def __init__(
        self,
        program: ProgramResult,
        runs: Iterable[tuple[Timing, Call | None]],
        tolerance: float,
        most: float = math.inf,
    ) -> None:
        """Call each once, the first one first: the others must find what it found, or they are out.

        So are those that have too little memory, and, but for the first one, those whose next call takes more than
        `most` seconds.
        """
        self._calls: dict[str, tuple[Call, int]] = {}
        model = None
        timings = []
        for timing, call in runs:
            if call is None:
                timings.append(timing)
                continue
            try:
                found = call()
            except (MemoryError, NoRoomError) as error:
                timings.append(replace(timing, note=f"left out: {_first_line(error)}"))
                continue
            is_first, model = model is None, found if model is None else model
            away = difference(model, found)
            if not away <= tolerance:
                timings.append(replace(timing, note=f"differs by {away:.1e}"))
                continue
            del found
            seconds = _seconds(call, 1)
            if seconds > most and not is_first:
                words = f"left out: {seconds_text(seconds)} a call, more than {seconds_text(most)}"
                timings.append(replace(timing, note=words))
                continue
            self._calls[timing.name] = call, max(1, round(_TURN_SECONDS / max(seconds, 1e-7)))
            timings.append(timing)
        self.program = replace(program, timings=tuple(timings))

    def round(self) -> None:
        """Each in turn; nothing is kept of a round that is interrupted."""
        taken = {name: _seconds(call, count) for name, (call, count) in self._calls.items()}
        timings = tuple(
            replace(each, seconds=(*each.seconds, taken[each.name])) if each.name in taken else each
            for each in self.program.timings
        )
        self.program = replace(self.program, timings=timings)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or "too little memory"


def _seconds(call: Call, count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def difference(model: Any, found: Any) -> float:  # noqa: ANN401  # arrays, numbers, or tuples of them
    """The largest difference by the largest value of the model; infinite where shapes differ or one is no number."""
    if isinstance(model, tuple | list):
        if not isinstance(found, tuple | list) or len(found) != len(model):
            return float("inf")
        return max(map(difference, model, found), default=0.0)
    mine, other = (np.asarray(each, np.float64) for each in (model, found))
    if mine.shape != other.shape:
        return float("inf")
    if np.array_equal(mine, other):
        return 0.0
    with np.errstate(invalid="ignore"):
        largest, away = float(np.abs(mine).max(initial=0.0)), float(np.abs(mine - other).max(initial=0.0))
    return away / (largest or 1.0) if np.isfinite(away) else float("inf")
