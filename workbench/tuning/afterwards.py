"""Afterwards: whether the gain of a study holds elsewhere, and a search that goes on from what it found."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.amounts import counted
from workbench.backends.registry import row_of
from workbench.errors import FieldError, StencilError, TuningError
from workbench.graph import Graph
from workbench.graph.deviation import is_exact
from workbench.graph.parse import parse
from workbench.planning.exchange import from_json
from workbench.run.alive import simulations
from workbench.run.creation import create_simulation
from workbench.run.initial_values import missing_fields, read_shape
from workbench.run.progress import silent
from workbench.run.simulation import Simulation
from workbench.tuning.experiment import PreparedStudy
from workbench.tuning.slot import measuring
from workbench.tuning.trials import AT_START, Individual
from workbench.tuning.tune import TuningRequest, prepare_study
from workbench.tuning.validation import Validation

if TYPE_CHECKING:
    from workbench.run.replanning import Replan
    from workbench.tuning.study import Best, Study

_EXAM = "workbench.experiments.exam.plans"
_ROUNDS = 9
_SECONDS = 0.1  # of a measurement, where the number of steps is not given
_CLOSE = 1e-6  # relative, of states where operators have a bound in ulp only


def validate(
    study: Study, shape: object, steps: int | None, values: Mapping[str, object], threads: int | None
) -> Validation:
    """Measure start and best of a study in turn at another size, or over another number of steps, in this process."""
    best = study.best
    if best is None:
        raise TuningError("nothing in this study has passed", advice="Tune on, or look at the statuses and tails.")
    if steps is not None and (type(steps) is not int or steps < 1):
        raise TuningError(f"steps={steps!r} is no number of steps", advice="Pass a whole number from 1.")
    graph = program_of(study)
    given, extents = _opening(study, graph, shape, values)
    count = int(_asked(study)["threads"]) if threads is None else threads
    backend = str(study.about["backend"])
    pair = [from_json(start_of(study).choices), best.choices]
    simulations: list[Simulation] = []
    try:
        for choices in pair:
            simulations.append(create_simulation(graph, choices, given, extents, backend=backend, threads=count))
        with measuring(row_of(backend).device):
            taken, done = _in_turn(simulations, steps)
        if pair[0].meaning == pair[1].meaning:
            _compare(graph, simulations)
    finally:
        for simulation in simulations:
            simulation.close()
    return Validation(extents, done, tuple(taken[0]), tuple(taken[1]), best.gain)


def use(study: Study, simulation: Simulation) -> Replan:
    """Replan a simulation of the study's program by its best choices."""
    best = study.best
    if best is None:
        raise TuningError("nothing in this study has passed", advice="Wait for the first score.")
    if simulation.graph.fingerprint() != study.about["key"]:
        raise TuningError(
            f"the simulation is of {simulation.graph.name}, but another program was tuned: {study.about['program']}",
            advice="Use a simulation of the machine that was tuned.",
        )
    backend = str(study.about["backend"])
    if simulation.backend != backend:
        raise TuningError(
            f"the simulation runs on {simulation.backend}, but the study measures on {backend}",
            advice=f"Simulate with backend={backend!r}, or tune with backend={simulation.backend!r}.",
        )
    if simulation.choices.meaning != best.choices.meaning:
        raise TuningError(
            "the best choices have other types than this simulation, whose state would change",
            advice="Make a new one: machine.simulate(choices=study.best.choices).",
        )
    return simulation.replan(best.choices)


def use_everywhere(study: Study) -> str:
    """The same for all simulations of this process that can take them; one line says how many could."""
    best = study.best
    if best is None:
        return "nothing in this study has passed yet"
    taken = 0
    for simulation in simulations():
        if isinstance(simulation, Simulation):
            with suppress(StencilError):  # of another program or backend, or closed
                use(study, simulation)
                taken += 1
    if not taken:
        return f"no simulation of this program is open here on {study.about['backend']}"
    return (
        f"{counted(taken, 'simulation')} now {'goes' if taken == 1 else 'go'} on with number {best.individual.number}"
    )


@dataclass(frozen=True, slots=True)
class Further:
    """How a search goes on; words as in `machine.tune`. top: the fastest individuals to begin with."""

    budget: object = "10 min"
    strategy: str = "portfolio"
    top: int = 10
    seed: int = 0
    path: str | Path | None = None
    only: Collection[str] | None = None
    fixed: Collection[str] = ()
    threads: int | None = None
    births: object = None


