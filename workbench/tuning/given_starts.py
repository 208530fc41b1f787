"""Given starts: points of a space that stand for the choices and machines which a study is told to begin with."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.errors import PlanError, TuningError
from workbench.graph import Graph
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.genome import decided
from workbench.planning.retype import retype
from workbench.planning.simplify import simplify
from workbench.planning.sites import storage_sites
from workbench.planning.transfer import carry
from workbench.tuning.search_space import Point

if TYPE_CHECKING:
    from workbench.tuning.machine_space import MachineSpace

_CARRYING = "start=[tuned.with_choices_of(other)] takes what has the same names"
Settle = Callable[[Graph, Choices], Choices]
"""Choices whose schedule is no longer open, for the cells and threads of the study."""


def given_starts(space: MachineSpace, graph: Graph, start: object, settle: Settle) -> tuple[Point, ...]:
    """The nearest point of each: what the space does not have stays as at the study's own start.

    graph: the program that is tuned. start: a list of choices and machines, whose presets and hints count. Raises
    TuningError for anything else, for what is of another program, and for what cannot be planned.
    """
    given = list(start) if isinstance(start, list | tuple) else [start]
    choices = [one for one in (getattr(one, "choices", one) for one in given) if isinstance(one, Choices)]
    if not isinstance(start, list | tuple) or len(choices) < len(given):
        raise TuningError(
            f"start={reprlib.repr(start)} is no list of choices", advice="Pass start=[study.best.choices]."
        )
    graphs = [getattr(one, "graph", graph) for one in given]
    rows = enumerate(zip(graphs, choices, strict=True))
    return tuple(_point_of(space, own, one, settle, f"start[{number}]") for number, (own, one) in rows)


def _point_of(space: MachineSpace, graph: Graph, choices: Choices, settle: Settle, name: str) -> Point:
    plan = _decided(space, graph, choices, settle, name)
    point = []
    for row, values, first in zip(space.tunables, space.values, space.start, strict=False):
        value = row.read(plan)
        point.append(values.index(value) if value in values else first)
    asked = dict(choices.meaning.precision)
    for type_row, first in zip(space.precise, space.start[len(point) :], strict=True):
        asked_type = asked.get(type_row.value, type_row.here)
        point.append(type_row.types.index(asked_type) if asked_type in type_row.types else first)
    found = space.settled(tuple(point))
    reason = space.refusal(found)
    if reason:
        raise _untried(name, reason)
    return found


def _decided(space: MachineSpace, graph: Graph, choices: Choices, settle: Settle, name: str) -> PlanChoices:
    """What choices say of a program, with the storage that presets and hints lead to, by the keys of the space."""
    values, own_types = choices.plan.values, choices.meaning == space.base.meaning
    tuned = simplify(retype(graph, space.base.meaning))
    if tuned.fingerprint() != space.key:
        raise TuningError(
            f"{name} is a machine of another program, {_called(graph)}; tuned is {_called(space.graph)}",
            advice=f"Carry its choices over: {_CARRYING}.",
        )
    if not own_types and not space.precise:
        raise TuningError(
            f"{name} has other types of values than the machine that is tuned, and this study changes none",
            advice="Tune types too, by bound=, or leave it out.",
        )
    if own_types and not values.hints and {s.key for s in storage_sites(tuned)} <= values.manifest | values.delayed:
        return choices.plan  # as choices of studies are: nothing has to be planned
    try:
        plan = plan_for(graph, settle(graph, choices), space.backend)
    except PlanError as error:
        raise _untried(name, error.what) from None
    return decided(plan) if own_types else carry(decided(plan), plan.graph, tuned)


def _called(graph: Graph) -> str:
    return f"{graph.name} in {graph.dim}-D ({graph.fingerprint()})"


def _untried(name: str, reason: str) -> TuningError:
    advice = f"Leave it out, or change it. Of choices of another program: {_CARRYING}."
    return TuningError(f"{name} cannot be tried: {reason}", advice=advice)
