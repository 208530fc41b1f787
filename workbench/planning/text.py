"""Text: a plan as stable lines for people, golden files and differences; and why two values are not together."""

from __future__ import annotations

from workbench.errors import PlanError
from workbench.graph import Kernel, Reduce, Store
from workbench.planning.emission import direct_needs
from workbench.planning.plan import KernelPlan, Launch, Margins, Plan, Step, Storage, Subkernel
from workbench.planning.reach import no_margins, value_name


def plan_text(plan: Plan) -> str:
    """Return the plan as text; equal plans give equal text."""
    lines = [f"plan of {plan.graph.name} ({plan.graph.fingerprint()}), {plan.schedule}, halo {_box(plan.halo)}"]
    for slot in plan.slots:
        lines.append(f"slot {slot.index}: {slot.itemsize} bytes a cell, {slot.label}")
    for number in plan.global_slots:
        lines.append(f"global {number.index}: {number.type} {number.role} {number.name}")
    for kernel in plan.kernels:
        lines += _kernel_lines(kernel)
    return "\n".join(lines) + "\n"


def _kernel_lines(kernel: KernelPlan) -> list[str]:
    lines = [f"kernel {kernel.kernel.name}"]
    for index, node in enumerate(kernel.kernel.nodes):
        if node.is_local:
            margins = kernel.margins[index]
            reach = "" if margins == no_margins(len(margins)) else f", needed {_box(margins)} outside"
            why = f" ({kernel.forced[index]})" if kernel.forced[index] else ""
            name = value_name(kernel.kernel, index)
            lines.append(f"  %{index} {name}: {kernel.storage[index].value}{why}{reach}")
    lines += _step_lines(kernel, kernel.plain, "plain" if kernel.has_diagnostics else "every")
    if kernel.has_diagnostics:
        lines += _step_lines(kernel, kernel.observed, "observed")
    return lines


def _step_lines(kernel: KernelPlan, step: Step, variant: str) -> list[str]:
    lines = [f"  {variant} step"]
    for launch in step.launches:
        lines += [f"    {line}" for line in _launch_lines(kernel.kernel, step, launch)]
    for store in step.scalar_stores:
        lines.append(f"    global {store.slot} takes %{store.node}")
    moves = [f"{slot} <- {source}" for slot, source in enumerate(step.rotation) if slot != source]
    lines.append(f"    rotate {', '.join(moves)}" if moves else "    rotate nothing")
    return lines


def _launch_lines(kernel: Kernel, step: Step, launch: Launch) -> list[str]:
    match launch.kind:
        case "fill":
            fills = [step.fills[m] for m in launch.members]
            return [
                f"fill %{f.node} {value_name(kernel, f.node)} {_box(f.margins)} in slot {f.target}"
                + ("" if f.source == f.target else f", copied from {f.source}")
                for f in fills
            ]
        case "subkernel":
            return [line for m in launch.members for line in _loop_lines(kernel, step.subkernels[m])]
        case "finisher":
            return [f"finish %{step.finishers[m].node} into global {step.finishers[m].slot}" for m in launch.members]


def _loop_lines(kernel: Kernel, subkernel: Subkernel) -> list[str]:
    reads = ", ".join(f"%{h.node} in {h.slot}" for h in subkernel.reads) or "nothing"
    barriers = " barrier before" * subkernel.sync_before + " barrier after" * subkernel.sync_after
    cost = subkernel.cost
    lines = [
        f"loop {subkernel.name} {_box(subkernel.margins)}:{barriers} reads {reads}",
        f"  {subkernel.emitted} operations; a cell: "
        f"{cost.bytes_moved:g} bytes, {cost.flops:g} flops, {cost.loads:g} loads",
    ]
    for home in subkernel.outputs:
        lines.append(f"  stores %{home.node} {value_name(kernel, home.node)} in slot {home.slot}")
    for node in subkernel.reductions:
        lines.append(f"  reduces %{node}")
    return lines


def _box(margins: Margins) -> str:
    return " ".join(f"{below}+{above}" for below, above in margins)


def explain(plan: Plan, first: str, second: str) -> str:
    """Return in words why two named values of the main kernel are, or are not, computed in one sub-kernel.

    Raises PlanError for a name that no value of the main kernel has.
    """
    kernel = plan.main
    a, b = (_find(kernel, name) for name in (first, second))
    for name, node in ((first, a), (second, b)):
        reason = kernel.forced[node] or "the cost model or a choice decided so"
        if kernel.storage[node] is Storage.DELAYED:
            return f"{name} is Delayed ({reason}): each sub-kernel that needs it recomputes it; it has none of its own."
        if kernel.storage[node] is Storage.EXISTING:
            return f"{name} is Existing ({reason}): no sub-kernel computes it."
        if kernel.storage[node] is Storage.GLOBAL and not isinstance(kernel.kernel.nodes[node].instruction, Reduce):
            return f"{name} is a Global: it is recomputed ahead of every loop that needs it."
    step = kernel.observed
    one, two = _group(step, a), _group(step, b)
    if one.index == two.index:
        return (
            f"{first} and {second} are in sub-kernel {one.name}: neither needs the other, and their margins are equal."
        )
    (early, node), (late, other) = sorted(((first, a), (second, b)), key=lambda p: _group(step, p[1]).index)
    path = _path(kernel, other, node)
    if path is not None:
        through = f" through {', '.join(value_name(kernel.kernel, n) for n in path)}" if path else ""
        return f"{late} is in a later sub-kernel than {early}, because it needs {early}{through}."
    if one.margins != two.margins:
        return (
            f"{first} is needed {_box(one.margins)} cells outside the domain and {second} {_box(two.margins)}: "
            "a sub-kernel has one size of loop."
        )
    return (
        f"{first} and {second} do not need each other, but {late} needs a value that is made after {early}'s "
        f"sub-kernel {_group(step, node).name}, or both together would be too long."
    )


def _find(kernel: KernelPlan, name: str) -> int:
    """The node that a person means: the value that is stored if a field is named that carries no name itself."""
    node = kernel.kernel.find(name)
    if node is None:
        node = dict(kernel.kernel.stores()).get(name)
    if node is None or isinstance(kernel.kernel.nodes[node].instruction, Store):
        known = sorted({n for each in kernel.kernel.nodes for n in each.names})
        raise PlanError(
            f"no value of {kernel.kernel.name} is called {name!r}", advice=f"Use one of {', '.join(known) or 'none'}."
        )
    return node


def _group(step: Step, node: int) -> Subkernel:
    made = (s for s in step.subkernels if node in s.reductions or any(h.node == node for h in s.outputs))
    return next(made)


def _needs(kernel: KernelPlan, node: int) -> frozenset[int]:
    if kernel.storage[node] is Storage.EXISTING and not kernel.kernel.nodes[node].operands:
        return frozenset()
    return direct_needs(kernel.kernel, kernel.storage, node)


def _path(kernel: KernelPlan, late: int, early: int) -> tuple[int, ...] | None:
    """Stored values between two, if the late one needs the early one by way of them; None if it does not."""
    came_from: dict[int, int] = {}
    waiting = [late]
    while waiting:
        node = waiting.pop(0)
        for need in sorted(_needs(kernel, node)):
            if need not in came_from:
                came_from[need] = node
                waiting.append(need)
    if early not in came_from:
        return None
    path: list[int] = []
    node = came_from[early]
    while node != late:
        path.append(node)
        node = came_from[node]
    return tuple(path)
