"""March rule: which steps come next and when a march ends, by what was asked and what was done alone.

Backends whose time loop is Python follow it; `begin_step` and `end_step` of stencil_openmp.h say the same in C++, and
tests/backends/test_march_rule.py compares the two.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass

from workbench.backends.base import Condition, Ending, MarchRequest, Number
from workbench.planning.kernel_plan import KernelPlan
from workbench.planning.plan import Plan

_HOLDS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class NextSteps:
    """The next `count` steps, all plain or one observed; `listed`: what it observes is recorded."""

    observed: bool
    count: int
    listed: bool


def next_steps(request: MarchRequest, done: int, diagnostics: Collection[str], depth: int = 1) -> NextSteps:
    """What comes after `done` steps, fewer than were asked for: at most `depth` steps, at least one.

    diagnostics: the scalars of the request's kernel that observed steps alone bring up to date.
    """
    number, every = request.first_step + done + 1, request.observe_every
    last = request.steps if request.observe_last else request.steps + 1
    listed = every > 0 and number % every == 0
    if listed or done + 1 == last or watches(request, diagnostics):
        return NextSteps(True, 1, listed)
    before_listed = every - number % every if every > 0 else depth
    return NextSteps(False, max(1, min(depth, request.steps - done, before_listed, last - 1 - done)), False)


def watches(request: MarchRequest, diagnostics: Collection[str]) -> bool:
    """Whether a condition of the request needs a diagnostic scalar, so that every step is observed."""
    return any(condition.scalar in diagnostics for condition in request.until)


def ending_before(request: MarchRequest) -> Ending | None:
    """Why a march ends before its first step; None if it does not."""
    if request.stop.is_set():
        return "stopped"
    return "done" if request.steps <= 0 else None


def ending_after(request: MarchRequest, done: int, *, met: bool, seconds: float) -> Ending | None:
    """Why a march ends after `done` steps in `seconds`; None if it goes on. met: whether all of `until` holds."""
    if met:
        return "until"
    if done >= request.steps:
        return "done"
    if request.stop.is_set():
        return "stopped"
    return "time" if seconds >= request.seconds else None


def holds(condition: Condition, number: Number) -> bool:
    """Whether a scalar with this value meets the condition, compared in float64."""
    return bool(_HOLDS[condition.comparison](float(number), float(condition.value)))


def diagnostic_scalars(plan: Plan, kernel: KernelPlan) -> frozenset[str]:
    """The scalars that only an observed step of a kernel brings up to date."""
    always = {store.slot for store in kernel.plain.scalar_stores}
    slots = {store.slot for store in kernel.observed.scalar_stores} - always
    return frozenset(slot.name for slot in plan.global_slots if slot.index in slots)
