"""Plans in the exam: error curves of several plans in one picture (Paraiso, fig. 10); no plan may move a curve."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from workbench.amounts import counted
from workbench.errors import GenomeError, PlanError, StencilError
from workbench.experiments.exam.accuracy import PROBLEMS, Series, Setting, measure_error, measure_series
from workbench.experiments.exam.course import PLACEMENTS, Course
from workbench.graph import Graph
from workbench.machine import Machine
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json
from workbench.planning.genome import choices_of
from workbench.solvers import hydro
from workbench.views.drawing.line_plot import Curve, line_plot

GRIDS = (16, 32, 64, 128)
OWN = "default"  # the plan of the exam's own machine
_GENOME = re.compile(r"v\d+-[0-9a-f]{16}:")
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class PlansExam:
    """Series of errors of each plan, by its label, in the order of the settings; the first are of the default plan.

    carried: what could be carried over to the exam's programs, which differ from the tuned one in their sides.
    """

    series: Mapping[str, tuple[Series, ...]]
    carried: Mapping[str, str]

    @property
    def differing(self) -> tuple[str, ...]:
        """Plans and settings whose errors are not the default's to the last bit."""
        return tuple(
            f"{label}: {one.setting}"
            for label, series in self.series.items()
            for one, own in zip(series, self.series[OWN], strict=True)
            if one.errors != own.errors
        )

    @property
    def passed(self) -> bool:
        """Whether every required order is reached, by every plan with the same errors."""
        return not self.differing and all(one.passed for series in self.series.values() for one in series)

    def pictures(self) -> tuple[tuple[str, str], ...]:
        """A title and an <svg> element for each setting: errors over cells to a unit, both logarithmic."""
        made = []
        for number, own in enumerate(self.series[OWN]):
            curves = [
                Curve(label, series[number].cells, series[number].errors) for label, series in self.series.items()
            ]
            made.append((str(own.setting), _errors_plot(curves)))
        return tuple(made)

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        series = {label: [asdict(one) for one in each] for label, each in self.series.items()}
        return {"passed": self.passed, "differing": self.differing, "series": series, "carried": dict(self.carried)}

    def verdict(self) -> str:
        """One line."""
        plans = counted(len(self.series) - 1, "plan")
        count = f"{plans} beside the default, {len(self.series[OWN])} series of errors each"
        if self.differing:
            return f"exam FAILED: {count}; errors differ in {', '.join(self.differing)}"
        return f"exam {'passed' if self.passed else 'FAILED: an order is too low'}: {count}, with equal bits"

    def __str__(self) -> str:
        told = [f"{label}: {text}" for label, text in self.carried.items()]
        return "\n".join([*told, *map(str, self.series[OWN]), self.verdict()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        figures = "".join(
            f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>" for title, svg in self.pictures()
        )
        return f"<div>{figures}<pre>{escape(str(self))}</pre></div>"


def examine_plans(
    plans: Mapping[str, Machine],
    *,
    backend: str = "auto",
    resolutions: Sequence[int] = GRIDS,
    problems: Sequence[str] = tuple(PROBLEMS),
    placements: Sequence[str] = PLACEMENTS,
    threads: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> PlansExam:
    """Errors of hydrodynamics planned as these machines are, beside those of the default plan.

    Machines of the solver with the same types and number of axes; their choices are carried over by the names of values
    to the programs of the exam, which have exact flows outside. StencilError for another program.
    """
    if not plans:
        raise StencilError("no plan is given", advice="Pass at least one machine, or one file of choices.")
    kinds = {label: _kind(machine.graph) for label, machine in plans.items()}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{label}: {dim}-D {dtype}" for label, (dim, dtype) in kinds.items())
        raise StencilError(f"the plans are of different programs ({told})", advice="Examine them one after the other.")
    dim, dtype = next(iter(kinds.values()))
    course = Course(
        (dim,), backend, dtype, tuple(resolutions), tuple(resolutions), ("minmod",),
        problems=tuple(problems), placements=tuple(placements), checks=False,
    )  # fmt: skip
    settings = [setting for setting, _ in course.settings(backend)]
    carried: dict[str, str] = {}

    def planned(label: str, machine: Machine) -> Machine:
        if label == OWN:
            return machine
        changed = replace(machine, backend=backend).with_choices_of(replace(plans[label], backend=backend))
        carried.setdefault(label, str(changed.carried))
        return changed

    def measured(label: str, setting: Setting) -> Series:
        series = measure_series(setting, resolutions, partial(planned, label), partial(measure_error, threads=threads))
        say(f"{label}: {series}")
        return series

    series = {label: tuple(measured(label, setting) for setting in settings) for label in (OWN, *plans)}
    exam = PlansExam(series, carried)
    say(exam.verdict())
    return exam


def examine_best(graph: Graph, choices: Choices, label: str, backend: str, **options: object) -> PlansExam:
    """The exam of one plan of a program; `options` are those of `examine_plans`."""
    return examine_plans({label: Machine(graph, choices, backend=backend)}, backend=backend, **options)  # type: ignore[arg-type]  # the user's


def read_plan(path: Path, dims: Sequence[int] = (1, 2, 3)) -> Machine:
    """The machine of a file: a study (its best), choices as JSON, or a genome of the solver in any of its types.

    dims: numbers of axes that are tried; choices that name no value fit the first. Raises StencilError for a file that
    is none of these, OSError if it cannot be read.
    """
    if path.read_bytes()[: len(_SQLITE)] == _SQLITE:
        return _best_of_study(path)
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    try:
        choices = from_json(text) if text.startswith("{") else None
    except PlanError:
        return _refuse(path)
    for dim, dtype in product(dims, ("f64", "f32")) if choices or _GENOME.match(text) else ():
        machine = hydro.machine(dim, dtype=dtype)
        try:
            found = machine.with_choices(choices or choices_of(text, machine.graph))
            found.plan()
        except (GenomeError, PlanError):
            continue
        return found
    return _refuse(path)


def _refuse(path: Path) -> NoReturn:
    raise StencilError(
        f"{path} holds no choices for the hydrodynamics solver",
        advice="Give a study's file, choices that to_json() wrote for hydro.machine(...), or its genome.",
    )


def _best_of_study(path: Path) -> Machine:
    from workbench.tuning.afterwards import program_of
    from workbench.tuning.study import Study

    study = Study.attach(path)
    best = study.best
    if best is None:
        raise StencilError(f"nothing in the study at {path} has passed", advice="Tune on.")
    return Machine(program_of(study), best.choices)


def _kind(graph: Graph) -> tuple[int, str]:
    """Dimension and type of a machine of the solver. StencilError if it is another program."""
    wanted = {"density", "energy", *(f"momentum{axis}" for axis in range(graph.dim))}
    if {static.name for static in graph.fields} != wanted:
        raise StencilError(
            f"the exam is one of the hydrodynamics solver, and {graph.name} is another program",
            advice="Use machine.with_choices(best.choices).verify(), or converge() with an exact solution.",
        )
    return graph.dim, graph.static("density").type.name


def _errors_plot(curves: list[Curve]) -> str:
    return line_plot(curves, "cells to a unit", "L1 error", logarithmic=True, doublings=True, layered=True)
