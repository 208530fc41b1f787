"""Retyping: the choices that change the float type of one value; results change, and so does the graph."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import PlanError
from workbench.graph import Graph, Store, value_name
from workbench.graph.instructions import static_of
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.planning.precision import with_types
from workbench.planning.transfer import transfer_plan
from workbench.views.inspection.selection import ValueRef, node_of

AS_DECLARED = "as in the cell"
FLOATS = (AS_DECLARED, "f32", "f64", "dd")


def asked_name(plan: Plan, value: ValueRef) -> str:
    """By what name the value's type is asked for: that of the static it reads or writes, else its own; "" for none."""
    node = node_of(plan, value)
    return static_of(node.instruction) or (node.names[-1] if node.names else "")


def asked_type(plan: Plan, value: ValueRef) -> str:
    """One of FLOATS: what was asked of the value by its name."""
    return dict(plan.choices.meaning.precision).get(asked_name(plan, value), AS_DECLARED)


def type_refusal(plan: Plan, value: ValueRef) -> str:
    """Why the value's type is not free to choose, "" if it is."""
    node = node_of(plan, value)
    kernel = plan.kernel(value.kernel).kernel
    of = kernel.nodes[node.operands[0]] if isinstance(node.instruction, Store) else node
    if not of.value_type.is_float:
        return f"it is {of.value_type}, which is no float"
    return "" if asked_name(plan, value) else "it has no name in the cell"


def choices_with_type(graph: Graph, plan: Plan, value: ValueRef, type_: str, backend: str) -> Choices:
    """The choices with another type for the value, one of FLOATS, and all else as the plan has it.

    graph: the machine's own, which has the types of the cell. What was chosen of storage and barriers is carried over
    by the names of values. Raises PlanError, saying why, if the type is not free.
    """
    why = type_refusal(plan, value)
    if why:
        name = value_name(plan.kernel(value.kernel).kernel, value.node)
        raise PlanError(f"the type of {name} cannot change: {why}", advice="Choose a float with a name.")
    name = asked_name(plan, value)
    meaning = plan.choices.meaning
    if type_ == AS_DECLARED:
        meaning = replace(meaning, precision=tuple(pair for pair in meaning.precision if pair[0] != name))
    else:
        meaning = with_types(graph, meaning, "", {name: type_})
    chosen = replace(plan.choices, meaning=meaning)
    values, barriers = chosen.plan.values, chosen.plan.barriers
    if not (values.manifest or values.delayed or barriers.before or barriers.after or chosen.plan.loops):
        return chosen
    bare = plan_for(graph, Choices(meaning), backend).graph
    return transfer_plan(plan, bare, chosen, lambda choices: plan_for(graph, choices, backend))[0]
