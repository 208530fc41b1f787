"""Text: the parts of a plan as stable lines for people, golden files and differences; `str` of a plan joins them."""

from __future__ import annotations

from workbench.graph import Kernel, While, value_name, value_names
from workbench.graph.spaces import Space
from workbench.planning.allocation import hint_reasons
from workbench.planning.axes import axes_text
from workbench.planning.choices import PlanChoices
from workbench.planning.cost import ghost_percent, halo_bytes
from workbench.planning.kernel_plan import Axes, KernelPlan, Launch, Margins, Step, Subkernel
from workbench.planning.reach import no_margins
from workbench.planning.schedules.table import schedule_of

SEARCH_ENDED = "The search for what to store ended at its budget, so a faster plan may exist."
"""What plans and cards say of a kernel whose search did not try all that it would."""


def slot_line(space: Space, index: int, itemsize: int, label: str, axes: Axes) -> str:
    """Return the line of an array over some axes of a program's space."""
    over = f" of {axes_text(space, axes)}" if axes else ""
    return f"slot {index}: {itemsize} bytes {_place(space)}{over}, {label}"


def while_line(loop: While) -> str:
    """Return the line of a loop over whole arrays."""
    most = f"at most {loop.at_most} times{', which is no error' if loop.at_most_ok else ''}"
    return f"before {loop.before}: {loop.begin}, then while {loop.going}: {loop.turn}, {most}"


def box_text(margins: Margins) -> str:
    """Return the cells below and above along each axis."""
    return " ".join(f"{below}+{above}" for below, above in margins)


def _place(space: Space) -> str:
    """One place of an array; a program of arrays or particles alone has no cells."""
    return "a cell" if space.has_grid else "an element"


def kernel_lines(kernel: KernelPlan, choices: PlanChoices, extents: tuple[int, ...]) -> list[str]:
    """Return the lines of one kernel's plan; `extents` are those of its figures."""
    lines, names = [f"kernel {kernel.kernel.name}"], value_names(kernel.kernel)
    reasons = hint_reasons(kernel.kernel, choices.values, kernel.storage)
    for index, node in enumerate(kernel.kernel.nodes):
        if node.is_local:
            margins = kernel.margins[index]
            reach = "" if margins == no_margins(len(margins)) else f", needed {box_text(margins)} outside"
            reason = kernel.forced[index] or reasons.get(index, "")
            why = f" ({reason})" if reason else ""
            name = names[index]
            lines.append(f"  %{index} {name}: {kernel.storage[index].value}{why}{reach}")
    if kernel.search_ended:
        lines.append(f"  {SEARCH_ENDED}")
    lines += _step_lines(kernel, kernel.plain, "plain" if kernel.has_diagnostics else "every", extents)
    if kernel.has_diagnostics:
        lines += _step_lines(kernel, kernel.observed, "observed", extents)
    lines += [f"  {line}" for line in schedule_of(kernel).lines(kernel, extents, choices.tiling)]
    return lines


def _step_lines(kernel: KernelPlan, step: Step, variant: str, extents: tuple[int, ...]) -> list[str]:
    lines = [f"  {variant} step"]
    if kernel.kernel.space.has_grid:
        lines.append(f"    {_ghost_line(kernel.kernel, step, extents)}")
    for launch in step.launches:
        lines += [f"    {line}" for line in _launch_lines(kernel.kernel, step, launch)]
    for chain in step.chains:
        loops = ", ".join(f"{m.subkernel} {box_text(m.grown)} {m.ahead} ahead" for m in chain.members)
        values = ", ".join(f"%{v.node} for {v.planes}" for v in chain.rolling)
        ghosts = ", ".join(f"%{step.fills[number].node}" for number in chain.fills)
        lines.append(f"    together: loops {loops}; planes of {values}{f', ghost cells of {ghosts}' if ghosts else ''}")
    for store in step.scalar_stores:
        lines.append(f"    global {store.slot} takes %{store.node}")
    moves = [f"{slot} <- {source}" for slot, source in enumerate(step.rotation) if slot != source]
    lines.append(f"    rotate {', '.join(moves)}" if moves else "    rotate nothing")
    return lines


def _ghost_line(kernel: Kernel, step: Step, extents: tuple[int, ...]) -> str:
    """What ghost cells cost a step, filled by rules and computed anew, at these extents."""
    cells = " x ".join(map(str, extents))
    filled, percent = halo_bytes(step, kernel, extents), ghost_percent(step, extents)
    return f"halo at {cells} cells: {filled} bytes filled, {percent:.2g} % of the cells recomputed outside"


def _launch_lines(kernel: Kernel, step: Step, launch: Launch) -> list[str]:
    match launch.kind:
        case "fill":
            fills = [step.fills[m] for m in launch.members]
            return [
                f"fill %{f.node} {value_name(kernel, f.node)} {box_text(f.margins)} in slot {f.target}"
                + ("" if f.source == f.target else f", copied from {f.source}")
                for f in fills
            ]
        case "subkernel":
            return [line for m in launch.members for line in _loop_lines(kernel, step.subkernels[m])]
        case "finisher":
            return [f"finish %{step.finishers[m].node} into global {step.finishers[m].slot}" for m in launch.members]


def _loop_lines(kernel: Kernel, subkernel: Subkernel) -> list[str]:
    reads = ", ".join(f"%{h.node} in {h.slot}" for h in subkernel.reads) or "nothing"
    margins = f" {box_text(subkernel.margins)}" if kernel.space.has_grid else ""
    barriers = " barrier before" * subkernel.sync_before + " barrier after" * subkernel.sync_after
    cost = subkernel.cost
    over = f" over {axes_text(kernel.space, subkernel.axes)}" if subkernel.axes else ""
    folds = f" folding {axes_text(kernel.space, subkernel.reduced)}" if subkernel.reduced else ""
    folds += " alone" if subkernel.alone >= 0 else ""
    lines = [
        f"loop {subkernel.name}{margins}{over}{folds}:{barriers} reads {reads}",
        f"  {subkernel.emitted} operations; {_place(kernel.space)}: "
        f"{cost.bytes_moved:g} bytes, {cost.flops:g} flops, {cost.loads:g} loads",
    ]
    for home in subkernel.outputs:
        lines.append(f"  stores %{home.node} {value_name(kernel, home.node)} in slot {home.slot}")
    for node in subkernel.reductions:
        lines.append(f"  reduces %{node}")
    return lines