def prepare_further(study: Study, shape: object, values: Mapping[str, object], further: Further) -> PreparedStudy:
    """What goes on from the fastest of a study: in its file where size and space are the same, else in a new one."""
    if study.running:
        raise TuningError("the study still runs", advice="Call stop() and wait(), or wait for its end.")
    graph = program_of(study)
    given, extents = _opening(study, graph, shape, values)
    best = study.best
    passed = sorted((one for one in study.individuals if one.score), key=lambda one: -(one.final_score or 0.0))
    ranked = passed if best is None else [best.individual, *passed]  # who won the race may not be the first of all
    distinct: dict[int, Individual] = {}
    for one in ranked:
        distinct.setdefault(one.same_as or one.number, one)
    fastest = list(distinct.values())[: max(0, further.top)]
    same = extents == tuple(study.about["extents"]) and further.only is None and not further.fixed
    path = further.path
    if path is None:
        size = "x".join(map(str, extents))
        path = study.path if same else _new_path(study.path.with_name(f"{study.path.stem}-{size}.sqlite"))
    asked = _asked(study)
    threads = int(asked["threads"]) if further.threads is None else further.threads
    only, fixed = (asked["only"], asked["fixed"]) if same else (further.only, further.fixed)
    request = TuningRequest(
        further.budget,
        str(study.about["backend"]),
        further.strategy,
        further.seed,
        path,
        tuple(from_json(one.choices) for one in fastest),
        only,
        fixed,
        threads,
        bound=study.about.get("bound") or None,
        steps=int(study.about.get("bound_steps") or 1),
        births=further.births,
    )
    return prepare_study(graph, from_json(start_of(study).choices), given, extents, request)


def examine(best: Best, options: Mapping[str, object]) -> object:
    """The exam of the plan that a study found. StencilError if the program is not the solver's."""
    examiner = import_module(_EXAM).examine_best  # of a room above, which knows the flows
    label = f"individual {best.individual.number}"
    return examiner(_program(best.about), best.choices, label, str(best.about["backend"]), **options)


def program_of(study: Study) -> Graph:
    """The program that was tuned, from the study's file."""
    return _program(study.about)


def _program(about: Mapping[str, Any]) -> Graph:
    text = about.get("graph")
    if not isinstance(text, str):
        raise TuningError("the file of this study does not hold its program", advice="Tune anew.")
    return parse(text)


def start_of(study: Study) -> Individual:
    """The individual that gains are counted from."""
    passed = [one for one in study.individuals if one.score is not None]
    if not passed:
        raise TuningError("nothing in this study has passed", advice="Tune on, or look at the statuses and tails.")
    return next((one for one in passed if one.birth == AT_START), passed[0])


def _asked(study: Study) -> dict[str, Any]:
    """What `machine.tune` was told."""
    return {"only": None, "fixed": (), "threads": 0} | dict(study.about.get("asked", {}))


def _opening(
    study: Study, graph: Graph, shape: object, values: Mapping[str, object]
) -> tuple[dict[str, object], tuple[int, ...]]:
    """Values as in `simulate` and extents: those of the study where they fit and nothing else is given."""
    extents = tuple(study.about["extents"]) if shape is None else read_shape(graph, shape)
    setup = study.setup
    known = setup.values() if setup is not None else dict(study.about.get("numbers", {}))
    fitting = {n: v for n, v in known.items() if not isinstance(v, np.ndarray) or not v.ndim or v.shape == extents}
    given = {**fitting, **values}
    missing = missing_fields(graph, given)
    if missing:
        own = f"the study's are of shape {tuple(study.about['extents'])}, not {extents}"
        why = "a study's file keeps no arrays" if setup is None else own
        passed = ", ".join(f"{name}=" for name in missing)
        raise FieldError(
            f"{graph.name} needs a value for field {' and '.join(missing)}: {why}",
            advice=f"Pass {passed} an array or a number, as in machine.tune.",
        )
    return given, extents


def _in_turn(simulations: list[Simulation], steps: int | None) -> tuple[list[list[float]], int]:
    """Seconds a step of each, in turns that change their order, and the steps of a measurement."""
    count = steps or 1
    for simulation in simulations:
        _seconds(simulation, count)  # code and data come to the caches, threads wake
    while steps is None and (seconds := _seconds(simulations[0], count)) < _SECONDS:
        _seconds(simulations[1], count)
        count = max(2 * count, min(100 * count, int(count * _SECONDS / max(seconds, 1e-9))))
    if steps is None:
        _seconds(simulations[1], count)
    taken: list[list[float]] = [[] for _ in simulations]
    for number in range(_ROUNDS):
        for at in range(len(simulations))[:: -1 if number % 2 else 1]:
            taken[at].append(_seconds(simulations[at], count) / count)
    return taken, count


def _seconds(simulation: Simulation, steps: int) -> float:
    begin = time.perf_counter()
    simulation.run(steps, progress=silent)
    return time.perf_counter() - begin


def _compare(graph: Graph, simulations: list[Simulation]) -> None:
    """Both have done the same steps; TuningError if they did not compute the same."""
    one, other = (simulation.to_dict() for simulation in simulations)
    for name, value in one.items():
        exact = is_exact(graph)
        found, wanted = np.asarray(other[name]), np.asarray(value)
        same = np.array_equal(found, wanted, equal_nan=True) if exact else np.allclose(found, wanted, rtol=_CLOSE)
        if not same:
            raise TuningError(
                f"{name} differs between the study's start and its best after {simulations[0].steps} steps",
                advice="Report this study's file: choices must never change a result.",
            )


def _new_path(path: Path) -> Path:
    """The path, numbered if it is taken."""
    number, free = 2, path
    while free.exists():
        free = path.with_name(f"{path.stem}-{number}.sqlite")
        number += 1
    return free
