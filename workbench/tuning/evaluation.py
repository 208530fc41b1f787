"""Evaluation: one candidate planned, built, checked against the reference and timed, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from workbench.amounts import bytes_text
from workbench.backends.base import Instance, MarchRequest
from workbench.backends.host import ensure_figures, measured_figures, note_rate
from workbench.backends.registry import get_backend, row_of
from workbench.errors import BuildError, GenomeError, PlanError, ShapeError, StencilError
from workbench.graph import Graph
from workbench.graph.diagnostics import REPEATED
from workbench.pipeline import Compiled, compile_graph, plan_for
from workbench.planning.cost import bound_seconds, step_cost
from workbench.planning.exchange import from_json
from workbench.planning.plan_figures import memory_bytes as memory_bytes_of
from workbench.planning.schedules.locality import DEPTH
from workbench.tuning.comparison import described, deviation, error_of, opened, prepared
from workbench.tuning.loop_times import LoopTimes, loop_times
from workbench.tuning.race import Measure, in_heats, in_pairs, interleaved, sampled
from workbench.tuning.sample import PIECE_SECONDS, SAMPLE_SECONDS, Run, sample, steps_of_a_piece
from workbench.tuning.setup import Setup
from workbench.tuning.slot import Builder
from workbench.tuning.trials import TIMED, Outcome

_NICENESS = -10  # of a process that measures
_WARMING = 0.2  # of a piece's steps, before a measurement, where programs take turns
Announce = Callable[[str], bool]
"""Is told the phenotype; whether to go on, because nothing with this phenotype has been measured."""


def measure_ceilings(setup: Setup, builder: Builder) -> None:
    """Measure what this host can do at most, once for all studies on it, where candidates are to be judged by that."""
    if row_of(setup.backend).runs_on == "threads":
        with builder.measuring(setup.device):
            ensure_figures()


def evaluate(
    setup: Setup,
    choices_text: str,
    samples: int,
    best: float,
    announce: Announce,
    builder: Builder,
    memory_bytes: int = 0,
    against: str = "",
) -> Outcome | None:
    """Plan, build, check, time. None if `announce` says that this phenotype is known.

    memory_bytes: that a candidate may take; one whose arrays alone take more is a "constraint" and not even rendered.
    0: no bound.
    against: choices that take turns with the candidate, "" for none; those of a plan that was built and measured.
    `best`: the shortest seconds a step so far (infinite: none), for a candidate without hope is not measured further;
    over the seconds of `against` where that is given.
    """
    graph = setup.graph()
    begin = time.perf_counter()
    phenotype = ""
    try:
        choices = from_json(choices_text)
        plan = plan_for(graph, choices, setup.backend)
        taken = memory_bytes_of(plan, setup.extents)
        if memory_bytes and taken > memory_bytes:
            tail = f"the arrays take {bytes_text(taken)}, and a candidate may take {bytes_text(memory_bytes)}"
            return Outcome("constraint", tail=tail)
        phenotype = get_backend(setup.backend).phenotype(plan)
        if not announce(phenotype):
            return None
        compiled = compile_graph(graph, choices, setup.backend)
        comparison = prepared(graph, plan, setup)
        beside = _beside(setup, graph, against, taken, memory_bytes)
    except (PlanError, GenomeError, ShapeError) as error:
        return Outcome("constraint", tail=str(error))
    except BuildError as error:
        return Outcome("compile", (), phenotype, time.perf_counter() - begin, 0.0, str(error))
    build_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    raise_priority()
    found: tuple[float, ...] = ()
    others: tuple[float, ...] = ()
    loops: LoopTimes = ()
    distant: float | None = None
    try:
        wrong = deviation(graph, comparison, setup)
        if not wrong and setup.bound:
            distant, wrong = error_of(graph, choices, setup)
        if not wrong:
            found, others, loops, wrong = _timed(compiled, beside, setup, samples, best, builder)
    except (PlanError, ShapeError) as error:
        return Outcome("constraint", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    except StencilError as error:
        return Outcome("runtime", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    run_seconds, compared = time.perf_counter() - begin, described(comparison, setup)
    made = Outcome("correctness", (), phenotype, build_seconds, run_seconds, wrong, error=distant, compared=compared)
    if wrong:
        return made
    bound = _bound(compiled, setup, min(found))
    return replace(made, status="success", samples=found, bound=bound, loops=loops, beside=others)


def _beside(setup: Setup, graph: Graph, text: str, taken: int, memory_bytes: int) -> Compiled | None:
    """What takes turns with a candidate whose arrays take so many bytes; None where both have no room."""
    if not text:
        return None
    choices = from_json(text)
    together = taken + memory_bytes_of(plan_for(graph, choices, setup.backend), setup.extents)
    if memory_bytes and together > memory_bytes // 2:  # as in a race: the rest is for all that are no arrays
        return None
    return compile_graph(graph, choices, setup.backend)


def race(
    setup: Setup, texts: Sequence[str], rounds: int, seconds: float, memory_bytes: int, builder: Builder
) -> list[list[float]]:
    """Seconds a step of these choices, while they take turns in this process.

    `rounds` of each at least, or what fits into so many `seconds`, of which each heat has an equal part.
    memory_bytes: that arrays may take in all; finalists that do not fit race in heats of two or more. 0: no bound.
    """
    end = time.monotonic() + seconds
    graph = setup.graph()
    built = [compile_graph(graph, from_json(text), setup.backend) for text in texts]
    largest = max(memory_bytes_of(compiled.plan, setup.extents) for compiled in built)
    most = memory_bytes // max(largest, 1) if memory_bytes else len(built)

    def run(heat: Sequence[int], after: int) -> list[list[float]]:
        now = time.monotonic()
        return _heat([built[one] for one in heat], setup, rounds, now + (end - now) / (after + 1), builder)

    return in_heats(len(built), most, run)


def _heat(built: Sequence[Compiled], setup: Setup, rounds: int, end: float, builder: Builder) -> list[list[float]]:
    """Samples of programs whose instances are all open; `end`: by the monotonic clock."""
    raise_priority()
    with contextlib.ExitStack() as stack:
        instances = [opened(compiled, setup) for compiled in built]
        for instance in instances:
            stack.callback(instance.close)
        stack.enter_context(builder.measuring(setup.device))
        measures = [_measure_warm(*_pieces(one, each, setup)) for one, each in zip(instances, built, strict=True)]
        return interleaved(measures, rounds, end - time.monotonic())


def raise_priority() -> None:
    """Let this thread and those that it starts go before what else runs, where the system allows that to this user.

    To be called in a process that measures and ends, after it has built and before a team of threads is there.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def _measure_warm(run: Run, steps: int) -> Measure:
    """Measurements each of which begins by warming up what the others have left cold."""
    warming = max(1, round(steps * _WARMING))

    def measure() -> float:
        run(warming)
        return sample(run, steps)

    return measure


