"""Row: one program of the table with input of a size, the same computation by other systems, and our plans for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from workbench.array_function import Collective
from workbench.planning.choices import Choices, PlanChoices

Call = Callable[[], Any]
Given = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PlanVariant:
    """A way to plan a program; choices None: as users get it."""

    name: str
    label: str
    choices: Choices | None


OURS = PlanVariant("ours", "ours", None)
VARIANTS = (
    PlanVariant("stored", "no fusion", Choices(plan=PlanChoices().changed(preset="as_manifest", loops="apart"))),
    PlanVariant("recomputed", "no sharing", Choices(plan=PlanChoices().changed(preset="as_delayed", hints=False))),
)
"""Without fusion every value is stored by a loop of its own; without sharing no value is kept for another loop."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program with its input.

    size: in words. ours: one run of it, with the keywords of a call. called: the programs of a run, each with arguments
    it may have. others: the same run by other systems. tolerance: by how much of the largest value results may differ.
    """

    size: str
    ours: Callable[..., Any]
    called: tuple[tuple[Collective, Given], ...]
    others: Mapping[str, Call]
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """One row of ROWS. make: a case from random numbers; the second argument asks for one of a few elements."""

    name: str
    title: str
    make: Callable[[Generator, bool], Case]


def alone(program: Collective, given: Given, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # of Case
    """What a case has whose run is one call of one program."""
    return {"ours": lambda **how: program(*given, **how), "called": ((program, given),), **more}
