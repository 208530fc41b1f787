"""Flipping: the choices that change one value's storage or barrier, and nothing else in the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from workbench.errors import PlanError
from workbench.graph import Arith, value_name
from workbench.graph.marks import NO_HINT
from workbench.pipeline import plan_again
from workbench.planning.choices import Choices, names_node
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan import Plan
from workbench.views.inspection.selection import ValueRef, node_of

Side = Literal["before", "after"]
_ADVICE = "Flip a value that arithmetic computes in cells."


def refusal(plan: Plan, value: ValueRef) -> str:
    """Why the value is neither made Manifest nor Delayed by choice, "" if it may be."""
    node_of(plan, value)
    kernel = plan.kernel(value.kernel)
    storage, reason = kernel.storage[value.node], kernel.forced[value.node]
    if reason:
        return reason
    hint = kernel.kernel.nodes[value.node].hint
    if hint.allocation and storage not in (Storage.MANIFEST, Storage.DELAYED):
        return f"the cell asks for {hint.allocation} in line {hint.line}"
    return ""


def sync_refusal(plan: Plan, value: ValueRef) -> str:
    """Why no barrier can be asked for at the value, "" if it may be."""
    node = node_of(plan, value)
    if isinstance(node.instruction, Arith) and node.is_local:
        return ""
    return "a barrier belongs to a sub-kernel that computes a value, and none computes this one"


def flipped(plan: Plan, value: ValueRef, backend: str) -> Plan:
    """The plan in which the value is Manifest instead of Delayed or the other way round, and all others as they are.

    backend: where it will run. Raises PlanError, saying why, if its storage is not free to choose.
    """
    why = refusal(plan, value)
    name = value_name(plan.kernel(value.kernel).kernel, value.node)
    if why:
        storage = plan.kernel(value.kernel).storage[value.node]
        raise PlanError(f"{name} cannot be flipped: it is {storage.value}, because {why}", advice=_ADVICE)
    now = plan.kernel(value.kernel).storage[value.node]
    other = Storage.DELAYED if now is Storage.MANIFEST else Storage.MANIFEST
    wanted = {value: other}
    while True:
        made = plan_again(plan, choose_storage(plan, wanted), backend)
        # The cost model may now think otherwise about other values; a reader who flipped one of them means that one.
        moved = {ref: before for ref, before, _ in storage_changes(plan, made) if ref not in wanted}
        if not moved:
            return made
        wanted.update(moved)


def with_sync(plan: Plan, value: ValueRef, side: Side, backend: str) -> Plan:
    """The plan with a barrier before or after the sub-kernels that compute the value, or without the one it has.

    backend: where it will run.
    """
    why = sync_refusal(plan, value)
    kernel = plan.kernel(value.kernel).kernel
    if why:
        raise PlanError(f"{value_name(kernel, value.node)} takes no barrier: {why}", advice=_ADVICE)
    key = _key(plan, value)
    names = frozenset({key, key.partition("/")[2]})
    choices = plan.choices.plan
    present = choices.barriers.before if side == "before" else choices.barriers.after
    chosen = present - names if present & names else present | {key}
    return plan_again(plan, replace(plan.choices, plan=choices.changed(**{side: chosen})), backend)


def sync_marks(plan: Plan, kernel: str) -> tuple[tuple[bool, bool], ...]:
    """For each node of a kernel whether a barrier is asked for before and after it, by a choice or in the cell."""
    nodes = plan.kernel(kernel).kernel
    choices = plan.choices.plan
    hints = tuple(node.hint if choices.values.hints else NO_HINT for node in nodes.nodes)
    if not choices.barriers.before and not choices.barriers.after:
        return tuple((hint.sync_before, hint.sync_after) for hint in hints)
    return tuple(
        (
            hint.sync_before or names_node(choices.barriers.before, kernel, key),
            hint.sync_after or names_node(choices.barriers.after, kernel, key),
        )
        for hint, key in zip(hints, nodes.keys(), strict=True)
    )


def storage_changes(one: Plan, other: Plan) -> tuple[tuple[ValueRef, Storage, Storage], ...]:
    """The values that two plans of one graph store differently: value, storage in `one`, storage in `other`."""
    found = []
    for kernel in one.kernels:
        name = kernel.kernel.name
        for index, (before, after) in enumerate(zip(kernel.storage, other.kernel(name).storage, strict=True)):
            if before is not after:
                found.append((ValueRef(name, index), before, after))
    return tuple(found)


def _key(plan: Plan, value: ValueRef) -> str:
    return f"{value.kernel}/{plan.kernel(value.kernel).kernel.keys()[value.node]}"


def choose_storage(plan: Plan, wanted: Mapping[ValueRef, Storage]) -> Choices:
    """The choices of a plan with the storage of these values chosen, in the kernel of each alone."""
    keys = {kernel.kernel.name: kernel.kernel.keys() for kernel in plan.kernels}
    manifest, delayed = set(plan.choices.plan.values.manifest), set(plan.choices.plan.values.delayed)
    for value, storage in wanted.items():
        key = keys[value.kernel][value.node]
        for chosen in (manifest, delayed):
            chosen.discard(f"{value.kernel}/{key}")
            if key in chosen:  # it speaks for all kernels: keep it for the others
                chosen.discard(key)
                chosen |= {f"{name}/{key}" for name, known in keys.items() if key in known and name != value.kernel}
        (manifest if storage is Storage.MANIFEST else delayed).add(f"{value.kernel}/{key}")
    made = plan.choices.plan.changed(manifest=frozenset(manifest), delayed=frozenset(delayed))
    return replace(plan.choices, plan=made)


def same_graph(first: Plan, second: Plan) -> bool:
    """Whether two plans are of one program, of the same meaning."""
    return [kernel.kernel.keys() for kernel in first.kernels] == [kernel.kernel.keys() for kernel in second.kernels]
