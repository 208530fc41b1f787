"""Barriers: at which sub-kernels all threads wait for each other, as hints and choices ask."""

from __future__ import annotations

from workbench.planning.choices import PlanChoices, names_node
from workbench.planning.draft import KernelDraft, StepDraft


def barriers_of(each: KernelDraft, step: StepDraft, choices: PlanChoices) -> list[tuple[bool, bool]]:
    """Whether some value that a sub-kernel evaluates or reads asks for a barrier before, or after it; for each one."""
    kernel, hints = each.kernel, choices.values.hints
    before = {i for i, n in enumerate(kernel.nodes) if hints and n.hint.sync_before}
    after = {i for i, n in enumerate(kernel.nodes) if hints and n.hint.sync_after}
    for asking, chosen in ((before, choices.barriers.before), (after, choices.barriers.after)):
        if chosen:
            asking.update(i for i, key in enumerate(kernel.keys()) if names_node(chosen, kernel.name, key))
    if not before and not after:
        return [(False, False)] * len(step.groups)
    found = []
    for group, emission in zip(step.groups, step.emissions, strict=True):
        touched = {n for n, _ in emission.operations} | {n for n, _ in emission.reads} | emission.globals
        touched.update(group.roots)
        found.append((not touched.isdisjoint(before), not touched.isdisjoint(after)))
    return found
