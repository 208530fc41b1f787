"""How far a step may be left undone: up to the first launch that writes an array of a field."""

import pytest

from tests.kit.random_tileable import HEAT, LEAPING
from workbench.codegen.cpp.leaving import first_write
from workbench.frontend.cell import trace_cell
from workbench.pipeline import plan_for
from workbench.planning import plan_graph
from workbench.solvers import heat, hydro


def found(plan):
    """Kinds of the launches of a plain step before the first that writes a field, and of all."""
    step = plan.main.plain
    number = first_write(step, {slot.index for slot in plan.slots if slot.field})
    kinds = [launch.kind for launch in step.launches]
    return kinds[:number], kinds


def test_a_step_into_another_array_may_be_left_anywhere():
    before, kinds = found(plan_graph(trace_cell(HEAT, dim=2).graph))
    assert before == kinds == ["fill", "subkernel"]


def test_a_step_that_updates_a_field_where_it_lies_may_not():
    assert found(plan_graph(trace_cell(LEAPING, dim=2).graph)) == (["fill"], ["fill", "subkernel"])


@pytest.mark.parametrize(("stages", "whole"), [(False, False), (True, True)])
def test_stages_that_run_together_leave_the_field_whole(stages, whole):
    """One after the other the second stage stores where the first one has read for the last time."""
    machine = heat.machine()
    choices = machine.with_choices(stages=stages).choices
    before, kinds = found(plan_for(machine.graph, choices, "openmp"))
    assert (before == kinds) == whole
    assert "subkernel" in before or whole


def test_the_fluxes_of_a_gas_may_be_left():
    before, kinds = found(plan_for(hydro.machine(2).graph, hydro.machine(2).choices, "openmp"))
    assert "finisher" in before
    assert len(before) >= len(kinds) // 2
