"""Laps: the numbers under which compiled code adds up the seconds of launches, for templates and for readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.planning.kernel_plan import KernelPlan, Step
from workbench.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Lap:
    """What one number measures: a whole launch of a step, by the clock, or one of its members.

    `launch` indexes step.launches. `member` indexes the step's fills or sub-kernels; None for the whole launch, which
    is measured once; a member is measured by each thread for itself, and only where a launch has several.
    """

    kernel: str
    observed: bool
    launch: int
    kind: Literal["fill", "subkernel", "finisher"]
    member: int | None = None


def number_laps(plan: Plan) -> tuple[Lap, ...]:
    """All laps of a plan in the order of their numbers. A kernel with one variant has laps of plain steps only."""
    return tuple(
        lap
        for kernel in plan.kernels
        for observed, step in variants(kernel)
        for lap in _laps_of(kernel.kernel.name, observed, step)
    )


def variants(kernel: KernelPlan) -> tuple[tuple[bool, Step], ...]:
    """The steps that a kernel has text for, each with whether it is the observed one."""
    plain = ((False, kernel.plain),)
    return (*plain, (True, kernel.observed)) if kernel.has_diagnostics else plain


def _laps_of(kernel: str, observed: bool, step: Step) -> Iterator[Lap]:
    for number, launch in enumerate(step.launches):
        yield Lap(kernel, observed, number, launch.kind)
        if len(launch.members) > 1 and launch.kind != "finisher":
            for member in launch.members:
                yield Lap(kernel, observed, number, launch.kind, member)
