"""Row: one program of the table with input of a size, the same computation by other systems, and our plans for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.array_function import Collective
from workbench.planning.choices import Choices, PlanChoices

Call = Callable[[], Any]
Given = tuple[Any, ...]
Inputs = Literal["small", "usual", "thesis"]  # of a few elements, of some milliseconds, or of McDonell's table 6.1
_SEED = 2015


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
    it may have. others: makes the same run by other systems, by name, which imports them. tolerance: by how much of the
    largest value results may differ.
    """

    size: str
    ours: Callable[..., Any]
    called: tuple[tuple[Collective, Given], ...]
    others: Callable[[], Mapping[str, Call]]
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """One row of a table.

    make: a case from random numbers and the numbers of `sizes`, of a few elements, the usual ones, and those of the
    thesis. work: what the seconds and the bytes of a run grow with, of such numbers. flops: of a run, 0 where nobody
    counts them.
    """

    name: str
    title: str
    make: Callable[..., Case]
    sizes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    work: Callable[..., float] = lambda *numbers: math.prod(numbers)
    flops: Callable[[Case], float] = lambda case: 0.0

    def numbers(self, inputs: Inputs) -> tuple[int, ...]:
        """Those of `sizes`."""
        small, usual, thesis = self.sizes
        return {"small": small, "usual": usual, "thesis": thesis}[inputs]

    def case(self, inputs: Inputs) -> Case:
        """The same random numbers each time."""
        return self.make(np.random.default_rng(_SEED), *self.numbers(inputs))


def alone(program: Collective, given: Given, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # of Case
    """What a case has whose run is one call of one program."""
    return {"ours": lambda **how: program(*given, **how), "called": ((program, given),), **more}
