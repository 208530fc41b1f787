"""Graph: every value of one kernel with what the plan decided about it; a frozen summary of a plan for drawing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from workbench.amounts import counted
from workbench.backends.registry import SHOWN
from workbench.graph import Store, formula, own_name, value_name, value_names
from workbench.pipeline import memory_of
from workbench.planning.allocation import hint_reasons
from workbench.planning.axes import axes_text
from workbench.planning.cost import near_cost, step_cost, whole_cost
from workbench.planning.emission import emit
from workbench.planning.kernel_plan import KernelPlan, Step, Storage, Subkernel
from workbench.planning.plan import Plan
from workbench.planning.reach import no_margins
from workbench.planning.reads import emission_in
from workbench.planning.rolling import rolling_planes
from workbench.run.calling import terms_of
from workbench.views.graph.symbols import numbers, symbol
from workbench.views.inspection.flipping import refusal, sync_marks
from workbench.views.inspection.selection import SubkernelRef, ValueRef
from workbench.views.plan.summary import rolling_text

_COUNTED = 1_500  # nodes of a graph whose loads are counted one by one
_LONGEST = 4_000  # operations followed for the loads of one value


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One value.

    title: the name in the cell or "". label: what every view and error calls it. symbol: a few characters for inside
    the node. instruction: its kind. storage: where it lives; forced: why nothing else is possible, "" if it is free;
    hinted: why it is stored or not if it asks to roll, else "". rolling: that it has no array, else "". outside: where
    beyond the domain it is needed. loads: array reads of its own formula, None if not counted. evaluations: how often a
    cell computes it, in all sub-kernels and at all offsets; 1 for what is computed once. subkernels: names of those
    that compute it. is_number: the same in all cells and known before the step.
    """

    ref: ValueRef
    title: str
    label: str
    symbol: str
    instruction: str
    formula: str
    type: str
    storage: str
    forced: str
    hinted: str
    rolling: str
    outside: str
    loads: int | None
    evaluations: int
    cell_lines: tuple[int, ...]
    subkernels: tuple[str, ...]
    operands: tuple[int, ...]
    is_number: bool
    sync_before: bool
    sync_after: bool

    @property
    def can_flip(self) -> bool:
        """Whether a choice may make it Manifest or Delayed."""
        return not self.forced


@dataclass(frozen=True, slots=True)
class GraphGroup:
    """A sub-kernel. `label` says what it makes; bytes, flops and loads are for one cell."""

    ref: SubkernelRef
    label: str
    makes: tuple[int, ...]
    bytes_moved: float
    flops: float
    loads: float
    outside: str
    sync_before: bool
    sync_after: bool


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """One kernel of a plan as it is drawn; `nodes[i].ref.node == i`, operands are numbers of nodes.

    bytes_moved and flops are for what `total` names: one cell and step or, of cells and particles, a step. `observed`:
    a step with scalars that others do not evaluate. Arrays and memory are those of the whole simulation for `extents`.
    `changed`: nodes that the compared plan stores otherwise. `line`: all in one line. `cell`: one of what
    loops count, because a called machine has no cells.
    """

    machine: str
    line: str
    kernel: str
    kernels: tuple[str, ...]
    nodes: tuple[GraphNode, ...]
    groups: tuple[GraphGroup, ...]
    bytes_moved: float
    flops: float
    arrays: int
    memory: int
    extents: tuple[int, ...]
    observed: bool = False
    changed: tuple[int, ...] = ()
    cell: str = "a cell"
    total: str = "a cell"

    def count(self, storage: Storage) -> int:
        """How many values live there."""
        return sum(1 for node in self.nodes if node.storage == storage.value)


def plan_line(plan: Plan, kernel: str = "") -> str:
    """A plan of one kernel ("" for the main one) in one line: loops, what is stored, bytes; of observed steps too."""
    planned = plan.kernel(kernel) if kernel else plan.main
    storage = [s for s, node in zip(planned.storage, planned.kernel.nodes, strict=True) if node.type is not None]
    title = plan.graph.name if len(plan.kernels) == 1 else f"{plan.graph.name}, kernel {planned.kernel.name}"
    stored = f"{storage.count(Storage.MANIFEST)} Manifest, {storage.count(Storage.DELAYED)} Delayed"

    def loops(step: Step) -> str:
        return counted(len(step.subkernels), "sub-kernel")

    def moved(step: Step) -> str:
        near = near_cost(step, planned.kernel, planned.storage)
        if near is not None and not step_cost(step).flops:
            return f"{near.bytes_moved:g} bytes a visited pair"
        if not terms_of(plan.graph).whole:
            return f"{step_cost(step).bytes_moved:g} bytes {terms_of(plan.graph).cell}"
        over: dict[str, float] = {}
        for loop in step.subkernels:
            axes = axes_text(plan.graph.space, loop.axes)
            over[axes] = over.get(axes, 0.0) + loop.cost.bytes_moved
        return ", ".join(f"{moved:g} bytes along {axes}" for axes, moved in over.items())

    line = f"{title}: {loops(planned.plain)}; {stored}; {moved(planned.plain)}"
    if not planned.has_diagnostics:
        return line
    return f"{line}; where scalars are observed {loops(planned.observed)}, {moved(planned.observed)}"


