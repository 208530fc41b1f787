"""Evaluation: one candidate planned, built, checked against the reference and timed, in a process of its own."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Array, Instance, MarchRequest, Number
from workbench.backends.registry import REFERENCE, get_backend
from workbench.errors import BuildError, GenomeError, PlanError, ShapeError, StencilError
from workbench.graph import Graph
from workbench.graph.deviation import is_exact
from workbench.graph.parse import parse
from workbench.pipeline import Compiled, compile_graph, plan_for
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json
from workbench.planning.schedules.locality import DEPTH
from workbench.run.creation import allocate
from workbench.run.opening import open_state, read_opening
from workbench.run.verification import distance, random_fields
from workbench.tuning.trials import Outcome

KERNEL = "step"
_CLOSE = {4: 1e-3, 8: 1e-8}  # relative, by bytes of a float, where operators have a bound in ulp only
_SAMPLE_SECONDS = 0.03  # of one measurement, at least
_HOPELESS = 1.3  # times the best, after two samples
_FEWEST_SAMPLES = 2
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


def evaluate(setup: Setup, choices_text: str, samples: int, best: float, announce: Announce) -> Outcome | None:
    """Plan, build, check, time. None if `announce` says that this phenotype is known.

    `best`: the shortest seconds a step so far (infinite: none); a candidate that is 1.3 times slower after two samples
    is not measured further.
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
    try:
        wrong = _deviation(graph, choices, setup)
        found: tuple[float, ...] = ()
        if not wrong:
            found, wrong = _timed(compiled, setup, samples, best)
    except (PlanError, ShapeError) as error:
        return Outcome("constraint", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    except StencilError as error:
        return Outcome("runtime", (), phenotype, build_seconds, time.perf_counter() - begin, str(error))
    run_seconds = time.perf_counter() - begin
    if wrong:
        return Outcome("correctness", (), phenotype, build_seconds, run_seconds, wrong)
    return Outcome("success", found, phenotype, build_seconds, run_seconds)


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
        instance.march(MarchRequest(KERNEL, setup.check_steps))
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


def _timed(compiled: Compiled, setup: Setup, samples: int, best: float) -> tuple[tuple[float, ...], str]:
    """Seconds a step of so many measurements of at least 30 ms each, and what is wrong with the state then."""
    opening = read_opening(compiled.graph, setup.values(), setup.extents)
    instance = allocate(compiled, opening.extents, setup.threads)
    try:
        open_state(compiled.graph, opening, instance)
        stored = [static.name for static in compiled.graph.fields]
        before = {name: instance.read_field(name) for name in stored}
        with measuring_slot():
            steps = _steps_of_a_sample(instance, _least_steps(compiled))
            found: list[float] = []
            while len(found) < samples:
                found.append(_seconds(instance, steps) / steps)
                if len(found) >= _FEWEST_SAMPLES and min(found) > _HOPELESS * best:
                    break
        after = {name: instance.read_field(name) for name in stored}
    finally:
        instance.close()
    for name in stored:
        if after[name].dtype.kind == "f" and not np.all(np.isfinite(after[name])):
            return tuple(found), f"{name} is not finite after the timed steps"
    if all(np.array_equal(before[name], after[name]) for name in stored):
        return tuple(found), "no field has changed in the timed steps"
    return tuple(found), ""


def _least_steps(compiled: Compiled) -> int:
    """Steps of a sample, so that tiles of several steps have their height."""
    return 1 if compiled.plan.main.tiling is None else compiled.plan.choices.plan.tiling.depth or DEPTH


def _steps_of_a_sample(instance: Instance, least: int) -> int:
    """Steps that take about 30 ms, at least so many, found by doubling; they warm up caches and threads."""
    steps = least
    while (seconds := _seconds(instance, steps)) < _SAMPLE_SECONDS:
        factor = _SAMPLE_SECONDS / max(seconds, _SAMPLE_SECONDS / 100)
        steps = max(2 * steps, int(steps * factor)) if factor > 1 else 2 * steps
    return steps


def _seconds(instance: Instance, steps: int) -> float:
    begin = time.perf_counter()
    instance.march(MarchRequest(KERNEL, steps, observe_last=False))
    return time.perf_counter() - begin


@contextlib.contextmanager
def measuring_slot() -> Iterator[None]:
    """Holds the one place for measurements of this machine: studies of all processes measure one after the other."""
    path = Path(tempfile.gettempdir()) / f"stencil-workbench-measuring-{os.getuid()}"
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
