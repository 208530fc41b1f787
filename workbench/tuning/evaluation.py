"""Evaluation: one candidate planned, built, checked against the reference and timed, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Array, Instance, MarchRequest, Number
from workbench.backends.host import ensure_figures, measured_figures, note_rate
from workbench.backends.registry import REFERENCE, get_backend, row_of
from workbench.errors import BuildError, GenomeError, PlanError, ShapeError, StencilError
from workbench.graph import Graph
from workbench.graph.deviation import is_exact
from workbench.graph.diagnostics import REPEATED
from workbench.graph.parse import parse
from workbench.pipeline import Compiled, compile_graph, plan_for
from workbench.planning.choices import Choices
from workbench.planning.cost import bound_seconds, step_cost
from workbench.planning.cost import memory_bytes as memory_bytes_of
from workbench.planning.exchange import from_json
from workbench.planning.schedules.locality import DEPTH
from workbench.run.creation import allocate
from workbench.run.opening import open_state, read_opening
from workbench.run.verification import distance, random_fields
from workbench.tuning.race import Measure, in_heats, interleaved, sampled
from workbench.tuning.slot import Builder
from workbench.tuning.trials import Outcome

_CLOSE = {4: 1e-3, 8: 1e-8}  # relative, by bytes of a float, where operators have a bound in ulp only
_SAMPLE_SECONDS = 0.03  # of one measurement, at least
_NICENESS = -10  # of a process that measures
_WARMING = 0.2  # of a measurement's steps, before it, where programs take turns
Announce = Callable[[str], bool]
"""Is told the phenotype; whether to go on, because nothing with this phenotype has been measured."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What all evaluations of a study share; `folder` holds the graph, the values and the expected state.

    extents: of the timed run. check_extents, check_steps: of the run that is compared. threads as in `simulate`.
    """

    folder: str
    backend: str
    extents: tuple[int, ...]
    check_extents: tuple[int, ...]
    check_steps: int
    threads: int = 0

    @property
    def device(self) -> str:
        """What is measured on, of which a machine has one place for measurements."""
        return "cuda" if self.backend == "cuda" else "cpu"

    def graph(self) -> Graph:
        """The program."""
        return parse((Path(self.folder) / "graph.txt").read_text(encoding="utf-8"))

    def values(self) -> dict[str, object]:
        """What `simulate` was given: arrays mapped from their files, and numbers."""
        values: dict[str, object] = json.loads((Path(self.folder) / "numbers.json").read_text(encoding="utf-8"))
        for path in Path(self.folder).glob("field-*.npy"):
            values[path.stem.removeprefix("field-")] = np.load(path, mmap_mode="r", allow_pickle=False)
        return values

    def to_json(self) -> dict[str, Any]:
        """As a message."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Setup:
        """From a message."""
        lists = {name: tuple(record[name]) for name in ("extents", "check_extents")}
        return cls(**{**record, **lists})


def write_setup(setup: Setup, graph_text: str, fields: Mapping[str, Array], numbers: Mapping[str, Number]) -> None:
    """Fill the folder of a setup with all but the expected state."""
    folder = Path(setup.folder)
    (folder / "graph.txt").write_text(graph_text, encoding="utf-8")
    (folder / "numbers.json").write_text(json.dumps(dict(numbers)), encoding="utf-8")
    for name, array in fields.items():
        np.save(folder / f"field-{name}.npy", array, allow_pickle=False)


def write_expected(setup: Setup) -> None:
    """Run the reference interpreter on the small grid, and keep the state for `evaluate`."""
    graph = setup.graph()
    state = _state_after(graph, Choices(), REFERENCE, setup)
    for name, value in state.items():
        np.save(Path(setup.folder) / f"expected-{name}.npy", np.asarray(value), allow_pickle=False)


def measure_ceilings(setup: Setup, builder: Builder) -> None:
    """Measure what this host can do at most, once for all studies on it, where candidates are to be judged by that."""
    if row_of(setup.backend).runs_on == "threads":
        with builder.measuring(setup.device):
            ensure_figures()


