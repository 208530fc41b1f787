"""Selection: what a reader points at, the same in every view: a value, a sub-kernel or a line of the cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from workbench.errors import PlanError
from workbench.graph import Node, Store, value_names
from workbench.graph.naming import advice_on_names
from workbench.planning.kernel_plan import Subkernel
from workbench.planning.plan import Plan


@dataclass(frozen=True, slots=True, order=True)
class ValueRef:
    """Node number `node` of the kernel called `kernel` in `plan.graph`; the same for all plans of one meaning."""

    kernel: str
    node: int


@dataclass(frozen=True, slots=True, order=True)
class SubkernelRef:
    """The sub-kernel called `name` (its name in the source) of a kernel; another plan may have none of that name."""

    kernel: str
    name: str


@dataclass(frozen=True, slots=True, order=True)
class CellLine:
    """A line of the cell, counted from 1 as the reader sees it."""

    line: int


Selection = ValueRef | SubkernelRef | CellLine

Selected = TypeVar("Selected")


def node_of(plan: Plan, value: ValueRef) -> Node:
    """The node; raises PlanError if the plan has none."""
    kernel = next((k.kernel for k in plan.kernels if k.kernel.name == value.kernel), None)
    if kernel is None or not 0 <= value.node < len(kernel.nodes):
        raise PlanError(
            f"{plan.graph.name} has no value {value.node} in kernel {value.kernel!r}",
            advice="Take numbers from the kernels of plan.graph.",
        )
    return kernel.nodes[value.node]


def value_named(plan: Plan, name: str) -> ValueRef:
    """The value that a person means: the last one of that name, in the main kernel first, else what a field takes.

    Raises PlanError if no kernel has one.
    """
    kernels = (plan.main, *(k for k in plan.kernels if k is not plan.main))
    for each in kernels:
        node = each.kernel.find(name)
        if node is None:
            node = dict(each.kernel.stores()).get(name)
        if node is not None and not isinstance(each.kernel.nodes[node].instruction, Store):
            return ValueRef(each.kernel.name, node)
    advice = advice_on_names(each.kernel for each in kernels)
    raise PlanError(f"{plan.graph.name} computes nothing called {name!r}", advice=advice)


def find_subkernel(plan: Plan, wanted: SubkernelRef) -> Subkernel | None:
    """The sub-kernel of a plain or an observed step, None if this plan has none of that name."""
    for kernel in plan.kernels:
        if kernel.kernel.name == wanted.kernel:
            for step in (kernel.plain, kernel.observed):
                for subkernel in step.subkernels:
                    if subkernel.name == wanted.name:
                        return subkernel
    return None


def kept_selection(before: Plan, after: Plan, selection: Selection | None) -> Selection | None:
    """What a selection of one plan is in another, of other types perhaps: the value of the same label; else None."""
    match selection:
        case SubkernelRef():
            return None if find_subkernel(after, selection) is None else selection
        case ValueRef(kernel, number) if before.graph != after.graph:
            was, now = before.kernel(kernel).kernel, after.kernel(kernel).kernel
            stores = isinstance(was.nodes[number].instruction, Store)
            label = value_names(was)[number]
            same = (i for i, other in enumerate(value_names(now)) if other == label)
            found = (i for i in same if isinstance(now.nodes[i].instruction, Store) == stores)
            return next((ValueRef(kernel, i) for i in found), None)
        case _:
            return selection


def values_of(plan: Plan, selection: Selection | None) -> tuple[ValueRef, ...]:
    """The values that a selection stands for: itself, what a sub-kernel stores or sums, what a cell line wrote."""
    match selection:
        case None:
            return ()
        case ValueRef():
            return (selection,)
        case SubkernelRef():
            found = find_subkernel(plan, selection)
            if found is None:
                return ()
            nodes = dict.fromkeys((*(home.node for home in found.outputs), *found.reductions))
            return tuple(ValueRef(selection.kernel, node) for node in nodes)
        case CellLine(line):
            return tuple(
                ValueRef(kernel.kernel.name, index)
                for kernel in plan.kernels
                for index, node in enumerate(kernel.kernel.nodes)
                if any(span.line == line for span in node.spans)
            )


def cell_lines_of(plan: Plan, selection: Selection | None) -> tuple[int, ...]:
    """The lines of the cell that a selection was written in, ascending."""
    if isinstance(selection, CellLine):
        return (selection.line,)
    nodes = (node_of(plan, value) for value in values_of(plan, selection))
    return tuple(sorted({span.line for node in nodes for span in node.spans}))


def referred(plan: Plan, what: Selected | str) -> Selected | ValueRef:
    """What is given, or the value of that name in the cell."""
    return value_named(plan, what) if isinstance(what, str) else what