def summarise_graph(
    plan: Plan, extents: tuple[int, ...], kernel: str = "", compared: Plan | None = None, *, backend: str = SHOWN
) -> GraphSummary:
    """What is to be seen of a kernel ("" for the main one), with every scalar of a step evaluated."""
    planned = plan.kernel(kernel) if kernel else plan.main
    nodes = planned.kernel.nodes
    emissions = {s.name: emission_in(planned, planned.observed, s) for s in planned.observed.subkernels}
    places: list[dict[str, int]] = [{} for _ in nodes]
    for name, emission in emissions.items():
        for index, count in Counter(node for node, _ in emission.operations).items():
            places[index][name] = count
    for subkernel in planned.observed.subkernels:
        for index in (*subkernel.reductions, *(home.node for home in subkernel.outputs)):
            places[index].setdefault(subkernel.name, 1)
    lines = [tuple(sorted({span.line for span in node.spans})) for node in nodes]
    known, labels = numbers(planned.kernel), value_names(planned.kernel)
    marks = sync_marks(plan, planned.kernel.name)
    reasons = hint_reasons(planned.kernel, plan.choices.plan.values, planned.storage)
    counted = len(nodes) <= _COUNTED
    rolling = rolling_planes(planned.observed)
    made = tuple(
        GraphNode(
            ref=(ref := ValueRef(planned.kernel.name, index)),
            title=own_name(planned.kernel, index),
            label=labels[index],
            symbol=symbol(planned.kernel, index),
            instruction=type(node.instruction).__name__,
            formula=formula(planned.kernel, index),
            type=f"{node.type}" if node.type is not None else "",
            storage="" if isinstance(node.instruction, Store) else planned.storage[index].value,
            forced=refusal(plan, ref),
            hinted=reasons.get(index, ""),
            rolling=rolling_text(rolling[index]) if index in rolling else "",
            outside=_outside(planned, index),
            loads=_loads(planned, index) if counted and node.is_local else None,
            evaluations=max(1, sum(places[index].values())),
            cell_lines=lines[index],
            subkernels=tuple(places[index]),
            operands=tuple(dict.fromkeys(node.operands)),
            is_number=known[index],
            sync_before=marks[index][0],
            sync_after=marks[index][1],
        )
        for index, node in enumerate(nodes)
    )
    terms = terms_of(plan.graph)
    cost = whole_cost(planned.observed, extents) if terms.whole else step_cost(planned.observed)
    before = None if compared is None else compared.kernel(planned.kernel.name).storage
    return GraphSummary(
        machine=plan.graph.name,
        line=plan_line(plan, planned.kernel.name),
        kernel=planned.kernel.name,
        kernels=tuple(each.kernel.name for each in plan.kernels),
        nodes=made,
        groups=tuple(_group(planned, s) for s in planned.observed.subkernels),
        bytes_moved=cost.bytes_moved,
        flops=cost.flops,
        arrays=len(plan.array_slots),
        memory=memory_of(plan, extents, backend),
        extents=extents,
        observed=planned.has_diagnostics,
        changed=tuple(i for i, s in enumerate(planned.storage) if before is not None and before[i] is not s),
        cell=terms.cell,
        total=terms.each if terms.whole else terms.cell,
    )


def _loads(planned: KernelPlan, index: int) -> int | None:
    node = planned.kernel.nodes[index]
    if type(node.instruction).__name__ not in ("Arith", "Shift"):
        return None
    emission = emit(planned.kernel, planned.storage, (index,), limit=_LONGEST)
    return len(emission.reads) if len(emission.operations) <= _LONGEST else None


def _group(planned: KernelPlan, subkernel: Subkernel) -> GraphGroup:
    makes = tuple(dict.fromkeys((*(home.node for home in subkernel.outputs), *subkernel.reductions)))
    return GraphGroup(
        ref=SubkernelRef(planned.kernel.name, subkernel.name),
        label=", ".join(dict.fromkeys(value_name(planned.kernel, node) for node in makes)),
        makes=makes,
        bytes_moved=subkernel.cost.bytes_moved,
        flops=subkernel.cost.flops,
        loads=subkernel.cost.loads,
        outside=_box(subkernel.margins),
        sync_before=subkernel.sync_before,
        sync_after=subkernel.sync_after,
    )


def _outside(planned: KernelPlan, index: int) -> str:
    node = planned.kernel.nodes[index]
    return _box(planned.margins[index]) if node.is_local else ""


def _box(margins: tuple[tuple[int, int], ...]) -> str:
    """ "" for the domain alone, else the cells below and above it along each axis."""
    if margins == no_margins(len(margins)):
        return ""
    return ", ".join(f"{below}+{above}" for below, above in margins)


def describe_graph(summary: GraphSummary) -> str:
    """The summary in words, for terminals and screen readers."""
    stored = [node.label for node in summary.nodes if node.storage == Storage.MANIFEST.value]
    lines = [
        f"graph of {summary.machine}, kernel {summary.kernel}: {len(summary.nodes)} values, "
        f"{counted(len(summary.groups), 'sub-kernel')}, "
        f"{summary.bytes_moved:g} bytes and {summary.flops:g} flops {summary.total}"
        + (", where scalars are observed" if summary.observed else ""),
        f"Manifest: {_listed(stored)}; {summary.count(Storage.DELAYED)} Delayed, "
        f"{summary.count(Storage.EXISTING)} Existing, {summary.count(Storage.GLOBAL)} Global",
    ]
    kept: dict[str, list[str]] = {}
    for node in summary.nodes:
        if node.rolling:
            kept.setdefault(node.rolling, []).append(node.label)
    lines += [f"{text}: {_listed(labels)}" for text, labels in kept.items()]
    for group in summary.groups:
        halo = f", {group.outside} {summary.cell.partition(' ')[2]}s outside" if group.outside else ""
        loads = f"{group.loads:g} load{'' if group.loads == 1 else 's'}"
        cost = f"{group.bytes_moved:g} bytes, {group.flops:g} flops, {loads} {summary.cell}"
        lines.append(f"sub-kernel {group.ref.name} makes {group.label}: {cost}{halo}")
    if summary.changed:
        lines.append(f"stored otherwise: {_listed([summary.nodes[i].label for i in summary.changed])}")
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:12]) or "none"
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"