def evaluate(
    setup: Setup, choices_text: str, samples: int, best: float, announce: Announce, builder: Builder
) -> Outcome | None:
    """Plan, build, check, time. None if `announce` says that this phenotype is known.

    `best`: the shortest seconds a step so far (infinite: none), for a candidate without hope is not measured further.
    """
    graph = setup.graph()
    begin = time.perf_counter()
    phenotype = ""
    try:
        choices = from_json(choices_text)
        phenotype = get_backend(setup.backend).phenotype(plan_for(graph, choices, setup.backend))
        if not announce(phenotype):
            return None
        compiled = compile_graph(graph, choices, setup.backend)
    except (PlanError, GenomeError, ShapeError) as error:
        return Outcome("constraint", tail=str(error))
    except BuildError as error:
        return Outcome("compile", (), phenotype, time.perf_counter() - begin, 0.0, str(error))
    build_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    raise_priority()
    try:
        wrong = _deviation(graph, choices, setup)
        found: tuple[float, ...] = ()
        if not wrong:
            found, wrong = _timed(compiled, setup, samples, best, builder)
    except (PlanError, ShapeError) as error:
        return Outcome("constraint", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    except StencilError as error:
        return Outcome("runtime", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    run_seconds = time.perf_counter() - begin
    if wrong:
        return Outcome("correctness", (), phenotype, build_seconds, run_seconds, wrong)
    return Outcome("success", found, phenotype, build_seconds, run_seconds, bound=_bound(compiled, setup, min(found)))


def race(setup: Setup, texts: Sequence[str], rounds: int, memory_bytes: int, builder: Builder) -> list[list[float]]:
    """Seconds a step of these choices, `rounds` of each at least, while they take turns in this process.

    memory_bytes: that arrays may take in all; finalists that do not fit race in heats of two or more. 0: no bound.
    """
    graph = setup.graph()
    built = [compile_graph(graph, from_json(text), setup.backend) for text in texts]
    largest = max(memory_bytes_of(compiled.plan, setup.extents) for compiled in built)
    most = memory_bytes // max(largest, 1) if memory_bytes else len(built)
    return in_heats(len(built), most, lambda heat: _heat([built[one] for one in heat], setup, rounds, builder))


def _heat(built: Sequence[Compiled], setup: Setup, rounds: int, builder: Builder) -> list[list[float]]:
    """Samples of programs whose instances are all open."""
    raise_priority()
    with contextlib.ExitStack() as stack:
        instances = [_opened(compiled, setup) for compiled in built]
        for instance in instances:
            stack.callback(instance.close)
        stack.enter_context(builder.measuring(setup.device))
        return interleaved(list(map(_measure_warm, instances, map(_least_steps, built))), rounds)


def raise_priority() -> None:
    """Let this thread and those that it starts go before what else runs, where the system allows that to this user.

    To be called in a process that measures and ends, after it has built and before a team of threads is there.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)


def _measure_warm(instance: Instance, least: int) -> Measure:
    """Measurements each of which begins by warming up what the others have left cold."""
    steps = _steps_of_a_sample(instance, least)
    warming = max(1, round(steps * _WARMING))

    def measure() -> float:
        _seconds(instance, warming)
        return _seconds(instance, steps) / steps

    return measure


def _bound(compiled: Compiled, setup: Setup, seconds: float) -> float:
    """Seconds of a step by the ceilings of the host; 0 where they are not known, or hold for no single step.

    A step of one loop that took fewer `seconds` raises the ceiling of what is moved, as what else ran had lowered it.
    """
    figures = measured_figures()
    main = compiled.plan.main
    if row_of(setup.backend).runs_on != "threads" or figures is None or main.tiling is not None or compiled.graph.loops:
        return 0.0
    if len(main.plain.subkernels) == 1 and seconds < bound_seconds(main.plain, setup.extents, figures):
        moved = round(prod(setup.extents) * step_cost(main.plain).bytes_moved)
        figures = note_rate(moved, moved / seconds)
    return bound_seconds(main.plain, setup.extents, figures)


def _state_after(graph: Graph, choices: Choices, backend: str, setup: Setup) -> dict[str, Array | Number]:
    """The state after some steps on the small grid, from random fields and the study's numbers."""
    numbers = {name: value for name, value in setup.values().items() if not isinstance(value, np.ndarray)}
    fields = random_fields(graph, setup.check_extents)
    given = {**{s.name: value for s, value in zip(graph.fields, fields, strict=True)}, **numbers}
    opening = read_opening(graph, given, setup.check_extents)
    compiled = compile_graph(graph, choices, backend)
    instance = allocate(compiled, opening.extents, setup.threads)
    try:
        open_state(compiled.graph, opening, instance)
        instance.march(MarchRequest(REPEATED, setup.check_steps))
        state: dict[str, Array | Number] = {s.name: instance.read_field(s.name) for s in graph.fields}
        return state | {s.name: instance.read_global(s.name) for s in graph.scalars}
    finally:
        instance.close()


def _deviation(graph: Graph, choices: Choices, setup: Setup) -> str:
    """What differs from the reference after some steps on the small grid; "" if nothing does."""
    state = _state_after(graph, choices, setup.backend, setup)
    exact = is_exact(graph)
    for static in (*graph.fields, *graph.scalars):
        wanted = np.load(Path(setup.folder) / f"expected-{static.name}.npy", allow_pickle=False)
        found = np.asarray(state[static.name])
        if exact or not static.type.is_float:
            same = distance(found, wanted, static.type) == 0
        else:
            same = np.allclose(found, wanted, rtol=_CLOSE[wanted.dtype.itemsize], atol=0.0, equal_nan=True)
        if not same:
            where = f"{setup.check_steps} steps on {setup.check_extents} cells"
            return f"{static.name} differs from the reference after {where}"
    return ""


def _timed(
    compiled: Compiled, setup: Setup, samples: int, best: float, builder: Builder
) -> tuple[tuple[float, ...], str]:
    """Seconds a step of so many measurements of at least 30 ms each, and what is wrong with the state then."""
    instance = _opened(compiled, setup)
    try:
        stored = [static.name for static in compiled.graph.fields]
        before = {name: instance.read_field(name) for name in stored}
        with builder.measuring(setup.device):
            steps = _steps_of_a_sample(instance, _least_steps(compiled))
            found = sampled(lambda: _seconds(instance, steps) / steps, samples, best)
        after = {name: instance.read_field(name) for name in stored}
    finally:
        instance.close()
    for name in stored:
        if after[name].dtype.kind == "f" and not np.all(np.isfinite(after[name])):
            return found, f"{name} is not finite after the timed steps"
    if all(np.array_equal(before[name], after[name]) for name in stored):
        return found, "no field has changed in the timed steps"
    return found, ""


def _opened(compiled: Compiled, setup: Setup) -> Instance:
    """An instance with the study's own values and extents."""
    opening = read_opening(compiled.graph, setup.values(), setup.extents)
    instance = allocate(compiled, opening.extents, setup.threads)
    try:
        open_state(compiled.graph, opening, instance)
    except BaseException:
        instance.close()
        raise
    return instance


def _least_steps(compiled: Compiled) -> int:
    """Steps of a sample, so that tiles of several steps have their height."""
    main = compiled.plan.main
    together = main.tiling is not None or main.towers is not None
    return compiled.plan.choices.plan.tiling.depth or DEPTH if together else 1


def _steps_of_a_sample(instance: Instance, least: int) -> int:
    """Steps that take about 30 ms, at least so many, found by doubling; they warm up caches and threads."""
    steps = least
    while (seconds := _seconds(instance, steps)) < _SAMPLE_SECONDS:
        factor = _SAMPLE_SECONDS / max(seconds, _SAMPLE_SECONDS / 100)
        steps = max(2 * steps, int(steps * factor)) if factor > 1 else 2 * steps
    return steps


def _seconds(instance: Instance, steps: int) -> float:
    begin = time.perf_counter()
    instance.march(MarchRequest(REPEATED, steps, observe_last=False))
    return time.perf_counter() - begin