def _bound(compiled: Compiled, setup: Setup, seconds: float) -> float:
    """Seconds of a step by the ceilings of the host; 0 where they are not known, or hold for no single step.

    A step of one loop that took fewer `seconds` raises the ceiling of what is moved, as what else ran had lowered it.
    """
    figures = measured_figures()
    main = compiled.plan.main
    if (
        row_of(setup.backend).runs_on != "threads"
        or figures is None
        or main.blocking is not None
        or compiled.graph.loops
    ):
        return 0.0
    if len(main.plain.subkernels) == 1 and seconds < bound_seconds(main.plain, setup.extents, figures):
        moved = round(prod(setup.extents) * step_cost(main.plain).bytes_moved)
        figures = note_rate(moved, moved / seconds)
    return bound_seconds(main.plain, setup.extents, figures)


def _timed(
    compiled: Compiled, beside: Compiled | None, setup: Setup, samples: int, best: float, builder: Builder
) -> tuple[tuple[float, ...], tuple[float, ...], LoopTimes, str]:
    """Seconds a step of so many measurements, of what took turns with it, of its loops, and what is wrong then."""
    with contextlib.ExitStack() as stack:
        instance = opened(compiled, setup)
        stack.callback(instance.close)
        stored = [static.name for static in compiled.graph.fields]
        before = {name: instance.read_field(name) for name in stored}
        found: tuple[float, ...] = ()
        others: tuple[float, ...] = ()
        other = None if beside is None else opened(beside, setup)
        if other is not None:
            stack.callback(other.close)
        with builder.measuring(setup.device):
            run, steps = _pieces(instance, compiled, setup)
            if beside is None or other is None:
                found = sampled(lambda: sample(run, steps), samples, best)
            else:
                turns = _measure_warm(run, steps), _measure_warm(*_pieces(other, beside, setup))
                found, others = in_pairs(*turns, samples, best)
            loops = _loops_of(instance, compiled, run, steps)
        after = {name: instance.read_field(name) for name in stored}
    wrong = ""
    if all(np.array_equal(before[name], after[name]) for name in stored):
        wrong = f"no field has changed in {TIMED}"
    for name in stored:
        if after[name].dtype.kind == "f" and not np.all(np.isfinite(after[name])):
            wrong = f"{name} is not finite after {TIMED}"
    return found, others, loops, wrong


def _loops_of(instance: Instance, compiled: Compiled, run: Run, steps: int) -> LoopTimes:
    """Seconds a step of each loop; a host notes them anyway, a device in steps of their own."""
    main = compiled.plan.main
    if main.blocking is not None or compiled.graph.loops:
        return ()
    if not instance.launch_times():
        instance.time_launches(True)
        run(steps)
        instance.time_launches(False)
    return loop_times(instance, main)


def _least_steps(compiled: Compiled) -> int:
    """Steps of a piece, so that tiles of several steps have their height."""
    main = compiled.plan.main
    together = main.blocking is not None
    return compiled.plan.choices.plan.tiling.depth or DEPTH if together else 1


def _pieces(instance: Instance, compiled: Compiled, setup: Setup) -> tuple[Run, int]:
    """What runs steps of an instance, and how many a piece of a sample has; on a device a sample is one piece."""

    def run(steps: int) -> float:
        begin = time.perf_counter()
        instance.march(MarchRequest(REPEATED, steps, observe_last=False))
        return time.perf_counter() - begin

    piece = PIECE_SECONDS if row_of(setup.backend).runs_on == "threads" else SAMPLE_SECONDS
    return run, steps_of_a_piece(run, _least_steps(compiled), piece)
